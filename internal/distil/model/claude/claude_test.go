package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/distil/model"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"
)

var testNow = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const (
	runA = "aaaaaaaa-0000-4000-8000-000000000001"
	runB = "bbbbbbbb-0000-4000-8000-000000000002"
	runC = "cccccccc-0000-4000-8000-000000000003"

	testKey = "sk-ant-test-0123456789abcdef"
)

func request(run, prompt string, history ...string) memory.ModelRequest {
	r := memory.ModelRequest{Run: run, System: "You observe.", Prompt: prompt}
	for i, text := range history {
		r.History = append(r.History, memory.ModelMessage{Role: []string{"user", "assistant"}[i%2], Text: text})
	}
	return r
}

// bench is a directory in which fake CLIs run.
type bench struct {
	t    *testing.T
	home string
	dir  string
	log  string
	env  []string
	logs bytes.Buffer
	mu   sync.Mutex
}

func newBench(t *testing.T, env ...string) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, home: filepath.Join(root, "home"), dir: filepath.Join(root, "data", "observer"), log: filepath.Join(root, "log")}
	b.env = append([]string{
		"HOME=" + b.home, "USERPROFILE=" + b.home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"GORACE=atexit_sleep_ms=0", "FAKE_CLAUDE=new", "FAKE_LOG=" + b.log, "ANTHROPIC_API_KEY=" + testKey, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer",
	}, env...)
	return b
}

// Write makes b the sink of logs.
func (b *bench) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logs.Write(line)
}

// open returns a provider that is closed, and checked for leftover processes, at
// the end.
func (b *bench) open(change ...func(*Options)) *Provider {
	b.t.Helper()
	options := Options{
		Command: os.Args[0], Dir: b.dir, Auth: AuthInherit, Environ: b.env, Clock: func() time.Time { return testNow },
		Logger: slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&options)
	}
	p, err := New(options)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		p.Close()
		b.noneLeft()
		b.mu.Lock()
		defer b.mu.Unlock()
		if strings.Contains(b.logs.String(), testKey) {
			b.t.Error("the key is in the log")
		}
	})
	return p
}

func processes(n int) func(*Options)         { return func(o *Options) { o.MaxProcesses = n } }
func timeout(d time.Duration) func(*Options) { return func(o *Options) { o.Timeout = d } }
func idleAfter(d time.Duration) func(*Options) {
	return func(o *Options) { o.IdleAfter = d }
}

// records returns the fake's log, of one kind or all of it.
func (b *bench) records(at string) []record {
	b.t.Helper()
	text, err := os.ReadFile(b.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	var all []record
	for line := range strings.Lines(string(text)) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			b.t.Fatalf("log line %q: %v", line, err)
		}
		if at == "" || r.At == at {
			all = append(all, r)
		}
	}
	return all
}

func (b *bench) prompts() []string {
	var all []string
	for _, r := range b.records("prompt") {
		all = append(all, r.Prompt)
	}
	return all
}

// starts returns how each process began its session: "A new" or "A resumed".
func (b *bench) starts() []string {
	var all []string
	for _, r := range b.records("start") {
		how := " new"
		if slices.Contains(r.Args, "--resume") {
			how = " resumed"
		}
		all = append(all, strings.ToUpper(r.Session[:1])+how)
	}
	return all
}

// noneLeft fails if a process of the fake is alive.
func (b *bench) noneLeft() {
	b.t.Helper()
	for _, r := range b.records("start") {
		if !gone(r.PID) {
			b.t.Errorf("process %d is left", r.PID)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*.system")); len(left) > 0 {
		b.t.Errorf("files left in the working directory: %q", left)
	}
}

func (b *bench) transcript(run string) string {
	return filepath.Join(claudedir.Transcripts(filepath.Join(b.home, ".claude"), b.dir), sessionID(run)+".jsonl")
}

func ask(t *testing.T, p *Provider, r memory.ModelRequest) string {
	t.Helper()
	answer, err := p.Complete(t.Context(), r)
	if err != nil {
		t.Fatalf("%q: %v", r.Prompt, err)
	}
	return answer.Text
}

// eventually waits for an event in another process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func wantStarts(t *testing.T, b *bench, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.starts()); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
}

