package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/queue"
	"claudemem/internal/find/recall/block"
	"claudemem/internal/find/search"
	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

var (
	_ queue.Storage  = (*store.Store)(nil)
	_ block.Source   = (*store.Store)(nil)
	_ api.Store      = (*store.Store)(nil)
	_ index.Feed     = (*store.Store)(nil)
	_ search.Records = (*store.Store)(nil)
)

// base is the time at which the tests' clock begins.
const base memory.Millis = 1_760_000_000_000

// clock is a clock that a test moves by hand.
type clock struct{ at memory.Millis }

func (c *clock) now() time.Time { return c.at.Time() }

// entropy is a source of ULIDs that gives the same bytes in every run.
type entropy struct{ n byte }

func (e *entropy) Read(p []byte) (int, error) {
	for i := range p {
		e.n++
		p[i] = e.n
	}
	return len(p), nil
}

type testStore struct {
	// importing is the number of the import that live and ofImport make events of.
	importing int64
	*store.Store
	path  string
	clock *clock
	// tampered says that the test has changed records behind the store's back.
	tampered bool
	// seed makes the ULIDs of a memory others than those of one with another seed.
	seed byte
}

func newMemory(t *testing.T) *testStore {
	t.Helper()
	return newMemoryOf(t, 0)
}

// newMemoryOf is newMemory with a seed for ULIDs.
func newMemoryOf(t *testing.T, seed byte) *testStore {
	t.Helper()
	m := &testStore{path: filepath.Join(t.TempDir(), "data", "memory.db"), clock: &clock{base}, seed: seed}
	m.open(t)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error("close:", err)
		}
		// Whatever the test has written, the hashes are those of the records.
		if wrong, _, err := store.VerifyRecords(context.Background(), m.path); err == nil && len(wrong) > 0 && !m.tampered {
			t.Errorf("the hashes of these records are wrong: %v", wrong)
		}
	})
	return m
}

func (m *testStore) open(t *testing.T) {
	t.Helper()
	var random io.Reader = &entropy{}
	if m.seed != 0 {
		random = rand.NewChaCha8([32]byte{m.seed})
	}
	s, err := store.Open(context.Background(), m.path, store.Options{Clock: m.clock.now, Rand: random})
	if err != nil {
		t.Fatal(err)
	}
	m.Store = s
}

func (m *testStore) reopen(t *testing.T) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m.open(t)
}

func (m *testStore) enqueue(t *testing.T, arrivals ...memory.Arrival) []memory.Receipt {
	t.Helper()
	receipts, err := m.Enqueue(context.Background(), arrivals...)
	if err != nil {
		t.Fatal(err)
	}
	return receipts
}

func (m *testStore) claim(t *testing.T, session memory.SessionID, limit int) memory.Claim {
	t.Helper()
	claim, err := m.Claim(context.Background(), fmt.Sprintf("claimer-%d", time.Now().UnixNano()), session, limit, m.clock.at)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

func (m *testStore) books(t *testing.T) memory.Books {
	t.Helper()
	books, err := m.Books(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return books
}

// audited fails the test when the books are out of order.
func (m *testStore) audited(t interface {
	Helper()
	Fatalf(string, ...any)
}) {
	t.Helper()
	findings, err := m.Audit(context.Background())
	if err != nil || len(findings) > 0 {
		t.Fatalf("audit: %v %v", findings, err)
	}
	books, err := m.Books(context.Background())
	if err != nil || !books.Balanced() {
		t.Fatalf("books don't balance: %+v %v", books, err)
	}
}

// event makes an arrival of the kind at base+at ms in the session; its name is
// its delivery id and, for a tool, its use id.
func event(kind memory.EventKind, session, name string, at memory.Millis, change ...func(*memory.Arrival)) memory.Arrival {
	a := memory.Arrival{
		Key:        string(kind) + ":" + session + ":" + name,
		ReceivedAt: base + at,
		Event: memory.Event{
			DeliveryID: name, Kind: kind, Host: memory.HostClaudeCode, HostSessionID: session,
			OccurredAt: base + at, ProjectPath: "/home/dev/shop",
		},
	}
	switch kind {
	case memory.KindTool:
		a.Event.ToolName, a.Event.ToolUseID = "Bash", name
		a.Event.ToolInput = json.RawMessage(`{"command":"go test ./..."}`)
		a.Event.ToolResponse = json.RawMessage(`{"stdout":"<ok>"}`)
	case memory.KindPrompt:
		a.Event.Prompt = "prompt " + name
	case memory.KindStop:
		a.Event.LastAssistantMessage = "done " + name
	}
	for _, c := range change {
		c(&a)
	}
	return a
}

func promptID(id string) func(*memory.Arrival) {
	return func(a *memory.Arrival) { a.Event.PromptID = id }
}

func skipped(reason string) func(*memory.Arrival) {
	return func(a *memory.Arrival) { a.SkipReason = reason }
}

func keys(events []memory.PendingEvent) string {
	var names []string
	for _, e := range events {
		names = append(names, e.Event.DeliveryID)
	}
	return strings.Join(names, " ")
}

func wantCode(t *testing.T, err error, want memory.Code) {
	t.Helper()
	if err == nil || memory.CodeOf(err) != want {
		t.Fatalf("got error %v, want code %s", err, want)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say little on Windows")
	}
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "t1", 1))
	dir := filepath.Dir(m.path)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v %v, want 0700", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 2 {
		t.Errorf("got %d files, want the database and its log", len(entries))
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want 0600", e.Name(), info.Mode(), err)
		}
	}
}

func TestWideFileIsNarrowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say little on Windows")
	}
	m := newMemory(t)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(m.path, 0o644); err != nil {
		t.Fatal(err)
	}
	m.open(t)
	if info, err := os.Stat(m.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want 0600", info.Mode(), err)
	}
}

// Close copies the log into the database, so that whoever opens it next finds
// one file and has nothing to recover.
func TestCloseLeavesNoLog(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "t1", 1))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(m.path + suffix); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", suffix, err)
		}
	}
	if _, err := m.Enqueue(context.Background(), event(memory.KindTool, "s", "t2", 2)); err == nil {
		t.Error("a closed store accepted an event")
	} else {
		wantCode(t, err, memory.CodeUnavailable)
	}
	m.open(t)
	if got := m.books(t).Pending; got != 1 {
		t.Errorf("got %d pending events after reopening, want 1", got)
	}
}

func TestOpenReadOnly(t *testing.T) {
	ctx := context.Background()
	t.Run("no database", func(t *testing.T) {
		dir := t.TempDir()
		_, err := store.OpenReadOnly(ctx, filepath.Join(dir, "memory.db"))
		wantCode(t, err, memory.CodeNoMemory)
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("it made %v", entries)
		}
	})
	t.Run("empty file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "memory.db")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := store.OpenReadOnly(ctx, path)
		wantCode(t, err, memory.CodeNoMemory)
	})
	t.Run("beside the worker", func(t *testing.T) {
		m := newMemory(t)
		m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1))
		r, err := store.OpenReadOnly(ctx, m.path)
		if err != nil {
			t.Fatal(err)
		}
		// It sees what is committed after it was opened, too.
		m.enqueue(t, event(memory.KindPrompt, "s", "p2", 2))
		checkReadOnly(t, r, 2)
	})
	t.Run("without a worker", func(t *testing.T) {
		m := newMemory(t)
		m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1))
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(m.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := store.OpenReadOnly(ctx, m.path)
		if err != nil {
			t.Fatal(err)
		}
		checkReadOnly(t, r, 1)
		after, err := os.ReadFile(m.path)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("reading changed the database (%v)", err)
		}
		m.open(t)
	})
}

// What a killed worker had accepted is in the log that it left.
func TestOpenReadOnlyAfterAKill(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1), event(memory.KindPrompt, "s", "p2", 2))
	left := filepath.Join(t.TempDir(), "memory.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(m.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenReadOnly(context.Background(), left)
	if err != nil {
		t.Fatal(err)
	}
	checkReadOnly(t, r, 2)
	if after, err := os.ReadFile(left); err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading changed the database (%v)", err)
	}
	s, err := store.Open(context.Background(), left, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if books, err := s.Books(context.Background()); err != nil || books.Processed != 2 {
		t.Errorf("got %+v %v, want both prompts", books, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkReadOnly(t *testing.T, r *store.Store, prompts int) {
	t.Helper()
	ctx := context.Background()
	session, err := r.SessionByHost(ctx, memory.HostClaudeCode, "s")
	if err != nil || session.PromptCount != prompts {
		t.Errorf("got %+v %v, want %d prompts", session, err, prompts)
	}
	if _, err := r.Enqueue(ctx, event(memory.KindTool, "s", "t", 9)); err == nil {
		t.Error("a store for reading accepted an event")
	}
	if err := r.AddNotice(ctx, "k", "v"); err == nil {
		t.Error("a store for reading wrote a notice")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestPathNeedsEscapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "50% of #1? & käse", "memory.db")
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, "?", "")
	}
	s, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the database is not at %s: %v", path, err)
	}
}

