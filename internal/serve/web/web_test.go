package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/settings"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/filter"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// fake is a memory with records of which each field has the same text.
type fake struct {
	text  string
	total int // of a search
	// hostSession is the host's name for the session.
	hostSession string
	err         error
	asked       []string // addresses of the API, in order
	// block changes the preview of a context block, nil for none.
	block func(*api.Preview)
}

// memory returns the fake as a memory.
func (f *fake) memory() api.Memory {
	return api.Memory(func(_ context.Context, c api.Call) error {
		f.asked = append(f.asked, c.Path+"?"+api.Values(c.Request).Encode())
		if f.err != nil {
			return f.err
		}
		switch answer := c.Answer.(type) {
		case *api.SearchPage:
			*answer = f.page(c.Request.(api.SearchRequest))
		case *api.Observation:
			*answer = f.observation(7)
		case *api.Timeline:
			q := c.Request.(api.TimelineRequest)
			for n := -min(f.total, q.Before); n <= min(f.total, q.After); n++ {
				o := f.observation(memory.ObservationID(1000 + n))
				e := o.Entry()
				e.PromptNumber = int(o.ID) // each is a turn of its own
				e.IsAnchor, e.CreatedAtEpoch = n == 0, e.CreatedAtEpoch.Add(time.Duration(n)*time.Hour)
				answer.Timeline = append(answer.Timeline, e)
			}
		case *api.SessionRecords:
			*answer = f.session()
		case *api.Page[api.SessionDigest]:
			*answer = api.Page[api.SessionDigest]{Count: 1, Total: 1, Results: []api.SessionDigest{{Session: f.session().Session, LastPrompt: f.text,
				Summary: &api.SummaryHeadline{Completion: f.text}}}}
		case *api.Page[api.Project]:
			*answer = api.Page[api.Project]{Count: 1, Total: 1, Results: []api.Project{{Project: f.text, ProjectPath: f.text}}}
		case *api.Page[api.Learning]:
			*answer = f.learnings(c.Request.(api.LearningsRequest))
		case *api.Page[accounts.Given]:
			*answer = f.given(c.Request.(api.GivenRequest))
		case *api.Page[api.Symbol]:
			*answer = f.symbols(c.Request.(api.SymbolsRequest))
		case *memory.FileWeeks:
			*answer = f.fileWeeks()
		case *api.Stats:
			*answer = f.stats(c.Request.(api.StatsRequest))
		case *api.Preview:
			*answer = f.preview(c.Request.(api.ContextRequest))
		case *api.Impact:
			low := -1.5
			*answer = api.Impact{Trial: memory.Trial{ID: 2, Share: 40, Placebo: 20, StartedAt: memory.MillisOf(noon)}, Sessions: map[string]int{"memory": 30, "nothing": 20, "placebo": 10}, Running: 2, Exposed: 3,
				Outcomes: []api.ImpactOutcome{{Name: f.shorter(), Primary: true, Against: memory.ArmNothing, Sessions: 50, Percent: true, Change: -12.5, Low: &low, High: new(4.0)},
					{Name: "prompts", Against: memory.ArmPlacebo, Sessions: 20, Percent: true}, {Name: "used after a file", Against: memory.ArmHeld, Sessions: 20}},
				Plan: api.ImpactPlan{Sessions: 40, Needed: 1234, Detectable: []api.Detectable{{Sessions: 50, Percent: 80}, {Sessions: 200, Percent: 35}}}}
		case *api.Versions:
			answer.Versions = []memory.Version{{Device: f.text, Type: memory.TypeBugfix, Title: f.text, Subtitle: f.text, Narrative: f.text, Facts: []string{f.text}}}
		case *api.Queue:
			*answer = f.queue()
		case *api.Page[accounts.SessionEvent]:
			*answer = f.events()
		case *accounts.SessionReceipt:
			answer.Given = []memory.Injection{{Source: f.text, Observations: []memory.ObservationID{1, 2}, At: memory.MillisOf(noon)}}
			answer.Title, answer.FirstPrompt = f.text, f.text
			answer.Skipped = []accounts.EventsFor{{Reason: f.text, Events: 1}}
			answer.Failed = []accounts.EventsFor{{Reason: f.text, Events: 1}}
			answer.Redacted = []accounts.RedactedRule{{Rule: f.text, Count: 1}}
			answer.Captured.Kinds = []accounts.EventsOf{{Kind: "tool", Tool: f.text, Events: 1}}
		}
		return nil
	})
}

// shorter returns the text, or its beginning: what is copied often, and as JSON, takes time.
func (f *fake) shorter() string { return text.FirstBytes(f.text, 64<<10) }

