package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem"
	"claudemem/api"
	"claudemem/settings"
	"claudemem/store"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// fakeWorker implements all interfaces behind the routes.
type fakeWorker struct {
	mu         sync.Mutex
	events     []claudemem.Event
	receipt    claudemem.Receipt
	err        error // of the next calls
	block      claudemem.ContextBlock
	asked      []claudemem.ContextRequest
	touched    chan claudemem.ContextRequest
	booked     chan claudemem.Injection
	notices    []string
	flushed    []string
	queried    []claudemem.Query
	records    []claudemem.Observation
	dead       []claudemem.DeadLetter
	revived    []string
	notReady   error
	stopped    chan struct{}
	panicValue any
	learnings  []claudemem.Learning
	listed     []claudemem.LearningQuery
	symbols    []claudemem.SymbolChange
	edits      []claudemem.LearningEdit
	statuses   []claudemem.StatusRequest
	line       claudemem.Statusline
	accounts   []store.SessionReceipt
	named      []string

	searched   []claudemem.SearchRequest
	hits       []claudemem.Hit
	understood claudemem.Understood
	timelines  []claudemem.TimelineRequest
	around     claudemem.Timeline
	sessions   []claudemem.SessionDigest
	projects   []claudemem.ProjectDigest
	added      []claudemem.NewObservation
	edited     []claudemem.ObservationEdit
	searchErr  error
	reindexing api.Reindexing
	lookups    chan string
	forgotten  []api.ForgetRequest
}

func newFakeWorker() *fakeWorker {
	return &fakeWorker{
		receipt: claudemem.Receipt{Session: 12, PromptNumber: 3, Status: claudemem.StatusPending},
		touched: make(chan claudemem.ContextRequest, 8), booked: make(chan claudemem.Injection, 8), stopped: make(chan struct{}, 8),
		lookups: make(chan string, 8),
	}
}

func (f *fakeWorker) deps() Deps {
	return Deps{Memory: &api.Local{Store: f, Searcher: f, Blocks: f, Keeper: f, Clock: func() time.Time { return noon }}, Ingester: f, Blocks: f, Books: f, Worker: f, Reindexer: f, Importer: f, Backfiller: f, Eraser: f}
}

func (f *fakeWorker) Backfill(_ context.Context, r api.BackfillRequest) (api.BackfillAnswer, error) {
	return api.BackfillAnswer{Statuses: make([]claudemem.Status, len(r.Events))}, nil
}

func (f *fakeWorker) Import(_ context.Context, records []claudemem.Portable, _ claudemem.ImportOptions) ([]claudemem.Imported, error) {
	return make([]claudemem.Imported, len(records)), nil
}

func (f *fakeWorker) StartReindex() error {
	if f.reindexing.Running {
		return claudemem.Errorf(claudemem.CodeConflict, "the index is being rebuilt already")
	}
	f.reindexing = api.Reindexing{Running: true, Total: 120}
	return nil
}

func (f *fakeWorker) Reindexing() api.Reindexing { return f.reindexing }

func (f *fakeWorker) Ingest(_ context.Context, e claudemem.Event) (claudemem.TakenIn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panicValue != nil {
		panic(f.panicValue)
	}
	f.events = append(f.events, e)
	return claudemem.TakenIn{Receipt: f.receipt, Event: e}, f.err
}

func (f *fakeWorker) last(t testing.TB) claudemem.Event {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) == 0 {
		t.Fatal("no event was ingested")
	}
	return f.events[len(f.events)-1]
}

func (f *fakeWorker) Context(_ context.Context, r claudemem.ContextRequest) (claudemem.ContextBlock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	return f.block, f.err
}

func (f *fakeWorker) Observation(_ context.Context, id claudemem.ObservationID) (claudemem.Observation, error) {
	for _, o := range f.records {
		if o.ID == id {
			return o, nil
		}
	}
	return claudemem.Observation{}, claudemem.Errorf(claudemem.CodeNotFound, "no observation #%d", id).WithHint("claude-mem recent lists the latest")
}

func (f *fakeWorker) ObservationByULID(ctx context.Context, ulid claudemem.ULID) (claudemem.Observation, error) {
	for _, o := range f.records {
		if o.ULID == ulid {
			return o, nil
		}
	}
	return claudemem.Observation{}, claudemem.Errorf(claudemem.CodeNotFound, "there is no record %s", ulid)
}

func (f *fakeWorker) Observations(_ context.Context, q claudemem.Query) ([]claudemem.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queried = append(f.queried, q)
	found := f.records[min(q.Offset, len(f.records)):]
	return found[:min(q.Limit, len(found))], f.err
}

func (f *fakeWorker) CountObservations(context.Context, claudemem.Query) (int, error) {
	return len(f.records), nil
}

