package index

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// someFeed has a few records that the tests look for.
func someFeed() *memoryFeed {
	feed := newMemoryFeed()
	feed.put(observation(1, "Cart total rounds twice", "per line and at the end"), observation(2, "Retry queue", "webhooks are tried again"))
	return feed
}

func TestDamagedOrForeign(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		// kept is the file that must still be there.
		kept string
	}{
		{"garbage", func(t *testing.T, path string) { writeFile(t, path, "this is no database, it is a letter") }, ""},
		{"empty", func(t *testing.T, path string) { writeFile(t, path, "") }, ""},
		{"cut off", func(t *testing.T, path string) { truncate(t, path, 10_000) }, ""},
		{"zeros", func(t *testing.T, path string) { overwrite(t, path, 4096, 20*4096) }, ""},
		{"other version", func(t *testing.T, path string) { execFile(t, path, "PRAGMA user_version = 999") }, ""},
		{"older tables", func(t *testing.T, path string) { execFile(t, path, "DROP TABLE totals") }, ""},
		{"no cursor", func(t *testing.T, path string) { execFile(t, path, "DELETE FROM cursor") }, ""},
		{"bad build", func(t *testing.T, path string) { execFile(t, path, "INSERT INTO meta VALUES ('build', '9:x')") }, ""},
		{"foreign", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			execFile(t, path, "CREATE TABLE recipes(name)")
		}, "index.db.foreign"},
		{"vectors of garbage", func(t *testing.T, path string) { writeFile(t, vectorPath(path), "no vectors") }, ""},
		{"vectors cut off", func(t *testing.T, path string) { truncate(t, vectorPath(path), 300) }, ""},
		{"a vector is missing", func(t *testing.T, path string) {
			changeVectors(t, path, func(s *vectors.Set) error { return s.Delete(s.Slots(1)[0]) })
		}, ""},
		{"a vector too many", func(t *testing.T, path string) {
			changeVectors(t, path, func(s *vectors.Set) error {
				_, err := s.Put(1, vectors.Fragment{Vector: make([]float32, 128)})
				return err
			})
		}, ""},
		{"vectors of no document", func(t *testing.T, path string) {
			changeVectors(t, path, func(s *vectors.Set) error {
				_, err := s.Put(99, vectors.Fragment{Vector: make([]float32, 128)})
				return err
			})
		}, ""},
		{"vectors zeroed", func(t *testing.T, path string) { overwrite(t, vectorPath(path), 64, 256) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			feed := someFeed()
			path := filepath.Join(t.TempDir(), "index.db")
			ix := openIndex(t, path, feed, Options{})
			catchUp(t, ix)
			if err := ix.Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, path)
			ix = openIndex(t, path, feed, Options{})
			catchUp(t, ix)
			checkContents(t, ix, feed)
			if tt.kept != "" {
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), tt.kept)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt(make([]byte, n), at); err != nil {
		t.Fatal(err)
	}
}

// changeVectors changes the file of vectors beside an index that is closed.
func changeVectors(t *testing.T, path string, change func(*vectors.Set) error) {
	t.Helper()
	table, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s, err := vectors.Open(vectorPath(path), table.Model(), table.Dimensions())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(s), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func execFile(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// await waits until the index has come to what is wanted; each change is looked at.
func await(t *testing.T, ix *Index, what string, wanted func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		changed, _ := ix.state.watch()
		if wanted() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s: not within 30 seconds; status %+v", what, ix.Status())
		}
	}
}

