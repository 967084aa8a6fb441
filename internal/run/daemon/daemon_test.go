package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// noLeaks fails the test when goroutines are left at its end that were not
// there before.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		var left int
		if !eventually(func() bool { left = runtime.NumGoroutine(); return left <= before }) {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines before, %d after:\n%s", before, left, stacks[:runtime.Stack(stacks, true)])
		}
	})
}

// eventually looks until a condition holds, for at most two minutes.
func eventually(holds func() bool) bool {
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
	return true
}

func ptr[T any](v T) *T { return &v }

// config is a worker's without TCP, without an idle exit and, unless settings.json
// names one, without a model: a claude that is installed here must not be asked.
func config(dir string) Config {
	offline, _ := settings.LoadForWorker(dir, func(key string) string {
		if key == settings.KeyProvider {
			return settings.ProviderOffline
		}
		return ""
	})
	return Config{DataDir: dir, Settings: offline, Version: "1.0.0", Port: ptr(0), IdleExit: ptr(time.Duration(0))}
}

func open(t *testing.T, cfg Config) *Worker {
	t.Helper()
	w, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeWorker(t, w) })
	return w
}

func closeWorker(t *testing.T, w *Worker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), CloseLimit)
	defer cancel()
	if err := w.Close(ctx); err != nil {
		t.Errorf("close worker: %v", err)
	}
}

func peerOf(t *testing.T, dir string) *api.Remote {
	t.Helper()
	peer, err := api.FindWorker(dir)
	if err != nil {
		t.Fatal(err)
	}
	return peer
}

var eventCount struct {
	sync.Mutex
	n int
}

// event makes an event of a session; each is a delivery of its own, one millisecond later.
func event(session string, kind memory.EventKind) memory.Event {
	eventCount.Lock()
	eventCount.n++
	n := eventCount.n
	eventCount.Unlock()
	e := memory.Event{
		DeliveryID: fmt.Sprintf("%032x", n), Kind: kind, Host: memory.HostClaudeCode, HostSessionID: session,
		OccurredAt:  memory.MillisOf(time.Now()) + memory.Millis(n),
		ProjectPath: "/nonexistent/project", WorktreeRoot: "/nonexistent/project", Cwd: "/nonexistent/project",
	}
	switch kind {
	case memory.KindPrompt:
		e.PromptID, e.Prompt = fmt.Sprintf("prompt-%d", n), fmt.Sprintf("Fix bug number %d", n)
	case memory.KindTool:
		e.ToolName, e.ToolUseID = "Edit", fmt.Sprintf("tool-%d", n)
		e.ToolInput = []byte(fmt.Sprintf(`{"file_path":"/nonexistent/project/f%d.go","old_string":"a","new_string":"b"}`, n))
		e.ToolResponse = []byte(fmt.Sprintf(`{"filePath":"/nonexistent/project/f%d.go","oldString":"a","newString":"b"}`, n))
	case memory.KindStop:
		e.PromptID, e.LastAssistantMessage = fmt.Sprintf("prompt-%d", n), fmt.Sprintf("Fixed bug number %d.", n)
	}
	return e
}

func post(ctx context.Context, peer *api.Remote, e memory.Event) error {
	return peer.Do(ctx, http.MethodPost, wire.PathFor(e.Kind), e, nil)
}

func booksOf(t *testing.T, w *Worker) memory.Books {
	t.Helper()
	b, err := w.store.Books(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenServesUntilClosed(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "memory")
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	for _, path := range []string{"/api/health", "/api/readiness", "/api/version", "/api/stats"} {
		if err := peer.Do(t.Context(), http.MethodGet, path, nil, nil); err != nil {
			t.Errorf("GET %s: %v", path, err)
		}
	}
	status, err := control.Look(t.Context(), dir)
	if err != nil || !status.Running || status.PID != os.Getpid() || status.Version != "1.0.0" {
		t.Errorf("status %+v, %v; want this process, running", status, err)
	}
	for stage, state := range status.Stages {
		if state != "ok" {
			t.Errorf("stage %s: %s", stage, state)
		}
	}
	if runtime.GOOS != "windows" {
		for name, want := range map[string]fs.FileMode{"": 0o700, "worker.sock": 0o600, "worker.json": 0o600, "worker.lock": 0o600, "token": 0o600, "memory.db": 0o600} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("mode of %q: %v, %v, want %v", name, info, err, want)
			}
		}
	}
	closeWorker(t, w)
	for _, name := range []string{"worker.sock", "worker.json", "worker.starting"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if held, err := control.LockHeld(dir); err != nil || held {
		t.Errorf("lock is held: %t, %v, want false", held, err)
	}
	if status, err := control.Look(t.Context(), dir); err != nil || status.Running {
		t.Errorf("status after close: %+v, %v", status, err)
	}
	closeWorker(t, w) // a second time is harmless
}

