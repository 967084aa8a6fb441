//go:build unix

package acceptance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/fakeanthropic"
)

// asked is a request of an observer as a stand-in got it.
type asked struct {
	path string
	run  string // of the claude CLI
	body []byte
	// system and prompt are the first and the last text of it.
	system, prompt string
	// answered says that the answer could be written to somebody.
	answered      bool
	input, output int // tokens, as the answer tells
}

// reply is what a stand-in answers; a zero one records what was shown.
type reply struct {
	status     int
	text       string
	retryAfter string
	// cut closes the connection in the middle of the answer.
	cut bool
}

// standIn is a loopback stand-in of every vendor's API: the Messages API where it
// is asked for messages, else chat completions.
type standIn struct {
	*httptest.Server
	t testing.TB
	// answer is called for each request, when set; it may wait.
	answer func(q *asked) reply

	mu  sync.Mutex
	all []*asked
}

func newStandIn(t testing.TB, answer func(q *asked) reply) *standIn {
	t.Helper()
	s := &standIn{t: t, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// text is a string or a list of blocks in a request.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
		return nil
	}
	var blocks []struct{ Text string }
	err := json.Unmarshal(b, &blocks)
	for _, block := range blocks {
		*t += text(block.Text)
	}
	return err
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	messages := strings.HasSuffix(r.URL.Path, "/messages")
	if !messages && !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		_, _ = io.WriteString(w, "{}")
		return
	}
	var q struct {
		Model    string
		System   text
		Messages []struct {
			Role    string
			Content text
		}
	}
	if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) == 0 {
		s.t.Errorf("a request that cannot be read: %v: %.200s", err, body)
		return
	}
	a := &asked{path: r.URL.Path, run: r.Header.Get("X-Claude-Code-Session-Id"), body: body}
	a.system, a.prompt = string(q.System), string(q.Messages[len(q.Messages)-1].Content)
	if q.Messages[0].Role == "system" {
		a.system = string(q.Messages[0].Content)
	}
	a.input = len(body)/4 + 1
	s.mu.Lock()
	s.all = append(s.all, a)
	s.mu.Unlock()

	var made reply
	if s.answer != nil {
		made = s.answer(a)
	}
	if made.text == "" {
		made.text = observed(a)
	}
	failed := made.status != 0 && made.status != http.StatusOK
	if !failed {
		s.mu.Lock()
		a.output = len(made.text)/4 + 1
		s.mu.Unlock()
	}
	answer := fakeanthropic.Reply{
		Status: made.status, Text: made.text, RetryAfter: made.retryAfter,
		Usage: &fakeanthropic.Usage{InputTokens: a.input, OutputTokens: a.output},
	}
	if made.cut {
		answer.CutAfter = 1
	}
	if messages {
		api, err := fakeanthropic.New(&fakeanthropic.Scenario{ToollessTurns: true, AfterTurns: &answer}, nil)
		if err != nil {
			s.t.Error(err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		api.ServeHTTP(w, r)
	} else {
		w.Header().Set("Content-Type", "application/json")
		if made.retryAfter != "" {
			w.Header().Set("Retry-After", made.retryAfter)
		}
		if failed {
			w.WriteHeader(made.status)
			_, _ = io.WriteString(w, `{"error":{"message":"simulated","type":"server_error"}}`)
		} else {
			_ = json.NewEncoder(w).Encode(map[string]any{
				"id": "c", "object": "chat.completion", "model": q.Model,
				"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
					"message": map[string]string{"role": "assistant", "content": made.text}}},
				"usage": map[string]int{"prompt_tokens": a.input, "completion_tokens": a.output, "total_tokens": a.input + a.output},
			})
		}
	}
	s.mu.Lock()
	a.answered = !failed && !made.cut && r.Context().Err() == nil
	s.mu.Unlock()
}

// calls returns copies of the requests so far.
func (s *standIn) calls() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]asked, len(s.all))
	for i, a := range s.all {
		all[i] = *a
	}
	return all
}

func (s *standIn) count() int { return len(s.calls()) }

var shownFile = regexp.MustCompile(`[a-z0-9_/]+/[a-z0-9_]+\.go`)

