package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// route is one route of the API: how it is served and documented. Help and the OpenAPI
// document are made from it.
type route struct {
	method, path string
	// call returns the answer; a route with handle has it write the answer instead.
	call   caller
	handle handler
	// about describes it in one line.
	about  string
	params []api.Param
	// body and answer are the types that are decoded and encoded; body nil: none.
	body, answer reflect.Type
	// status of success; 0 means 200.
	status int
	// example is a query string or a body.
	example string
	// hook: hooks use it, so the wire version must match.
	hook bool
	// socketOnly: refused over TCP.
	socketOnly bool
	// pageOnly: refused to all but pages that `claude-mem open` let in, and who sends the token.
	pageOnly bool
}

// with returns the route with another status of success.
func (r route) with(status int) route {
	r.status = status
	return r
}

// onSocket returns the route without TCP.
func (r route) onSocket() route {
	r.socketOnly = true
	return r
}

// searchRoute reports whether help lists the route.
func (r route) searchRoute() bool { return strings.HasPrefix(r.path, "/api/search") }

// routes returns all routes of the API. Their order is that of the documentation.
func (a *server) routes() []route {
	all := append(a.workerRoutes(), a.captureRoutes()...)
	all = append(all, a.searchRoutes()...)
	return append(all, a.recordRoutes()...)
}

// workerRoutes returns the routes about the worker itself: health, queue, statistics,
// stop.
func (a *server) workerRoutes() []route {
	statusline := call(a, "GET", wire.PathStatusline, "counts for a host's status line", a.statusline, "")
	statusline.hook = true
	forgetting := call(a, "POST", api.ForgetPath, "starts to erase observations and sessions for good; the worker stops meanwhile and is started again", a.Worker.StartForget,
		`{"observations":[12]}`)
	setting := call(a, "POST", api.SettingsPath, "changes a setting that decides neither where text goes, who may read it, what is captured nor what is erased", a.Worker.ChangeSetting,
		`{"key":"CONTEXT_BUDGET","value":"1500"}`)
	forgetting.pageOnly, setting.pageOnly = true, true
	return []route{
		call(a, "GET", "/api/health", "the worker runs", a.health, ""),
		call(a, "GET", "/api/readiness", "all stages of the worker run, or 503 with the missing one", a.readiness, ""),
		call(a, "GET", "/api/version", "program and wire version", a.version, ""),
		call(a, "GET", "/api/stats", "counts, queue, ledger, sizes, stages, index", a.stats, ""),
		call(a, "GET", "/api/settings", "every setting with the value that the worker uses and where it comes from; secrets are masked", a.settings, ""),
		setting,
		call(a, "GET", "/api/openapi.json", "this document", func(context.Context, struct{}) (object, error) { return a.describe(), nil }, ""),
		{method: "GET", path: api.StreamPath, handle: a.stream, answer: reflect.TypeFor[api.StreamEvent](),
			about: "changes of records as server-sent events, each with this data; Last-Event-ID resumes without a gap"},
		endpoint(a, api.Memory.Queue, "counts of the queue, events that wait and why, and events that failed for good", ""),
		endpoint(a, api.Memory.RetryQueue, "retries dead letters: those with these keys, or all", `{"keys":["tool:claude-code:s1:t1"]}`),
		statusline,
		{method: "POST", path: "/api/admin/shutdown", handle: a.shutdown, about: "starts the worker's stop; accepted events are kept",
			status: http.StatusAccepted, answer: reflect.TypeFor[api.Status](), socketOnly: true},
		call(a, "POST", "/api/admin/reindex", "starts to rebuild the search index; searches use the old one meanwhile", a.reindex, "").
			onSocket().with(http.StatusAccepted),
		call(a, "GET", "/api/admin/reindex", "progress of the rebuild", a.reindexing, "").onSocket(),
		call(a, "POST", api.ImportPath, "stores records of an export that are not here; what was forgotten stays away", a.Import, `{"records":[]}`).onSocket(),
		call(a, "POST", api.BackfillPath, "takes in events of transcripts that are not here; no model is shown those marked offline", a.Worker.Backfill, `{"events":[]}`).onSocket(),
		call(a, "POST", api.DevicesPath, "syncs with the other devices of the memory now; action retire or rekey changes which there are", a.Worker.Devices, `{}`).onSocket(),
		call(a, "GET", api.DevicesStatusPath, "the devices that have this memory, how far each is behind, and what was refused; 404 for a memory on one device",
			func(ctx context.Context, _ struct{}) (*memory.DevicesStatus, error) {
				return a.Worker.DevicesStatus(ctx)
			}, ""),
		call(a, "GET", api.TeamStatusPath, "who shares records with this memory, how far it and the team's server are, and what leaves; 404 for a memory in no team",
			func(ctx context.Context, _ struct{}) (*care.TeamStatus, error) {
				return a.Worker.TeamStatus(ctx)
			}, ""),
		call(a, "POST", api.TeamPath, "syncs with the server of the team now; an action shares records with it or takes them back", a.Worker.Team, `{}`).onSocket(),
		call(a, "POST", api.OpenPath, "a code by which a browser may make changes in the viewer; valid once, for a minute", a.openCode, "{}").onSocket(),
		forgetting.with(http.StatusAccepted),
		call(a, "GET", api.ForgetPath, "how the last erasure that a page asked for went", a.erasure, ""),
	}
}

