package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"claudemem"
	"claudemem/api"
	"claudemem/store"
	"claudemem/wire"
)

// route is one entry of the API: what serves it and what documents it. Help and
// the OpenAPI document are made from it, so they cannot fall behind.
type route struct {
	method, path string
	handle       handler
	// about says what it is for, in a line.
	about  string
	params []api.Param
	// body and answer are values of the types that are decoded and encoded, nil for none.
	body, answer any
	// status is that of success, when it is not 200.
	status int
	// example is a query string or a body.
	example string
	// hook: used by hooks, so the wire version must fit.
	hook bool
	// socketOnly: not over TCP.
	socketOnly bool
}

// parameterless adapts a handler that reads no parameters.
func parameterless(handle func(http.ResponseWriter, *http.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request, _ api.Params) error { return handle(w, r) }
}

// searchRoute reports whether a route is one that help lists.
func (r route) searchRoute() bool { return strings.HasPrefix(r.path, "/api/search") }

// The records' numbers in paths.
var (
	observationID = api.Param{Name: "id", About: "the observation's number", InPath: true, Required: true, Example: "124"}
	learningID    = api.Param{Name: "id", About: "the learning's number", InPath: true, Required: true, Example: "7"}
	sessionID     = api.Param{Name: "id", About: "the session's number, as 12 or S12", InPath: true, Required: true, Example: "12"}
	sessionNamed  = api.Param{Name: "id", About: "the session's number (12, S12), the host's name for it or the beginning of that, its ULID, or last", InPath: true, Required: true, Example: "last"}
)

// Examples of answers: the OpenAPI document describes open lists by what is in them.
var (
	index, whole = api.Observation{}, api.Observation{ObservationDetail: &api.ObservationDetail{}}
	summaries    = []api.Summary{{}, {SummaryDetail: &api.SummaryDetail{}}}
	prompts      = []api.Prompt{{}, {PromptDetail: &api.PromptDetail{}}}

	observationHits = []api.Hit{{Observation: &index}, {Observation: &whole}}
	summaryHits     = []api.Hit{{Summary: &summaries[0]}, {Summary: &summaries[1]}}
	promptHits      = []api.Hit{{Prompt: &prompts[0]}, {Prompt: &prompts[1]}}
)

func hitsPage(results []api.Hit) api.SearchPage {
	return api.SearchPage{Query: new(string), Understood: &claudemem.Understood{}, Results: results}
}

// routes returns all routes of the API. Their order is that of the documentation.
func (a *server) routes() []route {
	all := append(a.workerRoutes(), a.captureRoutes()...)
	all = append(all, a.searchRoutes()...)
	return append(all, a.recordRoutes()...)
}

// workerRoutes returns the routes about the worker itself: health, queue, statistics,
// stop.
func (a *server) workerRoutes() []route {
	statusline := query(wire.PathStatusline, "what a host's status line says", a.statusline, claudemem.Statusline{}, "")
	statusline.hook = true
	reindexing := query("/api/admin/reindex", "how far that is", a.reindexing, api.Reindexing{}, "")
	reindexing.socketOnly = true
	return []route{
		query("/api/health", "the worker lives", a.health, map[string]string{}, ""),
		query("/api/readiness", "all stages are up, or 503 with what is missing", a.readiness, map[string]string{}, ""),
		query("/api/version", "program and wire version", a.version, map[string]any{}, ""),
		query("/api/stats", "counts, queue, ledger, sizes, stages, index", a.stats, map[string]any{}, ""),
		query("/api/openapi.json", "this document", a.openAPI, map[string]any{}, ""),
		query("/api/queue", "the queue's books, what waits and why, and what failed for good",
			func(ctx context.Context, _ struct{}) (api.Queue, error) { return a.Memory.Queue(ctx) }, api.Queue{}, ""),
		{method: "POST", path: "/api/queue/retry", handle: parameterless(a.retryQueue), about: "gives dead letters another try: those of keys, else all",
			body: api.RetryRequest{}, answer: api.Revived{}, example: `{"keys":["tool:claude-code:s1:t1"]}`},
		statusline,
		{method: "POST", path: "/api/admin/shutdown", handle: parameterless(a.shutdown), about: "begins a stop that loses nothing", socketOnly: true,
			status: http.StatusAccepted, answer: map[string]string{}},
		{method: "POST", path: "/api/admin/reindex", handle: parameterless(a.reindex), about: "begins to build the search index anew; the old one answers meanwhile", socketOnly: true,
			status: http.StatusAccepted, answer: api.Reindexing{}},
		reindexing,
	}
}