func TestOnlyOneWorker(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	if _, err := wire.ClaimStart(dir, time.Now(), true); err != nil {
		t.Fatal(err)
	}
	const contenders = 6
	workers, errs := make([]*Worker, contenders), make([]error, contenders)
	var wg sync.WaitGroup
	for i := range contenders {
		wg.Go(func() { workers[i], errs[i] = Open(t.Context(), config(dir)) })
	}
	wg.Wait()
	won := 0
	for i := range contenders {
		switch {
		case errs[i] == nil:
			won++
			defer closeWorker(t, workers[i])
		case memory.CodeOf(errs[i]) != memory.CodeConflict:
			t.Errorf("loser: %v, want CodeConflict", errs[i])
		}
	}
	if won != 1 {
		t.Errorf("%d became the worker, want 1", won)
	}
	if _, err := os.Stat(filepath.Join(dir, "worker.starting")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the starting marker is left: %v", err)
	}
}

func TestStaleSocketAndInfo(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "worker.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteWorkerInfo(dir, wire.WorkerInfo{PID: 1, Version: "9.9.9", Wire: 99, Socket: socket}); err != nil {
		t.Fatal(err)
	}
	open(t, config(dir))
	if err := peerOf(t, dir).Do(t.Context(), http.MethodGet, "/api/readiness", nil, nil); err != nil {
		t.Error(err)
	}
}

func TestHandOver(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	old := open(t, config(dir))
	ended := make(chan error, 1)
	go func() { ended <- old.Run(context.Background()) }()
	if err := post(t.Context(), peerOf(t, dir), event("s", memory.KindPrompt)); err != nil {
		t.Fatal(err)
	}

	cfg := config(dir)
	cfg.Version = "1.1.0"
	next := open(t, cfg)
	if err := <-ended; err != nil {
		t.Errorf("the old worker: %v", err)
	}
	if got := booksOf(t, next).Received; got != 1 {
		t.Errorf("the new worker has %d events, want the 1 of the old one", got)
	}

	// The older program leaves the newer worker alone, and so does an equal one.
	for _, version := range []string{"1.0.0", "1.1.0", "dev"} {
		cfg.Version = version
		if _, err := Open(t.Context(), cfg); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("version %s: %v, want CodeConflict", version, err)
		}
	}
	if err := next.Ready(); err != nil {
		t.Errorf("the newer worker after that: %v", err)
	}
}

