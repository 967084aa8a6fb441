//go:build unix

package world

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

	"claudemem/proof/fakeanthropic"
)

// Asked is a request of an observer as a stand-in got it.
type Asked struct {
	path string
	Run  string // of the claude CLI
	Body []byte
	// system and prompt are the first and the last text of it.
	System, Prompt string
	// answered says that the answer could be written to somebody.
	Answered      bool
	Input, Output int // tokens, as the answer tells
}

// Reply is what a stand-in answers; a zero one records what was shown.
type Reply struct {
	Status     int
	Text       string
	RetryAfter string
	// cut closes the connection in the middle of the answer.
	Cut bool
}

// StandIn is a loopback stand-in of every vendor's API: the Messages API where it
// is asked for messages, else chat completions.
type StandIn struct {
	*httptest.Server
	t testing.TB
	// answer is called for each request, when set; it may wait.
	answer func(q *Asked) Reply

	mu  sync.Mutex
	all []*Asked
}

// NewStandIn starts a server that answers as a model's API does.
func NewStandIn(t testing.TB, answer func(q *Asked) Reply) *StandIn {
	t.Helper()
	s := &StandIn{t: t, answer: answer}
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

func (s *StandIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	a := &Asked{path: r.URL.Path, Run: r.Header.Get("X-Claude-Code-Session-ID"), Body: body}
	a.System, a.Prompt = string(q.System), string(q.Messages[len(q.Messages)-1].Content)
	if q.Messages[0].Role == "system" {
		a.System = string(q.Messages[0].Content)
	}
	a.Input = len(body)/4 + 1
	s.mu.Lock()
	s.all = append(s.all, a)
	s.mu.Unlock()

	var made Reply
	if s.answer != nil {
		made = s.answer(a)
	}
	if made.Text == "" {
		made.Text = observed(a)
	}
	failed := made.Status != 0 && made.Status != http.StatusOK
	if !failed {
		s.mu.Lock()
		a.Output = len(made.Text)/4 + 1
		s.mu.Unlock()
	}
	answer := fakeanthropic.Reply{
		Status: made.Status, Text: made.Text, RetryAfter: made.RetryAfter,
		Usage: &fakeanthropic.Usage{InputTokens: a.Input, OutputTokens: a.Output},
	}
	if made.Cut {
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
		if made.RetryAfter != "" {
			w.Header().Set("Retry-After", made.RetryAfter)
		}
		if failed {
			w.WriteHeader(made.Status)
			_, _ = io.WriteString(w, `{"error":{"message":"simulated","type":"server_error"}}`)
		} else {
			_ = json.NewEncoder(w).Encode(map[string]any{
				"id": "c", "object": "chat.completion", "model": q.Model,
				"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
					"message": map[string]string{"role": "assistant", "content": made.Text}}},
				"usage": map[string]int{"prompt_tokens": a.Input, "completion_tokens": a.Output, "total_tokens": a.Input + a.Output},
			})
		}
	}
	s.mu.Lock()
	a.Answered = !failed && !made.Cut && r.Context().Err() == nil
	s.mu.Unlock()
}

// Calls returns copies of the requests so far.
func (s *StandIn) Calls() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Asked, len(s.all))
	for i, a := range s.all {
		all[i] = *a
	}
	return all
}

// Count returns the number of requests that came.
func (s *StandIn) Count() int { return len(s.Calls()) }

var shownFile = regexp.MustCompile(`[a-z0-9_/]+/[a-z0-9_]+\.go`)

// observed is the answer of a diligent model: an observation of each file that the
// prompt shows last, and a checkpoint where one is asked for.
func observed(a *Asked) string {
	var b strings.Builder
	shown := a.Prompt
	if i := strings.Index(shown, "<observed_from_primary_session>"); i >= 0 {
		shown = shown[i:]
		file := shownFile.FindString(shown)
		fmt.Fprintf(&b, "<observation><type>feature</type><title>Changed %s in step %d</title><narrative>It was asked for.</narrative><files_modified><file>%s</file></files_modified></observation>\n",
			filepath.Base(file), len(a.Body), file)
	}
	if strings.Contains(a.Prompt, "has finished this turn") {
		b.WriteString("<summary><request>A change</request><completed>It is made</completed></summary>")
	}
	return b.String()
}

