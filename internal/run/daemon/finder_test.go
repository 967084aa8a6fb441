package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/distil/embedder"
	"claudemem/internal/keep/index"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// indexed waits until everything that is stored is found.
func indexed(t *testing.T, w *Worker) {
	t.Helper()
	var status indexStatus
	if !eventually(func() bool {
		status = w.finder.status()
		return status.State == indexOpen && status.Behind == 0 && !status.Building
	}) {
		t.Fatalf("the index is not there: %+v", status)
	}
}

type searchAnswer struct {
	Total   int
	Results []struct {
		Kind  string
		ID    int64
		Title string
		Score float64
	}
}

// search asks a worker as the commands do, and returns the titles.
func find(t *testing.T, peer *api.Remote, query string) []string {
	t.Helper()
	var found searchAnswer
	if err := peer.Do(t.Context(), http.MethodGet, "/api/search?"+query, nil, &found); err != nil {
		t.Fatalf("search %s: %v", query, err)
	}
	titles := []string{}
	for _, r := range found.Results {
		titles = append(titles, r.Title)
	}
	return titles
}

type fields map[string]any

func remember(t *testing.T, peer *api.Remote, m fields) (kept struct {
	ID        int64
	Title     string
	Narrative string
	Facts     []string
	Project   string
}) {
	t.Helper()
	if err := peer.Do(t.Context(), http.MethodPost, "/api/observations", m, &kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// What is written down is found, hidden, brought back and in the end erased.
func TestWrittenDownAndFound(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	first := remember(t, peer, fields{"project": "/home/ada/tally", "narrative": "Amounts are whole cents because floats lose money. See money.go.", "files": []string{"money/money.go"}})
	remember(t, peer, fields{"project": "/home/ada/other", "narrative": "The scheduler retries three times."})
	indexed(t, w)
	if got := find(t, peer, "query=losing+money&project=tally"); len(got) == 0 || got[0] != "Amounts are whole cents because floats lose money" {
		t.Errorf("found %q", got)
	}
	if got := find(t, peer, "query=scheduler&project=tally"); slices.Contains(got, "The scheduler retries three times") {
		t.Errorf("another project's: %q", got)
	}
	if got := find(t, peer, ""); len(got) != 2 {
		t.Errorf("without a query: %q", got)
	}
	path := fmt.Sprintf("/api/observations/%d", first.ID)
	var hidden struct {
		PurgedAtEpoch memory.Millis `json:"purged_at_epoch"`
		Restore       string
	}
	if err := peer.Do(t.Context(), http.MethodDelete, path, nil, &hidden); err != nil || hidden.PurgedAtEpoch < memory.MillisOf(time.Now().Add(undoTime-time.Minute)) {
		t.Fatalf("hide: %v, %+v", err, hidden)
	}
	if got := find(t, peer, "query=cents"); slices.Contains(got, first.Title) {
		t.Errorf("hidden and found: %q", got)
	}
	method, restore, _ := strings.Cut(hidden.Restore, " ")
	if err := peer.Do(t.Context(), method, restore, struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	indexed(t, w)
	if got := find(t, peer, "query=cents"); !slices.Contains(got, first.Title) {
		t.Errorf("brought back and not found: %q", got)
	}
}

// Nothing private and no secret is kept of what somebody writes down.
func TestWrittenDownIsCleaned(t *testing.T) {
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	kept := remember(t, peer, fields{"project": "/p", "title": "Token <private>of Ada</private> rotated", "narrative": "The token was " + secret + ".",
		"facts": []string{"<private>all of it</private>", "password = \"" + secret + "\""}, "concepts": []string{"gotcha"}, "files_read": []string{"a.go", "<private>b.go</private>"}})
	if strings.Contains(fmt.Sprint(kept), "16C7e42") || strings.Contains(fmt.Sprint(kept), "Ada") || len(kept.Facts) != 1 {
		t.Errorf("kept %+v", kept)
	}
	var changed struct{ Narrative string }
	if err := peer.Do(t.Context(), http.MethodPatch, fmt.Sprintf("/api/observations/%d", kept.ID), fields{"narrative": "now " + secret}, &changed); err != nil || strings.Contains(changed.Narrative, "16C7e42") {
		t.Errorf("edited to %+v, %v", changed, err)
	}
	if err := peer.Do(t.Context(), http.MethodPost, "/api/observations", fields{"project": "/p", "narrative": "<private>nothing else</private>"}, nil); memory.CodeOf(err) != memory.CodeInvalid {
		t.Errorf("all private: %v", err)
	}
	closeWorker(t, w)
	if found := grep(t, dir, "16C7e42F292c69"); len(found) > 0 {
		t.Errorf("the secret is in %v", found)
	}
}

// grep lists the files of a directory that hold a text.
func grep(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), text) {
			found = append(found, e.Name())
		}
	}
	return found
}