func TestNotices(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	take := func() string {
		t.Helper()
		texts, err := m.TakeNotices(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(texts, "|")
	}
	add := func(key, text string) {
		t.Helper()
		m.clock.at++
		if err := m.AddNotice(ctx, key, text); err != nil {
			t.Fatal(err)
		}
	}
	add("login", "the login has expired")
	add("cap", "the cap is reached")
	if got, want := take(), "the login has expired|the cap is reached"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	add("login", "the login has expired")
	if got := take(); got != "" {
		t.Errorf("told again: %q", got)
	}
	add("login", "the login has expired twice")
	if got, want := take(), "the login has expired twice"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := m.ClearNotice(ctx, "cap"); err != nil {
		t.Fatal(err)
	}
	add("cap", "the cap is reached")
	if got, want := take(), "the cap is reached"; got != want {
		t.Errorf("after clearing got %q, want %q", got, want)
	}
}

func TestInjectionIsBookedOnce(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1))
	in := memory.Injection{
		Host: memory.HostClaudeCode, HostSessionID: "s", ProjectPath: "/home/dev/shop", Where: "SessionStart", Source: "startup",
		Observations: []memory.ObservationID{3}, Layers: []memory.LayerCost{{Name: "sessions", Tokens: 40, Items: 2}},
		Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}}, Tokens: 40, Budget: 2000, BuildMS: 1.5, At: base + 5,
	}
	for range 2 { // from the worker, and from a spool file
		if err := m.RecordInjection(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	prompt := in
	prompt.Where, prompt.Source, prompt.At = "UserPromptSubmit", "prompt", base+9
	prompt.Said = map[memory.ObservationID][]uint32{3: {7, 1 << 31}, 4: nil}
	if err := m.RecordInjection(ctx, prompt); err != nil {
		t.Fatal(err)
	}
	at, err := m.LastInjection(ctx, memory.HostClaudeCode, "s")
	if err != nil || at != base+5 {
		t.Errorf("got last injection %d %v, want %d", at, err, base+5)
	}
	if at, err := m.LastInjection(ctx, memory.HostClaudeCode, "other"); err != nil || at != 0 {
		t.Errorf("got last injection %d %v of an unknown session, want 0", at, err)
	}
	shown, err := m.Shown(ctx, memory.HostClaudeCode, "s")
	if want := (memory.Shown{Observations: []memory.ObservationID{3, 3}, Said: prompt.Said}); err != nil || !reflect.DeepEqual(shown, want) {
		t.Errorf("got shown %+v %v, want %+v", shown, err, want)
	}
	type row struct {
		Type, Data string
		Tokens     int
	}
	var rows []row
	for _, r := range rawRows(t, m.path, "SELECT event_type, data, tokens_out FROM event_log ORDER BY id") {
		rows = append(rows, row{r[0].(string), r[1].(string), int(r[2].(int64))})
	}
	if len(rows) != 2 {
		t.Fatalf("got %d rows of event_log, want 2", len(rows))
	}
	want := row{
		"hook.context_inject",
		`{"layers":[{"name":"sessions","tokens":40,"items":2}],"skipped":[{"name":"learnings","tokens":0,"reason":"empty"}],"tokens":40,"budget":2000,"build_ms":1.5}`, 40,
	}
	if rows[0] != want {
		t.Errorf("got %+v, want %+v", rows[0], want)
	}
	want = row{"hook.recall_inject", `{"where":"UserPromptSubmit","source":"prompt","observations":[3],"tokens":40,"build_ms":1.5}`, 40}
	if rows[1] != want {
		t.Errorf("got %+v, want %+v", rows[1], want)
	}
}

// TestLookup: what was read in full is noted for the session that read it; who
// reads without a session, or for one that is not known, is noted without.
func TestLookup(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	m.enqueue(t, event(memory.KindPrompt, "s", "p1", 1))
	for _, session := range []string{"s", "unheard of", ""} {
		if err := m.RecordLookup(ctx, memory.HostClaudeCode, session, 7, 3); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.RecordLookup(ctx, memory.HostClaudeCode, "s"); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(rawRows(t, m.path, "SELECT event_type, session_id, data FROM event_log ORDER BY id"))
	want := `[[lookup 1 {"observations":[7,3]}] [lookup <nil> {"observations":[7,3]}] [lookup <nil> {"observations":[7,3]}]]`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSizes(t *testing.T) {
	m := newMemory(t)
	m.enqueue(t, event(memory.KindTool, "s", "t1", 1))
	sizes, err := m.Sizes(context.Background())
	if err != nil || sizes.Database == 0 || sizes.Log == 0 {
		t.Errorf("got %+v %v, want sizes of both files", sizes, err)
	}
}

// noise returns a text of n letters, always the same, which takes at least half of that on disk:
// other texts are packed.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + random.IntN(64))
	}
	return string(text)
}