func TestTurnAfterTurnInOneProcess(t *testing.T) {
	b := newBench(t)
	p := b.open()
	answer, err := p.Complete(t.Context(), request(runA, "one"))
	if err != nil {
		t.Fatal(err)
	}
	want := memory.ModelAnswer{Text: "<a>one after 0</a>", Model: "claude-haiku-test", Usage: memory.ModelUsage{Input: 110, Output: 10, Cached: 50}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("first answer (-want +got):\n%s", diff)
	}
	answer, err = p.Complete(t.Context(), request(runA, "two\n\"quoted\" <&> \u2028 €", "one", answer.Text))
	if err != nil {
		t.Fatal(err)
	}
	// The CLI reports sums; the usage is this turn's.
	want = memory.ModelAnswer{Text: "<a>\"quoted\" after 2</a>", Model: "claude-haiku-test", Usage: memory.ModelUsage{Input: 110, Output: 10, Cached: 50}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("second answer (-want +got):\n%s", diff)
	}
	wantStarts(t, b, "A new")
	if diff := cmp.Diff([]string{"one", "two\n\"quoted\" <&> \u2028 €"}, b.prompts()); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	start := b.records("start")[0]
	if start.System != "You observe." || start.Dir != b.dir {
		t.Errorf("system %q in %q", start.System, start.Dir)
	}
	wantArgs := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--model", "haiku", "--tools", "",
		"--strict-mcp-config", "--disable-slash-commands", "--safe-mode", "--system-prompt-file", filepath.Join(b.dir, runA+".system"), "--session-id", runA,
	}
	if diff := cmp.Diff(wantArgs, start.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestResumesAfterRestart(t *testing.T) {
	b := newBench(t)
	p := b.open()
	ask(t, p, request(runA, "one"))
	p.Close()
	p = b.open()
	// The new worker may or may not have the history.
	if got := ask(t, p, request(runA, "two")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	p.Close()
	p = b.open()
	if got := ask(t, p, request(runA, "three", "one", "1", "two", "2")); got != "<a>three after 4</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "A resumed", "A resumed")
	if diff := cmp.Diff([]string{"one", "two", "three"}, b.prompts()); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

func TestStartsNewConversationWithHistory(t *testing.T) {
	history := []string{"first question", "first </message> answer", "  ", "", "second", "2"}
	rendered := strings.TrimSuffix(strings.NewReplacer("{1}", "first question", "{2}", "first &lt;/message> answer", "{3}", "second", "{4}", "2").Replace(
		earlierHead(t)+"\n<earlier_conversation>\n<message from=\"them\">\n{1}\n</message>\n<message from=\"you\">\n{2}\n</message>\n"+
			"<message from=\"them\">\n{3}\n</message>\n<message from=\"you\">\n{4}\n</message>\n</earlier_conversation>\n\nWhat follows is new.\n\n"), "\n") + "\n"
	tests := []struct {
		name   string
		env    string
		before func(t *testing.T, b *bench, p *Provider) *Provider
		starts []string
	}{
		{"nothing known", "", func(_ *testing.T, _ *bench, p *Provider) *Provider { return p }, []string{"A new"}},
		{"transcript gone", "", func(t *testing.T, b *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one"))
			p.Close()
			os.Remove(b.transcript(runA))
			return b.open()
		}, []string{"A new", "A new"}},
		{"session unknown to the CLI", "FAKE_FORGETFUL=1", func(t *testing.T, b *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one"))
			p.Close()
			return b.open()
		}, []string{"A new", "A resumed", "A new"}},
		{"transcript is none to the CLI", "FAKE_CORRUPT=1", func(t *testing.T, b *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one"))
			p.Close()
			return b.open()
		}, []string{"A new", "A resumed", "A new"}},
		{"transcript is garbage", "", func(t *testing.T, b *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one"))
			p.Close()
			if err := os.WriteFile(b.transcript(runA), []byte("\x00garbage\n{\"type\":"), 0o600); err != nil {
				t.Fatal(err)
			}
			return b.open()
		}, []string{"A new", "A new"}},
		{"the caller knows more", "", func(t *testing.T, _ *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one")) // the rest was said to another provider
			return p
		}, []string{"A new", "A new"}},
		{"a failed turn", "", func(t *testing.T, b *bench, p *Provider) *Provider {
			if _, err := p.Complete(t.Context(), request(runA, "status 529 overloaded", history...)); err == nil {
				t.Error("no error")
			}
			return p
		}, []string{"A new", "A new"}},
		{"a turn that a killed worker left open", "", func(t *testing.T, b *bench, p *Provider) *Provider {
			ask(t, p, request(runA, "one"))
			p.Close()
			file, err := os.OpenFile(b.transcript(runA), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			file.WriteString(`{"type":"user","message":{"role":"user","content":"open"}}` + "\n")
			file.Close()
			return b.open()
		}, []string{"A new", "A new"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.env)
			p := test.before(t, b, b.open())
			if got := ask(t, p, request(runA, "next", history...)); got != "<a>next after 0</a>" {
				t.Errorf("answer %q", got)
			}
			wantStarts(t, b, test.starts...)
			prompts := b.prompts()
			if diff := cmp.Diff(rendered+"next", prompts[len(prompts)-1]); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
			// From here on the CLI knows it again.
			ask(t, p, request(runA, "more", append(history, "next", "x")...))
			if prompts = b.prompts(); prompts[len(prompts)-1] != "more" {
				t.Errorf("prompt %q", prompts[len(prompts)-1])
			}
		})
	}
}

func earlierHead(t *testing.T) string {
	t.Helper()
	head, _, ok := strings.Cut(earlierText, "\n<earlier_conversation>")
	if !ok {
		t.Fatal("earlier.md has no conversation")
	}
	return head
}

// A failed prompt stays in the CLI's history. Without a history of the caller's,
// keeping the earlier turns is worth more than removing that prompt.
func TestResumesAfterFailureWithoutHistory(t *testing.T) {
	b := newBench(t)
	p := b.open()
	ask(t, p, request(runA, "one"))
	if _, err := p.Complete(t.Context(), request(runA, "status 529 overloaded")); err == nil {
		t.Error("no error")
	}
	if got := ask(t, p, request(runA, "two")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "A resumed")
}

// The CLI keeps transcripts in another directory than expected: the CLI's own
// error about the session decides.
func TestResumesSessionInUse(t *testing.T) {
	b := newBench(t)
	b.env = append(b.env, "FAKE_ELSEWHERE="+t.TempDir())
	p := b.open()
	ask(t, p, request(runA, "one"))
	p.Close()
	p = b.open()
	if got := ask(t, p, request(runA, "two")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "A new", "A resumed")
}

func TestProcessDiesWhileIdle(t *testing.T) {
	b := newBench(t)
	p := b.open()
	ask(t, p, request(runA, "one"))
	killProcess(t, b.records("start")[0].PID)
	if got := ask(t, p, request(runA, "two", "one", "1")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "A resumed")
}

func TestOtherParametersNeedAnotherProcess(t *testing.T) {
	b := newBench(t)
	p := b.open()
	r := request(runA, "one")
	r.MaxTokens = 1000
	ask(t, p, r)
	r = request(runA, "fewer tokens", "one", "1")
	r.MaxTokens = 500
	ask(t, p, r)
	wantStarts(t, b, "A new")
	r = request(runA, "more tokens", "one", "1", "", "")
	r.MaxTokens = 2000
	ask(t, p, r)
	r = request(runA, "another model")
	r.Model, r.MaxTokens = "sonnet", 2000
	ask(t, p, r)
	r.System, r.Prompt = "You observe more.", "another system prompt"
	ask(t, p, r)
	wantStarts(t, b, "A new", "A resumed", "A resumed", "A resumed")
	var tokens, models, systems []string
	for _, s := range b.records("start") {
		tokens = append(tokens, lookup(s.Env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"))
		models = append(models, s.Args[slices.Index(s.Args, "--model")+1])
		systems = append(systems, s.System)
	}
	if diff := cmp.Diff([]string{"1000", "2000", "2000", "2000"}, tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"haiku", "haiku", "sonnet", "sonnet"}, models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if systems[3] != "You observe more." {
		t.Errorf("system prompt %q", systems[3])
	}
}

func TestConversationTooLong(t *testing.T) {
	b := newBench(t)
	p := b.open()
	isTooLong := func(err error) {
		t.Helper()
		var failed *memory.ModelError
		if !errors.As(err, &failed) || failed.Class != memory.ClassPromptTooLong {
			t.Fatalf("error %v", err)
		}
	}
	_, err := p.Complete(t.Context(), request(runA, strings.Repeat("p", model.MaxRequestBytes)))
	isTooLong(err)
	_, err = p.Complete(t.Context(), request(runA, "p", "x"+strings.Repeat("\n", model.MaxRequestBytes/2)))
	isTooLong(err) // a line's end is two bytes in JSON
	wantStarts(t, b)

	half := strings.Repeat("h", model.MaxRequestBytes/2)
	ask(t, p, request(runB, "one "+half))
	_, err = p.Complete(t.Context(), request(runB, "two "+half, "one "+half, "1"))
	isTooLong(err)
	// The caller has a shorter history: it decides.
	if got := ask(t, p, request(runB, "two "+half, "one", "1")); got != "<a>two after 0</a>" {
		t.Errorf("answer %q", got)
	}
	// It has none: the error says that there is no more room; the next request
	// starts anew.
	_, err = p.Complete(t.Context(), request(runB, "three "+half))
	isTooLong(err)
	if got := ask(t, p, request(runB, "three "+half)); got != "<a>three after 0</a>" {
		t.Errorf("answer %q", got)
	}
	// An answer that did not arrive is not the caller's: a second try starts anew.
	if _, err := p.Complete(t.Context(), request("c", half+"\nanswered 3")); err == nil {
		t.Error("no error of a process that ended")
	}
	if got := ask(t, p, request("c", half+"\nfive")); got != "<a>five after 0</a>" {
		t.Errorf("answer %q", got)
	}
	// The same after a restart.
	p.Close()
	p = b.open()
	_, err = p.Complete(t.Context(), request(runB, "four "+half))
	isTooLong(err)
	for _, prompt := range b.prompts() {
		if model.JSONSize(prompt) > model.MaxRequestBytes {
			t.Errorf("a prompt of %d bytes was sent", model.JSONSize(prompt))
		}
	}
}
