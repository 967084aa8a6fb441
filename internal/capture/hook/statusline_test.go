package hook

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/memory"
)

const statusInput = `{"hook_event_name":"Status","session_id":"s 1","transcript_path":"/t.jsonl","cwd":"/nowhere/p/sub",
"model":{"id":"claude-opus","display_name":"Opus"},"workspace":{"current_dir":"/nowhere/p/sub","project_dir":"/nowhere/p"},"version":"2.1.0"}`

func TestStatusline(t *testing.T) {
	tests := []struct{ name, answer, want string }{
		{"all", `{"observations":3,"pending":2,"tokens_today":1234}`, "mem ○ 3 obs · queue 2 · 1.2k tok today\n"},
		{"one", `{"observations":0,"pending":1,"tokens_today":0}`, "mem ○ queue 1\n"},
		{"nothing", `{"observations":0,"pending":0,"tokens_today":0}`, "\n"},
		{"a cap", `{"observations":3,"pending":0,"tokens_today":2000000,"cap":"day"}`, "mem ! cap reached · 3 obs · 2.0M tok today\n"},
		{"trouble", `{"observations":1,"pending":40,"trouble":"claude login"}`, "mem ! claude login · 1 obs · queue 40\n"},
		{"hostile trouble", `{"trouble":"a\u001b[31mb\nc` + strings.Repeat("ä", 100) + `"}`, "mem ! a[31mbc" + strings.Repeat("ä", 15) + "\n"},
		{"garbage", `<html>`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.verb = VerbStatusline
			w := s.worker()
			w.block = tt.answer
			if got := s.run(statusInput); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			paths, _ := w.seen()
			if want := "GET /api/statusline?host=claude-code&session_id=s%201&project_path=/nowhere/p"; len(paths) != 1 || paths[0] != want {
				t.Errorf("request %q, want %q", paths, want)
			}
		})
	}
}

// Whatever is wrong, the line is empty, nothing is started and nothing is written.
func TestStatuslineIsSilent(t *testing.T) {
	tests := map[string]struct {
		input  string
		answer func(http.ResponseWriter, *http.Request) // nil: no worker
	}{
		"no worker":     {input: statusInput},
		"no JSON":       {input: "{"},
		"nothing":       {input: ""},
		"no session":    {input: `{"cwd":"/p"}`},
		"wrong types":   {input: `{"session_id":["s"],"cwd":7,"workspace":"x"}`},
		"long session":  {input: `{"session_id":"` + strings.Repeat("s", 600) + `"}`},
		"huge":          {input: `{"session_id":"s","x":"` + strings.Repeat("s", largestStatus) + `"}`},
		"error":         {input: statusInput, answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }},
		"older worker":  {input: statusInput, answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }},
		"other version": {input: statusInput, answer: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Claude-Mem-Wire", "9") }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.verb = VerbStatusline
			if tt.answer != nil {
				s.worker().answer = tt.answer
			}
			if got := s.run(tt.input); got != "" {
				t.Errorf("stdout %q", got)
			}
			if s.starts != 0 {
				t.Error("a worker was started")
			}
			if tt.answer == nil {
				if _, err := os.Stat(s.data()); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something was written: %v", err)
				}
			}
		})
	}
}

// A session that claude-mem itself runs has no status line.
func TestStatuslineOfOwnSession(t *testing.T) {
	s := newStage(t)
	s.verb = VerbStatusline
	s.env["CLAUDE_MEM_INTERNAL"] = "1"
	w := s.worker()
	w.block = `{"observations":3}`
	if got := s.run(statusInput); got != "" {
		t.Errorf("stdout %q", got)
	}
}

// A worker that does not answer is given up on at the deadline.
func TestStatuslineDeadline(t *testing.T) {
	s := newStage(t)
	s.verb = VerbStatusline
	release := make(chan struct{})
	s.worker().answer = func(http.ResponseWriter, *http.Request) { <-release }
	t.Cleanup(func() { close(release) })
	s.options = func(o *Options) { o.slack = 0 }
	if got := s.run(statusInput); got != "" {
		t.Errorf("stdout %q", got)
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1.0k", 1234: "1.2k", 99_999: "99.9k", 100_000: "100k", 999_999: "999k",
		1_000_000: "1.0M", 2_345_678: "2.3M", 123_456_789: "123M",
	} {
		if got := short(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func FuzzStatusRequest(f *testing.F) {
	f.Add([]byte(statusInput))
	f.Add([]byte(`{"session_id":"s","workspace":[1],"cwd":null}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		r := newRun(Options{Verb: VerbStatusline, DataDir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: io.Discard})
		if request, ok := r.statusRequest(input); ok && (request.HostSessionID == "" || len(request.HostSessionID) > longestName) {
			t.Errorf("request %+v", request)
		}
	})
}

func FuzzStatusline(f *testing.F) {
	f.Add(3, 2, 1234, "day", "claude login")
	f.Fuzz(func(t *testing.T, observations, pending, tokens int, limit, trouble string) {
		text := statuslineText(memory.Statusline{Observations: observations, Pending: pending, TokensToday: tokens, Cap: limit, Trouble: trouble})
		if len(text) > 200 || strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(trouble) {
			t.Errorf("%q", text)
		}
	})
}