// queue returns a queue with f.total of everything.
func (f *fake) queue() api.Queue {
	said := f.shorter()
	q := api.Queue{Queue: memory.Books{Received: 9, Failed: f.total, Pending: 2}, Notices: []accounts.Notice{{Key: said, Text: said}}}
	for n := range f.total {
		q.Waiting = append(q.Waiting, api.Waiting{Session: 3, Project: said, Events: 2, NextDue: memory.MillisOf(noon.Add(time.Minute))})
		q.DeadLetters = append(q.DeadLetters, memory.DeadLetter{Key: fmt.Sprintf("key%d %s", n, said), Session: 3, Kind: "tool", ToolName: said, Attempts: 3, LastError: said})
	}
	q.Unread = []books.Unread{{Reason: "login", Events: 5, Kept: 4}, {Reason: memory.UnreadReason(said), Events: 1}}
	return q
}

func (f *fake) observation(id memory.ObservationID) api.Observation {
	texts := []string{f.text, f.text}
	return api.Observation{ID: id, Type: memory.ObservationType(f.text), Title: f.text, Subtitle: f.text, Project: f.text, Concepts: texts,
		CreatedAtEpoch: memory.MillisOf(noon), SupersededBy: 9, ObservationDetail: &api.ObservationDetail{ProjectPath: f.text, Narrative: f.text, Facts: texts,
			FilesRead: texts, FilesModified: texts, SessionDBID: 3, PromptNumber: 2, Origin: memory.Origin(f.text), Provenance: memory.FromWeb,
			Branch: f.text, HeadCommit: f.text, Pinned: true}}
}

func (f *fake) session() api.SessionRecords {
	head := api.TurnHead{ID: 5, Title: f.text, Project: f.text, SessionDBID: 3, PromptNumber: 2, CreatedAtEpoch: memory.MillisOf(noon)}
	return api.SessionRecords{Session: api.Session{ID: 3, HostSessionID: f.hostSession, Host: memory.Host(f.text), Project: f.text, Title: f.text},
		Prompts:      []api.Prompt{{TurnHead: head, PromptDetail: &api.PromptDetail{Text: f.text}}},
		Summaries:    []api.Summary{{TurnHead: head, SummaryDetail: &api.SummaryDetail{Request: f.text, Investigated: f.text, Learned: f.text, Completed: f.text, NextSteps: f.text}}},
		Observations: []api.Observation{f.observation(7)}}
}

// logs returns a log with the text, in a line of JSON and in one of a panic, for the page that
// shows it.
func (f *fake) logs(t testing.TB, page string) []Log {
	if !strings.HasPrefix(page, "/logs") {
		return nil
	}
	said := f.shorter()
	line, err := json.Marshal(map[string]any{"time": noon, "level": "WARN", "msg": said, "error": said})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "worker.log")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s\npanic: %s\n", line, said), 0o600); err != nil {
		t.Fatal(err)
	}
	return []Log{{Name: "worker", Path: path}}
}

// Stats implements Worker.
func (f *fake) Stats(context.Context) map[string]any {
	said := f.shorter()
	return map[string]any{"pid": 12, "data_dir": said, "stages": map[string]string{"store": "ok", "observer": said}, "sizes": map[string]int64{"memory": 12_000_000, said: 1},
		"index": map[string]any{"state": "failed", "error": said, "embed_error": said, "model": said}}
}

// DevicesStatus implements Worker.
func (f *fake) DevicesStatus(context.Context) (*memory.DevicesStatus, error) {
	said := f.shorter()
	s := &memory.DevicesStatus{Folder: said, Device: said, Label: said, Fault: said, Devices: []memory.Device{{Device: said, Label: said, SeenAt: memory.MillisOf(noon), Missing: 1}}}
	for range f.total {
		s.Refused = append(s.Refused, memory.RefusedFile{Name: said, Reason: said})
		s.Contested = append(s.Contested, memory.Contested{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 7}, Text: said, Others: []memory.Version{{Device: said, Title: said}}})
	}
	return s, f.err
}

// TeamStatus implements Worker.
func (f *fake) TeamStatus(context.Context) (*care.TeamStatus, error) {
	said := f.shorter()
	s := &care.TeamStatus{Member: said, Address: said, Fault: said, Hint: said, SyncedAt: memory.MillisOf(noon), Policies: []care.TeamPolicy{{Project: said}}, Muted: []string{said}, Refused: []string{said}, TeamCounts: care.TeamCounts{Shared: f.total}}
	for i := range f.total {
		s.Authors = append(s.Authors, care.TeamAuthor{Member: said, Records: 1, LastAt: memory.MillisOf(noon)})
		s.Leaving = append(s.Leaving, care.TeamLeaving{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 7}, Title: said, Project: said, Holders: []string{said}, How: []string{"edit", said}[i%2], At: memory.MillisOf(noon)})
	}
	return s, f.err
}

