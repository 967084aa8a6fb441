package index

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/index/postings"
)

// TestUnknownLayout: with pages that package postings does not understand, searches find what
// they found before, by MATCH, and the index is not rebuilt.
func TestUnknownLayout(t *testing.T) {
	feed := newMemoryFeed()
	for i := range int64(directDocuments + 100) {
		feed.put(observation(i+1, fmt.Sprintf("Cart %d", i), "rounds the total of record"+fmt.Sprint(i)))
	}
	path := filepath.Join(t.TempDir(), "index.db")
	var log strings.Builder
	ix := openIndex(t, path, feed, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	catchUp(t, ix)
	want := found(t, ix, "total of record77", Filter{})
	if len(want) == 0 || want[0].ID != 78 {
		t.Fatalf("found %v", want)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if ix.Status().UnknownLayout {
		t.Error("the layout is unknown from the start")
	}
	known := texts
	defer func() { texts = known }()
	texts = postings.Of("unknown")
	execFile(t, path, "CREATE TABLE unknown_data(id INTEGER PRIMARY KEY, block BLOB); CREATE TABLE unknown_idx(segid, term, pgno)")
	for range 2 {
		if got := found(t, ix, "total of record77", Filter{}); !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	}
	if !ix.Status().UnknownLayout {
		t.Error("the status does not tell")
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
	catchUp(t, ix)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the index was rebuilt: %v", err)
	}
}
