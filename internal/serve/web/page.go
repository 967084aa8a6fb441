package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"claudemem/internal/serve/api"
)

// page is one page of the viewer.
type page struct {
	// Path is its path; the last part may be a {name}, a path value of the request.
	Path string
	// Name is that of its template.
	Name string
	// Nav is its name in the navigation, "" for a page that has no place there.
	Nav string
	// Key is the letter that opens it after "g".
	Key string
	// Script is a module of static/ that the page needs, "" for none.
	Script string
	load   func(*visit) view
}

// pages are all pages, in the order of the navigation.
var pages = []page{
	{Path: "/", Name: "feed", Nav: "Feed", Key: "f", Script: "feed.js", load: (*visit).feed},
	{Path: "/search", Name: "search", Nav: "Search", Key: "s", Script: "form.js", load: (*visit).search},
	{Path: "/sessions", Name: "sessions", Nav: "Sessions", Key: "e", load: (*visit).sessions},
	{Path: "/timeline", Name: "timeline", Nav: "Timeline", Key: "t", load: (*visit).timeline},
	{Path: "/learnings", Name: "learnings", Nav: "Learnings", Key: "l", Script: "learnings.js", load: (*visit).learnings},
	{Path: "/code", Name: "code", Nav: "Code", Key: "c", load: (*visit).code},
	{Path: "/stats", Name: "stats", Nav: "Stats", Key: "a", load: (*visit).stats},
	{Path: "/context", Name: "context", Nav: "Context", Key: "p", Script: "form.js", load: (*visit).context},
	{Path: "/queue", Name: "queue", Nav: "Queue", Key: "q", Script: "queue.js", load: (*visit).queue},
	{Path: "/settings", Name: "settings", Nav: "Settings", Key: "o", load: (*visit).settings},
	{Path: "/logs", Name: "logs", Nav: "Logs", Key: "w", Script: "logs.js", load: (*visit).logs},
	{Path: "/doctor", Name: "doctor", load: (*visit).doctor},
	{Path: "/observation/{id}", Name: "observation", Script: "observation.js", load: (*visit).observation},
	{Path: "/session/{id}", Name: "session", Script: "forget.js", load: (*visit).session},
}

// view is what a page shows.
type view struct {
	// Title of the window; it may have any text.
	Title string
	// JSON is the API's address of the same data, "" for none.
	JSON string
	// Data is for the page's template.
	Data any
	// Redirect is an address to go to instead; "" for none.
	Redirect string
}

// visit is one request for a page.
type visit struct {
	*http.Request
	*Viewer
	now time.Time
	// token is what the page's writes send; "" for a visitor that may only read.
	token string
	// err is the first error. After it nothing is asked any more, and answers are empty.
	err error
}

// fail notes an error, unless there already is one.
func (v *visit) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// ask returns the answer of a method of the memory, the zero value after an error.
func ask[Q, A any](v *visit, method func(api.Memory, context.Context, Q) (A, error), q Q) (answer A) {
	if v.err == nil {
		answer, v.err = method(v.memory, v.Context(), q)
	}
	return answer
}

// inAPI returns the API's address of what a method answers to q.
func inAPI[Q, A any](method func(api.Memory, context.Context, Q) (A, error), q Q) string {
	return address(api.CallOf(method).Path, api.Values(q))
}

// request parses the parameters of the URL into an API request, together with those of more,
// which win. The text of a filter, q, is not among them: to the API it would be a query.
func request[Q any](v *visit, more url.Values) (q Q) {
	sent := v.URL.Query()
	sent.Del("q")
	for name, values := range more {
		sent[name] = values
	}
	v.fail(api.Parse(&q, api.ParamsOf(q), sent.Encode(), v.PathValue))
	return q
}

// address returns a path with parameters.
func address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