// Examine implements Worker.
func (f *fake) Examine(context.Context) ([]byte, error) {
	said := f.shorter()
	if f.err != nil {
		return nil, f.err
	}
	found := func(status api.Severity) api.Finding {
		return api.Finding{Check: string(status), Name: said, Status: status, Text: said, Fix: said, Fixable: true}
	}
	return json.Marshal(map[string]any{"status": "fail", "findings": []api.Finding{found("ok"), found("warn"), found("ok"), found("fail")}})
}

// Settings implements Worker.
func (f *fake) Settings() []settings.View {
	changed := settings.View{Key: "CLAUDE_MEM_MODE", Group: f.text, Value: f.text, Origin: settings.FromFile, Default: f.text, Choices: f.text, Help: f.text, Error: f.text}
	return []settings.View{changed, {Key: "CLAUDE_MEM_RECALL", Group: "context", Value: "on", Default: "on", Origin: settings.FromDefault, Help: "at its default"}}
}

// page returns a page of f.total hits, the newest first, two in each millisecond; their
// numbers fall from f.total to 1.
func (f *fake) page(q api.SearchRequest) api.SearchPage {
	out := api.SearchPage{Query: &q.Query, Understood: &memory.Understood{Types: []memory.ObservationType{memory.ObservationType(f.text)}, Notes: []string{f.text}}}
	for id := f.total; id > 0; id-- {
		at := memory.MillisOf(noon) + memory.Millis(id/2)
		if q.Until != 0 && at > q.Until {
			continue
		}
		if out.Total++; out.Total <= q.Offset || len(out.Results) == q.Limit {
			continue
		}
		o := f.observation(memory.ObservationID(id))
		o.CreatedAtEpoch = at
		hit := api.Hit{Kind: memory.RecordObservation, Observation: &o}
		if q.Explain {
			hit.Why = &memory.Explanation{Words: []string{"round"}, Parts: []memory.ScorePart{{Name: "keyword", Value: 1, Note: f.text}}}
		}
		out.Results = append(out.Results, hit)
	}
	out.Count = len(out.Results)
	return out
}

// get returns the answer to a request for a page.
func (f *fake) get(t testing.TB, path string) *httptest.ResponseRecorder {
	t.Helper()
	v := New(f.memory(), Options{Version: "1.0", Clock: func() time.Time { return noon }, Location: time.UTC, Worker: f, Logs: f.logs(t, path)})
	return serve(v, path)
}

// serve returns a viewer's answer to a visitor that may only read.
func serve(v *Viewer, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	v.Serve(w, httptest.NewRequest(http.MethodGet, path, nil), "")
	return w
}

// paths are those of all pages, with a search.
var paths = []string{"/", "/?q=type:bugfix", "/search", "/search?q=rounding", "/search?q=rounding&fragment=1", "/sessions", "/session/3", "/timeline", "/timeline?around=%237",
	"/observation/7", "/learnings", "/learnings?category=gotcha&all=true&fragment=1", "/given", "/given?session_id=S3&since=2d", "/code", "/code?files=a.go&name=x", "/stats", "/stats?days=365&project=x", "/context", "/context?source=resume&budget=500&fragment=1", "/nowhere",
	"/queue", "/queue?fragment=1", "/add", "/add?kind=learning", "/doctor", "/impact", "/devices", "/team", "/settings", "/logs", "/logs?q=a&level=info&log=worker"}

