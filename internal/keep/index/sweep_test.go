package index

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestDeletedWordsLeaveTheFile looks for the word of a deleted record in the bytes
// of all files.
func TestDeletedWordsLeaveTheFile(t *testing.T) {
	feed := newMemoryFeed()
	for i := range int64(300) {
		feed.put(observation(i+1, "Ordinary record", "about carts and queues and retries"))
	}
	secret := observation(1000, "Xylophonist", "the xylophonist has left")
	feed.put(secret)
	path := filepath.Join(t.TempDir(), "index.db")
	now := time.UnixMilli(1_700_000_000_000)
	ix := openIndex(t, path, feed, Options{Clock: func() time.Time { return now }})
	catchUp(t, ix)
	slots := ix.Status().Fragments
	holds := func() bool {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + suffix)
			if err == nil && bytes.Contains(b, []byte("xylophon")) {
				return true
			}
		}
		return false
	}
	if !holds() {
		t.Fatal("the word is not in the files at all")
	}
	feed.delete(secret.RecordRef)
	catchUp(t, ix)
	await(t, ix, "the sweep", func() bool {
		_, done, err := ix.current()
		if err != nil {
			return false
		}
		defer done()
		return !ix.base.deletions
	})
	if holds() {
		t.Error("a deleted record's word is still in the files")
	}
	if got := ix.Status().Fragments; got != slots-2 {
		t.Errorf("%d fragments, want %d", got, slots-2)
	}
	checkContents(t, ix, feed)
	// The next one waits its turn.
	feed.put(secret)
	catchUp(t, ix)
	feed.delete(secret.RecordRef)
	catchUp(t, ix)
	if b, done, err := ix.current(); err != nil || !b.deletions {
		t.Errorf("swept again at once: %v", err)
	} else {
		done()
	}
	// A worker that starts again has forgotten nothing.
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(sweepEvery)
	ix = openIndex(t, path, feed, Options{Clock: func() time.Time { return now }})
	catchUp(t, ix)
	await(t, ix, "the second sweep", func() bool {
		b, done, err := ix.current()
		if err != nil {
			return false
		}
		defer done()
		return !b.deletions
	})
	if holds() {
		t.Error("after a new start a deleted record's word is still in the files")
	}
	if got := found(t, ix, "carts", Filter{Kinds: []memory.RecordKind{memory.RecordObservation}}); len(got) != 300 {
		t.Errorf("found %d, want 300", len(got))
	}
}
