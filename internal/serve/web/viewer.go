package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

//go:embed templates static
var files embed.FS

// policy lets a page load its own files and talk to its own origin, and nothing else.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ThemeCookie holds the reader's choice of theme: light or dark; without it the system's.
const ThemeCookie = "claude_mem_theme"

// Options of New; a zero value means the default.
type Options struct {
	// Version of the program, for the footer.
	Version string
	// Clock is time.Now when nil.
	Clock func() time.Time
	// Location is the zone in which times are shown; time.Local when nil.
	Location *time.Location
	// Worker is the process that serves the viewer.
	Worker Worker
	// InTeam reports whether the memory is in a team; nil: it is not.
	InTeam func() bool
	// Place sets what is checked out at the project of a request for a context block, and
	// where the host loads its own files; nil: nothing is known of that.
	Place func(*api.ContextRequest)
	// Logs are those of the worker and the hook.
	Logs []Log
	// Logger gets internal errors; default: no log.
	Logger *slog.Logger
}

// Viewer serves the pages and their files. It does not check who asks: the guard of package
// httpapi does.
type Viewer struct {
	memory    api.Memory
	opts      Options
	templates func() map[string]*template.Template
	static    map[string]asset
}

// asset is a file of static/.
type asset struct {
	body    []byte
	kind    string // of the content
	version string // changes with the content
}

// New returns a viewer of a memory. The first page panics if a template is broken, which a
// test finds.
func New(mem api.Memory, opts Options) *Viewer {
	opts.Clock = memory.ClockOr(opts.Clock)
	opts.Location, opts.Logger = cmp.Or(opts.Location, time.Local), cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	v := &Viewer{memory: mem, opts: opts, static: readStatic()}
	v.templates = sync.OnceValue(v.parseTemplates) // a worker without readers need not
	return v
}

// readStatic returns the files of static/ by name.
func readStatic() map[string]asset {
	all := map[string]asset{}
	names, _ := fs.Glob(files, "static/*") // the pattern is valid
	for _, name := range names {
		body, _ := files.ReadFile(name) // it is embedded
		sum := sha256.Sum256(body)
		all[path.Base(name)] = asset{body, contentTypes[path.Ext(name)], hex.EncodeToString(sum[:6])}
	}
	return all
}

// contentTypes are those of the files in static/; the machine's own table may say otherwise of
// a script.
var contentTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}

// parseTemplates returns the template of each page with the parts that all share.
func (v *Viewer) parseTemplates() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(v.functions()).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/pictures.html"))
	all := map[string]*template.Template{}
	for _, p := range append(pages, errorPage) {
		all[p.Name] = template.Must(template.Must(shared.Clone()).ParseFS(files, "templates/"+p.Name+".html"))
	}
	return all
}

// errorPage is the page of an error, at any path.
var errorPage = page{Name: "error"}

// Serve answers a request for a page or a file. token is what the page's writes must send;
// "" for a visitor that may only read.
func (v *Viewer) Serve(w http.ResponseWriter, r *http.Request, token string) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	visit := &visit{Request: r, Viewer: v, now: v.opts.Clock().In(v.opts.Location), token: token}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		v.showError(w, visit, http.StatusMethodNotAllowed, memory.Errorf(memory.CodeInvalid, "pages are only read").
			WithHint("changes are made by the API below /api"))
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/static/"); ok {
		v.serveStatic(w, visit, name)
		return
	}
	for _, p := range pages {
		if v.serveIf(w, visit, p) {
			return
		}
	}
	v.showError(w, visit, http.StatusNotFound, memory.Errorf(memory.CodeNotFound, "there is no page %.80s", r.URL.Path).WithHint("the pages are in the navigation above"))
}

// serveIf serves a page if the path of the request is its, and reports whether it was.
func (v *Viewer) serveIf(w http.ResponseWriter, visit *visit, p page) bool {
	prefix, name, named := strings.Cut(p.Path, "{")
	switch {
	case !named && visit.URL.Path != p.Path:
		return false
	case named:
		value, ok := strings.CutPrefix(visit.URL.Path, prefix)
		if !ok || value == "" || strings.Contains(value, "/") {
			return false
		}
		visit.SetPathValue(strings.TrimSuffix(name, "}"), value)
	}
	shown := p.load(visit)
	for range maxNotices {
		if next := visit.without(); next != nil {
			visit, shown = next, p.load(next)
		}
	}
	switch {
	case visit.err != nil:
		v.showError(w, visit, api.StatusOf(memory.CodeOf(visit.err)), visit.err)
	case shown.Redirect != "":
		http.Redirect(w, visit.Request, shown.Redirect, http.StatusSeeOther)
	case visit.notices != nil:
		v.render(w, visit, http.StatusBadRequest, p, shown)
	default:
		v.render(w, visit, http.StatusOK, p, shown)
	}
	return true
}