func TestHostileText(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202egpj.exe\x1b[31mred\u200b 😀 שלום"
	for _, path := range paths {
		body := (&fake{text: evil, total: 3}).get(t, path).Body.String()
		for _, bad := range []string{"<script>alert", "<img src", "\u202e", "\x1b", "\u200b", `"'>`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if path != "/search" && path != "/nowhere" && !strings.Contains(body, "alert(1)&lt;/script&gt;") {
			t.Errorf("%s does not show the text", path)
		}
	}
}

func TestWeight(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for _, text := range []string{strings.Repeat("Totals <b>were</b> off by a cent. ", 8000), strings.Repeat("&", 1<<18), strings.Repeat("語", 1<<16),
		strings.Repeat("#1 ", 9999), strings.Repeat("a.go:1 ", 9999), "http://" + strings.Repeat("語", 9999)} {
		for _, path := range paths {
			if n := (&fake{text: text, total: 100}).get(t, path).Body.Len(); n > 150<<10 {
				t.Errorf("%s has %d bytes with %.10q", path, n, text)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	f := &fake{text: "x", total: 3}
	for _, path := range append(paths, "/static/app.css", "/static/none.js") {
		h := f.get(t, path).Header()
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		want := "no-store"
		if path == "/static/app.css" {
			want = "no-cache"
		}
		if got := h.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %q, want %q", path, got, want)
		}
	}
	body := f.get(t, "/").Body.String()
	for _, bad := range []string{"<style", "style=", "onclick", "http://", "https://"} {
		if strings.Contains(body, bad) {
			t.Errorf("a page has %q", bad)
		}
	}
}

func TestStaticETag(t *testing.T) {
	v := New((&fake{}).memory(), Options{})
	first := httptest.NewRecorder()
	v.Serve(first, httptest.NewRequest(http.MethodGet, "/static/app.js", nil), "")
	again := httptest.NewRequest(http.MethodGet, "/static/app.js", nil)
	again.Header.Set("If-None-Match", first.Header().Get("ETag"))
	w := httptest.NewRecorder()
	v.Serve(w, again, "")
	if w.Code != http.StatusNotModified || first.Code != http.StatusOK {
		t.Errorf("status %d, then %d", first.Code, w.Code)
	}
}

// TestFeedPages follows the feed to its end: each record is seen once, also those that share
// a millisecond with one on another page.
func TestFeedPages(t *testing.T) {
	f := &fake{text: "x", total: 1001}
	path, next := "/", 1001
	for pages := 0; path != ""; pages++ {
		if pages > 30 {
			t.Fatal("the feed has no end")
		}
		body := f.get(t, path).Body.String()
		for _, part := range strings.Split(body, `data-id="observation-`)[1:] {
			if id, _, _ := strings.Cut(part, `"`); id != fmt.Sprint(next) {
				t.Fatalf("%s: observation %s, want %d", path, id, next)
			}
			next--
		}
		path = ""
		if _, rest, ok := strings.Cut(body, `aria-label="Older records"><a href="`); ok {
			path, _, _ = strings.Cut(rest, `"`)
			path = strings.ReplaceAll(path, "&amp;", "&")
		}
		f.total += 7 // records come in meanwhile
	}
	if next != 0 {
		t.Errorf("the feed ended before observation %d", next)
	}
}

func TestToggle(t *testing.T) {
	f := filter.Parse("type:bugfix")
	if on := toggle(f, "/", filter.Token{Name: "type", Value: "bugfix"}, "", ""); !on.On || on.Href != "/" {
		t.Errorf("the token in force is %+v", on)
	}
	if off := toggle(f, "/", filter.Token{Name: "type", Value: "feature"}, "", ""); off.On || off.Href != "/?q="+url.QueryEscape("type:bugfix type:feature") {
		t.Errorf("the other token is %+v", off)
	}
}

// TestTokensAreNoQuery: a filter of tokens alone searches for no text.
func TestTokensAreNoQuery(t *testing.T) {
	for _, path := range []string{"/", "/search"} {
		f := &fake{text: "x", total: 30}
		f.get(t, path+"?q="+url.QueryEscape("type:bugfix project:tally"))
		i := slices.IndexFunc(f.asked, func(asked string) bool { return strings.HasPrefix(asked, "/api/search?") })
		if i < 0 || strings.Contains(f.asked[i], "query=") || !strings.Contains(f.asked[i], "project=tally") || !strings.Contains(f.asked[i], "type=bugfix") {
			t.Errorf("%s asked for %q", path, f.asked)
		}
	}
}

// TestSameAsAPI compares what a page asks for with the address of its JSON.
func TestSameAsAPI(t *testing.T) {
	f := &fake{text: "x", total: 30}
	body := f.get(t, "/search?q="+url.QueryEscape("rounding type:bugfix project:tally")).Body.String()
	_, link, _ := strings.Cut(body, `<footer>`)
	_, link, _ = strings.Cut(link, `href="`)
	link, _, _ = strings.Cut(link, `"`)
	var search string
	for _, asked := range f.asked {
		if strings.HasPrefix(asked, "/api/search?") {
			search = asked
		}
	}
	want := strings.ReplaceAll(strings.ReplaceAll(link, "&amp;", "&"), "explain=true&", "explain=true&format=full&")
	if search != want {
		t.Errorf("the page asked for %s, its JSON is %s", search, want)
	}
}

func TestErrorPages(t *testing.T) {
	f := &fake{err: memory.Errorf(memory.CodeUnavailable, "the index is <b>not</b> open").WithHint("claude-mem reindex")}
	w := f.get(t, "/search?q=x")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "&lt;b&gt;not") || !strings.Contains(w.Body.String(), "claude-mem reindex") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	f.err = fmt.Errorf("open /home/ada/secret")
	if w := f.get(t, "/"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
