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

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// fakeWorker implements all interfaces behind the routes.
type fakeWorker struct {
	mu         sync.Mutex
	events     []memory.Event
	receipt    memory.Receipt
	err        error // of the next calls
	block      memory.ContextBlock
	asked      []memory.ContextRequest
	touched    chan memory.ContextRequest
	booked     chan memory.Injection
	notices    []string
	flushed    []string
	queried    []memory.Query
	records    []memory.Observation
	dead       []memory.DeadLetter
	revived    []string
	notReady   error
	stopped    chan struct{}
	panicValue any
	learnings  []memory.Learning
	listed     []memory.LearningQuery
	symbols    []memory.SymbolChange
	edits      []memory.LearningEdit
	statuses   []memory.StatusRequest
	line       memory.Statusline
	accounts   []accounts.SessionReceipt
	named      []string
	judged     []memory.Judgement

	searched   []memory.SearchRequest
	hits       []memory.Hit
	understood memory.Understood
	timelines  []memory.TimelineRequest
	around     memory.Timeline
	sessions   []memory.SessionDigest
	projects   []memory.ProjectDigest
	added      []memory.NewObservation
	edited     []memory.ObservationEdit
	searchErr  error
	reindexing api.Reindexing
	lookups    chan string
	forgotten  []api.ForgetRequest
}

func newFakeWorker() *fakeWorker {
	return &fakeWorker{
		receipt: memory.Receipt{Session: 12, PromptNumber: 3, Status: memory.StatusPending},
		touched: make(chan memory.ContextRequest, 8), booked: make(chan memory.Injection, 8), stopped: make(chan struct{}, 8),
		lookups: make(chan string, 8),
	}
}

func (f *fakeWorker) deps() Deps {
	return Deps{Memory: &api.Local{Store: f, Searcher: f, Blocks: f, Keeper: f, Clock: func() time.Time { return noon }}, Ingester: f, Blocks: f, Books: f, Worker: f, Import: f.Import,
		MCP: http.NotFoundHandler(), Viewer: fakeViewer{}, Changes: &fakeChanges{}}
}

func (f *fakeWorker) Backfill(_ context.Context, r api.BackfillRequest) (api.BackfillAnswer, error) {
	return api.BackfillAnswer{Statuses: make([]memory.Status, len(r.Events))}, nil
}

func (f *fakeWorker) Versions(context.Context, memory.ObservationID) ([]memory.Version, error) {
	return nil, nil
}

func (f *fakeWorker) DevicesStatus(context.Context) (*memory.DevicesStatus, error) {
	return &memory.DevicesStatus{Devices: []memory.Device{}, Refused: []memory.RefusedFile{}, Contested: []memory.Contested{}}, nil
}

func (f *fakeWorker) Devices(context.Context, api.DevicesRequest) (api.DevicesAnswer, error) {
	return api.DevicesAnswer{Refused: []memory.RefusedFile{}}, nil
}

func (f *fakeWorker) TeamStatus(context.Context) (*care.TeamStatus, error) {
	return &care.TeamStatus{Refused: []string{}, TeamCounts: care.TeamCounts{Authors: []care.TeamAuthor{}, Leaving: []care.TeamLeaving{}}}, nil
}

func (f *fakeWorker) Team(context.Context, api.TeamRequest) (api.TeamAnswer, error) {
	return api.TeamAnswer{}, nil
}

func (f *fakeWorker) Import(_ context.Context, r api.ImportRequest) (api.ImportAnswer, error) {
	return api.ImportAnswer{Results: make([]memory.Imported, len(r.Records))}, nil
}

func (f *fakeWorker) StartReindex() error {
	if f.reindexing.Running {
		return memory.Errorf(memory.CodeConflict, "the index is being rebuilt already")
	}
	f.reindexing = api.Reindexing{Running: true, Total: 120}
	return nil
}

func (f *fakeWorker) Reindexing() api.Reindexing { return f.reindexing }

func (f *fakeWorker) Ingest(_ context.Context, e memory.Event) (memory.TakenIn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panicValue != nil {
		panic(f.panicValue)
	}
	f.events = append(f.events, e)
	return memory.TakenIn{Receipt: f.receipt, Event: e}, f.err
}

func (f *fakeWorker) last(t testing.TB) memory.Event {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) == 0 {
		t.Fatal("no event was ingested")
	}
	return f.events[len(f.events)-1]
}

func (f *fakeWorker) Context(_ context.Context, r memory.ContextRequest) (memory.ContextBlock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	return f.block, f.err
}

