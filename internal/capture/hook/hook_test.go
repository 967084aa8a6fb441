package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

var update = flag.Bool("update", false, "write golden files")

var fixedNow = time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)

// stage is a data directory with what a hook needs around it.
type stage struct {
	t    *testing.T
	dir  string
	env  map[string]string
	verb Verb
	host memory.Host
	// starts counts how often a worker was asked for; onStart does something about it.
	starts  int
	onStart func()
	rand    uint64
	options func(*Options)
	// alone lets hooks run with their real deadlines in a bubble, whose clock goes on only
	// while they wait. Sockets that somebody reads are outside of it.
	alone bool
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "cm") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &stage{t: t, dir: dir, env: map[string]string{"HOME": dir, "CLAUDE_MEM_DATA_DIR": filepath.Join(dir, "mem")}}
}

func (s *stage) data() string { return s.env["CLAUDE_MEM_DATA_DIR"] }

// run sends input through a hook and returns its standard output.
func (s *stage) run(input string) string {
	s.t.Helper()
	var out bytes.Buffer
	s.rand++
	o := Options{
		Verb:   s.verb,
		Host:   s.host,
		Stdin:  strings.NewReader(input),
		Stdout: &out,
		Getenv: func(key string) string { return s.env[key] },
		Now:    func() time.Time { return fixedNow.Add(time.Duration(s.rand) * time.Second) },
		Rand:   func() uint64 { return s.rand },
		// No test's outcome shall hang on how busy the machine is; those about
		// deadlines set their own.
		slack: time.Minute,
		StartWorker: func(string) error {
			s.starts++
			if s.onStart != nil {
				s.onStart()
			}
			return nil
		},
	}
	if s.alone {
		o.slack, o.Fallback = 0, noBlock
	}
	if s.options != nil {
		s.options(&o)
	}
	if s.alone {
		synctest.Test(s.t, func(*testing.T) { Run(o) })
	} else {
		Run(o)
	}
	return out.String()
}

// spooled returns the events in the spool, in order.
func (s *stage) spooled() []memory.Event {
	s.t.Helper()
	spool := wire.SpoolOf(s.data())
	names, err := spool.List(time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	var events []memory.Event
	for _, name := range names {
		entry, err := spool.Read(name)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		if entry.Event == nil || entry.Event.DeliveryID+".json" != name {
			s.t.Fatalf("%s holds %+v", name, entry)
		}
		events = append(events, *entry.Event)
	}
	return events
}

func (s *stage) logged() []string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.data(), "logs", "hook.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			s.t.Errorf("log line is not JSON: %q", line)
		}
	}
	return lines
}

// worker is a stand-in that records what hooks post.
type worker struct {
	mu     sync.Mutex
	paths  []string
	events []memory.Event
	// answer, when set, answers instead.
	answer http.HandlerFunc
	// block is the answer of GET /api/context.
	block string
	close func()
}

func (s *stage) worker() *worker {
	s.t.Helper()
	w := &worker{block: `{"context":"<claude-mem-context>\nold news\n</claude-mem-context>","tokens":5}`}
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		s.t.Fatal(err)
	}
	path := wire.SocketPath(s.data(), func(key string) string { return s.env[key] })
	listener, err := net.Listen("unix", path)
	if err != nil {
		s.t.Fatal(err)
	}
	server := &http.Server{Handler: w}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	w.close = func() {
		_ = server.Close()
		<-done
	}
	s.t.Cleanup(w.close)
	return w
}

func (w *worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // announced and given up
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths = append(w.paths, r.Method+" "+r.URL.RequestURI())
	if r.Header.Get(wire.Header) != wire.VersionText {
		http.Error(rw, "no wire version", http.StatusTeapot)
		return
	}
	rw.Header().Set(wire.Header, wire.VersionText)
	if r.Method == http.MethodPost {
		var e memory.Event
		if err := json.Unmarshal(body, &e); err != nil || e.Validate() != nil {
			http.Error(rw, `{"error":{"code":"invalid"}}`, http.StatusBadRequest)
			return
		}
		w.events = append(w.events, e)
	}
	switch {
	case w.answer != nil:
		w.answer(rw, r)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(rw, w.block)
	default:
		rw.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(rw, `{"status":"queued","session_db_id":1,"prompt_number":1}`)
	}
}

func (w *worker) seen() ([]string, []memory.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.paths), slices.Clone(w.events)
}

// checkReply fails unless out is empty or one JSON object of the event.
func checkReply(t *testing.T, out, event string) {
	t.Helper()
	if out == "" {
		return
	}
	var reply struct {
		HookSpecificOutput *struct{ HookEventName, AdditionalContext string }
		SystemMessage      string
	}
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&reply); err != nil {
		t.Errorf("stdout is not a reply: %v: %q", err, out)
	}
	if dec.More() {
		t.Errorf("stdout holds more than one object: %q", out)
	}
	if reply.HookSpecificOutput != nil && (reply.HookSpecificOutput.HookEventName != event || reply.HookSpecificOutput.AdditionalContext == "") {
		t.Errorf("reply of %q for %q", reply.HookSpecificOutput.HookEventName, event)
	}
}

