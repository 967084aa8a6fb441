package devices

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// Two records that say the same, for a time or for good, are two records on every device.
func TestSameText(t *testing.T) {
	a, b, c := newMachine(t, "a"), newMachine(t, "b"), newMachine(t, "c")
	folder, _ := share(t, a, b, c)
	a.remember("port 8080")
	a.remember("left")
	a.remember("right")
	rounds(2, a, b, c)
	before := map[string]bool{}
	names, err := files(folder)
	a.must(err)
	for _, name := range names {
		before[name] = true
	}
	// b edits the first text, and a writes it again; c gets what a has written first.
	b.edit("port", "port 9090")
	b.sync()
	late := map[string][]byte{}
	names, err = files(folder)
	a.must(err)
	for _, name := range names {
		if !before[name] {
			late[name], err = os.ReadFile(filepath.Join(folder, name))
			a.must(err)
		}
	}
	a.sync()
	a.remember("port 8080")
	a.edit("left", "middle")
	a.sync()
	for name := range late {
		a.must(os.Remove(filepath.Join(folder, name)))
	}
	c.edit("right", "middle")
	c.sync()
	if n := strings.Count(c.canonical(), `"title":"port 8080"`); n != 2 {
		t.Errorf("the third device has the text %d times, want 2:\n%s", n, c.canonical())
	}
	for name, content := range late {
		a.must(os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	rounds(2, c, b, a)
	same(t, a, b, c)
	want := a.canonical()
	for title, n := range map[string]int{"port 8080": 1, "port 9090": 1, "middle": 2} {
		if got := strings.Count(want, `"title":"`+title+`"`); got != n {
			t.Errorf("%q is there %d times, want %d", title, got, n)
		}
	}
	// Each of the two can be pinned and forgotten for itself.
	pinned := true
	for _, m := range []*machine{a, b, c} {
		all, err := m.store.Observations(t.Context(), memory.Query{})
		m.must(err)
		for i := range all {
			_, err := m.store.EditObservation(t.Context(), all[i].ID, memory.ObservationEdit{Pinned: &pinned})
			m.must(err)
		}
	}
	c.forget("middle")
	rounds(2, c, b, a)
	same(t, a, b, c)
	if n := strings.Count(a.canonical(), `"title":"middle"`); n != 1 {
		t.Errorf("after one was forgotten %d are there, want 1", n)
	}
}

// What was forgotten has no earlier text either, before the next exchange.
func TestForgottenVersions(t *testing.T) {
	a := newMachine(t, "a")
	share(t, a)
	a.remember("first")
	a.sync()
	a.edit("first", "second")
	a.sync()
	a.edit("second", "third")
	a.sync()
	id := a.find("third")
	if versions, err := a.store.Versions(t.Context(), id); err != nil || len(versions) == 0 {
		t.Fatalf("%v, %v", versions, err)
	}
	a.forget("third")
	if versions, err := a.store.Versions(t.Context(), id); err != nil || len(versions) > 0 {
		t.Errorf("%v, %v", versions, err)
	}
}

// A directory without a repository, and one that moved to another host, are one project with those of the same name elsewhere.
func TestLink(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.options.Identify = func(string) string { return "github.com/old/tally" }
	b.options.Identify = func(string) string { return "" }
	a.remember("of a")
	b.remember("of b")
	share(t, a, b)
	rounds(2, a, b)
	projects := func(m *machine) map[string]bool {
		all, err := m.store.Observations(t.Context(), memory.Query{})
		m.must(err)
		found := map[string]bool{}
		for i := range all {
			found[all[i].ProjectPath] = true
		}
		return found
	}
	if got := projects(b); len(got) != 2 {
		t.Fatalf("before they are linked: %v", got)
	}
	for _, m := range []*machine{a, b} {
		if _, err := Link(t.Context(), m.store, m.options, m.project, ""); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("no name: %v", err)
		}
		_, err := Link(t.Context(), m.store, m.options, m.project, "tally")
		m.must(err)
	}
	a.remember("later")
	rounds(2, a, b)
	same(t, a, b)
	for _, m := range []*machine{a, b} {
		if got := projects(m); len(got) != 1 || !got[m.project] {
			t.Errorf("%s has %v, want one project %s", m.dir, got, m.project)
		}
	}
}

// The events of a session that came from another device are known: its transcript, imported here too, gives no second records.
func TestTranscriptOfReceived(t *testing.T) {
	a, b := newMachine(t, "a"), newMachine(t, "b")
	share(t, a, b)
	capture := func(m *machine, session string) {
		_, err := m.store.Enqueue(t.Context(), memory.Arrival{Key: "prompt:claude-code:" + session + ":p1", Event: memory.Event{Kind: memory.KindPrompt,
			Host: memory.HostClaudeCode, HostSessionID: session, PromptID: "p1", Prompt: "hello", ProjectPath: m.project, OccurredAt: 1_790_000_000_000}})
		m.must(err)
	}
	capture(a, "of-a")
	capture(b, "of-b")
	rounds(2, a, b)
	same(t, a, b)
	keys := []string{"prompt:claude-code:of-a:p1", "tool:claude-code:of-a:t1", "prompt:claude-code:of-b:p1", "tool:claude-code:of-b:t1", "tool:claude-code:of-c:t1"}
	for m, want := range map[*machine]string{a: "map[prompt:claude-code:of-a:p1:true prompt:claude-code:of-b:p1:true tool:claude-code:of-b:t1:true]",
		b: "map[prompt:claude-code:of-a:p1:true prompt:claude-code:of-b:p1:true tool:claude-code:of-a:t1:true]"} {
		known, err := m.store.Known(t.Context(), keys)
		if m.must(err); fmt.Sprint(known) != want {
			t.Errorf("%s knows %v, want %s", m.dir, known, want)
		}
	}
}

// What supersedes a record is the same on all devices, though it was made on several and has had another ULID on each.
func TestSupersededEverywhere(t *testing.T) {
	a, b, c := newMachine(t, "a"), newMachine(t, "b"), newMachine(t, "c")
	learn := func(m *machine, n int) {
		_, err := m.store.AddLearning(t.Context(), memory.Learning{ProjectPath: m.project, Category: "gotcha", Content: fmt.Sprintf("Learning %d holds.", n), Confidence: 1})
		m.must(err)
	}
	share(t, a, b, c)
	learn(b, 0)
	time.Sleep(2 * time.Millisecond) // a ULID of a later time
	learn(a, 5)
	learn(a, 0) // supersedes 5, by a ULID that is going to be that of b's
	a.sync()
	c.sync()
	rounds(2, b, a, c)
	same(t, a, b, c)
	if !strings.Contains(c.canonical(), `"superseded_by"`) {
		t.Errorf("nothing is superseded:\n%s", c.canonical())
	}
}
