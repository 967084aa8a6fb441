//go:build e2e

package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"claudemem/internal/distil/model"
	"claudemem/internal/memory"
	"claudemem/proof/fakeanthropic"
)

// realCLI is the real Claude Code CLI against a stand-in of the API:
//
//	go test -tags e2e -count=1 -v -run Real ./provider/claude
//
// CLAUDE_BIN names the CLI; without it the one that e2e installs is taken.
type realCLI struct {
	*bench
	t   *testing.T
	api *fakeanthropic.Server
}

func cliPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("CLAUDE_BIN")
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("claude-code-%s-%s", runtime.GOOS, map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH])
		path = filepath.Join(cache, "agent-e2e", "claude-code-2.1.197", "node_modules", "@anthropic-ai", name, "claude")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("no CLI: set CLAUDE_BIN, or run `make e2e` once to install it")
	}
	return path
}

func newReal(t *testing.T, scenario *fakeanthropic.Scenario) (*realCLI, func(...func(*Options)) *Provider) {
	t.Helper()
	path := cliPath(t)
	scenario.ToollessTurns = true
	api, err := fakeanthropic.New(scenario, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	b := newBench(t)
	b.env = []string{
		"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "IS_SANDBOX=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=" + testKey,
	}
	b.hostile()
	return &realCLI{bench: b, t: t, api: api}, func(change ...func(*Options)) *Provider {
		return b.open(append([]func(*Options){func(o *Options) { o.Command = path }}, change...)...)
	}
}

// hostile fills home and the working directory with settings that must not reach a
// run.
func (b *bench) hostile() {
	hook := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ` + b.home + `/hooked"}]}],"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch ` + b.home + `/hooked"}]}]}}`
	for name, text := range map[string]string{
		filepath.Join(b.home, ".claude", "settings.json"):              hook,
		filepath.Join(b.home, ".claude", "CLAUDE.md"):                  "UNWANTED user memory",
		filepath.Join(b.home, ".claude", "commands", "c.md"):           "UNWANTED command",
		filepath.Join(b.dir, ".claude", "settings.json"):               hook,
		filepath.Join(b.dir, "CLAUDE.md"):                              "UNWANTED project memory",
		filepath.Join(b.dir, ".mcp.json"):                              `{"mcpServers":{"m":{"command":"touch","args":["` + b.home + `/mcp"]}}}`,
		filepath.Join(b.home, ".claude", "skills", "s", "SKILL.md"):    "---\nname: s\ndescription: UNWANTED skill\n---\nUNWANTED",
		filepath.Join(b.home, ".claude", "projects", "other", "x.txt"): "kept",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.t.Cleanup(func() {
		for _, name := range []string{"hooked", "mcp"} {
			if _, err := os.Stat(filepath.Join(b.home, name)); err == nil {
				b.t.Errorf("%s: something of the user's ran", name)
			}
		}
	})
}

type apiMessage struct {
	System []struct {
		Text string `json:"text"`
	} `json:"system"`
	Tools     []json.RawMessage `json:"tools"`
	MaxTokens int               `json:"max_tokens"`
	Thinking  struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// requests returns the requests to the model, in order.
func (r *realCLI) requests() []apiMessage {
	r.t.Helper()
	var all []apiMessage
	for _, e := range r.api.Entries() {
		if !strings.HasPrefix(e.Path, "/v1/messages") || e.Kind == "count_tokens" {
			continue
		}
		if e.Kind == "side" {
			r.t.Errorf("a request of the CLI's own: %s", e.Name)
		}
		if bytes.Contains(e.Body, []byte("UNWANTED")) {
			r.t.Error("something of the user's reached the model")
		}
		if len(e.Body) > model.MaxRequestBytes {
			r.t.Errorf("a request of %d bytes", len(e.Body))
		}
		var m apiMessage
		if err := json.Unmarshal(e.Body, &m); err != nil {
			r.t.Fatal(err)
		}
		if len(m.Tools) > 0 {
			r.t.Errorf("%d tools", len(m.Tools))
		}
		all = append(all, m)
	}
	return all
}

// roles returns a request's conversation as "user assistant user".
func (m apiMessage) roles() string {
	var roles []string
	for _, message := range m.Messages {
		roles = append(roles, message.Role)
	}
	return strings.Join(roles, " ")
}

// transcripts returns the names of all files under projects that end in .jsonl.
func (r *realCLI) transcripts() []string {
	var names []string
	filepath.WalkDir(r.home, func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".jsonl") {
			names = append(names, strings.TrimPrefix(path, filepath.Dir(r.transcript(runA))+"/"))
		}
		return nil
	})
	return names
}

func answers(texts ...string) *fakeanthropic.Scenario {
	var s fakeanthropic.Scenario
	for _, text := range texts {
		s.Turns = append(s.Turns, fakeanthropic.Reply{Text: text, Usage: &fakeanthropic.Usage{InputTokens: 100, OutputTokens: 7}})
	}
	return &s
}

func TestRealTurnsAndRestart(t *testing.T) {
	r, open := newReal(t, answers("<one/>", "<two/>", "<three/>", "<four/>"))
	p := open()
	first := request(runA, "FIRST <&> \"quoted\"\n€")
	first.MaxTokens = 1500
	begun := time.Now()
	answer, err := p.Complete(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("start, --help and first answer: %v", time.Since(begun).Round(time.Millisecond))
	if want := (memory.ModelUsage{Input: 100, Output: 7}); answer.Text != "<one/>" || answer.Usage != want || !strings.HasPrefix(answer.Model, "claude-haiku") {
		t.Errorf("answer %+v", answer)
	}
	pids := p.pids()
	second := request(runA, "SECOND", "FIRST", "<one/>")
	second.MaxTokens = 1500
	if answer, err = p.Complete(t.Context(), second); err != nil || answer.Text != "<two/>" || answer.Usage.Input != 100 {
		t.Errorf("answer %+v, %v", answer, err)
	}
	if !slices.Equal(pids, p.pids()) {
		t.Errorf("processes %v, then %v", pids, p.pids())
	}
	p.Close()
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if got := r.transcripts(); !slices.Equal(got, []string{runA + ".jsonl"}) {
		t.Errorf("transcripts %q", got)
	}

	p = open()
	if got := ask(t, p, request(runA, "THIRD")); got != "<three/>" {
		t.Errorf("answer %q", got)
	}
	if got := ask(t, p, request(runA, "FOURTH", "THIRD", "<three/>")); got != "<four/>" {
		t.Errorf("answer %q", got)
	}
	sent := r.requests()
	if len(sent) != 4 {
		t.Fatalf("%d requests", len(sent))
	}
	if got := sent[3].roles(); got != "user assistant user assistant user assistant user" {
		t.Errorf("conversation %q", got)
	}
	whole, _ := json.Marshal(sent[3].Messages)
	for _, part := range []string{"FIRST", "one", "SECOND", "two", "THIRD", "three", "FOURTH"} {
		if n := bytes.Count(whole, []byte(part)); n != 1 {
			t.Errorf("%s is in the conversation %d times", part, n)
		}
	}
	if s := sent[0]; s.System[len(s.System)-1].Text != "You observe." || s.MaxTokens != 1500 || s.Thinking.Type == "enabled" {
		t.Errorf("system %q, %d tokens, thinking %q", s.System, s.MaxTokens, s.Thinking.Type)
	}
	p.EndRun(runA)
	if got := r.transcripts(); len(got) > 0 {
		t.Errorf("transcripts after the end: %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.home, ".claude", "projects", "other", "x.txt")); err != nil {
		t.Error(err)
	}
}

func TestRealThreeRunsAtOnce(t *testing.T) {
	var rules []fakeanthropic.Rule
	for _, name := range []string{"ALPHA", "BETA", "GAMMA"} {
		rules = append(rules, fakeanthropic.Rule{Name: name, Match: name, Replies: []fakeanthropic.Reply{{Text: "<" + name + "/>", DelayMS: 300}}})
	}
	r, open := newReal(t, &fakeanthropic.Scenario{Rules: rules})
	for _, n := range []int{3, 2} {
		p := open(processes(n))
		var calls sync.WaitGroup
		for i, run := range []string{runA, runB, runC} {
			name := []string{"ALPHA", "BETA", "GAMMA"}[i]
			calls.Go(func() {
				for range 2 {
					if got := ask(t, p, request(run, name)); got != "<"+name+"/>" {
						t.Errorf("%s: answer %q", name, got)
					}
				}
			})
		}
		calls.Wait()
		if got := len(p.pids()); got != n {
			t.Errorf("%d processes, want %d", got, n)
		}
		p.Close()
	}
	want := []string{runA + ".jsonl", runB + ".jsonl", runC + ".jsonl"}
	if got := r.transcripts(); !slices.Equal(got, want) {
		t.Errorf("transcripts %q", got)
	}
	if n := len(r.requests()); n != 12 {
		t.Errorf("%d requests", n)
	}
}

func TestRealFaults(t *testing.T) {
	fault := func(name string, reply fakeanthropic.Reply) fakeanthropic.Rule {
		return fakeanthropic.Rule{Name: name, Match: `FAULT-` + name + `\b`, Replies: []fakeanthropic.Reply{reply}}
	}
	tests := []struct {
		name  string
		reply fakeanthropic.Reply
		class memory.ErrorClass
		wait  time.Duration
	}{
		{"401", fakeanthropic.Reply{Status: 401}, memory.ClassLogin, 0},
		{"403", fakeanthropic.Reply{Status: 403}, memory.ClassLogin, 0},
		{"404", fakeanthropic.Reply{Status: 404}, memory.ClassLogin, 0},
		{"429", fakeanthropic.Reply{Status: 429, RetryAfter: "1"}, memory.ClassRateLimit, time.Second},
		{"half429", fakeanthropic.Reply{Status: 429, RetryAfter: "30"}, memory.ClassRateLimit, 30 * time.Second},
		// The CLI gives up without a time to wait.
		{"long429", fakeanthropic.Reply{Status: 429, RetryAfter: "300"}, memory.ClassRateLimit, 0},
		{"500", fakeanthropic.Reply{Status: 500}, memory.ClassTransient, -1},
		{"529", fakeanthropic.Reply{Status: 529}, memory.ClassTransient, -1},
		{"credit", fakeanthropic.Reply{Status: 400, ErrorMessage: "Your credit balance is too low to access the Anthropic API."}, memory.ClassQuota, 0},
		{"long", fakeanthropic.Reply{Status: 400, ErrorMessage: "prompt is too long: 250000 tokens > 200000 maximum"}, memory.ClassPromptTooLong, 0},
		{"invalid", fakeanthropic.Reply{Status: 400, ErrorMessage: "messages: not so"}, memory.ClassGarbage, 0},
		{"cut", fakeanthropic.Reply{Text: "<abc/>", CutAfter: 4}, memory.ClassTransient, 0},
		{"empty", fakeanthropic.Reply{Text: ""}, memory.ClassGarbage, 0},
		{"garbage", fakeanthropic.Reply{RawBody: ptr("<html>hello</html>")}, memory.ClassGarbage, 0},
		{"quota-text", fakeanthropic.Reply{Text: "Claude AI usage limit reached|1772604367"}, memory.ClassQuota, time.Hour},
		{"refusal", fakeanthropic.Reply{Text: "no", StopReason: "refusal"}, memory.ClassGarbage, 0},
	}
	scenario := answers("<fine/>", "<fine/>")
	for _, test := range tests {
		scenario.Rules = append(scenario.Rules, fault(test.name, test.reply))
	}
	r, open := newReal(t, scenario)
	p := open()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run := uuid.NewString()
			before := len(r.requests())
			begun := time.Now()
			_, err := p.Complete(t.Context(), request(run, "FAULT-"+test.name))
			var e *memory.ModelError
			if !errors.As(err, &e) || e.Class != test.class {
				t.Fatalf("error %v, want %s", err, test.class)
			}
			// The CLI adds some of its own to what the API asks for.
			if test.wait >= 0 && (e.Wait < test.wait || e.Wait > test.wait*3/2) {
				t.Errorf("wait %v, want %v", e.Wait, test.wait)
			}
			if strings.Contains(err.Error(), testKey) {
				t.Errorf("the key is in %q", err)
			}
			t.Logf("%v, %d requests, %+v: %v", time.Since(begun).Round(time.Millisecond), len(r.requests())-before, e.Usage, err)
			// The next call knows nothing of it.
			if got := ask(t, p, request(run, "NEXT")); got != "<fine/>" {
				t.Errorf("answer %q", got)
			}
			all := r.requests()
			if last, _ := json.Marshal(all[len(all)-1].Messages); bytes.Contains(last, []byte("FAULT")) {
				t.Errorf("the failed prompt was sent again: %s", last)
			}
			p.EndRun(run)
		})
	}
	if got := r.transcripts(); len(got) > 0 {
		t.Errorf("transcripts %q", got)
	}
}

