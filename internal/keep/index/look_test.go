package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/memory"
)

// A look tells what an index has that nobody holds open, and what is no index.
func TestLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	if _, err := Look(t.Context(), path); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("of no index: %v", err)
	}
	feed := newMemoryFeed()
	feed.put(observation(1, "A title", "A narrative."), observation(2, "Another", "Of something else."))
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	want := ix.Status()
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := Look(t.Context(), path)
	_, newest, failed := feed.ChangeRange(t.Context())
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	if got.Documents != want.Documents || got.Documents == 0 || got.Cursor != newest || got.Model != want.Model {
		t.Errorf("got %+v, want as %+v at %d", got, want, newest)
	}
	if err := os.WriteFile(path, []byte("this is no index, and never was one of ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(t.Context(), path); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("of a damaged index: %v", err)
	}
}
