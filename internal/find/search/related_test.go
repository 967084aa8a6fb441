package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/search"
	"claudemem/internal/memory"
)

func related(t *testing.T, s *search.Searcher, r memory.RelatedRequest) []memory.Related {
	t.Helper()
	got, err := s.Related(t.Context(), r)
	if err != nil {
		t.Fatalf("Related: %v", err)
	}
	return got
}

// TestRelatedIsNoSearch: a text is not read as a question.
func TestRelatedIsNoSearch(t *testing.T) {
	s, mem, ix := real(t)
	const day = 24 * time.Hour
	walrus := write(t, mem, 200*day, memory.NewObservation{Title: "Walrus migrations ran twice", Narrative: "The lock on schema_version was released too early"})
	write(t, mem, time.Hour, memory.NewObservation{Title: "Otter cache keyed by tenant", Narrative: "Two tenants shared an entry", Type: memory.TypeBugfix})
	write(t, mem, time.Hour, memory.NewObservation{ProjectPath: "/src/blog/shop", Title: "Walrus pictures load slowly"})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
	}{
		{"a date is no filter", "walrus migrations yesterday"},
		{"a type is no filter", "what bugs did we fix in the walrus migrations"},
		{"a number is no name", "#2 walrus migrations"},
		{"no expression", `walrus NOT migrations AND "nothing like this"`},
		{"no full-text syntax", `title:walrus* ^"migrations" -otter {}()`},
		{"a long log around it", strings.Repeat("2026-03-20 12:00:01 GET /index 200\n", 80) + "walrus migrations ran twice\n" + strings.Repeat("0xdeadbeef +0x1f\n", 150)},
		{"bytes that are no text", "walrus \xff\xfe migrations \x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := related(t, s, memory.RelatedRequest{Text: tt.text, ProjectPath: "/src/shop"})
			if len(got) == 0 || got[0].Observation == nil || got[0].Observation.ID != walrus.ID {
				t.Fatalf("got %d records, want the walrus first", len(got))
			}
			for _, r := range got {
				if r.ProjectPath != "/src/shop" {
					t.Errorf("#%d is of %s", r.ID, r.ProjectPath)
				}
			}
			if e := got[0].Evidence; e.Words < 2 || e.Of < e.Words || e.Mass <= 0 || e.Keyword <= 0 {
				t.Errorf("evidence %+v does not tell of two words", e)
			}
		})
	}
	// A label is no path, and a project without records has none to give.
	for _, project := range []string{"shop", "/src", "/src/nowhere"} {
		if got := related(t, s, memory.RelatedRequest{Text: "walrus", ProjectPath: project}); len(got) > 0 {
			t.Errorf("%s: %d records", project, len(got))
		}
	}
	everywhere := related(t, s, memory.RelatedRequest{Text: "walrus"})
	if !slices.ContainsFunc(everywhere, func(r memory.Related) bool { return r.ProjectPath == "/src/blog/shop" }) {
		t.Error("without a project the records of one are missing")
	}
	for _, text := range []string{"", " \n", "zebra", "?!"} {
		if got := related(t, s, memory.RelatedRequest{Text: text, ProjectPath: "/src/shop"}); len(got) > 0 {
			t.Errorf("%q: %d records: nothing is topped up", text, len(got))
		}
	}
}

// TestRelatedReads: the records are those of the store, the next one in the place
// of one that is hidden.
func TestRelatedReads(t *testing.T) {
	s, mem, ix := real(t)
	for i := range 6 {
		write(t, mem, time.Duration(i+1)*time.Hour, memory.NewObservation{Title: fmt.Sprintf("Walrus number %d", i)})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := memory.RelatedRequest{Text: "walrus", ProjectPath: "/src/shop", Limit: 3}
	before := related(t, s, ask)
	if len(before) != 3 {
		t.Fatalf("%d records, want 3", len(before))
	}
	hidden := before[0].Observation.ID
	if _, err := mem.HideObservation(t.Context(), hidden, true); err != nil {
		t.Fatal(err)
	}
	after := related(t, s, ask)
	if len(after) != 3 || slices.ContainsFunc(after, func(r memory.Related) bool { return r.Observation.ID == hidden }) {
		t.Errorf("%d records without the hidden one, want 3", len(after))
	}
	if _, err := search.New(mem, nil, search.Options{}).Related(t.Context(), ask); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("no index: %v", err)
	}
}