// An index that cannot be opened keeps nobody from capturing, and what is wrong is said.
func TestIndexThatCannotBeOpened(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	// A directory that is not empty stands in its place.
	if err := os.MkdirAll(filepath.Join(dir, control.Index, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	if err := post(t.Context(), peer, event("s1", memory.KindPrompt)); err != nil {
		t.Errorf("capture: %v", err)
	}
	<-w.finder.tried
	if got := find(t, peer, "bug"); len(got) != 1 { // in the records themselves
		t.Errorf("search: %q", got)
	}
	if got := find(t, peer, ""); len(got) != 1 {
		t.Errorf("without a query: %q", got)
	}
	if err := peer.Do(t.Context(), http.MethodGet, "/api/readiness", nil, nil); memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "index") {
		t.Errorf("readiness: %v", err)
	}
	var stats struct {
		Stages map[string]string
		Index  struct{ State, Error string }
	}
	if err := peer.Do(t.Context(), http.MethodGet, "/api/stats", nil, &stats); err != nil || stats.Stages["index"] == "ok" || stats.Index.State != indexFailed || stats.Index.Error == "" {
		t.Errorf("stats: %v, %+v", err, stats)
	}
	if err := peer.Do(t.Context(), http.MethodPost, reindexPath, struct{}{}, nil); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("reindex: %v", err)
	}
}

// fakeIndex is an index that does what it is told.
type fakeIndex struct {
	mu       sync.Mutex
	closed   bool
	trained  int
	rebuild  chan error
	reported chan struct{}
}

func (*fakeIndex) Rank(context.Context, index.Request) (index.Answer, error) {
	return index.Answer{Behind: 7}, nil
}

func (*fakeIndex) Syntax(context.Context, string, index.Filter, int) (index.Answer, error) {
	return index.Answer{Behind: 8}, nil
}

func (f *fakeIndex) Reindex(ctx context.Context, report func(done, total int)) error {
	report(3, 40)
	close(f.reported)
	select {
	case err := <-f.rebuild:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*fakeIndex) TrainingDue() bool { return false }

func (f *fakeIndex) Train(context.Context, index.TrainOptions) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trained++
	return nil
}

func (*fakeIndex) Status() index.Status { return index.Status{Documents: 40} }

func (f *fakeIndex) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// A search waits for an index that is being opened; one that could not be opened
// is tried again, and then answers.
func TestFinderTriesAgain(t *testing.T) {
	noLeaks(t)
	opens, pauses := make(chan error), make(chan time.Time)
	var waits []time.Duration
	ix := &fakeIndex{}
	f := newFinder(func(ctx context.Context) (openIndex, error) {
		select {
		case err := <-opens:
			return ix, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, slog.New(slog.DiscardHandler))
	f.after = func(d time.Duration) <-chan time.Time { waits = append(waits, d); return pauses }
	f.start()
	if s := f.status(); s.State != control.IndexOpening || s.word() != indexOpen {
		t.Errorf("while it is opened: %+v", s)
	}
	answered := make(chan error)
	go func() {
		_, err := f.Rank(t.Context(), index.Request{})
		answered <- err
	}()
	opens <- errors.New("disk full")
	if err := <-answered; memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a search that waited: %v", err)
	}
	if s := f.status(); s.State != indexFailed || f.fault() == nil {
		t.Errorf("after a failure: %+v", s)
	}
	pauses <- time.Time{}
	opens <- errors.New("disk full")
	pauses <- time.Time{}
	opens <- nil
	if !eventually(func() bool { return f.status().State == indexOpen }) {
		t.Fatal("it is not open")
	}
	if a, err := f.Rank(t.Context(), index.Request{}); err != nil || a.Behind != 7 {
		t.Errorf("rank: %+v, %v", a, err)
	}
	if a, err := f.Syntax(t.Context(), "a", index.Filter{}, 1); err != nil || a.Behind != 8 {
		t.Errorf("syntax: %+v, %v", a, err)
	}
	if err := f.fault(); err != nil {
		t.Errorf("fault: %v", err)
	}
	if !slices.Equal(waits, []time.Duration{firstTry, 2 * firstTry}) {
		t.Errorf("waited %v", waits)
	}
	if err := f.close(); err != nil || !ix.closed {
		t.Errorf("close: %v, closed %v", err, ix.closed)
	}
	if _, err := f.Rank(t.Context(), index.Request{}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("after the close: %v", err)
	}
}

// Closing waits for nothing that hangs: not for an index that is being opened, nor
// for searches that wait for it.
func TestFinderClosesWhileOpening(t *testing.T) {
	noLeaks(t)
	f := newFinder(func(ctx context.Context) (openIndex, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, slog.New(slog.DiscardHandler))
	f.start()
	answered := make(chan error)
	go func() {
		_, err := f.Rank(context.Background(), index.Request{})
		answered <- err
	}()
	if err := f.close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("the search: %v", err)
	}
	f.start() // a start that lost the race begins nothing
	if err := f.close(); err != nil {
		t.Error(err)
	}
}

func TestFinderRebuilds(t *testing.T) {
	noLeaks(t)
	ix := &fakeIndex{rebuild: make(chan error), reported: make(chan struct{})}
	f := newFinder(func(context.Context) (openIndex, error) { return ix, nil }, slog.New(slog.DiscardHandler))
	f.start()
	if err := f.StartReindex(); err != nil {
		t.Fatal(err)
	}
	<-ix.reported
	if got, want := f.Reindexing(), (api.Reindexing{Running: true, Done: 3, Total: 40}); got != want {
		t.Errorf("under way: %+v, want %+v", got, want)
	}
	if err := f.StartReindex(); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("twice: %v", err)
	}
	ix.rebuild <- nil
	if want := (api.Reindexing{Done: 40, Total: 40}); !eventually(func() bool { return f.Reindexing() == want }) {
		t.Errorf("done: %+v, want %+v", f.Reindexing(), want)
	}
	ix.reported = make(chan struct{})
	if err := f.StartReindex(); err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil { // ends it
		t.Error(err)
	}
	if got := f.Reindexing(); got.Running || got.Error == "" {
		t.Errorf("cut short: %+v", got)
	}
}