// captureRoutes returns the routes that take events in and give sessions their context.
func (a *server) captureRoutes() []route {
	ingest := func(path, about string, kinds ...claudemem.EventKind) route {
		return route{method: "POST", path: path, handle: parameterless(a.ingest(kinds...)), about: about, hook: true,
			body: eventBody{}, answer: receipt{}, status: http.StatusAccepted}
	}
	return []route{
		ingest(wire.PathInit, "a prompt was typed; 202 once it is durable", claudemem.KindPrompt),
		ingest(wire.PathObservation, "a tool was used; 202 once it is durable", claudemem.KindTool),
		ingest(wire.PathSummarize, "a turn has ended; with kind flush the observer only looks at the session", claudemem.KindStop, claudemem.KindFlush),
		ingest(wire.PathComplete, "a session has ended", claudemem.KindSessionEnd),
		{method: "GET", path: wire.PathContext, handle: a.context, about: "the context block of a session that starts", hook: true,
			params: api.ParamsOf(api.ContextRequest{}), answer: claudemem.ContextBlock{}},
		query("/api/context/preview", "what a session that started now would be given, and why; nothing is given or booked",
			a.Memory.Preview, api.Preview{Lines: []api.PreviewLine{{}}}, "project_path=/home/ada/tally&budget=500"),
	}
}

// searchRoutes returns the routes below /api/search.
func (a *server) searchRoutes() []route {
	// by is a route that takes one of the filters under a name of its own.
	by := func(path, about, name, filter, values, example string, also []string, answer api.SearchPage, query string) route {
		params := []api.Param{{Name: name, Kind: api.ListParam, About: values, Required: true, Example: example, Also: also}}
		for _, d := range api.ParamsOf(api.SearchRequest{})[1:] {
			if d.Name != filter {
				params = append(params, d)
			}
		}
		return route{method: "GET", path: path, about: about, params: params, handle: a.searchBy(name), answer: answer, example: query}
	}
	// oneKind is a route that searches one kind of record.
	oneKind := func(path, about string, kind claudemem.RecordKind, results []api.Hit, example string) route {
		r := query(path, about, a.searchKind(kind), hitsPage(results), example)
		r.params = r.params[1:] // without kind
		return r
	}
	timeline := api.Timeline{Timeline: []api.Entry{{}}}
	byQuery := query("/api/search/timeline-by-query", "what happened before and after the best hit of a query", a.Memory.Timeline, timeline, "query=rounding+error")
	byQuery.params = byQuery.params[1:] // without anchor
	byQuery.params[0].Required = true
	return []route{
		query("/api/search", "records of every kind; without a query the newest that pass the filter", a.Memory.Search,
			hitsPage(slices.Concat(observationHits, summaryHits, promptHits)), "query=why+do+totals+differ&project=tally&explain=1"),
		oneKind("/api/search/observations", "observations", claudemem.RecordObservation, observationHits, "query=rounding&type=bugfix&dateFrom=2026-03-01"),
		oneKind("/api/search/sessions", "summaries of sessions", claudemem.RecordSummary, summaryHits, "query=release&format=full&limit=3"),
		oneKind("/api/search/prompts", "what the user typed", claudemem.RecordPrompt, promptHits, "query=deploy&order=newest"),
		by("/api/search/by-type", "observations of a type, or of several", "type", "type", "bugfix feature refactor change discovery decision", "bugfix",
			[]string{"types", "obs_type"}, api.SearchPage{Type: "bugfix", Results: observationHits}, "type=decision&project=tally"),
		by("/api/search/by-file", "observations that touch a file or a folder, known by a path or by parts of it", "file", "files",
			"observations that touch one of these: paths, folders, names or parts of names", "src/auth",
			[]string{"files", "filePath", "file_path", "path"}, api.SearchPage{File: "src/auth", Results: observationHits}, "file=money/money.go"),
		by("/api/search/by-concept", "observations with a concept, or with one of several", "concept", "concepts",
			"how-it-works why-it-exists what-changed problem-solution gotcha pattern trade-off", "gotcha",
			[]string{"concepts"}, api.SearchPage{Concept: "gotcha", Results: observationHits}, "concept=gotcha&limit=5"),
		query("/api/search/recent-context", "the latest sessions, each with its summary and its observations", a.Memory.Recent,
			api.RecentSessions{Sessions: []api.RecentSession{{Summary: &api.SummaryHeadline{}, Observations: []api.RecentObservation{{}}}}}, "project=tally&limit=3"),
		query("/api/search/timeline", "what happened before and after a record, a session or a time", a.Memory.Timeline, timeline, "anchor=124&depth_before=3&depth_after=3"),
		byQuery,
		query("/api/search/help", "every search route with its parameters and an example", a.help, helpPage{}, ""),
	}
}