func fixtures(t testing.TB) map[string]string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "testdata", "claude-code-hooks")
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) < 70 {
		t.Fatalf("%d payloads in %s, %v", len(paths), dir, err)
	}
	all := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = string(data)
	}
	return all
}

// routeOf says by hand what becomes of a fixture: the route of its event, "" for nothing.
func routeOf(name string) string {
	event, _, _ := strings.Cut(name, "-")
	switch {
	case name == "UserPromptSubmit-task-notification" || name == "SubagentStop-compaction":
		return ""
	case event == "SessionStart":
		return "GET /api/context"
	case event == "UserPromptSubmit":
		return "POST /api/sessions/init"
	case event == "PostToolUse", event == "PostToolUseFailure", event == "SubagentStop":
		return "POST /api/sessions/observations"
	case event == "Stop", event == "PreCompact":
		return "POST /api/sessions/summarize"
	case event == "SessionEnd":
		return "POST /api/sessions/complete"
	}
	return ""
}

func TestFixturesWithWorker(t *testing.T) {
	for name, payload := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			w := s.worker()
			out := s.run(payload)
			event, _, _ := strings.Cut(name, "-")
			checkReply(t, out, event)
			if (out != "") != (event == "SessionStart") {
				t.Errorf("stdout %q", out)
			}
			paths, _ := w.seen()
			want := routeOf(name)
			if want == "" && len(paths) != 0 || want != "" && (len(paths) != 1 || !strings.HasPrefix(paths[0], want)) {
				t.Errorf("requests %q, want %q", paths, want)
			}
			if got := s.spooled(); len(got) != 0 || s.starts != 0 || s.logged() != nil {
				t.Errorf("spooled %d, starts %d, log %q", len(got), s.starts, s.logged())
			}
		})
	}
}

// TestFixturesWithoutWorker also keeps the normalised events as golden files.
func TestFixturesWithoutWorker(t *testing.T) {
	for name, payload := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.alone = true
			s.env["CLAUDE_PROJECT_DIR"] = "/home/dev/project" // as the host sets it
			if out := s.run(payload); out != "" {
				t.Errorf("stdout %q", out)
			}
			if s.logged() != nil {
				t.Errorf("log %q", s.logged())
			}
			events := s.spooled()
			route := routeOf(name)
			wantStart := 1
			if route == "" {
				wantStart = 0
			}
			if s.starts != wantStart {
				t.Errorf("%d starts, want %d", s.starts, wantStart)
			}
			if !strings.HasPrefix(route, "POST") || strings.HasPrefix(name, "PreCompact") {
				if len(events) != 0 {
					t.Errorf("spooled %+v", events)
				}
				return
			}
			if len(events) != 1 {
				t.Fatalf("%d events in the spool, want 1", len(events))
			}
			if err := events[0].Validate(); err != nil {
				t.Error(err)
			}
			golden(t, filepath.Join("testdata", "events", name+".json"), events[0])
		})
	}
}

func golden(t *testing.T, path string, event memory.Event) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(event); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}

// TestVerbsTakeOnlyTheirEvents sends every payload to every verb.
func TestVerbsTakeOnlyTheirEvents(t *testing.T) {
	own := map[Verb]string{
		VerbContext: "SessionStart", VerbNew: "UserPromptSubmit", VerbSave: "PostToolUse PostToolUseFailure",
		VerbSummary: "Stop SubagentStop PreCompact", VerbEnd: "SessionEnd",
	}
	all := fixtures(t)
	for verb, events := range own {
		s := newStage(t)
		s.verb = verb
		w := s.worker()
		want := 0
		for name, payload := range all {
			event, _, _ := strings.Cut(name, "-")
			checkReply(t, s.run(payload), event)
			if slices.Contains(strings.Fields(events), event) && routeOf(name) != "" {
				want++
			}
		}
		if paths, _ := w.seen(); len(paths) != want {
			t.Errorf("%s: %d requests, want %d", verb, len(paths), want)
		}
	}
}

// TestAbsurdInput: silence, and one line in the log that quotes nothing.
func TestAbsurdInput(t *testing.T) {
	const tool = `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash"`
	cases := map[string]string{
		"white space":         " \n",
		"not JSON":            "SECRETWORD is not JSON",
		"half":                tool,
		"array":               `["SECRETWORD"]`,
		"string":              `"SECRETWORD"`,
		"two objects":         tool + `}` + tool + `}`,
		"no session":          `{"hook_event_name":"Stop","last_assistant_message":"SECRETWORD"}`,
		"session of blanks":   `{"hook_event_name":"Stop","session_id":"  "}`,
		"session is a number": `{"hook_event_name":"Stop","session_id":12}`,
		"session is absurd":   `{"hook_event_name":"Stop","session_id":"` + strings.Repeat("x", 10_000) + `"}`,
		"no tool":             `{"hook_event_name":"PostToolUse","session_id":"s"}`,
		"prompt is an object": `{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":{"SECRETWORD":1}}`,
		"raw NUL":             tool + `,"tool_input":{"a":"` + "\x00" + `"}}`,
		"too deep and half":   tool + `,"tool_input":` + strings.Repeat("[", 5000) + `}`,
	}
	for name, input := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			w := s.worker()
			if out := s.run(input); out != "" {
				t.Errorf("stdout %q", out)
			}
			if paths, _ := w.seen(); len(paths) != 0 || len(s.spooled()) != 0 {
				t.Errorf("requests %q, spooled %v", paths, s.spooled())
			}
			log := s.logged()
			if len(log) != 1 {
				t.Fatalf("log %q, want one line", log)
			}
			if strings.Contains(log[0], "SECRETWORD") {
				t.Errorf("the log quotes the payload: %s", log[0])
			}
		})
	}
}

