package index

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func openIndex(t *testing.T, path string, feed Feed, opts Options) *Index {
	t.Helper()
	ix, err := Open(t.Context(), path, feed, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	return ix
}

func catchUp(t *testing.T, ix *Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := ix.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
}

// found returns the refs that a text finds by words, the best first.
func found(t *testing.T, ix *Index, text string, f Filter) []memory.RecordRef {
	t.Helper()
	a, err := ix.Rank(t.Context(), Request{Text: text, Filter: f, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	var list []memory.RecordRef
	for _, m := range a.Matches {
		if m.Lexical {
			list = append(list, m.RecordRef)
		}
	}
	return list
}

func ref(kind memory.RecordKind, id int64) memory.RecordRef {
	return memory.RecordRef{Kind: kind, ID: id}
}

func observation(id int64, title, text string) memory.Document {
	return memory.Document{
		RecordRef: ref(memory.RecordObservation, id), ProjectPath: "/home/ada/shop", Session: 1,
		Type: memory.TypeBugfix, Title: title, Text: text, CreatedAt: memory.Millis(1_700_000_000_000 + id),
	}
}

func prompt(id int64, session memory.SessionID, text string) memory.Document {
	return memory.Document{
		RecordRef: ref(memory.RecordPrompt, id), ProjectPath: "/home/ada/shop", Session: session,
		Text: text, CreatedAt: memory.Millis(1_700_000_000_000 + id),
	}
}

// TestPromptGoneWhileRead: a prompt that is deleted while the one after it is read leaves nothing
// of its text there.
func TestPromptGoneWhileRead(t *testing.T) {
	feed := &changingFeed{memoryFeed: newMemoryFeed()}
	feed.put(prompt(3, 1, "the cookie of the session"))
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	var once sync.Once
	feed.mu.Lock()
	feed.change = func(_ int, refs []memory.RecordRef) {
		if slices.Contains(refs, ref(memory.RecordPrompt, 3)) {
			once.Do(func() { feed.delete(ref(memory.RecordPrompt, 3)) })
		}
	}
	feed.mu.Unlock()
	feed.put(prompt(4, 1, "count the retries"))
	catchUp(t, ix)
	checkContents(t, ix, feed.memoryFeed)
}

func TestFollow(t *testing.T) {
	feed := newMemoryFeed()
	feed.put(observation(1, "Cart total rounds twice", "The total of the cart was rounded per line and again at the end."))
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	if got := found(t, ix, "cart total", Filter{}); len(got) != 1 || got[0].ID != 1 {
		t.Errorf("after the build: found %v", got)
	}
	feed.put(observation(2, "Login redirects forever", "getUserByEmail returned nil for upper case addresses."))
	catchUp(t, ix)
	for _, text := range []string{"login redirect", "getUserByEmail", "user email", "redircets"} {
		if got := found(t, ix, text, Filter{}); len(got) != 1 || got[0].ID != 2 {
			t.Errorf("%q: found %v", text, got)
		}
	}
	feed.put(observation(2, "Login loops", "The session cookie lost its path."))
	catchUp(t, ix)
	if got := found(t, ix, "getUserByEmail", Filter{}); len(got) != 0 {
		t.Errorf("the old text is still found: %v", got)
	}
	if got := found(t, ix, "session cookie", Filter{}); len(got) != 1 {
		t.Errorf("the new text: found %v", got)
	}
	feed.delete(ref(memory.RecordObservation, 2))
	catchUp(t, ix)
	if got := found(t, ix, "session cookie", Filter{}); len(got) != 0 {
		t.Errorf("what was deleted is found: %v", got)
	}
	if s := ix.Status(); s.Documents != 1 || s.Behind != 0 || s.Fragments != 2 || s.Error != "" {
		t.Errorf("status: %+v", s)
	}
}