func (f *fakeWorker) Observation(_ context.Context, id memory.ObservationID) (memory.Observation, error) {
	for _, o := range f.records {
		if o.ID == id {
			return o, nil
		}
	}
	return memory.Observation{}, memory.Errorf(memory.CodeNotFound, "no observation #%d", id).WithHint("claude-mem recent lists the latest")
}

func (f *fakeWorker) ObservationByULID(ctx context.Context, ulid memory.ULID) (memory.Observation, error) {
	for _, o := range f.records {
		if o.ULID == ulid {
			return o, nil
		}
	}
	return memory.Observation{}, memory.Errorf(memory.CodeNotFound, "there is no record %s", ulid)
}

func (f *fakeWorker) Observations(_ context.Context, q memory.Query) ([]memory.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queried = append(f.queried, q)
	found := f.records[min(q.Offset, len(f.records)):]
	return found[:min(q.Limit, len(found))], f.err
}

func (f *fakeWorker) CountRecords(context.Context, memory.Query, []memory.RecordKind) (int, error) {
	return len(f.records), nil
}

func (f *fakeWorker) Totals(context.Context, string) (memory.Totals, error) {
	return memory.Totals{Projects: 1, Sessions: 2, Prompts: 3, Observations: 4, Summaries: 5}, nil
}

func (f *fakeWorker) Books(context.Context) (memory.Books, error) {
	return memory.Books{Received: 10, Processed: 6, Skipped: 2, Failed: 1, Pending: 1, Duplicates: 4}, f.err
}

func (f *fakeWorker) Recorded(context.Context, string, time.Time, int) (accounts.Recorded, error) {
	return accounts.EmptyRecorded(), f.err
}

func (f *fakeWorker) Account(_ context.Context, now time.Time, days int) (accounts.Account, error) {
	return accounts.EmptyAccount(now, days), f.err
}

func (f *fakeWorker) Trial(context.Context) (memory.Trial, error) {
	return memory.Trial{ID: 1, Share: 50}, f.err
}

func (f *fakeWorker) TrialSessions(context.Context, memory.Millis, memory.Millis, memory.Millis) ([]accounts.TrialSession, error) {
	return []accounts.TrialSession{{Arm: memory.ArmMemory, Calls: 3, Ended: true}}, f.err
}

func (f *fakeWorker) BeginTrial(_ context.Context, begun memory.Trial) (memory.Trial, error) {
	begun.ID = 2
	return begun, f.err
}

func (f *fakeWorker) SetPlace(context.Context, string, string, string) error { return f.err }

func (f *fakeWorker) EndTrial(context.Context) error { return f.err }

func (f *fakeWorker) ReceiptTotals(_ context.Context, since memory.Millis) (accounts.ReceiptTotals, error) {
	return accounts.EmptyReceiptTotals(since), f.err
}

func (f *fakeWorker) Given(context.Context, accounts.GivenQuery) ([]accounts.Given, int, error) {
	return []accounts.Given{}, 0, nil
}

func (f *fakeWorker) Judge(_ context.Context, j memory.Judgement) error {
	f.judged = append(f.judged, j)
	return nil
}