// TestOddButAccepted: what is strange and still an event is kept.
func TestOddButAccepted(t *testing.T) {
	cases := map[string]struct {
		input string
		check func(e memory.Event) bool
	}{
		"byte order mark": {"\ufeff" + `{"hook_event_name":"Stop","session_id":"s"}`,
			func(e memory.Event) bool { return e.Kind == memory.KindStop }},
		"lone surrogates": {`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"a\ud800b\udc00"}`,
			func(e memory.Event) bool { return e.Prompt == "a\ufffdb\ufffd" }},
		"lone surrogate in input": {`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","tool_input":{"a":"\ud83d"}}`,
			func(e memory.Event) bool { return json.Valid(e.ToolInput) }},
		"invalid UTF-8": {`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","tool_input":{"a":"` + "\xff\xfe" + `"}}`,
			func(e memory.Event) bool { return strings.Contains(string(e.ToolInput), "\ufffd") }},
		"escaped NUL": {`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"a\u0000b"}`,
			func(e memory.Event) bool { return e.Prompt == "a\x00b" }},
		"wrong types": {`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","cwd":7,"duration_ms":"x","tool_use_id":{},"agent_id":[]}`,
			func(e memory.Event) bool { return e.Cwd == "" && e.DurationMS == 0 && e.ToolUseID == "" }},
		"error is an object": {`{"hook_event_name":"PostToolUseFailure","session_id":"s","tool_name":"X","error":{"code":3}}`,
			func(e memory.Event) bool { return e.ToolError == `{"code":3}` && e.Failed() }},
		"failure without a text": {`{"hook_event_name":"PostToolUseFailure","session_id":"s","tool_name":"X"}`,
			func(e memory.Event) bool { return e.Failed() }},
		"response is text": {`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"X","tool_response":"done"}`,
			func(e memory.Event) bool { return string(e.ToolResponse) == `"done"` }},
		"repeated member": {`{"hook_event_name":"Stop","session_id":"a","session_id":"b"}`,
			func(e memory.Event) bool { return e.HostSessionID == "b" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.run(c.input)
			events := s.spooled()
			if len(events) != 1 || !c.check(events[0]) {
				t.Errorf("spooled %+v, log %q", events, s.logged())
			}
		})
	}
}

func TestInternalRunsAreNotCaptured(t *testing.T) {
	s := newStage(t)
	s.env["CLAUDE_MEM_INTERNAL"] = "1"
	for name, payload := range fixtures(t) {
		if out := s.run(payload); out != "" {
			t.Errorf("%s: stdout %q", name, out)
		}
	}
	if _, err := os.Stat(s.data()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data directory was touched: %v", err)
	}
}

func TestLargeInput(t *testing.T) {
	big := func(n int) string {
		return `{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"cat big"},` +
			`"tool_response":{"stdout":"` + strings.Repeat(`line of text\n`, n/14) + `end","interrupted":false}}`
	}
	t.Run("20 MB", func(t *testing.T) {
		s := newStage(t)
		s.run(big(20 << 20))
		events := s.spooled()
		if len(events) != 1 {
			t.Fatalf("%d events, log %q", len(events), s.logged())
		}
		var response struct {
			Stdout      string
			Interrupted *bool
		}
		if err := json.Unmarshal(events[0].ToolResponse, &response); err != nil {
			t.Fatal(err)
		}
		if len(response.Stdout) > longestField || response.Interrupted == nil ||
			!strings.HasSuffix(response.Stdout, "line of text\nend") || !strings.Contains(response.Stdout, "bytes cut]") {
			t.Errorf("stdout of %d bytes", len(response.Stdout))
		}
	})
	t.Run("50 MB", func(t *testing.T) {
		s := newStage(t)
		s.run(big(51 << 20))
		if len(s.spooled()) != 0 || len(s.logged()) != 1 {
			t.Errorf("spooled %d, log %q", len(s.spooled()), s.logged())
		}
	})
}

// A person who tries a command in a shell (claude-mem context </dev/null) has made no
// error that doctor has to warn of.
func TestEmptyPayloadIsNotLogged(t *testing.T) {
	for _, verb := range []Verb{VerbContext, VerbSave, ""} {
		s := newStage(t)
		s.verb = verb
		if out := s.run(""); out != "" || len(s.spooled()) != 0 {
			t.Errorf("%s: printed %q, spooled %v", verb, out, s.spooled())
		}
		if lines := s.logged(); len(lines) > 0 {
			t.Errorf("%s: logged %q", verb, lines)
		}
	}
}
