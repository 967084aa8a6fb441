package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/internal/serve/mcpserver"

	"github.com/google/go-cmp/cmp"
)

// What docs/mcp.md promises, in tokens.
const (
	mostForDefinitions = 1500
	mostForAnswer      = 2500
	mostTools          = 8
)

// TestDefinitions: names, schemas and hints of the tools, and their cost, which every
// session pays.
func TestDefinitions(t *testing.T) {
	s := mcpserver.New(nil, mcpserver.Options{})
	lines := talk(t, s, append(append([]string{}, hello...), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)...)
	var answer struct {
		Result struct {
			Tools []struct {
				Name, Description string
				InputSchema       struct {
					Type       string
					Properties map[string]struct{ Type any }
				}
				Annotations struct {
					ReadOnlyHint, IdempotentHint   bool
					DestructiveHint, OpenWorldHint *bool
				}
			}
		}
	}
	list := lines[len(lines)-1]
	must(t, json.Unmarshal([]byte(list), &answer))
	tokens := memory.EstimateTokens(list)
	t.Logf("all definitions have %d tokens", tokens)
	if tokens > mostForDefinitions {
		t.Errorf("the definitions cost %d tokens, want at most %d", tokens, mostForDefinitions)
	}
	var names, writing, destructive []string
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.InputSchema.Type != "object" || len(tool.InputSchema.Properties) == 0 {
			t.Errorf("%s: description %q, schema %+v", tool.Name, tool.Description, tool.InputSchema)
		}
		for name, property := range tool.InputSchema.Properties {
			if _, plain := property.Type.(string); !plain {
				t.Errorf("%s.%s has the type %v: clients refuse unions", tool.Name, name, property.Type)
			}
		}
		hints := tool.Annotations
		if hints.OpenWorldHint == nil || *hints.OpenWorldHint {
			t.Errorf("%s: the world is closed", tool.Name)
		}
		if !hints.ReadOnlyHint {
			writing = append(writing, tool.Name)
			if hints.DestructiveHint == nil || *hints.DestructiveHint {
				destructive = append(destructive, tool.Name)
			}
		}
	}
	if len(names) > mostTools {
		t.Errorf("%d tools, want at most %d", len(names), mostTools)
	}
	slices.Sort(names)
	want := []string{"forget_memory", "get_observations", "get_project_context", "get_session_summary", "judge_memory", "save_memory", "search_memory", "timeline"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"forget_memory", "judge_memory", "save_memory"}, writing); diff != "" {
		t.Errorf("tools that write -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"forget_memory"}, destructive); diff != "" {
		t.Errorf("destructive tools -want +got:\n%s", diff)
	}
}