// captureRoutes returns the routes that take events in and give sessions their context.
func (a *server) captureRoutes() []route {
	ingest := func(path, about string, kinds ...memory.EventKind) route {
		return route{method: "POST", path: path, handle: a.ingest(kinds...), about: about, hook: true,
			body: reflect.TypeFor[eventBody](), answer: reflect.TypeFor[receipt](), status: http.StatusAccepted}
	}
	return []route{
		ingest(wire.PathInit, "a prompt was typed; 202 once it is durable", memory.KindPrompt),
		ingest(wire.PathObservation, "a tool was used; 202 once it is durable", memory.KindTool),
		ingest(wire.PathSummarize, "a turn has ended; with kind flush the observer only looks at the session", memory.KindStop, memory.KindFlush),
		ingest(wire.PathComplete, "a session has ended", memory.KindSessionEnd),
		{method: "GET", path: wire.PathContext, handle: a.context, about: "the context block of a session that starts", hook: true,
			params: api.ParamsOf(api.ContextRequest{}), answer: reflect.TypeFor[memory.ContextBlock]()},
		endpoint(a, api.Memory.Preview, "the context block that a session would get now, with the reason for each line; nothing is booked", "project_path=/home/ada/tally&budget=500"),
	}
}

// searchRoutes returns the routes below /api/search.
func (a *server) searchRoutes() []route {
	// by returns a route that needs one of the filters, under a name of its own.
	by := func(path, about, key string, filter api.Param, example string) route {
		filter.Key, filter.Kind, filter.Required = key, api.ListParam, true
		params := slices.DeleteFunc(api.ParamsOf(api.SearchRequest{})[1:], func(d api.Param) bool { return d.Key == key }) // without kind
		return route{method: "GET", path: path, about: about, params: slices.Insert(params, 0, filter), call: a.searchBy(key), answer: reflect.TypeFor[api.SearchPage](), example: example}
	}
	// oneKind is a route that searches one kind of record.
	oneKind := func(path, about string, kind memory.RecordKind, example string) route {
		search := func(ctx context.Context, q api.SearchRequest) (api.SearchPage, error) {
			return a.Memory.SearchKind(ctx, q, kind)
		}
		r := call(a, "GET", path, about, search, example)
		r.params = r.params[1:] // without kind
		return r
	}
	byQuery := call(a, "GET", "/api/search/timeline-by-query", "the records before and after the best hit of a query", a.memory.Timeline, "query=rounding+error")
	byQuery.params = byQuery.params[1:] // without anchor
	byQuery.params[0].Required = true
	return []route{
		endpoint(a, api.Memory.Search, "records of every kind; without a query the newest that pass the filter", "query=why+do+totals+differ&project=tally&explain=1"),
		oneKind("/api/search/observations", "observations", memory.RecordObservation, "query=rounding&type=bugfix&dateFrom=2026-03-01"),
		oneKind("/api/search/sessions", "summaries of sessions", memory.RecordSummary, "query=release&format=full&limit=3"),
		oneKind("/api/search/prompts", "prompts of the user", memory.RecordPrompt, "query=deploy&order=newest"),
		by("/api/search/by-type", "observations of a type, or of several", "type",
			api.Param{Name: "type", About: "bugfix feature refactor change discovery decision", Example: "bugfix", Also: []string{"types", "obs_type"}},
			"type=decision&project=tally"),
		by("/api/search/by-file", "observations that touch a file or a folder, known by a path or any part of it", "files",
			api.Param{Name: "file", About: "observations that touch one of these: paths, folders, names or parts of names", Example: "src/auth",
				Also: []string{"files", "filePath", "file_path", "path"}},
			"file=money/money.go"),
		by("/api/search/by-concept", "observations with a concept, or with one of several", "concepts",
			api.Param{Name: "concept", About: "how-it-works why-it-exists what-changed problem-solution gotcha pattern trade-off", Example: "gotcha", Also: []string{"concepts"}},
			"concept=gotcha&limit=5"),
		endpoint(a, api.Memory.Recent, "the latest sessions, each with its summary and its observations", "project=tally&limit=3"),
		endpoint(a, api.Memory.Timeline, "the records before and after a record, a session or a time", "anchor=124&depth_before=3&depth_after=3"),
		byQuery,
		call(a, "GET", "/api/search/help", "every search route with its parameters and an example", a.help, ""),
	}
}