// serveStatic serves a file of static/. It is kept by the browser and asked for again by its
// ETag each time.
func (v *Viewer) serveStatic(w http.ResponseWriter, visit *visit, name string) {
	file, ok := v.static[name]
	if !ok {
		v.showError(w, visit, http.StatusNotFound, memory.Errorf(memory.CodeNotFound, "there is no file %.80s", name))
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", file.kind)
	h.Set("Service-Worker-Allowed", "/") // sw.js answers for all pages
	h.Set("ETag", `"`+file.version+`"`)
	http.ServeContent(w, visit.Request, "", time.Time{}, bytes.NewReader(file.body))
}

// frame is what the layout shows around a page.
type frame struct {
	view
	Page    page
	Nav     []page
	Theme   string
	Token   string
	Version string
	Notices []notice
}

// showError answers with the page of an error. Only the text of a *memory.Error is shown.
func (v *Viewer) showError(w http.ResponseWriter, visit *visit, status int, err error) {
	if status >= http.StatusInternalServerError && visit.Context().Err() == nil {
		v.opts.Logger.Error("page failed", "path", visit.URL.Path, "error", err)
	}
	body := api.NewErrorBody(err)
	v.render(w, visit, status, errorPage, view{Title: "Error", Data: struct {
		Status        int
		Message, Hint string
	}{status, body.Error.Message, body.Error.Hint}})
}

// render writes a page, or its fragment if the request asks for that. It is rendered whole
// before the first byte is sent, so that an error does not end in the middle.
func (v *Viewer) render(w http.ResponseWriter, visit *visit, status int, p page, shown view) {
	nav := collect.Keep(pages, func(other page) bool {
		return other.Nav != "" && (other.Name != "team" || v.opts.InTeam != nil && v.opts.InTeam())
	})
	f := frame{view: shown, Page: p, Nav: nav, Theme: visit.theme(), Token: visit.token, Version: v.opts.Version, Notices: visit.notices}
	block := "layout"
	if t := v.templates()[p.Name]; visit.URL.Query().Get("fragment") != "" && t.Lookup("fragment") != nil {
		block = "fragment"
	}
	var b bytes.Buffer
	if err := v.templates()[p.Name].ExecuteTemplate(&b, block, f); err != nil {
		v.opts.Logger.Error("render page", "page", p.Name, "error", err)
		http.Error(w, "the page could not be made; see claude-mem worker logs", http.StatusInternalServerError)
		return
	}
	if shown.JSON != "" {
		w.Header().Set("Link", "<"+shown.JSON+`>; rel="alternate"; type="application/json"`) // of a fragment too
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the reader may have left
}

// theme returns light or dark, or "" for the system's.
func (v *visit) theme() string {
	if c, err := v.Cookie(ThemeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

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
	{Path: "/given", Name: "given", Nav: "Given", Key: "v", load: (*visit).given},
	{Path: "/code", Name: "code", Nav: "Code", Key: "c", load: (*visit).code},
	{Path: "/stats", Name: "stats", Nav: "Stats", Key: "a", load: (*visit).stats},
	{Path: "/context", Name: "context", Nav: "Context", Key: "p", Script: "form.js", load: (*visit).context},
	{Path: "/queue", Name: "queue", Nav: "Queue", Key: "q", Script: "queue.js", load: (*visit).queue},
	{Path: "/team", Name: "team", Nav: "Team", Key: "m", load: (*visit).team},
	{Path: "/settings", Name: "settings", Nav: "Settings", Key: "o", Script: "settings.js", load: (*visit).settings},
	{Path: "/logs", Name: "logs", Nav: "Logs", Key: "w", Script: "logs.js", load: (*visit).logs},
	{Path: "/add", Name: "add", Script: "add.js", load: (*visit).add},
	{Path: "/impact", Name: "impact", load: (*visit).impact},
	{Path: "/devices", Name: "devices", load: (*visit).devices},
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
	// typed are the parameters of the address, nil if all of them were understood; notices are about
	// the others.
	typed   url.Values
	notices []notice
}

// fail notes an error, unless there already is one.
func (v *visit) fail(err error) {
	v.err = cmp.Or(v.err, err)
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
	maps.Copy(sent, more)
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

// params returns parameters of an address: names and their values, without the empty ones.
func params(pairs ...string) url.Values {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			q.Set(pair[0], pair[1])
		}
	}
	return q
}