// TestBudget: answers and their structured content stay within 2,500 tokens, also in a
// large memory.
func TestBudget(t *testing.T) {
	m := newMemory(t)
	for i := range 60 {
		n := memory.NewObservation{ProjectPath: "/src/big", Type: "discovery", Title: fmt.Sprintf("%d %x ", i, i*7919*7919) + strings.Repeat("Ünïcode “title” ", 20), Subtitle: strings.Repeat(`"quoted" \ `, 40),
			Narrative: strings.Repeat("<b>日本語</b> & more\n", 400*(i%7)), CreatedAt: memory.MillisOf(friday) - memory.Millis(i), Origin: memory.OriginUser}
		for j := range 150 {
			n.Facts = append(n.Facts, fmt.Sprintf("fact %d of %d", j, i))
			n.Files = append(n.Files, memory.FileRef{Path: fmt.Sprintf("a/long/path/to/file%d.go", j), Role: memory.FileModified})
		}
		_, err := m.AddObservation(t.Context(), n)
		must(t, err)
	}
	long := strings.Repeat("what was <b>learned</b> of it\n", 60)
	var changed []memory.SymbolChange
	for i := range 150 {
		name := fmt.Sprintf("Größe%d.<b>", i) + strings.Repeat(`"quoted" `, i)
		changed = append(changed, memory.SymbolChange{FilePath: fmt.Sprintf("日本語/%d.go", i%9), QualifiedName: name, Kind: "func", Signature: "func " + name, ChangeType: memory.SymbolNew})
	}
	for i := range 12 {
		m.turn(t, "/src/big", "long", i, "go on", memory.Outcome{Symbols: changed, Summaries: []memory.Summary{{PromptNumber: i + 1, Request: long, Learned: long, Completed: long, NextSteps: long}}})
	}
	must(t, m.index.CatchUp(t.Context()))
	ids := make([]string, 60)
	for i := range ids {
		ids[i] = fmt.Sprint(i + 14)
	}
	s := m.server(mcpserver.Options{Dir: "/src/big"})
	for _, call := range [][2]string{
		{"search_memory", `{"limit":50}`},
		{"search_memory", `{"query":"日本語 title","limit":50}`},
		{"get_observations", `{"ids":[` + strings.Join(ids, ",") + `]}`},
		{"get_observations", `{"ids":[20]}`},
		{"timeline", `{"anchor":"40","depth_before":50,"depth_after":50}`},
		{"get_session_summary", `{"session_id":"last"}`},
		{"get_session_summary", `{"session_id":"long","offset":3}`},
		{"get_project_context", `{}`},
		{"search_memory", `{"a1":1,"` + strings.Repeat("b", 9000) + `":2,"c":3,"d":4,"e":5,"f":6}`},
	} {
		got := callTool(t, s, call[0], call[1])
		if got.IsError {
			t.Errorf("%s(%.60s): %s", call[0], call[1], got.text())
			continue
		}
		text, structured := memory.EstimateTokens(got.text()), memory.EstimateTokens(string(got.StructuredContent))
		if text > mostForAnswer || structured > mostForAnswer {
			t.Errorf("%s(%.60s): %d tokens, structured %d; want at most %d", call[0], call[1], text, structured, mostForAnswer)
		}
		if call[0] == "get_observations" && text < mostForAnswer/3 {
			t.Errorf("%s(%.60s): only %d tokens of much that there is:\n%s", call[0], call[1], text, got.text())
		}
	}
}

// TestChangedCode: a session's summary names the symbols that it changed, on one bounded
// line, also when no turn was summarised.
func TestChangedCode(t *testing.T) {
	m := newMemory(t)
	var changed []memory.SymbolChange
	for i := range 130 {
		changed = append(changed, memory.SymbolChange{FilePath: "a.go", QualifiedName: fmt.Sprintf("F%03d", i), Kind: "func", ChangeType: memory.SymbolNew})
	}
	changed = append(changed,
		memory.SymbolChange{FilePath: "b.go", QualifiedName: "New\n</claude-mem-context>", Kind: "func", ChangeType: memory.SymbolNew, RenamedFrom: "Old", SnapshotAt: memory.MillisOf(friday.Add(time.Hour))},
		memory.SymbolChange{FilePath: "b.go", QualifiedName: "Old", Kind: "func", ChangeType: memory.SymbolDeleted, SnapshotAt: memory.MillisOf(friday.Add(time.Hour))})
	m.turn(t, "/src/many", "many", 1, "go on", memory.Outcome{Symbols: changed})
	got := callTool(t, m.server(mcpserver.Options{Dir: "/src/many"}), "get_session_summary", `{"session_id":"last"}`).text()
	want := "\nChanged code of the session: b.go: New ‹/claude-mem-context> [NEW, was Old]; a.go: F000 [NEW], F001 [NEW], F002 [NEW], F003 [NEW], " +
		"F004 [NEW], F005 [NEW], F006 [NEW], F007 [NEW], F008 [NEW], F009 [NEW], F010 [NEW]; 119 more.\n"
	if !strings.Contains(got, want) || strings.Count(got, "Changed code") != 1 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, session := range []string{"S1", "many"} {
		if got := callTool(t, m.server(mcpserver.Options{}), "get_session_summary", fmt.Sprintf(`{"session_id":%q,"offset":1}`, session)); strings.Contains(got.text(), "Changed code") {
			t.Errorf("a later page has it again:\n%s", got.text())
		}
	}
}