// recordRoutes returns the routes that list, show, write, change and hide records.
func (a *server) recordRoutes() []route {
	lookups := endpoint(a, api.Memory.NoteLookups, "notes that a session has read observations in full without this API",
		`{"host":"claude-code","host_session_id":"0b7c1f6e","observations":[124,7]}`)
	lookups.handle = a.noteLookups
	return []route{
		endpoint(a, api.Memory.Observations, "observations, the newest first, pinned ones ahead", "project=tally&limit=5"),
		endpoint(a, api.Memory.AddObservation, "adds an observation by hand", `{"project":"/home/ada/tally","narrative":"Amounts are whole cents; never use floats for money.","type":"decision"}`).
			with(http.StatusCreated),
		noting(a, api.Memory.Batch, shownOf, "observations by number, in the order asked for", `{"ids":[124,"#7"]}`),
		lookups.with(http.StatusAccepted),
		noting(a, api.Memory.Observation, shownOne, "an observation in full", ""),
		endpoint(a, api.Memory.Versions, "the earlier texts of an observation, and those of edits on other devices, the last one first", ""),
		endpoint(a, api.Memory.EditObservation, "changes title, narrative, type or pinned", `{"pinned":true}`),
		endpoint(a, api.Memory.HideObservation, "hides an observation; it is deleted after 10 minutes and can be restored until then", ""),
		endpoint(a, api.Memory.RestoreObservation, "restores a hidden observation", "{}"),
		endpoint(a, api.Memory.MergeObservations, "makes one of observations that say the same: into, or the one that is believed most, supersedes the others; the answer with undo takes it back",
			`{"ids":[124,131]}`),

		endpoint(a, api.Memory.Sessions, "sessions, the most recently updated first", "project=tally"),
		endpoint(a, api.Memory.Session, "a session with its records, the oldest first", ""),
		endpoint(a, api.Memory.Receipt, "a session's receipt: captured events and their results, context shown, records looked up later, cost", ""),
		endpoint(a, api.Memory.SessionEvents, "a session's events in short, the oldest first, at most 2,000: time, kind, tool, turn, and whether a call failed or its checks passed", ""),
		endpoint(a, api.Memory.Given, "what sessions were given, the newest first: each line with its words, why, the verdicts on its record, and what became of it", "session_id=S12"),
		endpoint(a, api.Memory.Judge, "a verdict on a record that sessions were given: a user's down silences it, up ranks it; an agent's counts less",
			`{"record":"#124","verdict":"down","origin":"user"}`),
		endpoint(a, api.Memory.Impact, "what the memory changes in sessions, by the latest experiment, and what one can show", ""),
		endpoint(a, api.Memory.SetTrial, "begins an experiment with shares of the sessions in percent, or ends it", `{"share":50}`),
		endpoint(a, api.Memory.Summaries, "summaries, the newest first", "project=tally&limit=5"),
		endpoint(a, api.Memory.Prompts, "prompts of the user, the newest first", "project=tally&limit=5"),
		endpoint(a, api.Memory.Projects, "projects, the most recently used first", ""),
		endpoint(a, api.Memory.Aliases, "paths whose sessions belong to another project", ""),
		endpoint(a, api.Memory.AddAlias, "has what is done in a path from now on belong to a project, a root or label",
			`{"path":"/home/ada/old/tally","project":"/home/ada/tally"}`).with(http.StatusCreated),
		endpoint(a, api.Memory.RemoveAlias, "removes an alias; records stay where they are", `{"path":"/home/ada/old/tally"}`),
		unhurried(endpoint(a, api.Memory.MergeProjects, "makes the records of a project those of another one, in one step that is not undone",
			`{"from":"label:tally","into":"/home/ada/tally","dry_run":true}`)),
		endpoint(a, api.Memory.Symbols, "functions and types that sessions changed, the latest change first", "project=tally&file=money&since=2026-03-01"),
		endpoint(a, api.Memory.FileWeeks, "observations by file and week: the 30 files with the most in the last 26 weeks", "project=tally"),

		endpoint(a, api.Memory.Learnings, "learnings: active ones first, by project, the most certain first", "project=tally"),
		endpoint(a, api.Memory.AddLearning, "adds a learning", `{"project":"tally","category":"convention","content":"Errors are wrapped once."}`).with(http.StatusCreated),
		endpoint(a, api.Memory.EditLearning, "changes a learning", `{"content":"Amounts are whole cents."}`),
		call(a, "DELETE", "/api/learnings/{id}", "retires a learning; PATCH with active true restores it", func(ctx context.Context, q retireRequest) (api.Learning, error) {
			return a.memory.EditLearning(ctx, api.LearningEdit{ID: q.ID, LearningEdit: memory.LearningEdit{Active: new(bool)}})
		}, ""),
	}
}

