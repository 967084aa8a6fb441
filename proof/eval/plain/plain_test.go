package plain

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	p := New([]string{"a", "b", "c", "d", "e"}, []string{
		"the spool is full", "the spool file of a spool", "the socket", "the lock and what it is for", "retry",
	})
	all := func(string) bool { return true }
	for query, want := range map[string]string{
		"spooled":           "b a", // twice beats once
		"is the socket new": "c",   // stop words find nothing
		"what is it":        "d a", // unless there is nothing else
		"nowhere":           "",
	} {
		if got := strings.Join(p.Search(query, 10, all), " "); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	if got := p.Search("spool", 10, func(id string) bool { return id != "b" }); len(got) != 1 || got[0] != "a" {
		t.Errorf("without b: got %v", got)
	}
	if got := p.Search("spool", 1, all); len(got) != 1 || got[0] != "b" {
		t.Errorf("the best alone: got %v", got)
	}
}