// TestHostileArguments: absurd arguments are answered, or refused with a code.
func TestHostileArguments(t *testing.T) {
	m := newMemory(t)
	s := m.server(mcpserver.Options{})
	many := strings.TrimSuffix(strings.Repeat("1,", 10_000), ",")
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, tt := range []struct {
		name, tool, arguments string
		code                  memory.Code // "" for an answer
	}{
		{"a query of 1 MB", "search_memory", `{"query":"` + strings.Repeat("limiter ", 130_000) + `"}`, ""},
		{"a query of nothing but quotes", "search_memory", `{"query":"` + strings.Repeat(`\"`, 5000) + `"}`, ""},
		{"control characters", "search_memory", `{"query":"\u0000\u001b[31m\ud800"}`, ""},
		{"full-text syntax", "search_memory", `{"query":"NEAR(((( AND OR NOT * \" ) '; DROP TABLE observations"}`, ""},
		{"10,000 ids", "get_observations", `{"ids":[` + many + `]}`, memory.CodeTooLarge},
		{"10,000 ids in a string", "get_observations", `{"ids":"` + many + `"}`, memory.CodeTooLarge},
		{"10,000 ids to forget", "forget_memory", `{"ids":[` + many + `]}`, memory.CodeTooLarge},
		{"a deep list of ids", "get_observations", `{"ids":` + deep + `}`, memory.CodeInvalid},
		{"an id out of range", "get_observations", `{"ids":[9223372036854775808]}`, memory.CodeInvalid},
		{"an id that is no whole number", "get_observations", `{"ids":[1.5]}`, memory.CodeInvalid},
		{"a limit that is none", "search_memory", `{"limit":"NaN"}`, memory.CodeInvalid},
		{"an endless limit", "search_memory", `{"limit":1e400}`, memory.CodeInvalid},
		{"a long project", "search_memory", `{"project":"` + strings.Repeat("x", 1<<20) + `"}`, memory.CodeTooLarge},
		{"long files", "search_memory", `{"files":"` + strings.Repeat("x", 1<<20) + `"}`, memory.CodeTooLarge},
		{"a path as a session", "get_session_summary", `{"session_id":"../../observations/1"}`, memory.CodeNotFound},
		{"dots as a session", "get_session_summary", `{"session_id":".."}`, memory.CodeNotFound},
		{"a query string as a session", "get_session_summary", `{"session_id":"S1?project=x&limit=1#"}`, memory.CodeNotFound},
		{"a long anchor", "timeline", `{"anchor":"` + strings.Repeat("9", 8000) + `"}`, memory.CodeNotFound},
		{"a memory of 1 MB", "save_memory", `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, memory.CodeTooLarge},
		{"a type that is none", "save_memory", `{"text":"x","type":"a,b\nc"}`, memory.CodeInvalid},
		{"a number for arguments", "search_memory", `7`, memory.CodeInvalid},
		{"a string for arguments", "search_memory", `"limiter"`, memory.CodeInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := callTool(t, s, tt.tool, tt.arguments)
			if tt.code == "" && got.IsError || tt.code != "" && !strings.HasPrefix(got.text(), fmt.Sprintf("error (%s): ", tt.code)) {
				t.Errorf("got %.300q, want code %q", got.text(), tt.code)
			}
			if memory.EstimateTokens(got.text()) > mostForAnswer {
				t.Errorf("the answer has %d tokens", memory.EstimateTokens(got.text()))
			}
		})
	}
}

// TestLookups: only the records that an answer shows in full are noted for the session.
func TestLookups(t *testing.T) {
	var read []memory.ObservationID
	for n := 0; n < 5 && len(read) == 0; n++ { // on a loaded machine there may be no time to note one
		m := newMemory(t)
		s := m.server(mcpserver.Options{Session: "claude-code:9d2e"})
		callTool(t, s, "search_memory", `{"query":"limiter"}`)
		callTool(t, s, "get_observations", `{"ids":[8,9,10,11,12,1]}`) // an answer holds three of them
		callTool(t, s, "get_observations", `{"ids":[2]}`)
		receipt, err := m.SessionReceipt(t.Context(), 1)
		must(t, err)
		for _, l := range receipt.LookedUp {
			read = append(read, l.Observation)
		}
	}
	if diff := cmp.Diff([]memory.ObservationID{2}, read); diff != "" {
		t.Errorf("looked up of session 1 -want +got:\n%s", diff)
	}
}

// searchFunc is the Search of a memory; nil is an empty memory.
type searchFunc func(ctx context.Context) error

func (f searchFunc) memory() api.Memory {
	return func(ctx context.Context, c api.Call) error {
		switch {
		case c.Path != "/api/search":
			return fmt.Errorf("unexpected call of %s", c.Path)
		case f == nil:
			return memory.Errorf(memory.CodeNoMemory, "nothing is remembered yet")
		}
		return f(ctx)
	}
}

// TestFaults: a panic or an internal error is an answer without its text, and the next
// call works.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		do         searchFunc
	}{
		{"a panic", "error (internal): internal error", func(context.Context) error { panic("secret") }},
		{"an error of ours", "error (internal): internal error", func(context.Context) error { return errors.New("secret") }},
		{"no worker", "error (unavailable): no worker is running\nhint: start one", func(context.Context) error {
			return memory.Errorf(memory.CodeUnavailable, "no worker is running").WithHint("start one")
		}},
		{"no memory", "Nothing is remembered yet", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mcpserver.New(tt.do.memory(), mcpserver.Options{})
			for range 2 {
				if got := callTool(t, s, "search_memory", `{"query":"x"}`); !strings.HasPrefix(got.text(), tt.want) || strings.Contains(got.text(), "secret") {
					t.Errorf("got %q, want %q", got.text(), tt.want)
				}
			}
		})
	}
}

// TestCancel: a call that the client cancels ends, and the client can end too.
func TestCancel(t *testing.T) {
	began, cancelled := make(chan struct{}), make(chan struct{})
	s := mcpserver.New(searchFunc(func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		close(cancelled)
		return ctx.Err()
	}).memory(), mcpserver.Options{})
	c := connect(t, s)
	for _, line := range hello {
		c.say(line)
	}
	c.hear()
	c.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_memory","arguments":{}}}`)
	<-began
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	<-cancelled
	c.say(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	for !strings.Contains(c.hear(), `"id":8`) { // the answer to 7 may come before, as an error
		continue
	}
	if err := c.end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

// TestConcurrentCalls: concurrent calls get their own answers.
func TestConcurrentCalls(t *testing.T) {
	m := newMemory(t)
	s := m.server(mcpserver.Options{})
	said := append([]string{}, hello...)
	for i := range 40 {
		said = append(said, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_observations","arguments":{"ids":[%d]}}}`, i+1, i%5+1))
	}
	answered := map[int]string{}
	for _, line := range talk(t, s, said...) {
		var answer struct {
			ID     int
			Result result
		}
		must(t, json.Unmarshal([]byte(line), &answer))
		answered[answer.ID] = answer.Result.text()
	}
	for i := range 40 {
		if want := fmt.Sprintf(" #%d ", i%5+1); !strings.Contains(answered[i+1], want) {
			t.Errorf("call %d: got %q, want%s", i+1, answered[i+1], want)
		}
	}
}

// TestBrokenLines: an invalid line is refused; the next ones are answered.
func TestBrokenLines(t *testing.T) {
	s := mcpserver.New(nil, mcpserver.Options{})
	c := connect(t, s)
	for _, line := range []string{"garbage", `{"jsonrpc":"2.0"`, `[]`, `"x"`, "\xff\xfe", `{"id":1}`, strings.Repeat("x", 5<<20)} {
		c.say(line)
		if got := c.hear(); !strings.Contains(got, `"error"`) || !json.Valid([]byte(got)) {
			t.Errorf("%.20q: got %q, want an error", line, got)
		}
	}
	c.say(`{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}")
	if got := c.hear(); !strings.Contains(got, `"id":5,"error"`) {
		t.Errorf("a deep message: got %q, want an error for its id", got)
	}
	c.say("")
	c.say(hello[0])
	if got := c.hear(); !strings.Contains(got, "serverInfo") {
		t.Errorf("after that: %s", got)
	}
	if err := c.end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

// TestRoots: the client's first root is its project.
func TestRoots(t *testing.T) {
	m := newMemory(t)
	const want = "1 found in till"
	got := ""
	for n := 0; n < 5 && !strings.Contains(got, want); n++ { // a client on a loaded machine may tell them too late
		c := connect(t, m.server(mcpserver.Options{Dir: "/src/nowhere", AskRoots: true}))
		c.say(strings.Replace(hello[0], `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1))
		c.hear()
		c.say(hello[1])
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"printer"}}}`)
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		must(t, json.Unmarshal([]byte(c.hear()), &asked))
		if asked.Method != "roots/list" {
			t.Fatalf("the server asks for %q", asked.Method)
		}
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"https://example.org"},{"uri":"file:///src/till","name":"till"}]}}`, asked.ID))
		got = c.hear()
	}
	if !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

