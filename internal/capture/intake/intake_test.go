package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// fakeQueue keeps what it is given.
type fakeQueue struct {
	mu       sync.Mutex
	arrivals []memory.Arrival
	err      error
}

func (q *fakeQueue) Enqueue(_ context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return nil, q.err
	}
	receipts := make([]memory.Receipt, len(arrivals))
	for i, a := range arrivals {
		q.arrivals = append(q.arrivals, a)
		receipts[i].Status = memory.StatusPending
		if a.SkipReason != "" {
			receipts[i] = memory.Receipt{Status: memory.StatusSkipped, Reason: a.SkipReason}
		}
	}
	return receipts, nil
}

var testClock = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func newIntake(opts Options) (*Intake, *fakeQueue) {
	q := &fakeQueue{}
	if opts.Clock == nil {
		opts.Clock = func() time.Time { return testClock }
	}
	return New(q, opts), q
}

// take ingests an event and returns its arrival.
func take(t *testing.T, in *Intake, q *fakeQueue, e memory.Event) memory.Arrival {
	t.Helper()
	if e.HostSessionID == "" {
		e.HostSessionID = "s1"
	}
	if e.Host == "" {
		e.Host = memory.HostClaudeCode
	}
	if e.DeliveryID == "" {
		e.DeliveryID = "d1"
	}
	if e.OccurredAt == 0 {
		e.OccurredAt = memory.MillisOf(testClock)
	}
	if _, err := in.Ingest(t.Context(), e); err != nil {
		t.Fatalf("Ingest: %v", err)
	}
	return q.arrivals[len(q.arrivals)-1]
}