// observed is the answer of a diligent model: an observation of each file that the
// prompt shows last, and a checkpoint where one is asked for.
func observed(a *asked) string {
	var b strings.Builder
	shown := a.prompt
	if i := strings.Index(shown, "<observed_from_primary_session>"); i >= 0 {
		shown = shown[i:]
		file := shownFile.FindString(shown)
		fmt.Fprintf(&b, "<observation><type>feature</type><title>Changed %s in step %d</title><narrative>It was asked for.</narrative><files_modified><file>%s</file></files_modified></observation>\n",
			filepath.Base(file), len(a.body), file)
	}
	if strings.Contains(a.prompt, "has finished this turn") {
		b.WriteString("<summary><request>A change</request><completed>It is made</completed></summary>")
	}
	return b.String()
}

// configure writes the settings of a memory whose worker is not running.
func (m *memory) configure(settings map[string]string) {
	m.t.Helper()
	all := map[string]string{"CLAUDE_MEM_WORKER_PORT": "0"}
	for key, value := range settings {
		all["CLAUDE_MEM_"+key] = value
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, "config.json"), b, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// with returns settings of a vendor whose API a stand-in plays, and others.
func (s *standIn) with(vendor string, others ...string) map[string]string {
	settings := map[string]string{"PROVIDER": vendor}
	of := strings.ToUpper(vendor)
	if vendor == "claude" {
		of = "ANTHROPIC"
		settings["CLAUDE_AUTH"] = "inherit"
	}
	settings[of+"_BASE_URL"], settings[of+"_API_KEY"] = s.URL, "sk-test-0123456789abcdef"
	for i := 0; i+1 < len(others); i += 2 {
		settings[others[i]] = others[i+1]
	}
	return settings
}

// host plays a session of Claude Code's.
type host struct {
	m       *memory
	id      string
	n, tool int
	// foreign is another host than Claude Code.
	foreign bool
	project string // "" is hostProject
	// hook runs the hook in another way than memory.send, if it is set.
	hook func(verb string, payload map[string]any) hookResult
}

// send runs the hook.
func (h *host) send(verb string, payload map[string]any) hookResult {
	if h.foreign {
		verb += " --host raw"
	}
	if h.hook != nil {
		return h.hook(verb, payload)
	}
	return h.m.send(verb, payload)
}

const hostProject = "/nonexistent/project"

func (h *host) payload(event string) map[string]any {
	return map[string]any{"session_id": h.id, "cwd": cmp.Or(h.project, hostProject), "hook_event_name": event, "prompt_id": fmt.Sprintf("%s-prompt-%d", h.id, h.n)}
}

func (h *host) prompt(text string) {
	h.n++
	p := h.payload("UserPromptSubmit")
	p["prompt"] = text
	h.send("new", p)
}

// edit is one tool call: an edit of a file below the project.
func (h *host) edit(file, content string) {
	h.tool++
	p := h.payload("PostToolUse")
	p["tool_name"], p["tool_use_id"] = "Edit", fmt.Sprintf("%s-tool-%d", h.id, h.tool)
	p["tool_input"] = map[string]any{"file_path": path.Join(cmp.Or(h.project, hostProject), file), "old_string": "a", "new_string": content}
	p["tool_response"] = map[string]any{"filePath": path.Join(cmp.Or(h.project, hostProject), file), "oldString": "a", "newString": content}
	h.send("save", p)
}

// edits is so many edits, each of a file of its own.
func (h *host) edits(n int) {
	for range n {
		h.edit(fmt.Sprintf("src/%s_%d.go", h.id, h.tool), fmt.Sprintf("line %d", h.tool))
	}
}

func (h *host) stop() {
	p := h.payload("Stop")
	p["last_assistant_message"] = fmt.Sprintf("Turn %d is done.", h.n)
	h.send("summary", p)
}

func (h *host) end() {
	p := h.payload("SessionEnd")
	p["reason"] = "other"
	h.send("end", p)
}

// start is the beginning of the session: what the user is shown with it.
func (h *host) start() hookResult {
	p := h.payload("SessionStart")
	p["source"] = "startup"
	return h.send("context", p)
}

// turn is a whole turn of n edits.
func (h *host) turn(n int) {
	h.prompt(fmt.Sprintf("Make change %d of %s", h.n+1, h.id))
	h.edits(n)
	h.stop()
}

// until waits for a condition, at most for limit.
func until(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// prepend puts a directory ahead of the PATH that a memory's programs have.
func (m *memory) prepend(dir string) {
	for i, entry := range m.env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			m.env[i] = "PATH=" + dir + ":" + path
		}
	}
}