func ptr(s string) *string { return &s }

func TestRealNotLoggedIn(t *testing.T) {
	r, open := newReal(t, answers())
	p := open(func(o *Options) { o.Auth = AuthSubscription })
	_, err := p.Complete(t.Context(), request(runA, "one"))
	var e *memory.ModelError
	if !errors.As(err, &e) || e.Class != memory.ClassLogin || !strings.Contains(err.Error(), "/login") {
		t.Errorf("error %v", err)
	}
	if n := len(r.requests()); n > 0 {
		t.Errorf("%d requests with a key that was not to be used", n)
	}
}

func TestRealSessionUnknownAndInUse(t *testing.T) {
	r, open := newReal(t, answers("<1/>", "<2/>", "<3/>", "<4/>"))
	p := open()
	ask(t, p, request(runA, "ONE"))
	p.Close()
	// The worker knows it, the CLI does not.
	if err := os.WriteFile(r.transcript(runB), []byte(`{"type":"assistant","message":{"content":"x"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = open()
	t.Logf("unknown session: %q", ask(t, p, request(runB, "TWO", "earlier question", "earlier answer")))
	p.Close()
	// The CLI knows it, the worker does not.
	p = open()
	p.projects = filepath.Join(r.home, "nowhere")
	ask(t, p, request(runA, "THREE"))
	all := r.requests()
	two, _ := json.Marshal(all[1].Messages)
	if !bytes.Contains(two, []byte("earlier question")) {
		t.Errorf("without history: %s", two)
	}
	if got := all[len(all)-1].roles(); got != "user assistant user" {
		t.Errorf("conversation %q", got)
	}
}

func TestRealKilledWorker(t *testing.T) {
	r, _ := newReal(t, &fakeanthropic.Scenario{Rules: []fakeanthropic.Rule{
		{Name: "hang", Match: "hang", Replies: []fakeanthropic.Reply{{Text: "late", DelayMS: 60_000}}},
	}})
	worker := exec.Command(os.Args[0])
	pids := filepath.Join(t.TempDir(), "pids")
	worker.Env = append(r.env, "FAKE_WORKER="+r.dir, "FAKE_WORKER_COMMAND="+cliPath(t), "FAKE_WORKER_PIDS="+pids)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = worker.Process.Kill(); _ = worker.Wait() }()
	eventually(t, "one idles, one is busy", func() bool { return len(r.requests()) == 2 })
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 2 {
		t.Fatalf("processes %s: %v", text, err)
	}
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait() // killed
	begun := time.Now()
	for _, pid := range all {
		eventually(t, "process has ended", func() bool { return gone(pid) })
	}
	t.Logf("both gone after %v", time.Since(begun).Round(time.Millisecond))
}

// TestRealFigures measures; it asserts nothing about time.
func TestRealFigures(t *testing.T) {
	_, open := newReal(t, &fakeanthropic.Scenario{AfterTurns: &fakeanthropic.Reply{Text: "<a/>"}})
	p := open(processes(1))
	if _, err := p.detect(t.Context()); err != nil {
		t.Fatal(err)
	}
	timed := func(r memory.ModelRequest) time.Duration {
		begun := time.Now()
		ask(t, p, r)
		return time.Since(begun)
	}
	var start, turn, resume, swap []time.Duration
	for range 9 {
		run := uuid.NewString()
		start = append(start, timed(request(run, "first")))
		for range 5 {
			turn = append(turn, timed(request(run, "next")))
		}
		p.mu.Lock()
		p.evict(p.runs[run])
		p.mu.Unlock()
		eventually(t, "evicted", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.slots == 0 })
		resume = append(resume, timed(request(run, "resumed")))
		swap = append(swap, timed(request(uuid.NewString(), "another"))) // the other leaves first
		p.EndRun(run)
	}
	for name, all := range map[string][]time.Duration{"start to first answer": start, "further turn": turn, "resume to answer": resume, "evict another and start": swap} {
		slices.Sort(all)
		t.Logf("%-24s median %v (%v – %v, n=%d)", name, all[len(all)/2].Round(time.Millisecond), all[0].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond), len(all))
	}
}