func tool(name, input, response string) memory.Event {
	e := memory.Event{Kind: memory.KindTool, ToolName: name, ToolUseID: "t1"}
	if input != "" {
		e.ToolInput = json.RawMessage(input)
	}
	if response != "" {
		e.ToolResponse = json.RawMessage(response)
	}
	return e
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestHosts: "claude" means Claude Code, and an event without a host joins the open
// session of its id.
func TestHosts(t *testing.T) {
	in, q := newIntake(Options{OpenSession: func(_ context.Context, id string) (memory.Host, error) {
		return map[string]memory.Host{"open": memory.Host("gemini")}[id], nil
	}})
	for _, tt := range []struct {
		host, want memory.Host
		session    string
	}{
		{"claude", memory.HostClaudeCode, "s"},
		{"claude-code", memory.HostClaudeCode, "open"},
		{"raw", memory.HostRaw, "open"},
		{"", memory.Host("gemini"), "open"},
		{"", memory.HostRaw, "other"},
	} {
		e := tool("Bash", `{}`, `{}`)
		e.Host, e.HostSessionID = tt.host, tt.session
		taken, err := in.Ingest(t.Context(), e)
		if err != nil || taken.Event.Host != tt.want {
			t.Errorf("host %q, session %s: %q, %v, want %q", tt.host, tt.session, taken.Event.Host, err, tt.want)
		}
		if last := q.arrivals[len(q.arrivals)-1]; !reflect.DeepEqual(last.Event, taken.Event) {
			t.Errorf("returned %+v, kept %+v", taken.Event, last.Event)
		}
	}
}

// TestStopOfSubagent: the end of a subagent's turn is a tool event of its run and
// no end of the session's turn.
func TestStopOfSubagent(t *testing.T) {
	in, q := newIntake(Options{})
	got := take(t, in, q, memory.Event{Kind: memory.KindStop, AgentID: "a1", AgentType: "Explore", LastAssistantMessage: "It is in main.go."})
	if got.Event.Kind != memory.KindTool || got.Key != "tool:claude-code:s1:agent:a1" || got.Event.LastAssistantMessage != "" ||
		!strings.Contains(string(got.Event.ToolResponse), "It is in main.go.") {
		t.Errorf("%+v", got)
	}
}

// TestPromptBehindNotification: the user's words behind a host's note are kept.
func TestPromptBehindNotification(t *testing.T) {
	const note = "<task-notification>\n<status>completed</status>\n</task-notification>"
	for prompt, want := range map[string]string{
		note + "\nNow fix the parser": "Now fix the parser",
		"\n" + note + note + " hello": "hello",
		note:                          "", note + " \n": "", "<task-notification> open": "",
		"hello " + note: "hello " + note,
	} {
		in, q := newIntake(Options{})
		got := take(t, in, q, memory.Event{Kind: memory.KindPrompt, PromptID: "p", Prompt: prompt})
		if got.Event.Prompt != want || (got.SkipReason == memory.SkipNotTyped) != (want == "") {
			t.Errorf("%q: %q, skipped %q, want %q", prompt, got.Event.Prompt, got.SkipReason, want)
		}
	}
	in, q := newIntake(Options{})
	if got := take(t, in, q, memory.Event{Kind: memory.KindPrompt, Prompt: note + "<private>x</private>"}); got.SkipReason != memory.SkipPrivate {
		t.Errorf("a private prompt behind a note: %+v", got)
	}
}

func TestSkip(t *testing.T) {
	opts := Options{
		DataDir: "/home/u/.claude-mem",
		Policy:  fixed(Policy{SkipTools: []string{"Glob", "TodoWrite"}, Projects: home.Projects([]string{"/secret/*", "scratch"}, nil)}),
	}
	prompt := func(text string) memory.Event { return memory.Event{Kind: memory.KindPrompt, Prompt: text} }
	bash := func(c string) memory.Event {
		return tool("Bash", `{"command":`+quote(c)+`}`, `{"stdout":"x"}`)
	}
	in := func(project string, e memory.Event) memory.Event {
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		return e
	}
	tests := []struct {
		name  string
		event memory.Event
		want  string
	}{
		{"tool", tool("Read", `{"file_path":"/p/a"}`, `{}`), ""},
		{"skipped tool", tool("Glob", `{"pattern":"*"}`, `{}`), memory.SkipTool},
		{"skipped tool in other case", tool("glob", `{}`, `{}`), ""},
		{"own tool by plugin", tool("mcp__plugin_claude-mem_memory__search_memory", `{}`, `{}`), memory.SkipOwn},
		{"own tool", tool("mcp__claude-mem__timeline", `{}`, `{}`), memory.SkipOwn},
		{"other server", tool("mcp__claude-memory__x", `{}`, `{}`), ""},
		{"own command", bash("claude-mem search x"), memory.SkipOwn},
		{"own command by path", bash("cd /p && FOO=1 ~/bin/claude-mem-hook save < x"), memory.SkipOwn},
		{"own command in a substitution", bash("echo $(claude-mem recent)"), memory.SkipOwn},
		{"own command by absolute path", bash("cd /p/q && /home/u/.local/bin/claude-mem search x | head -5"), memory.SkipOwn},
		{"own command with an environment", bash("CLAUDE_MEM_DATA_DIR=/x env A=1 timeout 5 claude-mem recent"), memory.SkipOwn},
		{"own command in a loop", bash("for i in 1 2; do claude-mem show $i; done"), memory.SkipOwn},
		{"own command into an inline program", bash(`claude-mem search x --json | python3 -c 'import json'`), memory.SkipOwn},
		{"our command in a commit message", bash(`git commit -m "docs: explain the pipe (capture | claude-mem search)"`), ""},
		{"our command in a here-document", bash("cat > notes.md <<'EOF'\nclaude-mem search x\nEOF"), ""},
		{"our command and a test", bash("claude-mem search x; go test ./..."), ""},
		{"our command and a commit", bash("claude-mem recent && git commit -am x"), ""},
		{"our command into a file", bash("claude-mem recent > notes.md"), ""},
		{"own API", bash("curl -s 'http://localhost:37777/api/search?query=x'"), memory.SkipOwn},
		{"own API by the socket", bash("curl -s --unix-socket ~/.claude-mem/worker.sock 'http://localhost/api/search?query=x&limit=3'"), memory.SkipOwn},
		{"own API by a socket elsewhere", bash(`curl -s --unix-socket "$CLAUDE_MEM_DATA_DIR/worker.sock" http://localhost/api/observations/1`), memory.SkipOwn},
		{"other API by another socket", bash("curl -s --unix-socket /run/docker.sock http://localhost/info # not worker.sock"), ""},
		{"command on our source", bash("go test ./cmd/claude-mem && grep claude-mem README.md"), ""},
		{"prompt", prompt("fix it"), ""},
		{"empty prompt", prompt(" \n"), memory.SkipNotTyped},
		{"task notification", prompt(" \n<task-notification>done</task-notification>"), memory.SkipNotTyped},
		{"machinery only", prompt("<system-reminder>x</system-reminder>"), memory.SkipNotTyped},
		{"own block only", prompt("<claude-mem-context>x</claude-mem-context>"), memory.SkipNotTyped},
		{"wholly private", prompt("<private>x</private>"), memory.SkipPrivate},
		{"partly private", prompt("<private>x</private> fix"), ""},
		{"excluded", in("/secret/a", bash("x")), memory.SkipExcluded},
		{"excluded by parent", in("/secret/a/b", prompt("x")), memory.SkipExcluded},
		{"excluded by name", in("/home/u/scratch", prompt("x")), memory.SkipExcluded},
		{"not excluded", in("/secrets/a", prompt("x")), ""},
		{"observer's run", in("/home/u/.claude-mem/observer", prompt("x")), memory.SkipInternal},
		{"beside the data directory", in("/home/u/.claude-mem-fork", prompt("x")), ""},
		{"end", memory.Event{Kind: memory.KindSessionEnd, Reason: "clear"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, q := newIntake(opts)
			a := take(t, in, q, tt.event)
			if a.SkipReason != tt.want {
				t.Fatalf("skip reason %q, want %q", a.SkipReason, tt.want)
			}
			if e := a.Event; a.SkipReason != "" && (e.Prompt != "" || e.ToolInput != nil || e.ToolResponse != nil || e.ToolError != "" || e.LastAssistantMessage != "" || a.Files != nil) {
				t.Errorf("content is kept of a skipped event: %+v", e)
			}
		})
	}
	t.Run("opt-in", func(t *testing.T) {
		optIn, q := newIntake(Options{Policy: fixed(Policy{Projects: home.Projects(nil, []string{"/work/**"})})})
		if a := take(t, optIn, q, in("/work/a", prompt("x"))); a.SkipReason != "" {
			t.Errorf("an included project is skipped: %q", a.SkipReason)
		}
		if a := take(t, optIn, q, in("/other", prompt("x"))); a.SkipReason != memory.SkipExcluded {
			t.Errorf("skip reason %q", a.SkipReason)
		}
	})
}

func TestPrivateTurns(t *testing.T) {
	for _, ids := range []bool{true, false} {
		t.Run(fmt.Sprintf("prompt ids %v", ids), func(t *testing.T) {
			in, q := newIntake(Options{})
			id := func(s string) string {
				if ids {
					return s
				}
				return ""
			}
			step := func(e memory.Event, promptID, want string) {
				t.Helper()
				e.PromptID = id(promptID)
				a := take(t, in, q, e)
				if a.SkipReason != want {
					t.Errorf("%s of %s: skip reason %q, want %q", e.Kind, promptID, a.SkipReason, want)
				}
				if b, err := json.Marshal(a); err != nil || want == memory.SkipPrivate && strings.Contains(string(b), "hush") {
					t.Errorf("kept: %s %v", b, err)
				}
			}
			read := tool("Read", `{"file_path":"/p/hush"}`, `{"content":"hush"}`)
			stop := memory.Event{Kind: memory.KindStop, LastAssistantMessage: "hush"}
			prompt := memory.Event{Kind: memory.KindPrompt, Prompt: "open"}
			private := memory.Event{Kind: memory.KindPrompt, Prompt: "<private>hush</private>"}
			note := memory.Event{Kind: memory.KindPrompt, Prompt: "<task-notification>hush</task-notification>"}

			step(prompt, "p1", "")
			step(read, "p1", "")
			step(private, "p2", memory.SkipPrivate)
			step(read, "p2", memory.SkipPrivate)
			step(note, "p2", memory.SkipNotTyped)
			step(read, "p2", memory.SkipPrivate)
			step(stop, "p2", memory.SkipPrivate)
			other := read
			other.HostSessionID = "s2"
			step(other, "p9", "")
			if ids {
				step(read, "p1", "") // late, of an open turn
			}
			step(memory.Event{Kind: memory.KindSessionEnd}, "p2", "")
			step(prompt, "p3", "")
			step(read, "p3", "")
			if ids {
				step(stop, "p2", memory.SkipPrivate) // late, of the private one
			}
			for _, a := range q.arrivals {
				if a.SkipReason == memory.SkipPrivate && a.Event.ToolName != "" {
					t.Errorf("the tool of a private turn is kept: %q", a.Event.ToolName)
				}
			}
		})
	}
}

func TestPrivateTurnsAreBounded(t *testing.T) {
	p := newPrivateTurns()
	for i := range maxPrivateSessions + 10 {
		p.begin(&memory.Event{HostSessionID: fmt.Sprint(i)}, true)
	}
	if len(p.sessions) > maxPrivateSessions || len(p.order) != len(p.sessions) {
		t.Errorf("%d sessions, %d in order", len(p.sessions), len(p.order))
	}
	if !p.covers(&memory.Event{HostSessionID: fmt.Sprint(maxPrivateSessions + 9)}) {
		t.Error("the newest is forgotten")
	}
}

func TestInvalid(t *testing.T) {
	in, q := newIntake(Options{})
	for name, e := range map[string]memory.Event{
		"kind":     {Kind: "x", HostSessionID: "s"},
		"session":  {Kind: memory.KindPrompt},
		"tool":     {Kind: memory.KindTool, HostSessionID: "s"},
		"input":    {Kind: memory.KindTool, HostSessionID: "s", ToolName: "X", ToolInput: json.RawMessage(`{`)},
		"response": {Kind: memory.KindTool, HostSessionID: "s", ToolName: "X", ToolResponse: json.RawMessage(`{} {}`)},
	} {
		if _, err := in.Ingest(t.Context(), e); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s: %v, want code invalid", name, err)
		}
	}
	if len(q.arrivals) != 0 {
		t.Errorf("%d arrivals", len(q.arrivals))
	}
}