// With and without a worker the index is built anew and has all records.
func TestReindex(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	report := func(int, int) {}
	if _, err := Reindex(t.Context(), dir, report); memory.CodeOf(err) != memory.CodeNoMemory {
		t.Errorf("nothing captured: %v", err)
	}
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	for n := range 5 {
		remember(t, peer, fields{"project": "/p", "narrative": fmt.Sprintf("Fact number %d of the scheduler", n)})
	}
	for _, running := range []bool{true, false} {
		if !running {
			closeWorker(t, w)
		}
		if n, err := Reindex(t.Context(), dir, report); err != nil || n != 5 {
			t.Errorf("worker %v: %d records, %v", running, n, err)
		}
	}
	for _, name := range []string{control.Index, control.Vectors} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := Reindex(t.Context(), dir, report); err != nil || n != 5 {
		t.Errorf("without an index: %d records, %v", n, err)
	}
	// Deleting the index loses nothing.
	if err := os.Remove(filepath.Join(dir, control.Index)); err != nil {
		t.Fatal(err)
	}
	w = open(t, config(dir))
	indexed(t, w)
	if got := find(t, peerOf(t, dir), "query=scheduler"); len(got) != 5 {
		t.Errorf("found %q", got)
	}
}

func TestEmbedders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		set   map[string]string
		check func(index.Embedder) bool
	}{
		{"built in", nil, func(e index.Embedder) bool { return e == nil }},
		{"off", map[string]string{settings.KeyEmbedder: "off"}, func(e index.Embedder) bool { n, ok := e.(noEmbedder); return ok && n.err == nil }},
		{"a server", map[string]string{settings.KeyEmbedder: "openai-compatible", settings.KeyEmbedderBaseURL: "http://127.0.0.1:1/v1", settings.KeyEmbedderModel: "m"},
			func(e index.Embedder) bool {
				_, ok := e.(*embedder.Client)
				return ok && strings.HasSuffix(e.Model(), "m")
			}},
		{"a server without an address", map[string]string{settings.KeyEmbedder: "openai-compatible"}, func(e index.Embedder) bool { n, ok := e.(noEmbedder); return ok && n.err != nil && e.Model() != "off" }},
		{"a server with a broken address", map[string]string{settings.KeyEmbedder: "openai-compatible", settings.KeyEmbedderBaseURL: "http//127.0.0.1:1", settings.KeyEmbedderModel: "m"},
			func(e index.Embedder) bool {
				n, ok := e.(noEmbedder)
				return ok && n.err != nil && e.Model() == embedder.ModelName("m") // else its vectors would be dropped
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := settings.LoadForWorker(t.TempDir(), func(key string) string { return tt.set[key] })
			if err != nil {
				t.Fatal(err)
			}
			e, end := embedderOf(s, time.Now, slog.New(slog.DiscardHandler))
			defer end()
			if !tt.check(e) {
				t.Errorf("got %T", e)
			}
		})
	}
}

// Without vectors search goes by words.
func TestSearchWithoutVectors(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	cfg := config(dir)
	cfg.Settings, _ = settings.LoadForWorker(dir, func(key string) string {
		return map[string]string{settings.KeyProvider: settings.ProviderOffline, settings.KeyEmbedder: embedderOff}[key]
	})
	w := open(t, cfg)
	peer := peerOf(t, dir)
	remember(t, peer, fields{"project": "/p", "narrative": "The scheduler retries three times."})
	indexed(t, w)
	if got := find(t, peer, "query=scheduler"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	if s := w.finder.status(); s.word() != "ok" {
		t.Errorf("stage %q", s.word())
	}
}
