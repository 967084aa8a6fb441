package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// Deps are the parts of the worker that the routes use. Without a Reminder, answers to
// events never have additional context.
type Deps struct {
	// Memory serves the routes that read and change records.
	Memory   *api.Local
	Ingester Ingester
	// Blocks builds the context blocks of sessions that start.
	Blocks   api.Blocks
	Books    Books
	Worker   Worker
	Reminder Reminder
	// Import stores records of another memory. An error leaves those that were stored before it.
	Import func(context.Context, api.ImportRequest) (api.ImportAnswer, error)
	// Changes are told to streams.
	Changes Changes
	// MCP serves /mcp.
	MCP http.Handler
	// Viewer serves every other path, outside /api/.
	Viewer Viewer
}

// MaxBody is the size of the largest accepted body, in bytes.
const MaxBody = 16 << 20

// The values of CLAUDE_MEM_REQUIRE_TOKEN: when a TCP client must send the token.
const (
	TokenAuto   = "auto" // unless the client is known to be of the same user
	TokenAlways = "true"
	TokenNever  = "false" // only if the client's user cannot be found where the system says it
)

// Options of New; a zero value means the default.
type Options struct {
	// Version of the program, for /api/version and the Server header.
	Version string
	// HookCalled is given the version of a hook's program after each of its calls.
	HookCalled func(program string)
	// Failed is given each error of the server's own, not of a request.
	Failed func(error)
	// RequireToken is TokenAuto (default), TokenAlways or TokenNever. A client that is
	// known to be of another user is refused with each of them.
	RequireToken string
	// Token is the secret that clients send; "" refuses all clients that must send one.
	Token string
	// CheckPeer returns which user the client of a TCP connection belongs to; default
	// CheckPeer.
	CheckPeer func(server, client addrPort) Peer
	// MaxBody in bytes; default MaxBody.
	MaxBody int64
	// Clock and Random make the time and the delivery id of events without them; default:
	// time.Now and crypto/rand.
	Clock  func() time.Time
	Random io.Reader
	// Slack is added to the time limits of requests, for tests.
	Slack time.Duration
	// Logger gets internal errors, never bodies or queries; default: no log.
	Logger *slog.Logger
}

// server is the handler behind the guard.
type server struct {
	Deps
	opts   Options
	memory api.Memory
	// large is a semaphore: an element for each body over smallBody in memory.
	large chan struct{}
	// recallFailing is set while the Reminder fails, so that a failure is logged once.
	recallFailing atomic.Bool
	bookings      bookings
	codes         codes
	// streams is a semaphore: an element for each open stream.
	streams chan struct{}
}

// New returns the handler of the API. Serve it with NewServer: clients of another server
// count as TCP clients of an unknown user.
func New(deps Deps, opts Options) http.Handler {
	s := newServer(deps, opts)
	return s.guarded(s.router())
}

// newServer returns a server of deps with defaults for what opts leaves out.
func newServer(deps Deps, opts Options) *server {
	opts.RequireToken, opts.MaxBody = cmp.Or(opts.RequireToken, TokenAuto), cmp.Or(opts.MaxBody, MaxBody)
	opts.Random, opts.Logger = cmp.Or(opts.Random, rand.Reader), cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.CheckPeer == nil {
		opts.CheckPeer = CheckPeer
	}
	opts.Clock = memory.ClockOr(opts.Clock)
	return &server{Deps: deps, opts: opts, memory: deps.Memory.Memory(), large: make(chan struct{}, maxLarge), codes: codes{clock: opts.Clock, random: opts.Random},
		streams: make(chan struct{}, maxStreams)}
}

