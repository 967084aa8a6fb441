package httpapi

import (
	"math"
	"net/http"
	"strings"

	"claudemem"
	"claudemem/wire"
)

// route is one entry of the API: what serves it and what documents it. Help and
// the OpenAPI document are made from it, so they cannot fall behind.
type route struct {
	method, path string
	handle       func(http.ResponseWriter, *http.Request, params) error
	// about says what it is for, in a line.
	about  string
	params []param
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

// plain is a handler that reads no parameters.
func plain(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request, params) error {
	return func(w http.ResponseWriter, r *http.Request, _ params) error { return handle(w, r) }
}

// searchRoute reports whether a route is one that help lists.
func (r route) searchRoute() bool { return strings.HasPrefix(r.path, "/api/search") }

// with returns a parameter that is different in something.
func (d param) with(change func(*param)) param {
	change(&d)
	return d
}

func required(d *param) { d.required = true }

// Parameters of single routes.
var (
	observationID = param{name: "id", about: "the observation's number", inPath: true, required: true, example: "124"}
	learningIDP   = param{name: "id", about: "the learning's number", inPath: true, required: true, example: "7"}
	sessionIDP    = param{name: "id", about: "the session's number, as 12 or S12", inPath: true, required: true, example: "12"}
	sessionNameP  = param{name: "id", about: "the session's number (12, S12), the host's name for it or the beginning of that, its ULID, or last", inPath: true, required: true, example: "last"}
	hostParam     = param{name: "host", also: []string{"platformSource"}, about: "the host that asks", missing: string(claudemem.HostRaw), example: "claude-code"}
	hostSession   = param{name: "session_id", also: []string{"host_session_id", "contentSessionId", "session"}, about: "the host's name for the session", example: "0b7c1f6e"}
	rootParam     = param{name: "project_path", also: []string{"project", "cwd"}, about: "the project's root directory", example: "/home/ada/tally"}
	beforeParam   = param{name: "depth_before", also: []string{"before"}, kind: numberParam, about: "records before the anchor", missing: "10", most: maxLimit, example: "3"}
	afterParam    = param{name: "depth_after", also: []string{"after"}, kind: numberParam, about: "records after the anchor", missing: "10", most: maxLimit, example: "3"}
)

// contextParams are what a context block is asked for with, and its preview.
var contextParams = []param{rootParam.with(required), hostParam, hostSession,
	{name: "source", about: "startup, clear, compact or resume", missing: "startup", example: "resume"},
	{name: "budget", kind: numberParam, about: "tokens; 0: the setting", missing: "0", most: 1 << 20, example: "2000"},
	{name: "worktree_root", about: "where the session works; files that changed since they were recorded are marked", example: "/home/ada/tally"},
	{name: "branch", about: "the branch that is checked out there", example: "main"},
	{name: "head_commit", about: "its commit; what was recorded on a branch that is not merged into it is marked", example: "5d41402abc4b2a76b9719d911017c592a1b2c3d4"}}

// paged are the parameters of every list, dated those of a time; filters is what
// chooses observations. A range comes before its two ends, which win over it.
func paged(more ...param) []param {
	return append(more, projectParam, limitParam, offsetParam)
}

func dated(more ...param) []param {
	return paged(append(more, rangeP, sinceParam, untilParam)...)
}

func filters(more ...param) []param {
	return dated(append(more, typesParam, conceptsP, filesParam, sessionParam, orderParam, formatParam, explainParam)...)
}

func without(list []param, name string) []param {
	var rest []param
	for _, d := range list {
		if d.name != name {
			rest = append(rest, d)
		}
	}
	return rest
}

// Examples of answers; what a field may hold is seen from the values in it.
var (
	mixedPage       = searchPage{Query: new(string), Understood: &understood{}, Results: []any{observationHit{}, fullObservationHit{}, summaryHit{}, fullSummaryHit{}, promptHit{}, fullPromptHit{}}}
	observationPage = searchPage{Query: new(string), Understood: &understood{}, Results: []any{observationHit{}, fullObservationHit{}}}
	summaryPage     = searchPage{Query: new(string), Understood: &understood{}, Results: []any{summaryHit{}, fullSummaryHit{}}}
	promptPage      = searchPage{Query: new(string), Understood: &understood{}, Results: []any{promptHit{}, fullPromptHit{}}}
)

func (a *api) routes() []route {
	all := append(a.workerRoutes(), a.captureRoutes()...)
	all = append(all, a.searchRoutes()...)
	return append(all, a.recordRoutes()...)
}

func (a *api) workerRoutes() []route {
	return []route{
		{method: "GET", path: "/api/health", handle: plain(a.health), about: "the worker lives", answer: map[string]string{}},
		{method: "GET", path: "/api/readiness", handle: plain(a.readiness), about: "all stages are up, or 503 with what is missing", answer: map[string]string{}},
		{method: "GET", path: "/api/version", handle: plain(a.version), about: "program and wire version", answer: map[string]any{}},
		{method: "GET", path: "/api/stats", handle: a.stats, about: "counts, queue, ledger, sizes, stages, index", answer: map[string]any{},
			params: []param{projectParam, {name: "brief", kind: flagParam, about: "without ledger and receipts, which take time to sum up", example: "1"}}},
		{method: "GET", path: "/api/openapi.json", handle: plain(a.openAPI), about: "this document", answer: map[string]any{}},
		{method: "GET", path: "/api/queue", handle: plain(a.queue), about: "the queue's books and what failed for good", answer: map[string]any{}},
		{method: "POST", path: "/api/queue/retry", handle: plain(a.retryQueue), about: "gives dead letters another try: those of keys, else all",
			body: retryBody{}, answer: map[string]int{}, example: `{"keys":["tool:claude-code:s1:t1"]}`},
		{method: "GET", path: wire.PathStatusline, handle: a.statusline, about: "what a host's status line says", hook: true,
			params: []param{hostParam, hostSession, rootParam}, answer: claudemem.Statusline{}},
		{method: "POST", path: "/api/admin/shutdown", handle: plain(a.shutdown), about: "begins a stop that loses nothing", socketOnly: true,
			status: http.StatusAccepted, answer: map[string]string{}},
		{method: "POST", path: "/api/admin/reindex", handle: plain(a.reindex), about: "begins to build the search index anew; the old one answers meanwhile", socketOnly: true,
			status: http.StatusAccepted, answer: Reindexing{}},
		{method: "GET", path: "/api/admin/reindex", handle: plain(a.reindexing), about: "how far that is", socketOnly: true, answer: Reindexing{}},
	}
}

func (a *api) captureRoutes() []route {
	ingest := func(path, about string, kinds ...claudemem.EventKind) route {
		return route{method: "POST", path: path, handle: plain(a.ingest(kinds...)), about: about, hook: true,
			body: eventBody{}, answer: receipt{}, status: http.StatusAccepted}
	}
	return []route{
		ingest(wire.PathInit, "a prompt was typed; 202 once it is durable", claudemem.KindPrompt),
		ingest(wire.PathObservation, "a tool was used; 202 once it is durable", claudemem.KindTool),
		ingest(wire.PathSummarize, "a turn has ended; with kind flush the observer only looks at the session", claudemem.KindStop, claudemem.KindFlush),
		ingest(wire.PathComplete, "a session has ended", claudemem.KindSessionEnd),
		{method: "GET", path: wire.PathContext, handle: a.context, about: "the context block of a session that starts", hook: true,
			params: contextParams, answer: claudemem.ContextBlock{}},
		{method: "GET", path: "/api/context/preview", handle: a.preview, about: "what a session that started now would be given, and why; nothing is given or booked",
			params: contextParams, answer: contextPreview{Lines: []previewLine{{}}}, example: "project_path=/home/ada/tally&budget=500"},
	}
}

func (a *api) searchRoutes() []route {
	about := func(name, what, example string) param {
		return param{name: name, kind: listParam, about: what, required: true, example: example}
	}
	one := filters(queryParam)
	return []route{
		{method: "GET", path: "/api/search", handle: a.searchKinds(), about: "records of every kind; without a query the newest that pass the filter",
			params: append([]param{kindsParam}, one...), answer: mixedPage, example: "query=why+do+totals+differ&project=tally&explain=1"},
		{method: "GET", path: "/api/search/observations", handle: a.searchKinds(claudemem.RecordObservation), about: "observations",
			params: one, answer: observationPage, example: "query=rounding&type=bugfix&dateFrom=2026-03-01"},
		{method: "GET", path: "/api/search/sessions", handle: a.searchKinds(claudemem.RecordSummary), about: "summaries of sessions",
			params: one, answer: summaryPage, example: "query=release&format=full&limit=3"},
		{method: "GET", path: "/api/search/prompts", handle: a.searchKinds(claudemem.RecordPrompt), about: "what the user typed",
			params: one, answer: promptPage, example: "query=deploy&order=newest"},
		{method: "GET", path: "/api/search/by-type", handle: a.searchBy("type"), about: "observations of a type, or of several",
			params: append([]param{about("type", "bugfix feature refactor change discovery decision", "bugfix").with(func(d *param) { d.also = typesParam.also })},
				without(one, "type")...), answer: searchPage{Type: "bugfix", Results: observationPage.Results}, example: "type=decision&project=tally"},
		{method: "GET", path: "/api/search/by-file", handle: a.searchBy("file"), about: "observations that touch a file or a folder, known by a path or by parts of it",
			params: append([]param{about("file", filesParam.about, "src/auth").with(func(d *param) { d.also = []string{"files", "filePath", "file_path", "path"} })},
				without(one, "files")...), answer: searchPage{File: "src/auth", Results: observationPage.Results}, example: "file=money/money.go"},
		{method: "GET", path: "/api/search/by-concept", handle: a.searchBy("concept"), about: "observations with a concept, or with one of several",
			params: append([]param{about("concept", "how-it-works why-it-exists what-changed problem-solution gotcha pattern trade-off", "gotcha").with(func(d *param) { d.also = []string{"concepts"} })},
				without(one, "concepts")...), answer: searchPage{Concept: "gotcha", Results: observationPage.Results}, example: "concept=gotcha&limit=5"},
		{method: "GET", path: "/api/search/recent-context", handle: a.recentContext, about: "the latest sessions, each with its summary and its observations",
			params:  []param{projectParam, limitParam.with(func(d *param) { d.missing, d.about = "3", "how many sessions" })},
			answer:  recentPage{Sessions: []recentSession{{Summary: &recentSummary{}, Observations: []recentObservation{{}}}}},
			example: "project=tally&limit=3"},
		{method: "GET", path: "/api/search/timeline", handle: a.timeline, about: "what happened before and after a record, a session or a moment",
			params: []param{{name: "anchor", about: "an observation's number (123), a session (S12) or an ISO time; or send query", example: "124"},
				queryParam.with(func(d *param) { d.about = "its best hit is the anchor" }), beforeParam, afterParam, projectParam},
			answer: timelinePage{Timeline: []timelineItem{{}}}, example: "anchor=124&depth_before=3&depth_after=3"},
		{method: "GET", path: "/api/search/timeline-by-query", handle: a.timeline, about: "what happened before and after the best hit of a query",
			params: []param{queryParam.with(func(d *param) { d.about, d.required = "its best hit is the anchor", true }), beforeParam, afterParam, projectParam},
			answer: timelinePage{Timeline: []timelineItem{{}}}, example: "query=rounding+error"},
		{method: "GET", path: "/api/search/help", handle: plain(a.help), about: "every search route with its parameters and an example", answer: helpPage{}},
	}
}

func (a *api) recordRoutes() []route {
	lists := func(path, about string, kind claudemem.RecordKind, results ...any) route {
		return route{method: "GET", path: path, handle: a.listKind(kind), about: about,
			params: dated(sessionParam, formatParam.with(func(d *param) { d.missing = formatFull })),
			answer: listing{Results: results}, example: "project=tally&limit=5"}
	}
	return []route{
		{method: "GET", path: "/api/observations", handle: a.listObservations, about: "observations, the newest first, pinned ones ahead",
			params: paged(typesParam, formatParam), answer: listing{Results: []any{indexResult{}, fullResult{}}}, example: "project=tally&limit=5"},
		{method: "POST", path: "/api/observations", handle: a.addMemory, about: "writes a memory down by hand", status: http.StatusCreated,
			body: memoryBody{}, answer: fullResult{}, example: `{"project":"/home/ada/tally","narrative":"Amounts are whole cents; never use floats for money.","type":"decision"}`},
		{method: "POST", path: "/api/observations/batch", handle: a.batch, about: "observations by number, in the order asked for",
			body: batchBody{}, answer: batchPage{Missing: []claudemem.ObservationID{0}, Results: []any{fullResult{}, indexResult{}}}, example: `{"ids":[124,"#7"]}`},
		{method: "POST", path: "/api/lookups", handle: plain(a.noteLookup), about: "notes that a session's agent read observations in full by other means than this API",
			status: http.StatusAccepted, body: lookupBody{}, answer: map[string]string{}, example: `{"host":"claude-code","host_session_id":"0b7c1f6e","observations":[124,7]}`},
		{method: "GET", path: "/api/observations/{id}", handle: plain(a.getObservation), about: "an observation in full", params: []param{observationID}, answer: fullResult{}},
		{method: "PATCH", path: "/api/observations/{id}", handle: a.editMemory, about: "changes title, narrative, type or pinned", params: []param{observationID},
			body: claudemem.ObservationEdit{}, answer: fullResult{}, example: `{"pinned":true}`},
		{method: "DELETE", path: "/api/observations/{id}", handle: a.hideMemory, about: "hides an observation; it is purged after 10 minutes and can be restored until then",
			params: []param{observationID, {name: "purge", kind: flagParam, about: "false: it stays hidden and is never purged", missing: "true", example: "false"}}, answer: hidden{PurgedAtEpoch: 1}},
		{method: "POST", path: "/api/observations/{id}/restore", handle: a.restoreMemory, about: "brings a hidden observation back", params: []param{observationID}, answer: fullResult{}, example: "{}"},

		{method: "GET", path: "/api/sessions", handle: a.listSessions, about: "sessions, the most recently updated first", params: dated(),
			answer: page[digestResult]{Results: []digestResult{{Summary: &recentSummary{}}}}, example: "project=tally"},
		{method: "GET", path: "/api/sessions/{id}", handle: a.getSession, about: "a session with its records, the oldest first", params: []param{sessionIDP},
			answer: wholeSession{Prompts: []fullPromptResult{{}}, Summaries: []fullSummaryResult{{}}, Observations: []indexResult{{}}}},
		{method: "GET", path: "/api/sessions/{id}/receipt", handle: a.sessionReceipt, about: "what was captured of a session and became of it, what it was given, what was looked up later, what it cost",
			params: []param{sessionNameP, projectParam.with(func(d *param) { d.about = "the project whose last session is meant: root path or label" })},
			answer: claudemem.SessionReceipt{}},
		lists("/api/summaries", "summaries, the newest first", claudemem.RecordSummary, summaryHit{}, fullSummaryHit{}),
		lists("/api/prompts", "what the user typed, the newest first", claudemem.RecordPrompt, promptHit{}, fullPromptHit{}),
		{method: "GET", path: "/api/projects", handle: a.listProjects, about: "projects, the one that was worked on last first",
			params: []param{limitParam.with(func(d *param) { d.missing = "100" }), offsetParam}, answer: page[projectResult]{Results: []projectResult{{}}}},

		{method: "GET", path: "/api/learnings", handle: a.listLearnings, about: "what is known of a project: active ones first, by project, then the surest first",
			params: paged(param{name: "category", about: "architecture convention gotcha dependency workflow preference", example: "gotcha"},
				param{name: "all", kind: flagParam, about: "those too that are not active", example: "true"}),
			answer: learningPage{Results: []learningResult{{}}}, example: "project=tally"},
		{method: "POST", path: "/api/learnings", handle: plain(a.addLearning), about: "writes a learning down", status: http.StatusCreated,
			body: newLearning{}, answer: learningResult{}, example: `{"project":"tally","category":"convention","content":"Errors are wrapped once."}`},
		{method: "PATCH", path: "/api/learnings/{id}", handle: plain(a.editLearning), about: "changes a learning", params: []param{learningIDP},
			body: claudemem.LearningEdit{}, answer: learningResult{}, example: `{"content":"Amounts are whole cents."}`},
		{method: "DELETE", path: "/api/learnings/{id}", handle: plain(a.retireLearning), about: "retires a learning; PATCH active brings it back", params: []param{learningIDP}, answer: learningResult{}},
	}
}

// maxOffset is how far a list may be paged.
const maxOffset = math.MaxInt32