// TestRelatedByIdentifier: evidence counts the identifiers of the text that hardly
// another of the found records has: not those that a command printed or that only the
// narrative mentions, and none of a pasted text that is full of them.
func TestRelatedByIdentifier(t *testing.T) {
	s, mem, ix := real(t)
	only := write(t, mem, time.Hour, memory.NewObservation{Title: "Walrus locks", Subtitle: "walrusLock is held by otterPool",
		Facts: []string{"Failed before: `go test`: WalrusRuntime: lost"}, Narrative: "sealCount was looked at"})
	for _, title := range []string{"Walrus pool", "Walrus size", "Walrus names"} {
		write(t, mem, time.Hour, memory.NewObservation{Title: title, Narrative: "otterPool was resized"})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"what is the walrusLock of the walrus":                               1,
		"walrusLock, otterPool":                                              1,
		"WalrusLock walrusLocks walrus_lock":                                 0,
		"otterPool of the walrus":                                            0,
		"WalrusRuntime of the walrus":                                        0,
		"sealCount of the walrus":                                            0,
		"walrusLock aaBbb1 aaBbb2 aaBbb3 aaBbb4 aaBbb5 aaBbb6 aaBbb7 aaBbb8": 0,
	} {
		for _, r := range related(t, s, memory.RelatedRequest{Text: text, ProjectPath: "/src/shop"}) {
			if r.Observation.ID != only.ID && r.Evidence.Names > 0 || r.Observation.ID == only.ID && r.Evidence.Names != want {
				t.Errorf("%q: #%d has %d names, want %d of #%d", text, r.ID, r.Evidence.Names, want, only.ID)
			}
		}
	}
}

// TestRelatedByTitle: evidence has the share of the title that the text says, whatever the
// ending and the order of the words; a title of one word is said by half.
func TestRelatedByTitle(t *testing.T) {
	s, mem, ix := real(t)
	for _, title := range []string{"Walrus pools are locked by their size", "Walrus", "The otter of the walrusPool"} {
		write(t, mem, time.Hour, memory.NewObservation{Title: title, Narrative: "the walrus of " + title})
	}
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]float64{ // in the order of the titles
		"walrus":                           {1. / 5, 1. / 2, 1. / 5},
		"size of a locking pool of walrus": {4. / 5, 1. / 2, 2. / 5},
		"walrus walrus walrus seal":        {1. / 5, 1. / 2, 1. / 5},
		"walrusPool":                       {2. / 5, 1. / 2, 3. / 5},
	} {
		found := related(t, s, memory.RelatedRequest{Text: text, ProjectPath: "/src/shop"})
		if len(found) != len(want) {
			t.Errorf("%q: %d records, want %d", text, len(found), len(want))
		}
		for _, r := range found {
			if got, want := r.Evidence.Titled, want[r.Observation.ID-1]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%q says %.3f of %q, want %.3f", text, got, r.Observation.Title, want)
			}
		}
	}
}

// TestRelatedByLastNames: folders and extensions of a path in the text find nothing, the
// file's name does.
func TestRelatedByLastNames(t *testing.T) {
	s, mem, ix := real(t)
	write(t, mem, time.Hour, memory.NewObservation{Title: "Walrus mail", Files: []memory.FileRef{{Path: "src/main/java/WalrusMail.java", Role: memory.FileModified}}})
	if err := ix.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"write src/main/java/SealPool.java":   0,
		"write src/main/java/WalrusMail.java": 1,
	} {
		if got := related(t, s, memory.RelatedRequest{Text: text, ProjectPath: "/src/shop"}); len(got) != want {
			t.Errorf("%q: got %d records, want %d", text, len(got), want)
		}
	}
}