// router returns the handler that passes each request on to its route, 404 for an
// unknown path.
func (a *server) router() http.Handler {
	mux := http.NewServeMux()
	paths, at := collect.Group(a.routes(), func(r *route) string { return r.path })
	for _, path := range paths {
		mux.HandleFunc(path, func(w http.ResponseWriter, req *http.Request) { a.dispatch(w, req, at[path]) })
	}
	mux.HandleFunc(pathMCP, a.serveMCP)
	mux.HandleFunc(pathOpen, a.open)
	mux.HandleFunc("/api/", a.noRoute)
	mux.HandleFunc("/", a.page)
	return mux
}

// noRoute answers that there is no such path.
func (a *server) noRoute(w http.ResponseWriter, r *http.Request) {
	a.fail(w, r, memory.Errorf(memory.CodeNotFound, "no route %s", r.URL.Path).
		WithHint("the routes are listed in docs/http-api.md"))
}

// serve answers a request.
func (rt *route) serve(w http.ResponseWriter, r *http.Request) error {
	if rt.handle != nil {
		return rt.handle(w, r, rt.params)
	}
	answer, err := rt.call(w, r, rt.params)
	if err != nil {
		return err
	}
	return writeJSON(w, rt.success(), answer)
}

// dispatch calls the route of the request's method, among routes, those of its path, with the
// parsed parameters, and answers with its error. HEAD uses the route of GET, except
// those of hooks. A hook's call that reached its route is told to opts.HookCalled, also if it
// failed.
func (a *server) dispatch(w http.ResponseWriter, r *http.Request, routes []route) {
	i := slices.IndexFunc(routes, func(rt route) bool {
		// HEAD of a hook's route would book a block that nobody was shown.
		return rt.method == r.Method || r.Method == http.MethodHead && rt.method == http.MethodGet && !rt.hook
	})
	if i < 0 {
		allowed := slices.Sorted(slices.Values(collect.MapPtr(routes, func(rt *route) string { return rt.method })))
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		a.fail(w, r, memory.Errorf(api.CodeMethod, "%s is not allowed on %s", r.Method, r.URL.Path).
			WithHint("use "+strings.Join(allowed, " or ")))
		return
	}
	rt := routes[i]
	if err := cmp.Or(a.checkWriter(r, rt), checkRoute(r, rt)); err != nil {
		a.fail(w, r, err)
		return
	}
	if err := rt.serve(w, r); err != nil {
		a.fail(w, r, err)
	}
	if program := r.Header.Get(wire.ProgramHeader); rt.hook && program != "" && a.opts.HookCalled != nil {
		a.opts.HookCalled(program)
	}
}

