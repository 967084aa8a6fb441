package hook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

const start = `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/nowhere/p","source":"resume"}`

func TestContextFromWorker(t *testing.T) {
	s := newStage(t)
	w := s.worker()
	w.block = `{"context":"block","system_message":"login expired"}`
	s.env["CLAUDE_PROJECT_DIR"], s.env["CLAUDE_CONFIG_DIR"] = "/nowhere/launch dir", "/home/me/own"
	got := s.run(start)
	want := `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"block"},"systemMessage":"login expired"}` + "\n"
	if got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	paths, _ := w.seen()
	if want := "GET /api/context?host=claude-code&session_id=s1&project_path=/nowhere/launch%20dir&source=resume&worktree_root=/nowhere/p" +
		"&start_dir=/nowhere/launch%20dir&config_dir=/home/me/own"; len(paths) != 1 || paths[0] != want {
		t.Errorf("request %q, want %q", paths, want)
	}
}

// TestHostDirs: what the host does not load by itself is not named.
func TestHostDirs(t *testing.T) {
	for _, c := range []struct{ host, name, value, start, config string }{
		{"claude-code", "", "", "/nowhere/p", "HOME/.claude"},
		{"claude-code", "CLAUDE_CONFIG_DIR", "/own", "/nowhere/p", "/own"},
		{"claude-code", "CLAUDE_PROJECT_DIR", "/nowhere", "/nowhere", "HOME/.claude"},
		{"claude-code", "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1", "/nowhere/p", ""},
		{"claude-code", "CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1", "", ""},
		{"raw", "", "", "/nowhere/p", ""},
	} {
		env := map[string]string{"HOME": "HOME", "USERPROFILE": "HOME", c.name: c.value}
		r := &run{Options: Options{Getenv: func(key string) string { return env[key] }}}
		p := &payload{projectDir: env["CLAUDE_PROJECT_DIR"]}
		p.event.Host, p.event.Cwd = memory.Host(c.host), "/nowhere/p"
		if start, config := r.hostDirs(p); start != c.start || filepath.ToSlash(config) != c.config {
			t.Errorf("%s=%s: %q, %q; want %q, %q", c.name, c.value, start, config, c.start, c.config)
		}
	}
}