func TestOutranks(t *testing.T) {
	tests := []struct {
		name        string
		self, other api.Identity
		want        bool
	}{
		{"newer version", api.Identity{Version: "1.1.0", Wire: 1}, api.Identity{Version: "1.0.0", Wire: 1}, true},
		{"same", api.Identity{Version: "1.0.0", Wire: 1}, api.Identity{Version: "1.0.0", Wire: 1}, false},
		{"newer wire of an older version", api.Identity{Version: "1.0.0", Wire: 2}, api.Identity{Version: "1.1.0", Wire: 1}, true},
		{"older wire of a newer version", api.Identity{Version: "1.1.0", Wire: 1}, api.Identity{Version: "1.0.0", Wire: 2}, false},
		{"release after a development build", api.Identity{Version: "1.0.0", Wire: 1}, api.Identity{Version: "3f2a91c", Wire: 1}, true},
	}
	for _, tt := range tests {
		if got := control.Outranks(tt.self, tt.other); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestSpoolBeforeRequests checks that the spooled events are stored before the worker
// listens.
func TestSpoolBeforeRequests(t *testing.T) {
	dir := t.TempDir()
	spool := wire.SpoolOf(dir)
	for _, kind := range []memory.EventKind{memory.KindPrompt, memory.KindTool, memory.KindTool, memory.KindStop} {
		e := event("s", kind)
		if err := spool.WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := spool.Write("00corrupt", []byte("{\x00")); err != nil {
		t.Fatal(err)
	}
	if err := spool.WriteInjection("ffffffff", &memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "s", Where: "SessionStart", Tokens: 7, At: 5,
		Lines: []memory.ContextLine{{Layer: "observations", Text: "- It was told", Observation: 3, Why: "pinned"}}}); err != nil {
		t.Fatal(err)
	}
	w := open(t, config(dir))
	if b := booksOf(t, w); b.Received != 4 || !b.Balanced() {
		t.Errorf("books %+v, want 4 received", b)
	}
	if at, err := w.store.LastInjection(t.Context(), memory.HostClaudeCode, "s"); err != nil || at != 5 {
		t.Errorf("last injection %d, %v, want 5", at, err)
	}
	if given, _, err := w.store.Given(t.Context(), accounts.GivenQuery{}); err != nil || len(given) != 1 || len(given[0].Lines) != 1 || given[0].Lines[0].Words != "It was told" {
		t.Errorf("given %+v, %v", given, err)
	}
	if names := spoolNames(t, spool); len(names) != 0 {
		t.Errorf("left in the spool: %v", names)
	}
	if n := spool.CountCorrupt(); n != 1 {
		t.Errorf("%d corrupt files kept, want 1", n)
	}
	if !eventually(func() bool { return booksOf(t, w).Processed == 4 }) {
		t.Errorf("books %+v, want all processed", booksOf(t, w))
	}
	var notices []accounts.Notice
	if !eventually(func() bool { notices, _ = w.store.Standing(t.Context(), time.Now()); return len(notices) > 0 }) || !strings.Contains(notices[0].Text, "could not be read") {
		t.Errorf("notices %+v, want one of the corrupt file", notices)
	}
}

// TestStartLineLeadsToGiven: the user's line at a start has the address of what the agent was given, if there is a port and
// anything was given.
func TestStartLineLeadsToGiven(t *testing.T) {
	w := open(t, config(t.TempDir()))
	ask := func() string {
		t.Helper()
		block, err := w.Context(t.Context(), memory.ContextRequest{Host: memory.HostClaudeCode, HostSessionID: "s", ProjectPath: "/home/ada/tally", Source: "startup"})
		if err != nil {
			t.Fatal(err)
		}
		return block.SystemMessage
	}
	w.port = 4711
	if said := ask(); said != "" {
		t.Errorf("an empty memory says %q", said)
	}
	if _, err := w.store.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/home/ada/tally", Type: memory.TypeDecision, Title: "Amounts are whole cents", Origin: memory.OriginUser}); err != nil {
		t.Fatal(err)
	}
	if said := ask(); !strings.HasPrefix(said, "claude-mem: 1 observation") || !strings.HasSuffix(said, "\nWhat the agent was given: http://127.0.0.1:4711/given") {
		t.Errorf("it says %q", said)
	}
	w.port = 0
	if said := ask(); strings.Contains(said, "http") {
		t.Errorf("without a port it says %q", said)
	}
}

// TestSpooledBeforeDelivered checks that an event that was spooled is stored before a
// later one that was delivered.
func TestSpooledBeforeDelivered(t *testing.T) {
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	prompt, tool, stop := event("s", memory.KindPrompt), event("s", memory.KindTool), event("s", memory.KindStop)
	stop.PromptID = prompt.PromptID
	spool := wire.SpoolOf(dir)
	for _, e := range []*memory.Event{&prompt, &tool} {
		if err := spool.WriteEvent(e.DeliveryID, wire.EncodeEvent(e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := post(t.Context(), peer, stop); err != nil {
		t.Fatal(err)
	}
	// The POST of the tool had got through as well, only too late for its hook.
	if err := post(t.Context(), peer, tool); err != nil {
		t.Fatal(err)
	}
	if b := booksOf(t, w); b.Received != 3 || b.Duplicates != 1 {
		t.Errorf("books %+v, want 3 received and 1 duplicate", b)
	}
	if !eventually(func() bool { return booksOf(t, w).Processed == 3 }) {
		t.Fatalf("books %+v, want all processed", booksOf(t, w))
	}
	session, err := w.store.SessionByHost(t.Context(), memory.HostClaudeCode, "s")
	if err != nil {
		t.Fatal(err)
	}
	observations, err := w.store.Observations(t.Context(), memory.Query{Session: session.ID})
	if err != nil {
		t.Fatal(err)
	}
	if len(observations) != 1 || observations[0].PromptNumber != 1 {
		t.Errorf("observations %+v, want one of prompt 1", observations)
	}
}

func TestIdleExit(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	cfg := config(dir)
	cfg.IdleExit = ptr(30 * time.Millisecond)
	w := open(t, cfg)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(context.Background()) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("an idle worker does not end")
	}
	if status, err := control.Look(t.Context(), dir); err != nil || status.Running {
		t.Errorf("status %+v, %v, want not running", status, err)
	}
}

// TestDataDirectoryDeleted checks that a worker stops when its data directory is deleted.
func TestDataDirectoryDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use cannot be deleted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "memory")
	cfg := config(dir)
	cfg.Housekeeping = 5 * time.Millisecond
	w := open(t, cfg)
	indexed(t, w)
	// The worker may write memory.json or a backup meanwhile.
	for end := time.Now().Add(2 * time.Minute); ; {
		err := os.RemoveAll(dir)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	select {
	case <-w.Done():
	case <-time.After(2 * time.Minute):
		t.Fatal("the worker goes on")
	}
}

func TestNotIdle(t *testing.T) {
	var now atomic.Int64 // the worker's goroutines look at the clock too
	now.Store(time.Now().UnixNano())
	forward := func(d time.Duration) { now.Add(int64(d)) }
	cfg := config(t.TempDir())
	cfg.Clock = func() time.Time { return time.Unix(0, now.Load()) }
	cfg.Housekeeping = time.Hour // the test looks, not the timer
	cfg.IdleExit = ptr(30 * time.Minute)
	w := open(t, cfg)
	idle := func() bool { return w.idle(t.Context()) }

	w.use()
	if idle() {
		t.Error("idle right after a request")
	}
	forward(31 * time.Minute)
	if !idle() {
		t.Error("not idle after 31 minutes")
	}
	w.open.Add(1)
	if idle() {
		t.Error("idle with a request under way")
	}
	w.open.Add(-1)
	// An open turn waits to be distilled.
	for _, kind := range []memory.EventKind{memory.KindPrompt, memory.KindTool} {
		if _, err := w.intake.Ingest(t.Context(), event("s", kind)); err != nil {
			t.Fatal(err)
		}
	}
	if b := booksOf(t, w); b.Pending != 1 || idle() {
		t.Errorf("books %+v, idle %t: want one pending and not idle", b, idle())
	}
	forward(-2 * time.Hour)
	if idle() {
		t.Error("idle after the clock was set back")
	}
	*w.cfg.IdleExit = 0
	forward(48 * time.Hour)
	if idle() {
		t.Error("idle although it never ends by itself")
	}
}

// TestLogIsTrimmed: the write-ahead log of a busy time is cut when nothing was asked for a
// while, not before, and what it had is there.
func TestLogIsTrimmed(t *testing.T) {
	var now atomic.Int64 // the worker's goroutines look at the clock too
	now.Store(time.Now().UnixNano())
	dir := t.TempDir()
	cfg := config(dir)
	cfg.Clock = func() time.Time { return time.Unix(0, now.Load()) }
	cfg.Housekeeping = time.Hour // the test looks, not the timer
	w := open(t, cfg)
	payload := []byte(`"` + strings.Repeat("x", 60_000) + `"`)
	for range 60 {
		e := event("s", memory.KindTool)
		e.ToolResponse = payload
		if _, err := w.intake.Ingest(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, control.Database+"-wal")
	size := func() int64 {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	w.use()
	if w.trimLog(t.Context()); size() < 2*keptLog {
		t.Fatalf("the log has %d bytes right after a request", size())
	}
	now.Add(int64(trimAfter))
	// A look into the database by a stage may be in the way for a moment.
	if !eventually(func() bool { w.trimLog(t.Context()); return size() <= keptLog }) {
		t.Errorf("the log still has %d bytes", size())
	}
	if b := booksOf(t, w); b.Received < 60 {
		t.Errorf("books %+v, want 60 received", b)
	}
}

// TestStopLosesNothing checks that every event answered with 202 is in the books, whenever
// the worker stops.
func TestStopLosesNothing(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	peer := peerOf(t, dir)
	const clients = 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	some := make(chan struct{}, clients*1000) // room for every token of this test
	for i := range clients {
		wg.Go(func() {
			for n := 0; n < 1000; n++ {
				kind := memory.KindTool
				if n%10 == 0 {
					kind = memory.KindPrompt
				}
				if post(context.Background(), peer, event(fmt.Sprint("s", i), kind)) != nil {
					return // the worker is gone; a hook would spool
				}
				mu.Lock()
				accepted++
				mu.Unlock()
				some <- struct{}{}
			}
		})
	}
	for range 5 * clients {
		<-some
	}
	closeWorker(t, w)
	wg.Wait()

	again := open(t, config(dir))
	b := booksOf(t, again)
	// An event can be durable whose client was cut off before the answer; never the reverse.
	if b.Received < accepted || b.Received > accepted+clients || !b.Balanced() {
		t.Errorf("books %+v after %d accepted", b, accepted)
	}
	if b.Processing != 0 && !eventually(func() bool { return booksOf(t, again).Processing == 0 }) {
		t.Errorf("books %+v: claims were not given back", b)
	}
}

func TestShutdownRoute(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	w := open(t, config(dir))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(context.Background()) }()
	stopped, err := control.Stop(t.Context(), dir, 10*time.Second)
	if err != nil || !stopped {
		t.Errorf("stop: %t, %v, want true", stopped, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if stopped, err := control.Stop(t.Context(), dir, time.Second); err != nil || stopped {
		t.Errorf("stop without a worker: %t, %v, want false", stopped, err)
	}
	if stopped, err := control.Stop(t.Context(), filepath.Join(dir, "none"), time.Second); err != nil || stopped {
		t.Errorf("stop without a data directory: %t, %v, want false", stopped, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made a data directory: %v", err)
	}
}