// unhurried returns the route without the limit of time for its answer.
func unhurried(of route) route {
	call := of.call
	of.call = func(w http.ResponseWriter, r *http.Request, declared []api.Param) (any, error) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a recorder of a test has none
		return call(w, r, declared)
	}
	return of
}

// handler serves a route: it writes the answer.
type handler func(http.ResponseWriter, *http.Request, []api.Param) error

// caller serves a route: it returns the answer, which is sent with the route's status.
type caller func(http.ResponseWriter, *http.Request, []api.Param) (any, error)

// endpoint returns the route of a method of Memory.
func endpoint[Q, A any](a *server, method func(api.Memory, context.Context, Q) (A, error), about, example string) route {
	c := api.CallOf(method)
	return call(a, c.Method, c.Path, about, func(ctx context.Context, q Q) (A, error) { return method(a.memory, ctx, q) }, example)
}

// call returns a route that answers what a function returns for a request, which is
// in the parameters and the body.
func call[Q, A any](a *server, method, path, about string, ask func(context.Context, Q) (A, error), example string) route {
	var none Q
	r := route{method: method, path: path, about: about, params: api.ParamsOf(none), answer: reflect.TypeFor[A](), example: example}
	if api.HasBody(none) {
		r.body = reflect.TypeFor[Q]()
	}
	r.call = func(w http.ResponseWriter, r *http.Request, declared []api.Param) (any, error) {
		q, err := requestOf[Q](a, w, r, declared)
		if err != nil {
			return nil, err
		}
		return ask(r.Context(), q)
	}
	return r
}

// requestOf returns the request in the body and the declared parameters. An empty body
// is an empty object.
func requestOf[Q any](a *server, w http.ResponseWriter, r *http.Request, declared []api.Param) (q Q, err error) {
	if err := api.Parse(&q, declared, r.URL.RawQuery, r.PathValue); err != nil || !api.HasBody(q) {
		return q, err
	}
	return q, a.withBody(w, r, func(raw []byte) error {
		if len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
		return decode(raw, &q)
	})
}

