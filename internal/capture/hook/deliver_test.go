package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
)

const stop = `{"hook_event_name":"Stop","session_id":"s1","cwd":"/nowhere","last_assistant_message":"done"}`

// onTime gives a hook its real deadline.
func onTime(o *Options) { o.slack = 0 }

// runTooLate runs a hook on input with a worker that keeps its answer back until the
// hook is done, and returns the stage, the standard output and the posted events. On a
// loaded machine the deadline can end before the event is posted: then it tries again,
// on a new stage, with a later deadline.
func runTooLate(t *testing.T, input string, answer http.HandlerFunc) (s *stage, out string, posted []memory.Event) {
	t.Helper()
	for slack := time.Duration(0); ; slack = 4*slack + 250*time.Millisecond {
		s = newStage(t)
		w := s.worker()
		release := make(chan struct{})
		w.answer = func(rw http.ResponseWriter, r *http.Request) {
			<-release
			answer(rw, r)
		}
		s.options = func(o *Options) { o.slack = slack }
		out = s.run(input)
		close(release)
		if _, posted = w.seen(); len(posted) > 0 || slack > time.Minute {
			return s, out, posted
		}
	}
}

func noBlock(context.Context, memory.ContextRequest) ([]byte, error) { return nil, errNothing }

// TestRefusals: what the worker answers decides between its books, the spool and neither.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		answer  http.HandlerFunc
		spooled int
		starts  int
	}{
		"queued":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }, 0, 0},
		"duplicate": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"duplicate"}`) }, 0, 0},
		"other version": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(wire.Header, "2")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":{"code":"wire_version"}}`)
		}, 1, 1},
		"other version that accepts": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(wire.Header, "2")
			w.WriteHeader(http.StatusAccepted)
		}, 1, 1},
		"stopping":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 1, 0},
		"disk full":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInsufficientStorage) }, 1, 0},
		"no such way": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 1, 0},
		"too large":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }, 1, 0},
		"invalid": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"invalid","message":"no"}}`)
		}, 0, 0},
		"dies": {func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		}, 1, 1},
		"not HTTP": {func(w http.ResponseWriter, _ *http.Request) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
				_ = c.Close()
			}
		}, 1, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			w := s.worker()
			w.answer = c.answer
			if out := s.run(stop); out != "" {
				t.Errorf("stdout %q", out)
			}
			_, events := w.seen()
			if len(events) != 1 {
				t.Fatalf("worker saw %d events", len(events))
			}
			spooled := s.spooled()
			if len(spooled) != c.spooled || s.starts != c.starts {
				t.Fatalf("spooled %d, starts %d; want %d, %d", len(spooled), s.starts, c.spooled, c.starts)
			}
			if c.spooled == 1 && spooled[0].DeliveryID != events[0].DeliveryID {
				t.Errorf("spooled as %s what was posted as %s", spooled[0].DeliveryID, events[0].DeliveryID)
			}
		})
	}
}

// TestCommitAfterGivingUp: the worker takes the event in and answers too late.
// The spool gets the same delivery, so that intake can tell.
func TestCommitAfterGivingUp(t *testing.T) {
	s, _, events := runTooLate(t, stop, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusAccepted) })
	spooled := s.spooled()
	if len(spooled) != 1 || len(events) != 1 || spooled[0].DeliveryID != events[0].DeliveryID {
		t.Errorf("spooled %+v, posted %+v", spooled, events)
	}
	if s.starts != 0 {
		t.Error("a worker was started beside one that is only slow")
	}
}

// TestWorkerThatNeverReads accepts connections and leaves them at that; the
// payload is larger than what the kernel buffers.
func TestWorkerThatNeverReads(t *testing.T) {
	s := newStage(t)
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(s.data(), "worker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	s.options = onTime
	content := strings.Repeat("x", 900<<10)
	s.run(`{"hook_event_name":"PostToolUse","session_id":"s1","tool_name":"Write","tool_input":{"file_path":"/a","content":"` + content + `"}}`)
	if events := s.spooled(); len(events) != 1 || !strings.Contains(string(events[0].ToolInput), content) {
		t.Errorf("spooled %d events", len(events))
	}
}

func TestDeadSocketIsNoWorker(t *testing.T) {
	s := newStage(t)
	w := s.worker()
	w.close()
	if err := os.WriteFile(filepath.Join(s.data(), "worker.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(stop)
	if len(s.spooled()) != 1 || s.starts != 1 {
		t.Errorf("spooled %d, starts %d", len(s.spooled()), s.starts)
	}
}

func TestStartBackOff(t *testing.T) {
	s := newStage(t)
	for range 3 {
		s.run(stop)
	}
	if s.starts != 1 {
		t.Errorf("%d starts by three hooks in a row, want 1", s.starts)
	}
	if len(s.spooled()) != 3 {
		t.Errorf("%d spooled", len(s.spooled()))
	}
}

// TestSpoolNotWritable: the host goes on, the log says so, and the user learns
// of it at the next session start.
func TestSpoolNotWritable(t *testing.T) {
	s := newStage(t)
	if err := os.MkdirAll(s.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.data(), "spool"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.run(stop); out != "" {
		t.Errorf("stdout %q", out)
	}
	if log := s.logged(); len(log) != 1 || !strings.Contains(log[0], "event lost") {
		t.Errorf("log %q", log)
	}
	s.alone = true
	out := s.run(`{"hook_event_name":"SessionStart","session_id":"s2","source":"startup"}`)
	checkReply(t, out, "SessionStart")
	if !strings.Contains(out, "systemMessage") || strings.Contains(out, "hookSpecificOutput") {
		t.Errorf("stdout %q", out)
	}
}

// TestDataDirCannotBe: a file stands where the data directory should be.
func TestDataDirCannotBe(t *testing.T) {
	s := newStage(t)
	s.alone = true
	if err := os.WriteFile(s.data(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, payload := range fixtures(t) {
		event, _, _ := strings.Cut(name, "-")
		checkReply(t, s.run(payload), event)
	}
	s.env = map[string]string{}
	if out := s.run(stop); out != "" {
		t.Errorf("without a home: %q", out)
	}
}

// TestSpoolFollowsNoLink: a link in the place of the temporary file is not written through,
// and the event is counted as lost. Full disks: acceptance, TestLostEventsAreTold.
func TestSpoolFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	s := newStage(t)
	spool := filepath.Join(s.data(), "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "target")
	id := memory.NewDeliveryID(fixedNow.Add(time.Second), [8]byte{7: 1})
	if err := os.Symlink(target, filepath.Join(spool, id+".json.tmp")); err != nil {
		t.Fatal(err)
	}
	if out := s.run(stop); out != "" {
		t.Errorf("stdout %q", out)
	}
	if log := s.logged(); len(log) != 1 || !strings.Contains(log[0], EventLost) {
		t.Errorf("log %q", log)
	}
	if _, err := os.Lstat(target); !os.IsNotExist(err) {
		t.Errorf("written through the link: %v", err)
	}
	if got := s.losses(); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("losses %+v", got)
	}
	if err := os.Remove(filepath.Join(spool, id+".json.tmp")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	s.run(stop)
	if len(s.spooled()) != 1 {
		t.Error("the next event was not spooled")
	}
}

// TestLostEventsAreLogged checks that the log names an event lost that the hook could
// not read, or was not done with in time: doctor counts those lines. The verb of the
// context loses none, and neither does a run that has delivered its event.
func TestLostEventsAreLogged(t *testing.T) {
	for verb, lost := range map[Verb]bool{VerbSave: true, VerbNew: true, VerbSummary: true, VerbEnd: true, VerbContext: false} {
		s := newStage(t)
		s.verb = verb
		s.options = func(o *Options) { o.Stdin = iotest.ErrReader(errors.New("broken pipe")) }
		s.run("")
		if log := s.logged(); len(log) != 1 || strings.Contains(log[0], `"msg":"`+EventLost) != lost {
			t.Errorf("%s of a broken input logs %q", verb, log)
		}

		r := newRun(Options{Verb: verb, DataDir: s.data(), exit: func(int) {}})
		r.limit = &limit{} // runs no timer
		r.endByLastResort()
		if what := r.limit.next.Load().what; strings.HasPrefix(what, EventLost) != lost {
			t.Errorf("%s that is not done in time logs %q", verb, what)
		}
		r.keep()
		if what := r.limit.next.Load().what; what != "gave up" {
			t.Errorf("%s that has delivered its event logs %q", verb, what)
		}
	}
}

