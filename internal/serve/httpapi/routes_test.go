package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

// Missing fields of events, and other names for them.
func TestEventBodies(t *testing.T) {
	at := memory.MillisOf(noon)
	id := memory.NewDeliveryID(noon, [8]byte{})
	tests := []struct {
		name, path, body string
		want             memory.Event
	}{
		{"a hook's event is taken as it is", "/api/sessions/observations",
			`{"delivery_id":"d1","kind":"tool","host":"claude-code","host_session_id":"s1","prompt_id":"p1","occurred_at":5,"project_path":"/p","worktree_root":"/w",` +
				`"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"},"tool_response":"x","agent_id":"a","agent_type":"b","duration_ms":7}`,
			memory.Event{DeliveryID: "d1", Kind: "tool", Host: "claude-code", HostSessionID: "s1", PromptID: "p1", OccurredAt: 5, ProjectPath: "/p", WorktreeRoot: "/w",
				ToolName: "Bash", ToolUseID: "t1", ToolInput: json.RawMessage(`{"command":"ls"}`), ToolResponse: json.RawMessage(`"x"`), AgentID: "a", AgentType: "b", DurationMS: 7}},
		{"aliases", "/api/sessions/observations",
			`{"contentSessionId":"s1","platformSource":"cursor","project":"/p","agentId":"a","agentType":"b","toolUseId":"t","tool_name":"Edit","unknown":[1]}`,
			memory.Event{DeliveryID: id, Kind: "tool", Host: "cursor", HostSessionID: "s1", OccurredAt: at, ProjectPath: "/p", AgentID: "a", AgentType: "b", ToolUseID: "t", ToolName: "Edit"}},
		{"the own name wins", "/api/sessions/complete",
			`{"host_session_id":"own","session_id":"a","session":"b","contentSessionId":"c","project_path":"/own","project":"/other","host":"raw","platformSource":"x"}`,
			memory.Event{DeliveryID: id, Kind: "session_end", Host: "raw", HostSessionID: "own", OccurredAt: at, ProjectPath: "/own"}},
		{"prompt", "/api/sessions/init", `{"session":"s","prompt":"hi","cwd":"/p/sub","project":"p"}`,
			memory.Event{DeliveryID: id, Kind: "prompt", HostSessionID: "s", OccurredAt: at, Prompt: "hi", Cwd: "/p/sub"}},
		{"a project known by its name", "/api/sessions/init", `{"session":"s","prompt":"hi","project":"tally"}`,
			memory.Event{DeliveryID: id, Kind: "prompt", HostSessionID: "s", OccurredAt: at, Prompt: "hi", ProjectPath: "label:tally"}},
		{"a Windows project", "/api/sessions/init", `{"session":"s","prompt":"hi","project":"C:\\p"}`,
			memory.Event{DeliveryID: id, Kind: "prompt", HostSessionID: "s", OccurredAt: at, Prompt: "hi", ProjectPath: `C:\p`}},
		{"Claude Code by its short name", "/api/sessions/init", `{"session":"s","prompt":"hi","platformSource":"claude"}`,
			memory.Event{DeliveryID: id, Kind: "prompt", Host: "claude-code", HostSessionID: "s", OccurredAt: at, Prompt: "hi"}},
		{"stop", "/api/sessions/summarize", `{"session_id":"s","last_assistant_message":"done","occurred_at":-4}`,
			memory.Event{DeliveryID: id, Kind: "stop", HostSessionID: "s", OccurredAt: at, LastAssistantMessage: "done"}},
		{"lone surrogate and NUL", "/api/sessions/init", `{"session":"s","prompt":"a\ud800b\u0000c"}`,
			memory.Event{DeliveryID: id, Kind: "prompt", HostSessionID: "s", OccurredAt: at, Prompt: "a\ufffdb\x00c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, Options{})
			if got := s.do(t, s.unix, "POST", tt.path, tt.body); got.status != 202 {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			if diff := cmp.Diff(tt.want, s.last(t)); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMalformedBodies(t *testing.T) {
	s := serve(t, Options{})
	for name, body := range map[string]string{
		"nothing": "", "space": " \n", "array": `[1]`, "string": `"x"`, "number": `7`, "half": `{"session":"s"`, "two": `{"session":"s","tool_name":"x"}{}`,
		"binary": "\xff\xfe\x00\x01", "deep": strings.Repeat(`{"a":`, 20000), "wrong type": `{"session":7,"tool_name":"x"}`,
		"no session": `{"tool_name":"x"}`, "blank session": `{"session":" ","tool_name":"x"}`, "no tool": `{"session":"s"}`,
		"kind of another route": `{"session":"s","tool_name":"x","kind":"prompt"}`, "session start": `{"session":"s","kind":"session_start"}`,
		"long delivery id": `{"session":"s","tool_name":"x","delivery_id":"` + strings.Repeat("a", 129) + `"}`,
		"odd delivery id":  `{"session":"s","tool_name":"x","delivery_id":"a\u0000b"}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := s.do(t, s.unix, "POST", "/api/sessions/observations", body)
			var e api.ErrorBody
			if err := json.Unmarshal([]byte(got.body), &e); err != nil || got.status != 400 || e.Error.Code != memory.CodeInvalid || e.Error.Message == "" {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			if e.Error.Hint == "" && name != "no tool" {
				t.Errorf("no hint: %s", got.body)
			}
		})
	}
	if len(s.events) != 0 {
		t.Errorf("%d events were taken in", len(s.events))
	}
}

func TestFaultsSayNothingOfTheirContent(t *testing.T) {
	s := serve(t, Options{})
	s.err = errors.New("secret in a cause")
	got := s.do(t, s.unix, "POST", "/api/sessions/observations", toolBody)
	if got.status != 500 || strings.Contains(got.body, "secret") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

func TestBodyLimit(t *testing.T) {
	// A body of exactly size bytes.
	body := func(size int) string {
		head, tail := `{"session":"s","tool_name":"Write","tool_response":"`, `"}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	s := serve(t, Options{})
	if got := s.do(t, s.unix, "POST", "/api/sessions/observations", body(MaxBody)); got.status != 202 {
		t.Errorf("a body of 16 MB: status %d: %s", got.status, got.body)
	}
	if n := len(s.last(t).ToolResponse); n < MaxBody-100 {
		t.Errorf("%d bytes arrived", n)
	}
	// With a Content-Length it is refused before the body is sent.
	c, err := net.Dial("unix", s.socketPath)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := fmt.Fprintf(c, "POST /api/sessions/observations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", MaxBody+1); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("%v, %v", resp, err)
	}
	_ = resp.Body.Close()
	// Without one it is refused while it arrives. The limit is small, so that the client
	// reads the answer.
	s = serve(t, Options{MaxBody: 100})
	got := s.do(t, s.unix, "POST", "/api/sessions/observations", body(101), func(r *http.Request) { r.ContentLength = -1 })
	if got.status != 413 || !strings.Contains(got.body, `"code":"too_large"`) {
		t.Errorf("chunked: status %d: %s", got.status, got.body)
	}
	if got := s.do(t, s.unix, "POST", "/api/sessions/observations", body(100), func(r *http.Request) { r.ContentLength = -1 }); got.status != 202 {
		t.Errorf("chunked at the limit: status %d: %s", got.status, got.body)
	}
}

// While large bodies take all places, small ones are served, and another large one waits.
func TestLargeBodiesDoNotStarveSmallOnes(t *testing.T) {
	s := serve(t, Options{})
	for range maxLarge {
		s.api.large <- struct{}{}
	}
	waited := make(chan answer)
	go func() {
		waited <- s.do(t, s.unix, "POST", "/api/sessions/observations",
			`{"session":"large","tool_name":"Write","tool_response":"`+strings.Repeat("x", smallBody)+`"}`)
	}()
	for range 20 {
		if got := s.do(t, s.tcp, "POST", "/api/sessions/observations", toolBody, func(r *http.Request) {}); got.status != 202 {
			t.Fatalf("small body: status %d: %s", got.status, got.body)
		}
	}
	select {
	case got := <-waited:
		t.Fatalf("the large body did not wait: %d %s", got.status, got.body)
	default:
	}
	<-s.api.large
	if got := <-waited; got.status != 202 {
		t.Errorf("large body: status %d: %s", got.status, got.body)
	}
	for range maxLarge - 1 {
		<-s.api.large
	}
	if n := len(s.api.large); n != 0 {
		t.Errorf("%d places were not given back", n)
	}
}

// TestSlowClientsStarveNobody checks that other clients are served while some send half a header or
// half a body, and that those lose their connection once the server's time limit is over.
func TestSlowClientsStarveNobody(t *testing.T) {
	limited := func(limit time.Duration) *site {
		return serve(t, Options{}, func(server *http.Server) { server.ReadHeaderTimeout, server.ReadTimeout = limit, limit })
	}
	t.Run("others are served", func(t *testing.T) {
		s := limited(time.Hour)
		dialSlowly(t, s)
		for range 50 {
			if got := s.do(t, s.unix, "POST", "/api/sessions/observations", toolBody); got.status != 202 {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
		}
		if got := len(s.events); got != 50 {
			t.Errorf("%d events, want 50", got)
		}
	})
	t.Run("they are given up", func(t *testing.T) {
		s := limited(300 * time.Millisecond)
		for i, c := range dialSlowly(t, s) {
			rest, err := io.ReadAll(c) // ends when the server gives the client up
			if err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("client %d: %v", i, err)
			}
			if bytes.Contains(rest, []byte(" 202 ")) {
				t.Errorf("half a body was accepted: %s", rest)
			}
		}
		if got := len(s.events); got != 0 {
			t.Errorf("%d events, want 0", got)
		}
	})
}

// dialSlowly connects 60 clients that send half a header or half a body. The server may
// give one up before it has sent even that.
func dialSlowly(t *testing.T, s *site) []net.Conn {
	t.Helper()
	var slow []net.Conn
	for i := range 60 {
		c, err := net.Dial("unix", s.socketPath)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		slow = append(slow, c)
		text := "GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: "
		if i%2 == 0 {
			text = "POST /api/sessions/observations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{\"session\":"
		}
		if _, err := io.WriteString(c, text); err != nil && !errors.Is(err, syscall.EPIPE) {
			t.Fatal(err)
		}
	}
	return slow
}

func TestContextIsBookedAfterItWasGiven(t *testing.T) {
	s := serve(t, Options{})
	// The channel has no buffer: the client has its answer before Touch returns.
	s.touched, s.booked = make(chan memory.ContextRequest), make(chan memory.Injection)
	s.block = memory.ContextBlock{Text: "x", Injection: memory.Injection{Where: "SessionStart", Tokens: 1}, SystemMessage: "own"}
	s.notices = []string{"told once"}
	want := memory.ContextRequest{Host: "claude-code", HostSessionID: "s1", ProjectPath: "/p q", Source: "compact", Budget: 700,
		Checkout: memory.Checkout{Root: "/p q/tree", Branch: "topic", HeadCommit: "12ab"}, StartDir: "/p q/tree/sub", ConfigDir: "/c"}
	path := "/api/context?project_path=/p+q&host=claude-code&session_id=s1&source=compact&budget=700&worktree_root=/p+q/tree&branch=topic&head_commit=12ab&start_dir=/p+q/tree/sub&config_dir=/c"
	got := s.do(t, s.unix, "GET", path, "")
	if got.status != 200 || !strings.Contains(got.body, `"system_message":"told once\nown"`) {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	if i := <-s.booked; i.Where != "SessionStart" {
		t.Errorf("booked %+v", i)
	}
	if r := <-s.touched; r != want || s.asked[0] != want {
		t.Errorf("touched %+v, asked %+v, want %+v", r, s.asked, want)
	}
	if got := s.do(t, s.unix, "GET", path, ""); strings.Contains(got.body, "told once") {
		t.Errorf("told twice: %s", got.body)
	}
	<-s.booked
	<-s.touched
	// Without a block nothing is booked; a failed build is a session start too.
	s.block = memory.ContextBlock{}
	s.do(t, s.unix, "GET", "/api/context?cwd=/p", "")
	if r := <-s.touched; r.Host != memory.HostRaw || r.Source != "startup" {
		t.Errorf("defaults: %+v", r)
	}
	s.err = memory.Errorf(memory.CodeUnavailable, "no layer")
	if got := s.do(t, s.unix, "GET", path, ""); got.status != 503 {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	<-s.touched // An empty or failed block that was booked would have hung before this.
}

// A hook that has given up reads the memory itself and books its block; the worker's block
// is not booked, and the notices stay.
func TestContextOfAHookThatLeftIsNotBooked(t *testing.T) {
	s := serve(t, Options{})
	s.notices = []string{"still to be told"}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/api/context?project_path=/p", nil)
	ctx, cancel := contextWithLink(r)
	s.api.Blocks = blocksFunc(func() { cancel() })
	s.api.router().ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	<-s.touched
	if len(s.booked) != 0 || len(s.notices) != 1 {
		t.Errorf("booked %d, notices left %v", len(s.booked), s.notices)
	}
}

func TestListParameters(t *testing.T) {
	s := serve(t, Options{})
	for path, want := range map[string]memory.Query{
		"":                               {Limit: 20},
		"?limit=100&offset=3":            {Limit: 100, Offset: 3},
		"?project=tally&type=bugfix":     {Limit: 20, Project: "tally", Types: []memory.ObservationType{"bugfix"}},
		"?project_path=/p&type=a,+b,&x=": {Limit: 20, Project: "/p", Types: []memory.ObservationType{"a", "b"}},
	} {
		if got := s.do(t, s.unix, "GET", "/api/observations"+path, ""); got.status != 200 {
			t.Fatalf("%s: status %d: %s", path, got.status, got.body)
		}
		if got := s.queried[len(s.queried)-1]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: query %+v, want %+v", path, got, want)
		}
	}
	for _, path := range []string{"?limit=0", "?limit=-1", "?limit=x", "?limit=1e3", "?offset=-1", "?offset=99999999999999999999", "?format=all"} {
		if got := s.do(t, s.unix, "GET", "/api/observations"+path, ""); got.status != 400 || !strings.Contains(got.body, `"hint"`) {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
}

func TestRetryNamesWhatToRevive(t *testing.T) {
	s := serve(t, Options{})
	s.dead = []memory.DeadLetter{{Key: "a"}}
	for _, tt := range []struct {
		body, want string
		keys       []string
	}{
		{``, `{"revived":1,"unread":3}`, nil},
		{`{}`, `{"revived":1,"unread":3}`, nil},
		{`{"keys":["a","b"]}`, `{"revived":1,"unread":0}`, []string{"a", "b"}},
		{`{"keys":[]}`, `{"revived":0,"unread":0}`, []string{"untouched"}},
	} {
		s.revived = []string{"untouched"}
		got := s.do(t, s.unix, "POST", "/api/queue/retry", tt.body)
		if strings.TrimSpace(got.body) != tt.want || !slices.Equal(s.revived, tt.keys) {
			t.Errorf("%s: %s, revived %v", tt.body, got.body, s.revived)
		}
	}
}

func TestShutdownAnswersFirst(t *testing.T) {
	s := serve(t, Options{})
	if got := s.do(t, s.unix, "POST", "/api/admin/shutdown", "{}"); got.status != 202 {
		t.Fatalf("status %d", got.status)
	}
	<-s.stopped
}

// For all bodies, the answer is JSON, and only valid events are stored.
func FuzzIngest(f *testing.F) {
	for _, body := range []string{toolBody, "", "{}", `{"session":"s","tool_name":"x","tool_input":[{}]}`, `{"kind":"flush","session":"s"}`, `[`, "\x00", `{"prompt":"\ud800"}`,
		`{"session":"s","occurred_at":1e99}`, `{"host":null,"contentSessionId":"\u0000"}`, `{"Session":"s","TOOL_NAME":"x"}`} {
		for i := range 4 {
			f.Add(byte(i), []byte(body))
		}
	}
	w := newFakeWorker()
	a := newServer(w.deps(), Options{Random: zeros{}})
	h := a.guarded(a.router())
	paths := []string{"/api/sessions/init", "/api/sessions/observations", "/api/sessions/summarize", "/api/sessions/complete"}
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		w.events = nil
		r := httptest.NewRequest(http.MethodPost, paths[int(route)%len(paths)], bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		ctx, cancel := contextWithLink(r)
		defer cancel()
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r.WithContext(ctx))
		if !json.Valid(rec.Body.Bytes()) || !slices.Contains([]int{202, 400}, rec.Code) {
			t.Fatalf("status %d: %s", rec.Code, rec.Body)
		}
		for _, e := range w.events {
			if err := e.Validate(); err != nil || e.DeliveryID == "" || e.OccurredAt <= 0 {
				t.Errorf("event %+v: %v", e, err)
			}
		}
	})
}
