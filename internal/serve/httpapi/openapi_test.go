package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/serve/api"
)

// asked returns the handler's answer to a socket client, without a server.
func asked(t testing.TB, f *fakeWorker, path string) answer {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	target, query, _ := strings.Cut(path, "?")
	r.URL.Path, r.URL.RawQuery = target, query // as it came, whatever it is
	ctx, cancel := contextWithLink(r)
	defer cancel()
	rec := httptest.NewRecorder()
	a := newServer(f.deps(), Options{})
	a.guarded(a.router()).ServeHTTP(rec, r.WithContext(ctx))
	return answer{rec.Code, rec.Header(), rec.Body.String()}
}

type openAPIDocument struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Summary     string `json:"summary"`
		Parameters  []struct {
			Name, In, Description string
			Required              bool
			Schema                map[string]any
		}
		RequestBody any `json:"requestBody"`
		Responses   map[string]any
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]any
		}
		Responses map[string]any
	}
}

func document(t *testing.T) (openAPIDocument, string) {
	t.Helper()
	got := asked(t, newFakeWorker(), "/api/openapi.json")
	var d openAPIDocument
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || got.status != 200 {
		t.Fatalf("status %d, %v", got.status, err)
	}
	return d, got.body
}

// The document has all routes with their methods, descriptions and parameters, and no
// others.
func TestOpenAPIIsTheRoutes(t *testing.T) {
	d, raw := document(t)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", d.OpenAPI)
	}
	a := newServer(newFakeWorker().deps(), Options{})
	served, ids := map[string]bool{}, map[string]bool{}
	for _, r := range a.routes() {
		name := strings.ToLower(r.method) + " " + r.path
		if served[name] {
			t.Errorf("%s is there twice", name)
		}
		served[name] = true
		op, ok := d.Paths[r.path][strings.ToLower(r.method)]
		if !ok {
			t.Errorf("%s is not in the document", name)
			continue
		}
		if op.Summary == "" || op.OperationID == "" || ids[op.OperationID] || op.Responses["default"] == nil || len(op.Responses) != 2 {
			t.Errorf("%s: summary %q, id %q, responses %v", name, op.Summary, op.OperationID, op.Responses)
		}
		ids[op.OperationID] = true
		if writes := r.method == "POST" || r.method == "PATCH"; !writes && op.RequestBody != nil || r.method == "PATCH" && op.RequestBody == nil {
			t.Errorf("%s: body %v", name, op.RequestBody)
		}
		var documented []string
		for _, p := range op.Parameters {
			if p.Description == "" || p.Schema["type"] == nil || (p.In == "path") != (strings.Contains(r.path, "{"+p.Name+"}")) || p.In == "path" && !p.Required {
				t.Errorf("%s: parameter %+v", name, p)
			}
			if _, text := p.Schema["default"].(string); text && p.Schema["type"] != "string" {
				t.Errorf("%s: the default of %s is the text %q", name, p.Name, p.Schema["default"])
			}
			if slices.Contains(documented, p.Name) {
				t.Errorf("%s: parameter %s twice", name, p.Name)
			}
			documented = append(documented, p.Name)
		}
		for _, p := range r.params {
			if !slices.Contains(documented, p.Name) {
				t.Errorf("%s: parameter %s is not documented", name, p.Name)
			}
			for _, other := range r.params {
				if slices.Contains(other.Also, p.Name) && other.Name != p.Name {
					t.Errorf("%s: %s is another name of %s and a parameter too", name, p.Name, other.Name)
				}
			}
		}
		if strings.Contains(r.path, "{id}") != slices.Contains(documented, "id") {
			t.Errorf("%s: parameters %v", name, documented)
		}
	}
	for path, methods := range d.Paths {
		for method := range methods {
			if !served[method+" "+path] {
				t.Errorf("%s %s is documented and not served", method, path)
			}
		}
	}
	for rest := raw; ; {
		_, after, found := strings.Cut(rest, `"#/components/`)
		if !found {
			break
		}
		ref, after, _ := strings.Cut(after, `"`)
		rest = after
		kind, name, _ := strings.Cut(ref, "/")
		if kind == "schemas" && d.Components.Schemas[name].Properties == nil || kind == "responses" && d.Components.Responses[name] == nil {
			t.Errorf("reference to nothing: %s", ref)
		}
	}
}

// All fields of the answers are in the document.
func TestAnswersAreDocumented(t *testing.T) {
	_, raw := document(t)
	var d map[string]any
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatal(err)
	}
	f := newFakeWorker()
	f.records, f.hits, f.around, f.sessions, f.learnings = someRecords(), someHits(), someTimeline(), someSessions(), someLearnings()
	f.block, f.accounts = someBlock(), someReceipts()
	f.understood.Corrected = map[string]string{"a": "b"}
	for path, route := range map[string]string{
		"/api/search?query=x&explain=1": "", "/api/search?query=x&format=full&explain=1": "", "/api/search/sessions?query=x": "", "/api/search/prompts?format=full": "",
		"/api/search/by-file?file=x": "", "/api/search/timeline?anchor=1": "", "/api/search/recent-context": "", "/api/search/help": "",
		"/api/sessions": "", "/api/sessions/12": "/api/sessions/{id}", "/api/summaries": "", "/api/prompts": "", "/api/projects": "", "/api/observations?format=full": "",
		"/api/observations/124": "/api/observations/{id}", "/api/learnings": "",
		"/api/context/preview?project=/p": "", "/api/sessions/12/receipt": "/api/sessions/{id}/receipt",
		"/api/sessions/12/events": "/api/sessions/{id}/events",
	} {
		if route == "" {
			route, _, _ = strings.Cut(path, "?")
		}
		got := asked(t, f, path)
		var body any
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status != 200 {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
			continue
		}
		schema := dig(d, "paths", route, "get", "responses", "200", "content", "application/json", "schema")
		for _, unknown := range undocumented(d, schema, body, "") {
			t.Errorf("%s: %s is not documented", path, unknown)
		}
	}
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