// TestContextTellsTheCheckout: where the session works and what is checked out there, not where the host was started.
func TestContextTellsTheCheckout(t *testing.T) {
	s := newStage(t)
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.Repeat("12ab", 10)
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/topic/a&b\n", "refs/heads/topic/a&b": commit + "\n"} {
		path := filepath.Join(tree, ".git", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(tree, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	var asked memory.ContextRequest
	s.alone = true
	s.options = func(o *Options) {
		o.Fallback = func(_ context.Context, r memory.ContextRequest) ([]byte, error) {
			asked = r
			return nil, nil
		}
	}
	cwd, err := json.Marshal(filepath.Join(tree, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	s.run(`{"hook_event_name":"SessionStart","session_id":"s1","source":"startup","cwd":` + string(cwd) + `}`)
	if want := (memory.Checkout{Root: tree, Branch: "topic/a&b", HeadCommit: commit}); asked.Checkout != want {
		t.Errorf("asked with %+v, want %+v", asked.Checkout, want)
	}
}

func TestEmptyMemorySaysNothing(t *testing.T) {
	s := newStage(t)
	s.worker().block = `{"context":"","tokens":0}`
	if out := s.run(start); out != "" {
		t.Errorf("stdout %q", out)
	}
}

// TestContextStartsWorker: the worker is down, is started, and answers in the same hook.
func TestContextStartsWorker(t *testing.T) {
	s := newStage(t)
	s.run(stop) // leaves a fresh back-off behind, which context does not wait for
	if err := wire.ClearStarting(s.data()); err != nil {
		t.Fatal(err)
	}
	s.onStart = func() { s.worker() }
	s.options = func(o *Options) {
		o.Fallback = func(context.Context, memory.ContextRequest) ([]byte, error) {
			return nil, errors.New("not asked for")
		}
	}
	if out := s.run(start); !strings.Contains(out, "old news") {
		t.Errorf("stdout %q, log %q", out, s.logged())
	}
}

func TestContextFallsBack(t *testing.T) {
	reply := `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"from the database"},"systemMessage":"worker away"}`
	cases := map[string]struct {
		reply string
		err   error
		want  string
	}{
		"block":   {reply, nil, reply + "\n"},
		"nothing": {"", errors.New("no memory"), ""},
		"empty":   {"", nil, ""},
		"garbage": {"panic: SECRETWORD", nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.env["CLAUDE_CONFIG_DIR"] = "/home/me/own"
			var asked memory.ContextRequest
			s.alone = true
			s.options = func(o *Options) {
				o.Fallback = func(_ context.Context, r memory.ContextRequest) ([]byte, error) {
					asked = r
					return []byte(c.reply), c.err
				}
			}
			if got := s.run(start); got != c.want {
				t.Errorf("stdout %q, want %q", got, c.want)
			}
			want := memory.ContextRequest{Host: "claude-code", HostSessionID: "s1", ProjectPath: "/nowhere/p", Source: "resume",
				Checkout: memory.Checkout{Root: "/nowhere/p"}, StartDir: "/nowhere/p", ConfigDir: "/home/me/own"}
			if asked != want {
				t.Errorf("asked %+v, want %+v", asked, want)
			}
			if log := strings.Join(s.logged(), ""); strings.Contains(log, "SECRETWORD") {
				t.Errorf("log %q", log)
			}
		})
	}
}

// TestContextDoesNotWaitForAWorkerThatCannotStart would take a minute if it did.
func TestContextDoesNotWaitForAWorkerThatCannotStart(t *testing.T) {
	s := newStage(t)
	s.options = func(o *Options) {
		o.StartWorker = func(string) error { return errNoBinary }
		o.Fallback = func(context.Context, memory.ContextRequest) ([]byte, error) {
			return []byte(`{"systemMessage":"x"}`), nil
		}
	}
	out := s.run(start)
	checkReply(t, out, "SessionStart")
	if !strings.Contains(out, "does not start: "+errNoBinary.Error()) || !strings.Contains(out, `\nx"`) {
		t.Errorf("stdout %q, want the reason and the block's message", out)
	}
}

// TestContextOfOtherWorker: one of another version is replaced, one that is busy is not; both times the database answers.
func TestContextOfOtherWorker(t *testing.T) {
	for name, c := range map[string]struct {
		status, starts int
	}{"version": {409, 1}, "error": {500, 0}} {
		s := newStage(t)
		w := s.worker()
		w.answer = func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set(wire.Header, "2")
			rw.WriteHeader(c.status)
		}
		s.options = func(o *Options) {
			o.Fallback = func(context.Context, memory.ContextRequest) ([]byte, error) {
				return []byte(`{"systemMessage":"x"}`), nil
			}
		}
		if out := s.run(start); out != `{"systemMessage":"x"}`+"\n" || s.starts != c.starts {
			t.Errorf("%s: stdout %q, %d starts", name, out, s.starts)
		}
	}
}

func TestFit(t *testing.T) {
	short := "<claude-mem-context>\nä𝄞\n</claude-mem-context>"
	if got := truncateContext(short, runes.UTF16Len); got != short {
		t.Errorf("a short text was changed: %q", got)
	}
	exact := strings.Repeat("é", longestContext)
	if got := truncateContext(exact, runes.UTF16Len); got != exact {
		t.Errorf("exactly the limit was cut to %d", len(got))
	}
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("0123456789\n", 2000),
		"pairs":   strings.Repeat("𝄞\n", 4000),
		"oneline": strings.Repeat("𝄞", 9000),
		"block":   "<claude-mem-context>\n" + strings.Repeat("- line é\n", 3000) + "</claude-mem-context>\n",
	} {
		got := truncateContext(text, runes.UTF16Len)
		if n := len(utf16.Encode([]rune(got))); n > longestContext || n < longestContext/2 {
			t.Errorf("%s: %d units", name, n)
		}
		if strings.HasPrefix(text, "<claude") && !strings.HasSuffix(got, "- line é\n</claude-mem-context>") {
			t.Errorf("%s ends with %q", name, got[len(got)-60:])
		}
		if strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("%s: a character was split", name)
		}
	}
}

// TestReplyIsValidWhateverTheBlock also shows that the guard is applied.
func TestReplyIsValidWhateverTheBlock(t *testing.T) {
	s := newStage(t)
	block, err := json.Marshal(map[string]string{"context": strings.Repeat("\x00\"\\\u2028𝄞", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	s.worker().block = string(block)
	out := s.run(start)
	checkReply(t, out, "SessionStart")
	ctx, _, err := parseReply([]byte(out))
	if n := len(utf16.Encode([]rune(ctx))); err != nil || n == 0 || n > longestContext {
		t.Errorf("%d units, %v", n, err)
	}
}

// TestContextDeadlineIsKept: the fall-back is told when to be over.
func TestContextDeadlineIsKept(t *testing.T) {
	s := newStage(t)
	var left time.Duration
	s.alone = true
	s.options = func(o *Options) {
		o.Fallback = func(ctx context.Context, _ memory.ContextRequest) ([]byte, error) {
			until, _ := ctx.Deadline()
			left = until.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // when a bubble's clock begins
			return nil, nil
		}
	}
	s.run(start)
	if left <= 0 || left > workerTime+fallbackTime {
		t.Errorf("the fall-back may take until %v after the start", left)
	}
}

// TestNothingHiddenInReplies removes tags, zero-width spaces and characters that turn text
// round from what the model and the user get.
func TestNothingHiddenInReplies(t *testing.T) {
	var r reply
	r.addContext("SessionStart", "a\u202eb\U000e0041c\u200bd\x1b\ne")
	r.tell("f\u2066g\U000e0041\u009bh")
	var out strings.Builder
	r.print(&out)
	if got, want := out.String(), `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"abcd\ne"},"systemMessage":"fgh"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