// Configure writes the settings of a memory whose worker is not running.
func (m *Memory) Configure(settings map[string]string) {
	m.T.Helper()
	all := map[string]string{"CLAUDE_MEM_WORKER_PORT": "0"}
	for key, value := range settings {
		all["CLAUDE_MEM_"+key] = value
	}
	b, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.Dir, "config.json"), b, 0o600)
	}
	if err != nil {
		m.T.Fatal(err)
	}
}

// With returns settings of a vendor whose API a stand-in plays, and others.
func (s *StandIn) With(vendor string, others ...string) map[string]string {
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

// Host plays a session of Claude Code's.
type Host struct {
	M       *Memory
	ID      string
	N, tool int
	// foreign is another host than Claude Code.
	Foreign bool
	Project string // "" is hostProject
	// hook runs the hook in another way than memory.send, if it is set.
	Hook func(verb string, payload map[string]any) HookResult
}

// Send runs the hook.
func (h *Host) Send(verb string, payload map[string]any) HookResult {
	if h.Foreign {
		verb += " --host raw"
	}
	if h.Hook != nil {
		return h.Hook(verb, payload)
	}
	return h.M.Send(verb, payload)
}

// HostProject is where a Host works that names no project.
const HostProject = "/nonexistent/project"

// Payload returns what all payloads of an event have.
func (h *Host) Payload(event string) map[string]any {
	return map[string]any{"session_id": h.ID, "cwd": cmp.Or(h.Project, HostProject), "hook_event_name": event, "prompt_id": fmt.Sprintf("%s-prompt-%d", h.ID, h.N)}
}

// Prompt begins a turn.
func (h *Host) Prompt(text string) {
	h.N++
	p := h.Payload("UserPromptSubmit")
	p["prompt"] = text
	h.Send("new", p)
}

// Edit is one tool call: an edit of a file below the project.
func (h *Host) Edit(file, content string) {
	h.tool++
	p := h.Payload("PostToolUse")
	p["tool_name"], p["tool_use_id"] = "Edit", fmt.Sprintf("%s-tool-%d", h.ID, h.tool)
	p["tool_input"] = map[string]any{"file_path": path.Join(cmp.Or(h.Project, HostProject), file), "old_string": "a", "new_string": content}
	p["tool_response"] = map[string]any{"filePath": path.Join(cmp.Or(h.Project, HostProject), file), "oldString": "a", "newString": content}
	h.Send("save", p)
}

// Edits is so many edits, each of a file of its own.
func (h *Host) Edits(n int) {
	for range n {
		h.Edit(fmt.Sprintf("src/%s_%d.go", h.ID, h.tool), fmt.Sprintf("line %d", h.tool))
	}
}

// Stop ends a turn.
func (h *Host) Stop() {
	p := h.Payload("Stop")
	p["last_assistant_message"] = fmt.Sprintf("Turn %d is done.", h.N)
	h.Send("summary", p)
}

// End ends the session.
func (h *Host) End() {
	p := h.Payload("SessionEnd")
	p["reason"] = "other"
	h.Send("end", p)
}

// Start is the beginning of the session: what the user is shown with it.
func (h *Host) Start() HookResult {
	p := h.Payload("SessionStart")
	p["source"] = "startup"
	return h.Send("context", p)
}

// Turn is a whole turn of n edits.
func (h *Host) Turn(n int) {
	h.Prompt(fmt.Sprintf("Make change %d of %s", h.N+1, h.ID))
	h.Edits(n)
	h.Stop()
}

// Until waits for a condition, at most for limit.
func Until(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Prepend puts a directory ahead of the PATH that a memory's programs have.
func (m *Memory) Prepend(dir string) {
	for i, entry := range m.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			m.Env[i] = "PATH=" + dir + ":" + path
		}
	}
}

// Prose is an answer that holds nothing of what was asked for.
const Prose = "That went well. Is there anything else that I can help you with?"
