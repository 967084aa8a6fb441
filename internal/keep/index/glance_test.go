package index

import (
	"fmt"
	"path/filepath"
	"testing"

	"claudemem/internal/memory"
)

func openGlance(t *testing.T, path string) *Glance {
	t.Helper()
	g, err := OpenGlance(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// What a glance tells of a record is what the index tells of it, but for what takes
// vectors or all candidates: likeness and MaxSim, what is typical and known.
func TestGlanceAgreesWithTheIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	feed := newMemoryFeed()
	subjects := []string{"retry queue of webhooks", "cart total rounding", "session cookie path", "getUserByEmail nil", "migration of invoices"}
	causes := []string{"a lost lock", "the wrong time zone", "an off by one", "a missing index", "two writers at once", "a stale cache"}
	id := int64(0)
	for range 30 {
		for i, s := range subjects {
			for j, c := range causes {
				id++
				d := observation(id, fmt.Sprintf("%s broke in build %d", s, id), fmt.Sprintf("It was %s. Step %d of %d.", c, i, j))
				if id%3 == 0 {
					d.ProjectPath = "/home/ada/other"
				}
				feed.put(d)
			}
		}
	}
	feed.put(prompt(1, 1, "why does the retry queue of webhooks break"))
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	g := openGlance(t, path)
	f := Filter{Projects: []string{"/home/ada/shop"}, Kinds: []memory.RecordKind{memory.RecordObservation}}
	for _, text := range []string{"the retry queue of webhooks and a lost lock", "getUserByEmail", "build 77", "stale cache in the migration of invoices"} {
		r := Request{Text: text, Filter: f, Limit: 20, Prose: true}
		whole, err := ix.Rank(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		known := map[memory.RecordRef]Match{}
		for _, m := range whole.Matches {
			known[m.RecordRef] = m
		}
		got, err := g.Rank(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Matches) == 0 || len(got.Matches) > glanceCandidates || got.Semantic {
			t.Fatalf("%q: %d matches, semantic %v", text, len(got.Matches), got.Semantic)
		}
		most := 0.0
		for _, m := range whole.Matches {
			most = max(most, m.Evidence.Coverage)
		}
		if c := got.Matches[0].Evidence.Coverage; c != most {
			t.Errorf("%q: the first has a coverage of %v, the best record of all %v", text, c, most)
		}
		shared := 0
		for _, m := range got.Matches {
			if m.ProjectPath != "/home/ada/shop" || m.Kind != memory.RecordObservation {
				t.Errorf("%q: %v of %s passed the filter", text, m.RecordRef, m.ProjectPath)
			}
			w, ok := known[m.RecordRef]
			if !ok {
				continue // the index read others
			}
			shared++
			want := w.Evidence
			want.Likeness, want.MaxSim, want.Typical, want.Spread, want.Known = 0, 0, 0, 0, m.Evidence.Known
			want.Telling, want.Records = 0, 0
			if m.Evidence != want {
				t.Errorf("%q: %v: evidence %+v, want %+v", text, m.RecordRef, m.Evidence, want)
			}
			if m.Session != w.Session || m.CreatedAt != w.CreatedAt || m.Type != w.Type {
				t.Errorf("%q: got %+v, want %+v", text, m, w)
			}
		}
		if shared == 0 {
			t.Errorf("%q: glance and index have no record in common", text)
		}
	}
}

func TestGlance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	if _, err := OpenGlance(t.Context(), path); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("no index: %v", err)
	}
	feed := someFeed()
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	g := openGlance(t, path)
	refs := func(r Request) (list []int64) {
		t.Helper()
		a, err := g.Rank(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range a.Matches {
			list = append(list, m.ID)
		}
		return list
	}
	for name, tt := range map[string]struct {
		r    Request
		want string
	}{
		"by words":           {Request{Text: "retry queue"}, "[2]"},
		"of its project":     {Request{Text: "retry queue", Filter: Filter{Projects: []string{"/home/ada/shop"}}}, "[2]"},
		"of another project": {Request{Text: "retry queue", Filter: Filter{Projects: []string{"/nowhere"}}}, "[]"},
		"of another kind":    {Request{Text: "retry queue", Filter: Filter{Kinds: []memory.RecordKind{memory.RecordPrompt}}}, "[]"},
		"by what it can't":   {Request{Text: "retry queue", Filter: Filter{Session: 1}}, "[]"},
		"of nothing":         {Request{Text: " …"}, "[]"},
		"of unknown words":   {Request{Text: "zyzzyva"}, "[]"},
		"with a quote":       {Request{Text: "\"retry\x00 queue\" OR ("}, "[2]"},
	} {
		if got := fmt.Sprint(refs(tt.r)); got != tt.want {
			t.Errorf("%s: found %s, want %s", name, got, tt.want)
		}
	}
	// The worker goes on beside it.
	feed.put(observation(3, "Third retry", "more of the queue"))
	feed.delete(ref(memory.RecordObservation, 2))
	catchUp(t, ix)
	if got := fmt.Sprint(refs(Request{Text: "retry queue"})); got != "[3]" {
		t.Errorf("after a change: found %s", got)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := g.Rank(t.Context(), Request{Text: "retry"}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("after Close: %v", err)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	execFile(t, path, "PRAGMA user_version = 999")
	if _, err := OpenGlance(t.Context(), path); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("another version: %v", err)
	}
	writeFile(t, path, "garbage garbage garbage")
	if _, err := OpenGlance(t.Context(), path); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("garbage: %v", err)
	}
}