// undocumented lists the fields of a body that its schema does not have.
func undocumented(document map[string]any, schema, body any, at string) (unknown []string) {
	if ref, ok := dig(schema, "$ref").(string); ok {
		schema = dig(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	if options, ok := dig(schema, "anyOf").([]any); ok {
		for i, option := range options {
			if found := undocumented(document, option, body, at); i == 0 || len(found) < len(unknown) {
				unknown = found
			}
		}
		return unknown
	}
	switch body := body.(type) {
	case map[string]any:
		for key, value := range body {
			property := dig(schema, "properties", key)
			if property == nil {
				property = dig(schema, "additionalProperties")
			}
			if property == nil {
				unknown = append(unknown, at+"."+key)
				continue
			}
			unknown = append(unknown, undocumented(document, property, value, at+"."+key)...)
		}
	case []any:
		for _, item := range body {
			unknown = append(unknown, undocumented(document, dig(schema, "items"), item, at+"[]")...)
		}
	}
	return unknown
}

// The help has of each search route what its row in the table of routes has; the golden file
// lists them.
func TestHelp(t *testing.T) {
	f := newFakeWorker()
	body := asked(t, f, "/api/search/help").body
	var help helpPage
	if err := json.Unmarshal([]byte(body), &help); err != nil {
		t.Fatal(err)
	}
	parameters := map[string][]api.Param{}
	for _, r := range newServer(f.deps(), Options{}).routes() {
		parameters[r.method+" "+r.path] = r.params
	}
	for _, e := range help.Endpoints {
		if table, err := json.Marshal(append([]api.Param{}, parameters[e.Method+" "+e.Path]...)); err != nil || !strings.Contains(body, `"parameters":`+string(table)+`,"example":"`) {
			t.Errorf("%s has not the parameters of the table (%v): %s", e.Path, err, table)
		}
	}
	const one = `{"name":"order","aliases":["orderBy","order_by"],"description":"default: relevance with a text, else newest","values":["relevance","newest","oldest"]}`
	if !strings.Contains(body, one) {
		t.Errorf("no parameter is %s", one)
	}
	text := help.Title + "\n"
	for _, e := range help.Endpoints {
		text += "\n" + e.Method + " " + e.Path + "\n" + e.Description + "\n" + e.Example + "\n"
	}
	text += "\n" + strings.Join(help.Notes, "\n") + "\n"
	file := filepath.Join("testdata", "answers", "search-help.golden")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("the help differs from %s (-want +got):\n%s", file, diff)
	}
}

// Help lists all search routes, and its examples work.
func TestHelpExamplesWork(t *testing.T) {
	f := newFakeWorker()
	f.records, f.hits, f.around, f.sessions = someRecords(), someHits(), someTimeline(), someSessions()
	var help helpPage
	if err := json.Unmarshal([]byte(asked(t, f, "/api/search/help").body), &help); err != nil {
		t.Fatal(err)
	}
	if len(help.Endpoints) != 11 {
		t.Errorf("%d routes", len(help.Endpoints))
	}
	for _, e := range help.Endpoints {
		if got := asked(t, f, e.Example); got.status != 200 {
			t.Errorf("%s: status %d: %s", e.Example, got.status, got.body)
		}
	}
	// The examples of other GET routes work too.
	for _, r := range newServer(f.deps(), Options{}).routes() {
		if r.method == "GET" && r.example != "" {
			if got := asked(t, f, r.path+"?"+r.example); got.status != 200 {
				t.Errorf("%s?%s: status %d: %s", r.path, r.example, got.status, got.body)
			}
		}
	}
}

// docs/http-api.md has every route: its path, or the last part of it in a row of several.
func TestRoutesAreInTheManual(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "http-api.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range newServer(newFakeWorker().deps(), Options{}).routes() {
		last := r.path[strings.LastIndexByte(r.path, '/'):]
		if text := string(manual); !strings.Contains(text, r.method+" `"+r.path+"`") && !strings.Contains(text, "`"+r.path+"`") && !strings.Contains(text, "`"+last+"`") {
			t.Errorf("%s %s is not in docs/http-api.md", r.method, r.path)
		}
		for _, d := range r.params {
			if !d.InPath && !strings.Contains(string(manual), "`"+d.Name+"`") && !strings.Contains(string(manual), "`"+d.Name+"=") {
				t.Errorf("parameter %s of %s is not in docs/http-api.md", d.Name, r.path)
			}
		}
	}
}
