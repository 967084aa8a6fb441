package index

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestChangedPages: a byte that is changed in any page of index.db is noticed when it is opened,
// and while there are searches; the index is rebuilt once, then the answers come from elsewhere.
func TestChangedPages(t *testing.T) {
	feed := someFeed()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := range len(whole) / pageSize {
		for _, open := range []bool{false, true} {
			copied := filepath.Join(t.TempDir(), "index.db")
			copyFolder(t, dir, filepath.Dir(copied))
			change := func(at int) {
				t.Helper()
				f, err := os.OpenFile(copied, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
				if _, err := f.WriteAt([]byte{whole[at] + 1}, int64(at)); err != nil {
					t.Fatal(err)
				}
			}
			at := page*pageSize + (page*389)%pageSize
			if !open {
				change(at)
			}
			var mu sync.Mutex
			var made []string
			ix := openIndex(t, copied, feed, Options{CheckEvery: 1, MayRepair: func(file, reason string) bool {
				mu.Lock()
				defer mu.Unlock()
				again := slices.Contains(made, file+reason)
				made = append(made, file+reason)
				return !again
			}})
			noticed := func() bool {
				_, _ = ix.Rank(t.Context(), Request{Text: "cart", Limit: 1})
				mu.Lock()
				defer mu.Unlock()
				return len(made) > 0
			}
			if open {
				noticed() // the first comparison is over
				change(at)
			}
			for deadline := time.Now().Add(30 * time.Second); !noticed(); {
				if time.Now().After(deadline) {
					t.Fatalf("page %d, open %t: not noticed", page, open)
				}
			}
			catchUp(t, ix)
			checkContents(t, ix, feed)
			if err := ix.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestKilledCheckpoint: a kill between the copies of pages and their sums is no damage, nor is one
// before the first checkpoint.
func TestKilledCheckpoint(t *testing.T) {
	feed := someFeed()
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	for _, copies := range []bool{false, true} {
		if copies {
			var busy, log, done int
			if err := ix.base.conn.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &log, &done); err != nil || done == 0 {
				t.Fatal(busy, log, done, err)
			}
		}
		killed := filepath.Join(t.TempDir(), "index.db")
		copyFolder(t, dir, filepath.Dir(killed))
		next := openIndex(t, killed, feed, Options{MayRepair: func(file, reason string) bool {
			t.Errorf("copies %t: %s is repaired: %s", copies, file, reason)
			return true
		}})
		catchUp(t, next)
		checkContents(t, next, feed)
		if err := next.Close(); err != nil {
			t.Error(err)
		}
		if err := CheckPages(killed); err != nil {
			t.Error(err)
		}
	}
}

// TestKilledSums: what a process left that was killed while it wrote the sums of an index, or of
// one that is rebuilt, is removed when the index is opened.
func TestKilledSums(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	for _, of := range []string{path, nextPath(path)} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(sumsPath(of))+".claude-mem-1-killed"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openIndex(t, path, someFeed(), Options{})
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".index*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestPagesNeverWritten: pages that a transaction takes and gives back have no content that
// SQLite writes, so they have no sum: the file is not damaged.
func TestPagesNeverWritten(t *testing.T) {
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), someFeed(), Options{})
	catchUp(t, ix)
	b, done, err := ix.current()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, statement := range []string{
		"BEGIN", "CREATE TABLE much (content)", "INSERT INTO much VALUES (randomblob(1000000))", "DROP TABLE much",
		"CREATE TABLE last (content)", "COMMIT",
	} {
		if _, err := b.conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := comparePages(b.pages, b.sums, nil); err != nil {
		t.Error(err)
	}
	if err := CheckPages(b.path); err != nil {
		t.Error(err)
	}
}