// recordRoutes returns the routes that list, show, write, change and hide records.
func (a *server) recordRoutes() []route {
	created := http.StatusCreated
	edited := withJSON(a, "PATCH", "/api/observations/{id}", "changes title, narrative, type or pinned", http.StatusOK, a.editObservation, `{"pinned":true}`)
	learned := withJSON(a, "PATCH", "/api/learnings/{id}", "changes a learning", http.StatusOK, a.editLearning, `{"content":"Amounts are whole cents."}`)
	restored := onRecord("POST", "/api/observations/{id}/restore", "brings a hidden observation back", observationID, api.ObservationNumber, a.Memory.RestoreObservation, whole)
	added := withJSON(a, "POST", "/api/observations", "writes a memory down by hand", created, ignoringRequest(a.Memory.AddObservation),
		`{"project":"/home/ada/tally","narrative":"Amounts are whole cents; never use floats for money.","type":"decision"}`)
	edited.params, learned.params, restored.example = []api.Param{observationID}, []api.Param{learningID}, "{}"
	edited.answer, added.answer = whole, whole
	return []route{
		query("/api/observations", "observations, the newest first, pinned ones ahead", a.Memory.Observations, api.Listing[api.Observation]{Results: []api.Observation{index, whole}}, "project=tally&limit=5"),
		added,
		{method: "POST", path: "/api/observations/batch", handle: a.batch, about: "observations by number, in the order asked for",
			body: api.BatchRequest{}, answer: api.Batch{Missing: []claudemem.ObservationID{0}, Results: []api.Observation{whole, index}}, example: `{"ids":[124,"#7"]}`},
		{method: "POST", path: "/api/lookups", handle: parameterless(a.noteLookups), about: "notes that a session's agent read observations in full by other means than this API",
			status: http.StatusAccepted, body: api.LookupNote{}, answer: map[string]string{}, example: `{"host":"claude-code","host_session_id":"0b7c1f6e","observations":[124,7]}`},
		{method: "GET", path: "/api/observations/{id}", handle: a.observation, about: "an observation in full", params: []api.Param{observationID}, answer: whole},
		edited,
		{method: "DELETE", path: "/api/observations/{id}", handle: a.hideObservation, about: "hides an observation; it is purged after 10 minutes and can be restored until then",
			params: append([]api.Param{observationID}, api.ParamsOf(api.HideRequest{})...), answer: api.Hidden{PurgedAtEpoch: 1}},
		restored,

		query("/api/sessions", "sessions, the most recently updated first", a.Memory.Sessions,
			api.Page[api.SessionDigest]{Results: []api.SessionDigest{{Summary: &api.SummaryHeadline{}}}}, "project=tally"),
		{method: "GET", path: "/api/sessions/{id}", handle: a.session, about: "a session with its records, the oldest first", params: append([]api.Param{sessionID}, api.ParamsOf(api.SessionRequest{})...),
			answer: api.SessionRecords{Prompts: prompts[1:], Summaries: summaries[1:], Observations: []api.Observation{index, whole}}},
		{method: "GET", path: "/api/sessions/{id}/receipt", handle: a.receipt, about: "what was captured of a session and became of it, what it was given, what was looked up later, what it cost",
			params: append([]api.Param{sessionNamed}, api.ParamsOf(api.ReceiptRequest{})...), answer: store.SessionReceipt{}},
		query("/api/summaries", "summaries, the newest first", a.Memory.Summaries, api.Listing[api.Summary]{Results: summaries}, "project=tally&limit=5"),
		query("/api/prompts", "what the user typed, the newest first", a.Memory.Prompts, api.Listing[api.Prompt]{Results: prompts}, "project=tally&limit=5"),
		query("/api/projects", "projects, the one that was worked on last first", a.Memory.Projects, api.Page[api.Project]{Results: []api.Project{{}}}, ""),

		query("/api/learnings", "what is known of a project: active ones first, by project, then the surest first", a.Memory.Learnings,
			api.Page[api.Learning]{Results: []api.Learning{{}}}, "project=tally"),
		withJSON(a, "POST", "/api/learnings", "writes a learning down", created, ignoringRequest(a.Memory.AddLearning),
			`{"project":"tally","category":"convention","content":"Errors are wrapped once."}`),
		learned,
		onRecord("DELETE", "/api/learnings/{id}", "retires a learning; PATCH active brings it back", learningID, api.LearningNumber, a.retireLearning, api.Learning{}),
	}
}

// ignoringRequest adapts a call that needs the body alone.
func ignoringRequest[B, A any](call func(context.Context, B) (A, error)) func(context.Context, *http.Request, B) (A, error) {
	return func(ctx context.Context, _ *http.Request, body B) (A, error) { return call(ctx, body) }
}