func (f *fakeWorker) Backlog(context.Context, memory.Millis) ([]memory.Backlog, error) {
	return []memory.Backlog{{Session: memory.Session{ID: 12, ProjectPath: "/home/ada/work/tally"}, Pending: 1, NewestAt: memory.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) Standing(context.Context, time.Time) ([]accounts.Notice, error) {
	return []accounts.Notice{{Key: "index", Text: "the index is damaged"}, {Key: "provider_claude_login", Text: "claude needs a login", At: memory.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) Ready() error { return f.notReady }

func (f *fakeWorker) Flush(host memory.Host, session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushed = append(f.flushed, string(host)+" "+session)
}

func (f *fakeWorker) Touch(_ context.Context, r memory.ContextRequest) { f.touched <- r }

func (f *fakeWorker) Stats(context.Context) map[string]any {
	return map[string]any{"uptime_ms": 1500, "queue": "the books win over this"}
}

func (f *fakeWorker) Done() <-chan struct{} { return nil }

func (f *fakeWorker) Shutdown() { f.stopped <- struct{}{} }

func (f *fakeWorker) RecordInjection(_ context.Context, i memory.Injection) error {
	f.booked <- i
	return nil
}

func (f *fakeWorker) RecordLookup(_ context.Context, host memory.Host, session string, ids ...memory.ObservationID) error {
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

func (f *fakeWorker) DeadLetters(context.Context, int) ([]memory.DeadLetter, error) {
	return f.dead, nil
}

func (f *fakeWorker) Unread(context.Context, memory.Millis) ([]books.Unread, error) {
	return []books.Unread{{Reason: memory.UnreadUnusable, Events: 3, Kept: 3, At: 1_790_000_000_000}}, nil
}

func (f *fakeWorker) Revive(_ context.Context, keys ...string) (int, error) {
	f.revived = keys
	return len(f.dead), nil
}

func (f *fakeWorker) RetryUnread(context.Context) (int, error) { return 3, nil }

func (f *fakeWorker) Symbols(_ context.Context, q memory.Query, name string) ([]memory.SymbolChange, int, error) {
	f.queried = append(f.queried, q)
	f.named = append(f.named, name)
	found := f.symbols[min(q.Offset, len(f.symbols)):]
	return found[:min(q.Limit, len(found))], len(f.symbols), f.err
}

func (f *fakeWorker) FileWeeks(context.Context, string, time.Time) (memory.FileWeeks, error) {
	return memory.FileWeeks{Weeks: []string{}, Files: []memory.FileWeek{}}, f.err
}

func (f *fakeWorker) Learnings(_ context.Context, q memory.LearningQuery) ([]memory.Learning, error) {
	f.listed = append(f.listed, q)
	return f.learnings, f.err
}

func (f *fakeWorker) CountLearnings(context.Context, memory.LearningQuery) (int, error) {
	return len(f.learnings), nil
}

func (f *fakeWorker) AddLearning(_ context.Context, l memory.Learning) (memory.Learning, error) {
	l.ID, l.ULID, l.TimesSeen, l.Active, l.CreatedAt, l.UpdatedAt = 8, "01JNGZ0000000000000000000B", 1, true, memory.MillisOf(noon), memory.MillisOf(noon)
	if err := memory.CheckLearning(l.Category, l.Content, l.Confidence); err != nil {
		return l, err
	}
	f.learnings = append(f.learnings, l)
	return l, f.err
}

func (f *fakeWorker) EditLearning(_ context.Context, id int64, edit memory.LearningEdit) (memory.Learning, error) {
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
	return memory.Learning{}, memory.Errorf(memory.CodeNotFound, "there is no learning %d", id).WithHint("claude-mem learn list --all")
}

func (f *fakeWorker) Statusline(_ context.Context, r memory.StatusRequest) (memory.Statusline, error) {
	f.statuses = append(f.statuses, r)
	return f.line, f.err
}

func (f *fakeWorker) RecordsByRefs(ctx context.Context, refs ...memory.RecordRef) ([]memory.Hit, error) {
	var found []memory.Hit
	for _, ref := range refs {
		if o, err := f.Observation(ctx, memory.ObservationID(ref.ID)); err == nil {
			found = append(found, memory.Hit{RecordRef: ref, Observation: &o})
		}
	}
	return found, f.err
}

// Search returns the hits of the requested kinds.
func (f *fakeWorker) Search(_ context.Context, r memory.SearchRequest) (memory.SearchResult, error) {
	f.searched = append(f.searched, r)
	result := memory.SearchResult{Understood: f.understood}
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

func (f *fakeWorker) Timeline(_ context.Context, r memory.TimelineRequest) (memory.Timeline, error) {
	f.timelines = append(f.timelines, r)
	return f.around, f.searchErr
}

func (f *fakeWorker) Session(_ context.Context, id memory.SessionID) (memory.Session, error) {
	for _, d := range f.sessions {
		if d.Session.ID == id {
			return d.Session, nil
		}
	}
	return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session S%d", id)
}

func (f *fakeWorker) Sessions(_ context.Context, q memory.Query) ([]memory.SessionDigest, error) {
	f.queried = append(f.queried, q)
	found := f.sessions[min(q.Offset, len(f.sessions)):]
	return found[:min(q.Limit, len(found))], f.err
}

func (f *fakeWorker) CountSessions(context.Context, memory.Query) (int, error) {
	return len(f.sessions), nil
}

func (f *fakeWorker) Projects(context.Context, bool) ([]memory.ProjectDigest, error) {
	return f.projects, f.err
}

func (f *fakeWorker) Aliases(context.Context) ([]memory.ProjectAlias, error) {
	return []memory.ProjectAlias{{Path: "/home/ada/old/tally", Project: "/home/ada/tally", At: memory.MillisOf(noon)}}, f.err
}

func (f *fakeWorker) AddAlias(_ context.Context, path, project string) (memory.ProjectAlias, error) {
	return memory.ProjectAlias{Path: path, Project: project, At: memory.MillisOf(noon)}, f.err
}

func (f *fakeWorker) RemoveAlias(_ context.Context, path string) (memory.ProjectAlias, error) {
	return memory.ProjectAlias{Path: path, Project: "/home/ada/tally", At: memory.MillisOf(noon)}, f.err
}

func (f *fakeWorker) MergeProjects(_ context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
	return memory.ProjectMerged{From: m.From, Into: m.Into, Merged: !m.DryRun, Aliased: m.Alias, Sessions: 1}, f.err
}

func (f *fakeWorker) AddObservation(_ context.Context, n memory.NewObservation) (memory.Observation, error) {
	f.added = append(f.added, n)
	if n.CreatedAt == 0 {
		n.CreatedAt = memory.MillisOf(noon)
	}
	return memory.Observation{ID: 125, ULID: "01JNGZ0000000000000000000C", Session: max(n.Session, 13), ProjectPath: n.ProjectPath, Type: n.Type,
		Title: n.Title, Subtitle: n.Subtitle, Narrative: n.Narrative, Facts: n.Facts, Concepts: n.Concepts, Files: n.Files,
		Origin: n.Origin, CreatedAt: n.CreatedAt}, f.err
}

func (f *fakeWorker) EditObservation(ctx context.Context, id memory.ObservationID, edit memory.ObservationEdit) (memory.Observation, error) {
	f.edited = append(f.edited, edit)
	o, err := f.Observation(ctx, id)
	if err == nil && edit.Title != nil {
		o.Title = *edit.Title
	}
	return o, err
}

func (f *fakeWorker) HideObservation(ctx context.Context, id memory.ObservationID, purge bool) (memory.Millis, error) {
	_, err := f.Observation(ctx, id)
	if !purge {
		return 0, err
	}
	return memory.MillisOf(noon.Add(10 * time.Minute)), err
}

func (f *fakeWorker) RestoreObservation(ctx context.Context, id memory.ObservationID) (memory.Observation, error) {
	return f.Observation(ctx, id)
}

func (f *fakeWorker) MergeObservations(ctx context.Context, m memory.ObservationMerge) (memory.ObservationMerge, error) {
	if len(m.IDs) < 2 {
		return m, memory.Errorf(memory.CodeInvalid, "%d observations", len(m.IDs))
	}
	return memory.ObservationMerge{IDs: m.IDs[1:], Into: m.IDs[0]}, nil
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

func (f blocksFunc) Context(context.Context, memory.ContextRequest) (memory.ContextBlock, error) {
	f()
	return memory.ContextBlock{Text: "x"}, nil
}

// contextWithLink returns the context of r with the link of a socket client, for requests
// without a server.
func contextWithLink(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithValue(r.Context(), linkKey{}, &link{unix: true}))
}

// discard is an Ingester that does nothing.
type discard struct{}

func (discard) Ingest(_ context.Context, e memory.Event) (memory.TakenIn, error) {
	return memory.TakenIn{Receipt: memory.Receipt{Session: 1, PromptNumber: 1, Status: memory.StatusPending}, Event: e}, nil
}

func (f *fakeWorker) Settings() []settings.View {
	return []settings.View{settings.Value{Setting: settings.Setting{Key: settings.KeyGeminiAPIKey, Secret: true}, Value: "a-secret-key-of-some-length", Origin: settings.FromFile}.View()}
}

func (f *fakeWorker) StartForget(_ context.Context, r api.ForgetRequest) (api.Erasure, error) {
	f.forgotten = append(f.forgotten, r)
	return api.Erasure{State: api.ErasureRunning, AskedAt: memory.MillisOf(noon), ForgetRequest: r}, f.err
}

func (f *fakeWorker) Erasure() (api.Erasure, error) {
	if len(f.forgotten) == 0 {
		return api.Erasure{State: api.ErasureNone}, nil
	}
	return api.Erasure{State: api.ErasureDone, ForgetRequest: f.forgotten[0], Left: []string{"logs: in use"}}, nil
}

// ChangeSetting implements Worker.
func (f *fakeWorker) ChangeSetting(_ context.Context, c api.SettingChange) (api.SettingChanged, error) {
	return api.SettingChanged{Setting: settings.View{Key: c.Key, Value: c.Value}, AtOnce: true, Notes: []string{}}, nil
}