func (f *fakeWorker) Totals(context.Context, string) (claudemem.Totals, error) {
	return claudemem.Totals{Projects: 1, Sessions: 2, Prompts: 3, Observations: 4, Summaries: 5}, nil
}

func (f *fakeWorker) Books(context.Context) (claudemem.Books, error) {
	return claudemem.Books{Received: 10, Processed: 6, Skipped: 2, Failed: 1, Pending: 1, Duplicates: 4}, f.err
}

func (f *fakeWorker) Recorded(context.Context, string, time.Time, int) (store.Recorded, error) {
	return store.EmptyRecorded(), f.err
}

func (f *fakeWorker) Account(_ context.Context, now time.Time, days int) (store.Account, error) {
	return store.EmptyAccount(now, days), f.err
}

func (f *fakeWorker) ReceiptTotals(_ context.Context, since claudemem.Millis) (store.ReceiptTotals, error) {
	return store.EmptyReceiptTotals(since), f.err
}

func (f *fakeWorker) Backlog(context.Context, claudemem.Millis) ([]claudemem.Backlog, error) {
	return []claudemem.Backlog{{Session: claudemem.Session{ID: 12, ProjectPath: "/home/ada/work/tally"}, Pending: 1, NewestAt: claudemem.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) Standing(context.Context, time.Time) ([]store.Notice, error) {
	return []store.Notice{{Key: "index", Text: "the index is damaged"}, {Key: "provider_claude_login", Text: "claude needs a login", At: claudemem.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) Ready() error { return f.notReady }

func (f *fakeWorker) Flush(host claudemem.Host, session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushed = append(f.flushed, string(host)+" "+session)
}

func (f *fakeWorker) Touch(_ context.Context, r claudemem.ContextRequest) { f.touched <- r }

func (f *fakeWorker) Stats(context.Context) map[string]any {
	return map[string]any{"uptime_ms": 1500, "queue": "the books win over this"}
}

func (f *fakeWorker) Done() <-chan struct{} { return nil }

func (f *fakeWorker) Shutdown() { f.stopped <- struct{}{} }

func (f *fakeWorker) RecordInjection(_ context.Context, i claudemem.Injection) error {
	f.booked <- i
	return nil
}

func (f *fakeWorker) RecordLookup(_ context.Context, host claudemem.Host, session string, ids ...claudemem.ObservationID) error {
	f.lookups <- fmt.Sprintf("%s %s %d", host, session, ids)
	return f.err
}

func (f *fakeWorker) TakeNotices(context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.notices
	f.notices = nil
	return taken, nil
}

func (f *fakeWorker) DeadLetters(context.Context, int) ([]claudemem.DeadLetter, error) {
	return f.dead, nil
}

func (f *fakeWorker) Unread(context.Context, claudemem.Millis) ([]store.Unread, error) {
	return []store.Unread{{Reason: claudemem.UnreadUnusable, Events: 3, Kept: 3, At: 1_790_000_000_000}}, nil
}

func (f *fakeWorker) Revive(_ context.Context, keys ...string) (int, error) {
	f.revived = keys
	return len(f.dead), nil
}

func (f *fakeWorker) RetryUnread(context.Context) (int, error) { return 3, nil }

func (f *fakeWorker) Symbols(_ context.Context, q claudemem.Query, name string) ([]claudemem.SymbolChange, error) {
	f.queried = append(f.queried, q)
	f.named = append(f.named, name)
	found := f.symbols[min(q.Offset, len(f.symbols)):]
	return found[:min(q.Limit, len(found))], f.err
}

func (f *fakeWorker) CountSymbols(context.Context, claudemem.Query, string) (int, error) {
	return len(f.symbols), f.err
}

func (f *fakeWorker) Learnings(_ context.Context, q claudemem.LearningQuery) ([]claudemem.Learning, error) {
	f.listed = append(f.listed, q)
	return f.learnings, f.err
}

func (f *fakeWorker) CountLearnings(context.Context, claudemem.LearningQuery) (int, error) {
	return len(f.learnings), nil
}

func (f *fakeWorker) AddLearning(_ context.Context, l claudemem.Learning) (claudemem.Learning, error) {
	l.ID, l.ULID, l.TimesSeen, l.Active, l.CreatedAt, l.UpdatedAt = 8, "01JNGZ0000000000000000000B", 1, true, claudemem.MillisOf(noon), claudemem.MillisOf(noon)
	if err := claudemem.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
		return l, err
	}
	f.learnings = append(f.learnings, l)
	return l, f.err
}

func (f *fakeWorker) EditLearning(_ context.Context, id int64, edit claudemem.LearningEdit) (claudemem.Learning, error) {
	f.edits = append(f.edits, edit)
	for _, l := range f.learnings {
		if l.ID == id {
			if edit.Active != nil {
				l.Active = *edit.Active
			}
			if edit.Content != nil {
				l.Content = *edit.Content
			}
			return l, nil
		}
	}
	return claudemem.Learning{}, claudemem.Errorf(claudemem.CodeNotFound, "there is no learning %d", id).WithHint("claude-mem learn list --all")
}

func (f *fakeWorker) Statusline(_ context.Context, r claudemem.StatusRequest) (claudemem.Statusline, error) {
	f.statuses = append(f.statuses, r)
	return f.line, f.err
}

func (f *fakeWorker) ObservationsByIDs(ctx context.Context, ids ...claudemem.ObservationID) ([]claudemem.Observation, error) {
	var found []claudemem.Observation
	for _, id := range ids {
		if o, err := f.Observation(ctx, id); err == nil {
			found = append(found, o)
		}
	}
	return found, f.err
}

// Search returns the hits of the requested kinds.
func (f *fakeWorker) Search(_ context.Context, r claudemem.SearchRequest) (claudemem.SearchResult, error) {
	f.searched = append(f.searched, r)
	result := claudemem.SearchResult{Understood: f.understood}
	for _, hit := range f.hits {
		if len(r.Kinds) == 0 || slices.Contains(r.Kinds, hit.Kind) {
			if !r.Explain {
				hit.Why = nil
			}
			if r.Text == "" {
				hit.Score = 0
			}
			result.Hits = append(result.Hits, hit)
		}
	}
	result.Total = len(result.Hits)
	result.Hits = result.Hits[min(r.Offset, result.Total):]
	if r.Limit > 0 {
		result.Hits = result.Hits[:min(r.Limit, len(result.Hits))]
	}
	return result, f.searchErr
}

func (f *fakeWorker) Timeline(_ context.Context, r claudemem.TimelineRequest) (claudemem.Timeline, error) {
	f.timelines = append(f.timelines, r)
	return f.around, f.searchErr
}

func (f *fakeWorker) Session(_ context.Context, id claudemem.SessionID) (claudemem.Session, error) {
	for _, d := range f.sessions {
		if d.Session.ID == id {
			return d.Session, nil
		}
	}
	return claudemem.Session{}, claudemem.Errorf(claudemem.CodeNotFound, "there is no session S%d", id)
}

func (f *fakeWorker) Sessions(_ context.Context, q claudemem.Query) ([]claudemem.SessionDigest, error) {
	f.queried = append(f.queried, q)
	found := f.sessions[min(q.Offset, len(f.sessions)):]
	return found[:min(q.Limit, len(found))], f.err
}

func (f *fakeWorker) CountSessions(context.Context, claudemem.Query) (int, error) {
	return len(f.sessions), nil
}

func (f *fakeWorker) Projects(context.Context, bool) ([]claudemem.ProjectDigest, error) {
	return f.projects, f.err
}

func (f *fakeWorker) Aliases(context.Context) ([]claudemem.ProjectAlias, error) {
	return []claudemem.ProjectAlias{{Path: "/home/ada/old/tally", Project: "/home/ada/tally", At: claudemem.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) AddAlias(_ context.Context, path, project string) (claudemem.ProjectAlias, error) {
	return claudemem.ProjectAlias{Path: path, Project: project, At: claudemem.MillisOf(noon)}, f.err
}

func (f *fakeWorker) RemoveAlias(_ context.Context, path string) (claudemem.ProjectAlias, error) {
	return claudemem.ProjectAlias{Path: path, Project: "/home/ada/tally", At: claudemem.MillisOf(noon)}, f.err
}

func (f *fakeWorker) MergeProjects(_ context.Context, m claudemem.ProjectMerge) (claudemem.ProjectMerged, error) {
	return claudemem.ProjectMerged{From: m.From, Into: m.Into, Merged: !m.DryRun, Aliased: m.Alias, Sessions: 1}, f.err
}

func (f *fakeWorker) AddObservation(_ context.Context, n claudemem.NewObservation) (claudemem.Observation, error) {
	f.added = append(f.added, n)
	if n.CreatedAt == 0 {
		n.CreatedAt = claudemem.MillisOf(noon)
	}
	return claudemem.Observation{ID: 125, ULID: "01JNGZ0000000000000000000C", Session: max(n.Session, 13), ProjectPath: n.ProjectPath, Type: n.Type,
		Title: n.Title, Subtitle: n.Subtitle, Narrative: n.Narrative, Facts: n.Facts, Concepts: n.Concepts, Files: n.Files,
		Origin: n.Origin, CreatedAt: n.CreatedAt}, f.err
}

func (f *fakeWorker) EditObservation(ctx context.Context, id claudemem.ObservationID, edit claudemem.ObservationEdit) (claudemem.Observation, error) {
	f.edited = append(f.edited, edit)
	o, err := f.Observation(ctx, id)
	if err == nil && edit.Title != nil {
		o.Title = *edit.Title
	}
	return o, err
}

func (f *fakeWorker) HideObservation(ctx context.Context, id claudemem.ObservationID, purge bool) (claudemem.Millis, error) {
	_, err := f.Observation(ctx, id)
	if !purge {
		return 0, err
	}
	return claudemem.MillisOf(noon.Add(10 * time.Minute)), err
}

func (f *fakeWorker) RestoreObservation(ctx context.Context, id claudemem.ObservationID) (claudemem.Observation, error) {
	return f.Observation(ctx, id)
}

// zeros is a source of zero bytes, so that delivery ids are known.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// site is the API on a real socket and a real port.
type site struct {
	*fakeWorker
	api        *server
	server     *http.Server
	unix, tcp  *http.Client
	socketPath string
	port       string // "127.0.0.1:…"
}

func (s *site) url(path string) string { return "http://" + s.port + path }

func serve(t testing.TB, opts Options, change ...func(*http.Server)) *site {
	t.Helper()
	f := newFakeWorker()
	opts.Version = "1.2.3"
	opts.Clock = func() time.Time { return noon }
	opts.Random = zeros{}
	a := newServer(f.deps(), opts)
	a.opts.Slack = time.Minute // no test's outcome shall depend on how busy the machine is
	s := &site{fakeWorker: f, api: a, server: NewServer(a.guarded(a.router()), nil)}
	for _, c := range change {
		c(s.server)
	}
	s.socketPath = filepath.Join(t.TempDir(), "s")
	unix, err := net.Listen("unix", s.socketPath)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = tcp.Addr().String()
	var served sync.WaitGroup
	for _, l := range []net.Listener{unix, tcp} {
		served.Go(func() { _ = s.server.Serve(l) })
	}
	dial := func(network, address string) *http.Client {
		return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}}}
	}
	s.unix, s.tcp = dial("unix", s.socketPath), dial("tcp", s.port)
	t.Cleanup(func() {
		s.unix.CloseIdleConnections()
		s.tcp.CloseIdleConnections()
		_ = s.server.Close()
		served.Wait()
	})
	return s
}

// answer is a response with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

type edit func(*http.Request)

func header(name, value string) edit { return func(r *http.Request) { r.Header.Set(name, value) } }
func host(name string) edit          { return func(r *http.Request) { r.Host = name } }

func (s *site) do(t testing.TB, client *http.Client, method, path, body string, edits ...edit) answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, s.url(path), reader)
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, e := range edits {
		e(r)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b.String()}
}