func TestQueueErrors(t *testing.T) {
	in, q := newIntake(Options{})
	q.err = memory.Errorf(memory.CodeStorage, "disk full")
	_, err := in.Ingest(t.Context(), memory.Event{Kind: memory.KindPrompt, HostSessionID: "s", Prompt: "x"})
	if memory.CodeOf(err) != memory.CodeStorage {
		t.Errorf("error %v loses its code", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Ingest(ctx, memory.Event{Kind: memory.KindPrompt, HostSessionID: "s"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want canceled", err)
	}
}

func TestCompletes(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "trunk")
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	in, q := newIntake(Options{Random: func(b []byte) { copy(b, "12345678") }})
	if _, err := in.Ingest(t.Context(), memory.Event{Kind: memory.KindPrompt, HostSessionID: "s", Prompt: "x", Cwd: sub}); err != nil {
		t.Fatal(err)
	}
	got := q.arrivals[0].Event
	if got.ProjectPath != dir || got.WorktreeRoot != dir || got.Branch != "trunk" || got.Host != memory.HostRaw ||
		got.OccurredAt != memory.MillisOf(testClock) || len(got.DeliveryID) != 32 {
		t.Errorf("got %+v", got)
	}
	if a := take(t, in, q, memory.Event{Kind: memory.KindPrompt, Prompt: "x", ProjectPath: "label:web"}); a.Event.ProjectPath != "label:web" {
		t.Errorf("project %q", a.Event.ProjectPath)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestRedactsEverything(t *testing.T) {
	const hex32 = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	vendor := "da" + "pi" + hex32 // only the full rules know it
	plants := []string{vendor, "PASSWORD=" + hex32, "<private>" + hex32 + "</private>", "https://u:" + hex32 + "@h/"}
	for _, plant := range plants {
		in, q := newIntake(Options{})
		e := memory.Event{
			DeliveryID: plant, Kind: memory.KindTool, Host: memory.Host(plant), HostSessionID: plant, PromptID: plant,
			ProjectPath: "/p/" + plant, WorktreeRoot: "/p/" + plant, Cwd: "/p/" + plant, Branch: plant, HeadCommit: plant,
			Prompt: plant, ToolName: "Read", ToolUseID: plant, AgentID: plant, AgentType: plant,
			ToolInput:            json.RawMessage(`{"file_path":` + quote("/p/"+plant+"/x/"+plant) + `,` + quote(plant) + `:[` + quote(plant) + `]}`),
			ToolResponse:         json.RawMessage(quote(`{"a":` + quote(plant) + `}`)),
			LastAssistantMessage: plant, Source: plant, Reason: plant, OccurredAt: 1,
		}
		for _, kind := range []memory.EventKind{memory.KindTool, memory.KindPrompt, memory.KindStop, memory.KindSessionEnd} {
			if e.Kind = kind; kind == memory.KindStop {
				e.AgentID = "" // or it is the end of a subagent, a tool event
			}
			if _, err := in.Ingest(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			a := q.arrivals[len(q.arrivals)-1]
			b, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i+8 <= len(hex32); i++ {
				if strings.Contains(string(b), hex32[i:i+8]) {
					t.Fatalf("%s with %q: still in %s", kind, plant, b)
				}
			}
			if again, err := in.arrival(t.Context(), a.Event, &Policy{}); err != nil || again.Key != a.Key {
				t.Errorf("a second time the key is %q (%v), was %q", again.Key, err, a.Key)
			}
		}
		first, second := e, e
		first.HostSessionID, second.HostSessionID = plant+"1", plant+"2"
		if a, b := take(t, in, q, first), take(t, in, q, second); a.Event.HostSessionID == b.Event.HostSessionID {
			t.Error("two sessions got the same name")
		}
	}
}

func TestDropsAndCuts(t *testing.T) {
	in, q := newIntake(Options{Policy: fixed(Policy{Withheld: home.Compile([]string{".env*"})})})
	long := strings.Repeat("0123456789", 20_000)
	a := take(t, in, q, tool("Edit",
		`{"file_path":"/p/a.go","old_string":"a","new_string":`+quote(long)+`}`,
		`{"filePath":"/p/a.go","originalFile":`+quote(long)+`,"structuredPatch":[{"lines":["-a","+b"]}]}`))
	if len(a.Event.ToolInput) > maxText+500 || !strings.Contains(string(a.Event.ToolInput), "bytes cut]") {
		t.Errorf("input of %d bytes", len(a.Event.ToolInput))
	}
	if got, want := string(a.Event.ToolResponse), `{"filePath":"/p/a.go","originalFile":"","structuredPatch":[{"lines":["-a","+b"]}]}`; got != want {
		t.Errorf("response %s\nwant %s", got, want)
	}
	a = take(t, in, q, tool("NotebookEdit", `{"notebook_path":"/p/a.ipynb","new_source":"x"}`, `{"original_file":"old","updated_file":"new","error":""}`))
	if got, want := string(a.Event.ToolResponse), `{"original_file":"","updated_file":"","error":""}`; got != want {
		t.Errorf("response %s, want %s", got, want)
	}
	a = take(t, in, q, tool("Read", `{"file_path":"/p/a.png"}`, `{"type":"image","file":{"base64":"`+strings.Repeat("QUJD", 1000)+`","type":"image/png"}}`))
	if got, want := string(a.Event.ToolResponse), `{"type":"image","file":{"base64":"[claude-mem: 4000 bytes of base64 left out]","type":"image/png"}}`; got != want {
		t.Errorf("response %s, want %s", got, want)
	}
	a = take(t, in, q, tool("Read", `{"file_path":"/p/.env"}`, `{"file":{"filePath":"/p/.env","content":"COLOUR=blue"}}`))
	if strings.Contains(string(a.Event.ToolResponse), "blue") || len(a.Files) != 1 || a.Files[0].Hash != "" {
		t.Errorf("response %s, files %v", a.Event.ToolResponse, a.Files)
	}
	// Many texts, none of them long.
	many := `["` + strings.Repeat(`0123456789abcdef `, 60) + `"` + strings.Repeat(`,"`+strings.Repeat(`0123456789abcdef `, 60)+`"`, 3000) + `]`
	a = take(t, in, q, tool("X", `{}`, many))
	if len(a.Event.ToolResponse) > maxJSON || !json.Valid(a.Event.ToolResponse) {
		t.Errorf("response of %d bytes", len(a.Event.ToolResponse))
	}
	numbers := `[1` + strings.Repeat(`,1`, 1_000_000) + `]`
	a = take(t, in, q, tool("X", `{}`, numbers))
	if len(a.Event.ToolResponse) > maxJSON || !json.Valid(a.Event.ToolResponse) {
		t.Errorf("response of %d bytes", len(a.Event.ToolResponse))
	}
}

func TestConcurrentIngest(t *testing.T) {
	in, q := newIntake(Options{Policy: fixed(Policy{SkipTools: []string{"Glob"}})})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			session := fmt.Sprint("s", i)
			for n := range 50 {
				text := "open"
				if n%5 == 0 {
					text = "<private>x</private>"
				}
				for _, e := range []memory.Event{
					{Kind: memory.KindPrompt, HostSessionID: session, Prompt: text, PromptID: fmt.Sprint(n)},
					{Kind: memory.KindTool, HostSessionID: session, ToolName: "Bash", PromptID: fmt.Sprint(n), ToolInput: json.RawMessage(`{"command":"PASSWORD=hunter2x make"}`)},
				} {
					r, err := in.Ingest(t.Context(), e)
					if err != nil {
						t.Error(err)
					} else if got := r.Status == memory.StatusSkipped; got != (n%5 == 0) {
						t.Errorf("skipped = %v in turn %d", got, n)
					}
				}
			}
		})
	}
	wg.Wait()
	if len(q.arrivals) != 800 {
		t.Errorf("%d arrivals, want 800", len(q.arrivals))
	}
}

func TestIngestAllKeepsOrder(t *testing.T) {
	in, q := newIntake(Options{})
	var events []memory.Event
	for i := range 5 {
		events = append(events, memory.Event{Kind: memory.KindPrompt, HostSessionID: "s", Prompt: "x", PromptID: fmt.Sprint(i)})
	}
	receipts, err := in.IngestAll(t.Context(), events...)
	if err != nil || len(receipts) != 5 {
		t.Fatalf("%v, %v", receipts, err)
	}
	for i, a := range q.arrivals {
		if a.Event.PromptID != fmt.Sprint(i) {
			t.Errorf("arrival %d is prompt %s", i, a.Event.PromptID)
		}
	}
}

func BenchmarkIngest(b *testing.B) {
	code := "func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tkey := r.URL.Query().Get(\"key\")\n\tvalue, ok := s.cache[key]\n\tif !ok {\n\t\tvalue = s.load(key) // slow: from disk\n\t}\n\tfmt.Fprintf(w, \"%s = %v\\n\", key, value)\n}\n\n"
	e := memory.Event{
		DeliveryID: strings.Repeat("0", 32), Kind: memory.KindTool, Host: memory.HostClaudeCode, OccurredAt: 1,
		HostSessionID: "fd7825f3-13d0-45c8-afca-1deaafb35d2e", PromptID: "84f08d1d-5044-4678-a452-57022ab72c1f",
		ProjectPath: "/home/dev/project", WorktreeRoot: "/home/dev/project", Cwd: "/home/dev/project", Branch: "main",
		ToolName: "Bash", ToolUseID: "toolu_01A09q90qw90lq917835lq9",
		ToolInput:    json.RawMessage(`{"command":"cat src/server.go","description":"Show the server"}`),
		ToolResponse: json.RawMessage(`{"stdout":` + quote(strings.Repeat(code, 7)) + `,"stderr":"","interrupted":false}`),
	}
	in := New(discard{}, Options{})
	b.ReportAllocs()
	b.SetBytes(int64(len(e.ToolResponse)))
	for b.Loop() {
		if _, err := in.Ingest(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Enqueue(_ context.Context, arrivals ...memory.Arrival) ([]memory.Receipt, error) {
	return make([]memory.Receipt, len(arrivals)), nil
}

// TestUnknownBackfill: a mark that no reader of transcripts sets is stored as that which no
// model may see, and not as it was sent.
func TestUnknownBackfill(t *testing.T) {
	in, q := newIntake(Options{})
	for sent, want := range map[memory.Backfill]memory.Backfill{
		"": "", memory.BackfillModel: memory.BackfillModel, memory.BackfillOffline: memory.BackfillOffline,
		"password=hunter2hunter2": memory.BackfillOffline,
	} {
		if got := take(t, in, q, memory.Event{Kind: memory.KindPrompt, Prompt: "fix it", PromptID: "p" + string(sent), Backfill: sent}); got.Event.Backfill != want {
			t.Errorf("%q is stored as %q, want %q", sent, got.Event.Backfill, want)
		}
	}
}

// TestResult: a call that failed, and tests, builds and linters whose outcome is known. Nothing is said of what
// the user stopped, of other calls, and of what is skipped.
func TestResult(t *testing.T) {
	failing := func(e memory.Event) memory.Event { e.ToolError = "Exit code 1"; return e }
	stopped := func(e memory.Event) memory.Event { e.Interrupted = true; return failing(e) }
	bash := func(command, output string) memory.Event {
		return tool("Bash", `{"command":`+quote(command)+`}`, `{"stdout":`+quote(output)+`}`)
	}
	for _, tt := range []struct {
		event memory.Event
		want  memory.Result
	}{
		{bash("go test ./...", "ok x 0.1s"), memory.ResultPassed},
		{bash("go vet ./... && go build ./...", ""), memory.ResultPassed},
		{bash("go test ./... | tail -3", "ok  \tx\t0.1s"), memory.ResultPassed},
		{bash("go test ./... | tail -3", "--- FAIL: TestSlide (0.00s)\nFAIL\tx\t0.1s\nFAIL"), memory.ResultFailed},
		{bash("go test ./... | grep -c x", "3"), ""},
		{bash("ls", "a.go"), ""},
		{bash("./tool run", "done"), ""},
		{failing(bash("ls nowhere", "")), memory.ResultFailed},
		{failing(bash("go test ./...", "")), memory.ResultFailed},
		{stopped(bash("go test ./...", "")), ""},
		{stopped(tool("Read", `{"file_path":"a.go"}`, "")), ""},
		{failing(tool("Read", `{"file_path":"a.go"}`, "")), memory.ResultFailed},
		{tool("Read", `{"file_path":"a.go"}`, `{}`), ""},
		{memory.Event{Kind: memory.KindPrompt, Prompt: "go test ./..."}, ""},
		{memory.Event{Kind: memory.KindStop}, ""},
	} {
		in, q := newIntake(Options{})
		if got := take(t, in, q, tt.event).Result; got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.event.ToolName, tt.event.ToolInput, got, tt.want)
		}
	}
	in, q := newIntake(Options{Policy: fixed(Policy{SkipTools: []string{"Bash"}})})
	if got := take(t, in, q, failing(bash("go test ./...", ""))); got.Result != "" || got.SkipReason == "" {
		t.Errorf("skipped: %+v", got)
	}
}