// NewServer returns a server for a handler of New, for the Unix socket and for TCP. It
// closes connections that send or read too slowly: on the loopback interface a second is
// a long time.
func NewServer(handler http.Handler, logger *slog.Logger) *http.Server {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &http.Server{
		Handler:           handler,
		ConnContext:       connContext,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// fail answers with an error, in the shape and with the status of package api. The text of an error
// that is no memory.Error may contain paths or content: it is logged, and the client gets "internal
// error". An error of the server's own (500 and above) is logged and given to the option Failed,
// unless the client has left.
func (a *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	body := api.NewErrorBody(err)
	status := api.StatusOf(body.Error.Code)
	if status >= http.StatusInternalServerError && r.Context().Err() == nil {
		a.opts.Logger.Error("request failed", "method", r.Method, "route", r.Pattern, "code", body.Error.Code, "error", err)
		if a.opts.Failed != nil {
			a.opts.Failed(err)
		}
	}
	// The rest of the body is not read.
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	if err := writeJSON(w, status, body); err != nil {
		a.opts.Logger.Error("encode error body", "error", err)
	}
}

// writeJSON answers with v as JSON. It returns an error of the encoding, before anything
// was written; only Flush can tell whether the client received the answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := api.Marshal(v) // never HTML (nosniff is set); the tags of a context block stay readable
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have left
	return nil
}

// Ingester stores events and returns them as stored; a nil error means that they are
// durable.
type Ingester interface {
	Ingest(ctx context.Context, event memory.Event) (memory.TakenIn, error)
}

// Reminder finds records to show a session at a prompt, a file read or a failure
// (memory.Event.Moment). It gets events that were just stored, without ToolResponse,
// so that a file's content does not stay in memory.
type Reminder interface {
	// Recall returns the text to show, "" for none. It does not return the same records
	// again for that session unless Forget is called.
	Recall(ctx context.Context, event memory.Event, session memory.SessionID) (memory.Recollection, error)
	// Forget makes a recollection that did not reach its session available again.
	Forget(memory.Recollection)
}

// Books are the store's records of shown texts and of notices. The worker implements them over
// the store, fakeWorker in the tests.
type Books interface {
	// RecordInjection books a text that was shown to a session.
	RecordInjection(ctx context.Context, injection memory.Injection) error
	// TakeNotices returns the notices that no session start has shown yet, and marks them as shown.
	TakeNotices(ctx context.Context) ([]string, error)
}

// Worker is the process that serves the API.
type Worker interface {
	// Ready returns nil once every stage runs, else an error that names what is missing.
	Ready() error
	// Flush makes the observer process a session now.
	Flush(host memory.Host, hostSessionID string)
	// Touch notes a session start: the project's other sessions are flushed.
	Touch(ctx context.Context, request memory.ContextRequest)
	// Stats returns what GET /api/stats adds to the counts: sizes, uptime, stages.
	Stats(ctx context.Context) map[string]any
	// Settings returns every setting with the value that the worker uses, secrets masked.
	Settings() []settings.View
	// ChangeSetting changes a setting; CodeForbidden for one that a page may not change.
	ChangeSetting(ctx context.Context, c api.SettingChange) (api.SettingChanged, error)
	// Statusline returns the counts for a host's status line.
	Statusline(ctx context.Context, request memory.StatusRequest) (memory.Statusline, error)
	// StartReindex begins to rebuild the search index in the background; CodeConflict when a
	// rebuild is running.
	StartReindex() error
	// Reindexing returns the progress of the running rebuild, or else of the last one.
	Reindexing() api.Reindexing
	// StartForget begins to erase records for good, in a process that stops the worker
	// meanwhile; CodeConflict while another erasure runs.
	StartForget(ctx context.Context, r api.ForgetRequest) (api.Erasure, error)
	// Erasure returns how the last one went.
	Erasure() (api.Erasure, error)
	// Backfill takes in events of transcripts.
	Backfill(ctx context.Context, r api.BackfillRequest) (api.BackfillAnswer, error)
	// Devices syncs with the other devices of the memory.
	Devices(ctx context.Context, r api.DevicesRequest) (api.DevicesAnswer, error)
	// DevicesStatus tells of the devices; CodeNotFound if the memory is on one.
	DevicesStatus(ctx context.Context) (*memory.DevicesStatus, error)
	// Team syncs with the server of the team.
	Team(ctx context.Context, r api.TeamRequest) (api.TeamAnswer, error)
	// TeamStatus tells of the team; CodeNotFound if the memory is in none.
	TeamStatus(ctx context.Context) (*care.TeamStatus, error)
	// Shutdown starts the stop and returns at once; accepted events are kept.
	Shutdown()
	// Done is closed when the worker stops.
	Done() <-chan struct{}
}

// Changes is the store's ordered feed of changes. fakeChanges in the tests is another one.
type Changes interface {
	// Follow returns a channel that receives after each commit that has changes.
	Follow() (changed <-chan struct{}, stop func())
	// Changes returns at most limit changes with numbers above after, in order.
	Changes(ctx context.Context, after int64, limit int) ([]memory.Change, error)
	// ChangeRange returns the lowest number that is still known and the highest.
	ChangeRange(ctx context.Context) (oldest, newest int64, err error)
}

// Viewer serves pages and their files.
type Viewer interface {
	// Serve answers a request. token is what the page's writes send as PageHeader; "" for a
	// visitor that may only read.
	Serve(w http.ResponseWriter, r *http.Request, token string)
}