// TestStructured: Claude Code gets no structured content, which it would show the model
// instead of the text.
func TestStructured(t *testing.T) {
	m := newMemory(t)
	for name, want := range map[string]bool{"test": true, "claude-code": false} {
		lines := talk(t, m.server(mcpserver.Options{}), strings.Replace(hello[0], `"name":"test"`, `"name":"`+name+`"`, 1), hello[1],
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"limiter"}}}`)
		if got := strings.Contains(lines[len(lines)-1], "structuredContent"); got != want {
			t.Errorf("for the client %s: structured content %v, want %v", name, got, want)
		}
	}
}

// post sends a message to /mcp.
func post(t *testing.T, h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHTTP: each message is answered on its own with JSON; there are no MCP sessions.
func TestHTTP(t *testing.T) {
	m := newMemory(t)
	h := mcpserver.New(m.local.Memory(), mcpserver.Options{Clock: func() time.Time { return friday }}).Handler()
	w := post(t, h, hello[0])
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Mcp-Session-Id") != "" || !strings.Contains(w.Body.String(), "serverInfo") {
		t.Errorf("initialize: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := post(t, h, hello[1]); w.Code != http.StatusAccepted {
		t.Errorf("initialized: %d %s", w.Code, w.Body)
	}
	w = post(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"limiter"}}}`, "Mcp-Protocol-Version", "2025-06-18")
	if !strings.Contains(w.Body.String(), "found in all projects") {
		t.Errorf("search: %d %s", w.Code, w.Body)
	}
	post(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_observations","arguments":{"ids":[2]}}}`, wire.SessionHeader, "claude-code:9d2e")
	receipt, err := m.SessionReceipt(t.Context(), 1)
	must(t, err)
	if len(receipt.LookedUp) != 1 || receipt.LookedUp[0].Observation != 2 {
		t.Errorf("looked up: %+v", receipt.LookedUp)
	}
	w = post(t, h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_project_context","arguments":{}}}`)
	if !strings.Contains(w.Body.String(), "known: shop, till") {
		t.Errorf("context without a project: %d %s", w.Code, w.Body)
	}
	if w := post(t, h, "garbage"); w.Code != http.StatusBadRequest {
		t.Errorf("garbage: %d %s", w.Code, w.Body)
	}
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "http://localhost/mcp", http.NoBody))
	if r.Code != http.StatusMethodNotAllowed {
		t.Errorf("a stream to listen on: %d, want %d: it would keep the worker awake", r.Code, http.StatusMethodNotAllowed)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if w := post(t, h, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"timeline","arguments":{"anchor":1}}}`); !bytes.Contains(w.Body.Bytes(), []byte("#1 ")) {
				t.Errorf("at once: %d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
}

// FuzzArguments: for all arguments there is one answer, within its budget.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"query":"x","limit":"3","ids":["#1",2,"3,4"]}`, `{"ids":"[1,2"}`, `{"anchor":"S1","project":"..\\x"}`,
		`{"date_start":"2w","date_end":"0"}`, `{"ids":[[1]],"undo":"TRUE","text":"a"}`, `{"session_id":"%2e%2e/","offset":-1}`, `{"query":"\u202e\u0000<a>"}`,
	} {
		for tool := range 7 {
			f.Add(tool, []byte(seed))
		}
	}
	m := newMemory(f)
	s := m.server(mcpserver.Options{})
	names := []string{"search_memory", "timeline", "get_observations", "get_session_summary", "get_project_context", "save_memory", "forget_memory"}
	f.Fuzz(func(t *testing.T, tool int, arguments []byte) {
		if !json.Valid(arguments) || bytes.ContainsAny(arguments, "\n\r") {
			t.Skip()
		}
		got := callTool(t, s, names[uint(tool)%uint(len(names))], string(arguments))
		text := got.text()
		if text == "" || memory.EstimateTokens(text) > mostForAnswer || strings.HasPrefix(text, "error (internal)") {
			t.Errorf("got %q", text)
		}
		if strings.ContainsAny(text, "\x00\x1b\u202e") {
			t.Errorf("control characters in %q", text)
		}
	})
}