// searchBy serves the routes for observations of a type, a file or a concept: the
// parameter with that key.
func (a *server) searchBy(key string) caller {
	return func(w http.ResponseWriter, r *http.Request, declared []api.Param) (any, error) {
		q, err := requestOf[api.SearchRequest](a, w, r, declared)
		if err != nil {
			return nil, err
		}
		about := strings.Join(map[string][]string{"type": q.Types, "files": q.Files, "concepts": q.Concepts}[key], ",")
		page, err := a.Memory.SearchKind(r.Context(), q, memory.RecordObservation)
		if err != nil {
			return nil, err
		}
		*map[string]*string{"type": &page.Type, "files": &page.File, "concepts": &page.Concept}[key] = about
		if *page.Query == "" {
			page.Query = nil
		}
		return page, nil
	}
}

// noting returns the route of a method that answers observations. If the client received the
// answer, those that shown names are noted as looked up by the session.
func noting[Q, A any](a *server, method func(api.Memory, context.Context, Q) (A, error), shown func(Q, *A) []memory.ObservationID, about, example string) route {
	rt := endpoint(a, method, about, example)
	rt.handle = func(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
		q, err := requestOf[Q](a, w, r, declared)
		if err != nil {
			return err
		}
		answer, err := method(a.memory, r.Context(), q)
		if err != nil {
			return err
		}
		return a.answerLookup(w, r, http.StatusOK, answer, api.LookupNote{Observations: shown(q, &answer)})
	}
	return rt
}

// shownOne returns the observation that was answered, unless the client notes that itself.
func shownOne(q api.ObservationRequest, o *api.Observation) []memory.ObservationID {
	if !q.Lookup {
		return nil
	}
	return []memory.ObservationID{o.ID}
}

// shownOf returns the observations of a batch, each once, if they were answered in full, unless
// the client notes that itself.
func shownOf(q api.BatchRequest, found *api.Batch) []memory.ObservationID {
	if found.Format != api.FormatFull || q.Lookup != nil && !*q.Lookup {
		return nil
	}
	return collect.Unique(collect.MapPtr(found.Results, func(o *api.Observation) memory.ObservationID { return o.ID }))
}

// retireRequest names a learning to make inactive.
type retireRequest struct {
	ID int64 `param:"learning_id"`
}

const (
	// lookupTime bounds the noting of a lookup: the next request on the same connection
	// waits for it.
	lookupTime = time.Second
	// maxSessionName bounds a host's name for a session, in bytes; usual ones have 36.
	maxSessionName = 512
)

// noteLookups notes the observations in the body as read in full by a session, for
// clients that read them by other means. Without a session in the body the header names
// it.
func (a *server) noteLookups(w http.ResponseWriter, r *http.Request, declared []api.Param) error {
	note, err := requestOf[api.LookupNote](a, w, r, declared)
	if err != nil {
		return err
	}
	if err := note.Check(); err != nil {
		return err
	}
	return a.answerLookup(w, r, http.StatusAccepted, api.Status{Status: "noted"}, note)
}

// answerLookup answers with v and then, if the client received it, notes that the
// observations were read in full. An error of that is logged: only a statistic is wrong.
func (a *server) answerLookup(w http.ResponseWriter, r *http.Request, status int, v any, note api.LookupNote) error {
	if err := writeJSON(w, status, v); err != nil {
		return err
	}
	if a.Memory.Keeper == nil || len(note.Observations) == 0 || r.Method == http.MethodHead {
		return nil
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return nil // the client left and has read nothing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), lookupTime)
	defer cancel()
	if note.HostSessionID == "" {
		note.Host, note.HostSessionID = readerOf(r)
	}
	if _, err := a.memory.NoteLookups(ctx, note); err != nil {
		a.opts.Logger.Warn("note lookup", "error", err)
	}
	return nil
}

// readerOf returns host and session from the header HOST:ID that names the reading
// session; two empty strings when it is missing or has another form.
func readerOf(r *http.Request) (memory.Host, string) {
	host, session, found := strings.Cut(r.Header.Get(wire.SessionHeader), ":")
	if !found || host == "" || session == "" || len(session) > maxSessionName {
		return "", ""
	}
	return memory.Host(host), session
}