// peerIs returns a CheckPeer with a fixed answer.
func peerIs(p Peer) func(server, client addrPort) Peer {
	return func(addrPort, addrPort) Peer { return p }
}

// blocksFunc is an api.Blocks that runs something and builds a block.
type blocksFunc func()

func (f blocksFunc) Context(context.Context, claudemem.ContextRequest) (claudemem.ContextBlock, error) {
	f()
	return claudemem.ContextBlock{Text: "x"}, nil
}

// contextWithLink returns the context of r with the link of a socket client, for requests
// without a server.
func contextWithLink(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithValue(r.Context(), linkKey{}, &link{unix: true}))
}

// discard is an Ingester that does nothing.
type discard struct{}

func (discard) Ingest(_ context.Context, e claudemem.Event) (claudemem.TakenIn, error) {
	return claudemem.TakenIn{Receipt: claudemem.Receipt{Session: 1, PromptNumber: 1, Status: claudemem.StatusPending}, Event: e}, nil
}

func (f *fakeWorker) Settings() []settings.View {
	return []settings.View{settings.Value{Setting: settings.Setting{Key: settings.KeyGeminiAPIKey, Secret: true}, Value: "a-secret-key-of-some-length", Origin: settings.FromFile}.View()}
}

func (f *fakeWorker) StartForget(r api.ForgetRequest) (api.Erasure, error) {
	f.forgotten = append(f.forgotten, r)
	return api.Erasure{State: api.ErasureRunning, AskedAt: claudemem.MillisOf(noon), ForgetRequest: r}, f.err
}

func (f *fakeWorker) Erasure() (api.Erasure, error) {
	if len(f.forgotten) == 0 {
		return api.Erasure{State: api.ErasureNone}, nil
	}
	return api.Erasure{State: api.ErasureDone, ForgetRequest: f.forgotten[0], Left: []string{"logs: in use"}}, nil
}