// TestDamageMetByAQuery: whichever way of reading meets a damaged page says what helps, and
// has the index made anew.
func TestDamageMetByAQuery(t *testing.T) {
	request := Request{Text: "cart total", Limit: 10}
	for name, query := range map[string]func(ctx context.Context, ix *Index) error{
		"expression": func(ctx context.Context, ix *Index) error {
			_, err := ix.Syntax(ctx, "title:cart OR queue", Filter{}, 10)
			return err
		},
		"lists of documents": func(ctx context.Context, ix *Index) error {
			_, err := ix.Rank(ctx, request)
			return err
		},
		"glance": func(ctx context.Context, ix *Index) error {
			g, err := OpenGlance(ctx, ix.path)
			if err != nil {
				return err
			}
			_, err = g.Rank(ctx, request)
			if err2 := g.Close(); err2 != nil {
				return err2
			}
			// A glance mends nothing; the worker does, at its next query.
			_, _ = ix.Rank(ctx, request)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			feed := someFeed()
			for id := range int64(directDocuments) { // of fewer it scores all
				feed.put(observation(10+id, "Session cookie", "another path"))
			}
			ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
			catchUp(t, ix)
			old := ix.base
			if _, err := old.conn.ExecContext(t.Context(), "UPDATE texts_data SET block = x'0102030405'"); err != nil {
				t.Fatal(err)
			}
			// Nothing that is cached hides it.
			old.reader.SetMaxIdleConns(0)
			err := query(t.Context(), ix)
			var coded *memory.Error
			if !errors.As(err, &coded) || coded.Code != memory.CodeStorage || !strings.Contains(coded.Hint, "claude-mem reindex") {
				t.Errorf("the damage brings %#v", err)
			}
			await(t, ix, "a new index", func() bool {
				ix.mu.RLock()
				replaced := ix.base != old
				ix.mu.RUnlock()
				s := ix.Status()
				return replaced && s.Documents == directDocuments+2 && !s.Building && s.Error == ""
			})
			catchUp(t, ix)
			checkContents(t, ix, feed)
		})
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "index.db")
	if _, err := OpenReadOnly(t.Context(), path, Options{}); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("no index: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("a reader made the directory")
	}
	feed := someFeed()
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	reader, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if got := found(t, reader, "retry queue", Filter{}); len(got) != 1 || got[0].ID != 2 {
		t.Errorf("beside a worker: found %v", got)
	}
	a, err := reader.Rank(t.Context(), Request{Text: "try webhooks", Limit: 5})
	if err != nil || !a.Semantic || len(a.Matches) == 0 || a.Matches[0].Likeness <= 0 {
		t.Errorf("by meaning: %+v, %v", a, err)
	}
	if err := reader.CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
	if err := reader.Reindex(t.Context(), nil); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("reindex: %v", err)
	}
	// The worker goes on beside it.
	feed.put(observation(3, "Third", "more"))
	catchUp(t, ix)
	if s := reader.Status(); s.Documents != 2 || s.Dimensions != 128 {
		t.Errorf("status %+v", s)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(vectorPath(path)); err != nil {
		t.Fatal(err)
	}
	if reader, err = OpenReadOnly(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := found(t, reader, "third", Filter{}); len(got) != 1 {
		t.Errorf("without vectors: found %v", got)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	execFile(t, path, "PRAGMA user_version = 999")
	if _, err := OpenReadOnly(t.Context(), path, Options{}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("another version: %v", err)
	}
	writeFile(t, path, "garbage garbage garbage")
	if _, err := OpenReadOnly(t.Context(), path, Options{}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("garbage: %v", err)
	}
}

func TestDiskFull(t *testing.T) {
	feed := someFeed()
	pauses := make(chan time.Time)
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{After: func(time.Duration) <-chan time.Time { return pauses }})
	catchUp(t, ix)
	limit := func(pages string) {
		t.Helper()
		if _, err := ix.base.conn.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // as small as the file is
	for i := range int64(50) {
		feed.put(observation(10+i, "New "+strings.Repeat("long ", 50), strings.Repeat("text that takes pages ", 100)))
	}
	await(t, ix, "the error", func() bool { return strings.Contains(ix.Status().Error, "full") })
	if got := found(t, ix, "retry queue", Filter{}); len(got) != 1 {
		t.Errorf("what is there: found %v", got)
	}
	if s := ix.Status(); s.Behind == 0 || s.ErrorAt == 0 {
		t.Errorf("status %+v", s)
	}
	limit("100000")
	pauses <- time.Time{}
	catchUp(t, ix)
	await(t, ix, "the error to go", func() bool { return ix.Status().Error == "" })
	checkContents(t, ix, feed)
}

func TestFeedFails(t *testing.T) {
	feed := someFeed()
	feed.fail = errors.New("memory.db is locked")
	pauses := make(chan time.Time)
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{After: func(time.Duration) <-chan time.Time { return pauses }})
	await(t, ix, "the error", func() bool { return strings.Contains(ix.Status().Error, "locked") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ix.CatchUp(ctx); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("catching up: %v", err)
	}
	feed.mu.Lock()
	feed.fail = nil
	feed.mu.Unlock()
	pauses <- time.Time{}
	catchUp(t, ix)
	checkContents(t, ix, feed)
}

// farModel is an embedding model behind a network.
type farModel struct {
	name  string
	dims  int
	fail  atomic.Pointer[error]
	asked atomic.Int64
}

func (m *farModel) Model() string { return m.name }

func (m *farModel) Embed(_ context.Context, texts ...string) ([][]float32, error) {
	m.asked.Add(1)
	if err := m.fail.Load(); err != nil {
		return nil, *err
	}
	all := make([][]float32, len(texts))
	for i, text := range texts {
		all[i] = make([]float32, m.dims)
		for _, w := range strings.Fields(strings.ToLower(text)) {
			all[i][int(hash(w))%m.dims]++
		}
	}
	return all, nil
}

func TestModelChanges(t *testing.T) {
	feed := someFeed()
	path := filepath.Join(t.TempDir(), "index.db")
	ix := openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}

	down := errors.New("connection refused")
	far := &farModel{name: "far-1", dims: 48}
	far.fail.Store(&down)
	pauses := make(chan time.Time)
	now := atomic.Int64{}
	opts := Options{Embedder: far, After: func(time.Duration) <-chan time.Time { return pauses },
		Clock: func() time.Time { return time.UnixMilli(1_700_000_000_000 + now.Load()) }}
	ix = openIndex(t, path, feed, opts)
	await(t, ix, "the model's error", func() bool { return ix.Status().EmbedError != "" })
	catchUp(t, ix)
	a, err := ix.Rank(t.Context(), Request{Text: "retry queue", Limit: 5})
	if err != nil || a.Semantic || len(a.Matches) != 1 || a.Matches[0].Likeness != 0 {
		t.Errorf("model down: %+v, %v", a, err)
	}
	asked := far.asked.Load()
	if _, err := ix.Rank(t.Context(), Request{Text: "retry queue", Limit: 5}); err != nil || far.asked.Load() != asked {
		t.Errorf("a model that has just failed is asked again: %v", err)
	}
	if s := ix.Status(); s.Waiting != 2 || s.Fragments != 0 || s.Model != "far-1" {
		t.Errorf("status %+v", s)
	}

	far.fail.Store(nil)
	now.Store(time.Hour.Milliseconds())
	pauses <- time.Time{}
	await(t, ix, "vectors", func() bool { return ix.Status().Waiting == 0 })
	a, err = ix.Rank(t.Context(), Request{Text: "retry queue", Limit: 5})
	if err != nil || !a.Semantic || a.Matches[0].ID != 2 || a.Matches[0].Likeness < .9 || a.Matches[0].Fragment != "title" {
		t.Errorf("model up: %+v, %v", a, err)
	}
	feed.put(observation(3, "Session cookie", "lost its path"), memory.Document{RecordRef: ref("summary", 1)})
	catchUp(t, ix)
	await(t, ix, "the new one's vectors", func() bool { return ix.Status().Waiting == 0 })
	if s := ix.Status(); s.Documents != 4 || s.Fragments != 6 || s.Dimensions != 48 || s.EmbedError != "" {
		t.Errorf("status %+v", s)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}

	// The same model again asks nothing; it knows its dimensions.
	asked = far.asked.Load()
	ix = openIndex(t, path, feed, opts)
	catchUp(t, ix)
	if s := ix.Status(); s.Waiting != 0 || s.Dimensions != 48 || far.asked.Load() != asked {
		t.Errorf("opened again: %+v", s)
	}
	// A server that has another model under the same name all at once.
	far.dims = 32
	feed.put(observation(3, "Session cookie", "lost its domain"))
	catchUp(t, ix)
	await(t, ix, "vectors of 32", func() bool { s := ix.Status(); return s.Waiting == 0 && s.Dimensions == 32 && s.Fragments == 6 })
	if a, err := ix.Rank(t.Context(), Request{Text: "session cookie", Limit: 5}); err != nil || !a.Semantic || a.Matches[0].ID != 3 {
		t.Errorf("other dimensions: %+v, %v", a, err)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}

	ix = openIndex(t, path, feed, Options{})
	catchUp(t, ix)
	checkContents(t, ix, feed)
}

func TestReindexGoesOnAnswering(t *testing.T) {
	feed := newMemoryFeed()
	for i := range int64(2500) {
		feed.put(observation(i+1, "Title", "text of a record"))
	}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	var reports []int
	err := ix.Reindex(t.Context(), func(done, total int) {
		reports = append(reports, done)
		if total != 2500 {
			t.Errorf("total %d", total)
		}
		if got := found(t, ix, "record", Filter{}); len(got) < 20 {
			t.Errorf("at %d: found %d", done, len(got))
		}
		if err := ix.Reindex(t.Context(), nil); done < total && memory.CodeOf(err) != memory.CodeConflict {
			t.Logf("a second one: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(reports) || len(reports) == 0 {
		t.Errorf("reports %v", reports)
	}
	checkContents(t, ix, feed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ix.Reindex(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	catchUp(t, ix)
	checkContents(t, ix, feed)
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	feed := someFeed()
	far := &farModel{name: "far", dims: 8}
	for _, opts := range []Options{{}, {Embedder: far}} {
		ix, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), feed, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(ix.Close(), ix.Close()); err != nil {
			t.Error(err)
		}
		if _, err := ix.Rank(t.Context(), Request{Text: "cart"}); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("rank after close: %v", err)
		}
		if err := ix.CatchUp(t.Context()); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("catching up after close: %v", err)
		}
		if err := ix.Reindex(t.Context(), nil); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("reindex after close: %v", err)
		}
	}
	if n := len(feed.followers); n != 0 {
		t.Errorf("%d followers are left", n)
	}
	// database/sql ends its own goroutine a moment after Close.
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestReindexOfADamagedIndex: a rebuild takes the place of an index that cannot take changes any more.
func TestReindexOfADamagedIndex(t *testing.T) {
	feed := newMemoryFeed()
	for i := range int64(2500) {
		feed.put(observation(i+1, "Title", "text of a record"))
	}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.db"), feed, Options{})
	catchUp(t, ix)
	spoilt := false
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := ix.Reindex(ctx, func(int, int) {
		if !spoilt {
			if _, err := ix.base.conn.ExecContext(t.Context(), "UPDATE texts_data SET block = x'0102030405'"); err != nil {
				t.Error(err)
			}
			feed.put(observation(1, "Another title", "another text of a record"))
			spoilt = true
		}
	})
	if err != nil || !spoilt {
		t.Fatal(err, spoilt)
	}
	checkContents(t, ix, feed)
}

// TestDamagedDocumentNumber: the number of a damaged row neither keeps the index from opening
// nor asks for memory.
func TestDamagedDocumentNumber(t *testing.T) {
	for _, id := range []string{"1 << 40", "-7"} {
		path := filepath.Join(t.TempDir(), "index.db")
		ix := openIndex(t, path, newMemoryFeed(), Options{})
		catchUp(t, ix)
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
		execFile(t, path, "INSERT INTO documents(id, kind, record_id, project, session, previous, length, digest) VALUES ("+id+", 1, 999, 1, 1, 0, 1, 1)")
		ix = openIndex(t, path, newMemoryFeed(), Options{MayRepair: func(string, string) bool { return false }})
		ix.mu.RLock()
		got := cap(ix.base.cat.entries)
		ix.mu.RUnlock()
		if got > maxPresized+1 {
			t.Errorf("document %s: room for %d documents", id, got)
		}
	}
}