// TestTimesFit checks that a hook whose payload comes at the last moment ends before the host
// would end it, also while its verb is not known.
func TestTimesFit(t *testing.T) {
	for _, verb := range []Verb{VerbContext, VerbNew, VerbSave, VerbSummary, VerbEnd, ""} {
		r := newRun(Options{Verb: verb, Getenv: func(string) string { return "" }, exit: func(int) {}})
		r.limit = &limit{} // runs no timer
		bounds := verb.times()
		r.arrived = r.StartedAt.Add(bounds.patience)
		r.endByLastResort()
		granted := time.Duration(bounds.timeout) * time.Second
		if verb == VerbEnd {
			granted = 1500 * time.Millisecond
		}
		if took := r.limit.next.Load().at.Sub(r.StartedAt); took >= granted || bounds.patience+bounds.budget >= granted && verb != VerbEnd {
			t.Errorf("%q ends after %v at the latest, and the host gives it %v", verb, took, granted)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	s := newStage(t)
	dir := filepath.Join(s.data(), "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := strings.Repeat("{}\n", largestLog/3+1)
	if err := os.WriteFile(filepath.Join(dir, "hook.log"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("x")
	if log := s.logged(); len(log) != 1 {
		t.Errorf("%d lines in the new log", len(log))
	}
	if set, err := os.Stat(filepath.Join(dir, "hook.log.1")); err != nil || set.Size() != int64(len(old)) {
		t.Errorf("set aside: %v, %v", set, err)
	}
}

// TestModes: everything that a hook makes is the user's alone.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	s := newStage(t)
	s.run(stop)
	s.run("not JSON")
	s.run(`{"hook_event_name":"UserPromptSubmit","session_id":"s9","prompt":"<private>x</private>"}`)
	err := filepath.Walk(s.data(), func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPanicIsContained: a fault of ours is a log line, not the host's problem.
func TestPanicIsContained(t *testing.T) {
	s := newStage(t)
	s.options = func(o *Options) { o.Rand = func() uint64 { panic("SECRETWORD") } }
	if out := s.run(stop); out != "" {
		t.Errorf("stdout %q", out)
	}
	if log := s.logged(); len(log) != 1 || strings.Contains(log[0], "SECRETWORD") {
		t.Errorf("log %q", log)
	}
}

func TestAdditionalContextIsHandedOn(t *testing.T) {
	for _, event := range []string{"PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop"} {
		s := newStage(t)
		w := s.worker()
		w.answer = func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(rw, `{"status":"queued","additional_context":"seen before"}`)
		}
		out := s.run(fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","tool_name":"X","prompt":"p","agent_type":"a"}`, event))
		checkReply(t, out, event)
		// Text after a Stop would make the agent go on.
		if want := !strings.HasSuffix(event, "top"); (out != "") != want {
			t.Errorf("%s: stdout %q", event, out)
		}
	}
}

// TestNothingIsSentOfWhatIsNotCaptured: a tool call of an excluded project or of a
// private turn, and a prompt that nobody typed, cost the worker no request. Half
// of one would keep it from its idle shutdown.
func TestNothingIsSentOfWhatIsNotCaptured(t *testing.T) {
	for name, c := range map[string]struct {
		settings, private, payload string
	}{
		"excluded project": {settings: `{"CLAUDE_MEM_EXCLUDED_PROJECTS":"/nowhere"}`,
			payload: `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/nowhere","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		"private turn": {private: "s",
			payload: `{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"ls"}}`},
		"machinery": {payload: `{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/x","prompt":"<system-reminder>x</system-reminder>"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			if err := os.MkdirAll(s.data(), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.data(), "config.json"), []byte(cmp.Or(c.settings, "{}")), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.private != "" {
				if err := wire.MarksOf(s.data(), func(string) string { return "" }).Set(memory.HostClaudeCode, c.private); err != nil {
					t.Fatal(err)
				}
			}
			listener, err := net.Listen("unix", filepath.Join(s.data(), "worker.sock"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			got := make(chan []byte, 1)
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					close(got)
					return
				}
				sent, _ := io.ReadAll(conn)
				_ = conn.Close()
				got <- sent
			}()
			for _, verb := range []Verb{VerbSave, VerbNew} {
				if s.verb = verb; (verb == VerbNew) == strings.Contains(c.payload, "UserPromptSubmit") {
					s.run(c.payload)
				}
			}
			if sent := <-got; len(sent) > 0 {
				t.Errorf("the worker was sent %q", sent)
			}
			if n := len(s.spooled()); n != 0 {
				t.Errorf("%d events spooled", n)
			}
		})
	}
}
