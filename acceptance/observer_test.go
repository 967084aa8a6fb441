//go:build unix

package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestLongSession is 300 events in one session: requests stay small, and what was
// there at the beginning is still known at the end.
func TestLongSession(t *testing.T) {
	t.Parallel()
	const events, perTurn = 300, 6
	api := newStandIn(t, nil)
	m := newMemory(t)
	m.configure(api.with("anthropic", "SESSION_TOKEN_CAP", "0", "DAILY_TOKEN_CAP", "0"))
	m.mustCommand("worker", "start")
	h := &host{m: m, id: "long"}
	work := strings.Repeat("\tif err := step(ctx); err != nil {\n\t\treturn err\n\t}\n", 20) // 1 KB
	for n := 1; n <= events; n++ {
		if n%perTurn == 1 {
			h.prompt(fmt.Sprintf("Continue with part %d", n/perTurn+1))
		}
		file := fmt.Sprintf("src/part_%03d.go", n)
		if n == 5 {
			file = "src/quaternion_ledger.go"
		}
		h.edit(file, fmt.Sprintf("// step-%03d\n%s", n, work))
		if n%perTurn == 0 {
			h.stop()
		}
	}
	if b := m.settle(settleLimit); b.Processed != b.Received || b.Failed != 0 {
		t.Errorf("books %+v, want all processed", b)
	}
	total, largest, again, shown := 0, 0, 0, 0
	at290 := false
	calls := api.calls()
	for _, c := range calls {
		size := len(c.body)
		total, largest = total+size, max(largest, size)
		// Re-sending everything: all prompts and answers so far go along again. The
		// digest that a fresh run begins with is ours and would not be needed.
		question := len(c.prompt) - max(strings.LastIndex(c.prompt, "<user_request number="), 0)
		again += len(c.system) + question + shown
		shown += question + 4*c.output
		if strings.Contains(c.prompt, "step-290") {
			at290 = true
			if !bytes.Contains(c.body, []byte("quaternion_ledger")) {
				t.Errorf("the name from event 5 is not in the request at event 290")
			}
		}
	}
	if !at290 {
		t.Error("event 290 was never shown")
	}
	mean := total / len(calls)
	if largest > 64<<10 || mean > 16<<10 {
		t.Errorf("largest request %d bytes, mean %d; want at most 64 KB and 16 KB", largest, mean)
	}
	saved := float64(again) / float64(total)
	if saved < 10 {
		t.Errorf("%.1f times below re-sending everything, want 10", saved)
	}
	figure(t, 3, "%d events, %d calls, largest %d bytes, mean %d, %.1f times fewer input tokens than re-sending everything",
		events, len(calls), largest, mean, saved)
}

// TestPoison has one event in a batch of 20 that no model can be asked about.
func TestPoison(t *testing.T) {
	t.Parallel() // it mostly waits
	api := newStandIn(t, func(q *asked) reply {
		if strings.Contains(q.prompt, "POISON") {
			return reply{text: " "} // an answer that is none
		}
		return reply{}
	})
	m := newMemory(t)
	m.configure(api.with("anthropic"))
	m.mustCommand("worker", "start")
	h := &host{m: m, id: "poison"}
	h.prompt("Make twenty changes")
	for n := range 20 {
		content := fmt.Sprintf("// mark-%02d", n)
		if n == 12 {
			content += " POISON"
		}
		h.edit(fmt.Sprintf("src/twenty_%02d.go", n), content)
	}
	h.stop()
	b := m.settle(2 * settleLimit)
	if b.Failed != 0 || b.Processed != b.Received {
		t.Errorf("books %+v, want all processed", b)
	}
	observed := map[string]bool{}
	mark := regexp.MustCompile(`mark-\d{2}`)
	for _, c := range api.calls() {
		if c.answered && !strings.Contains(c.prompt, "POISON") {
			for _, s := range mark.FindAllString(c.prompt, -1) {
				observed[s] = true
			}
		}
	}
	if len(observed) != 19 || observed["mark-12"] {
		t.Errorf("%d events were observed, want the 19 good ones", len(observed))
	}
	alone := m.one(`SELECT count(DISTINCT f.path) FROM observations o JOIN observation_files f ON f.observation_id = o.id WHERE o.origin = 'offline'`)
	if good := m.one(`SELECT count(*) FROM observations o JOIN observation_files f ON f.observation_id = o.id
		WHERE o.origin = 'offline' AND f.path LIKE '%twenty_12.go'`); alone != 1 || good != 1 {
		t.Errorf("%d files in what was extracted offline, %d of them the bad event's; want it alone", alone, good)
	}
	figure(t, 5, "poison: %d observed in %d calls, 1 extracted offline", len(observed), api.count())
}

// TestCaps spends up to a day's cap with two observers, and kills the worker while
// calls are under way.
func TestCaps(t *testing.T) {
	t.Parallel()
	const limit, sessions, killAt = 60000, 4, 8
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var n atomic.Int64
	var waiting atomic.Int64
	api := newStandIn(t, func(*asked) reply {
		if n.Add(1) > killAt && waiting.Add(1) <= 2 {
			if waiting.Load() == 2 {
				once.Do(func() { close(reached) })
			}
			<-release
		}
		return reply{}
	})
	defer func() {
		select {
		case <-release:
		default:
			close(release)
		}
	}()
	m := newMemory(t)
	m.configure(api.with("anthropic", "DAILY_TOKEN_CAP", fmt.Sprint(limit), "MAX_OBSERVERS", "2"))
	m.mustCommand("worker", "start")
	hosts := make([]*host, sessions)
	for i := range hosts {
		hosts[i] = &host{m: m, id: fmt.Sprint("caps-", i)}
	}
	round := func() {
		for _, h := range hosts {
			h.turn(3)
		}
	}
	for range 4 {
		round()
	}
	select {
	case <-reached:
	case <-time.After(settleLimit):
		t.Fatal("two calls at a time never came")
	}
	pid := m.workerPID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, 10*time.Second, "the worker is dead", func() bool { return m.workerPID() == 0 })
	close(release)
	for range 4 {
		round()
	}
	b := m.settle(2 * settleLimit)
	if b.Processed != b.Received || b.Failed != 0 {
		t.Errorf("books %+v, want all processed", b)
	}
	tokens, lost := 0, 0
	for _, c := range api.calls() {
		if c.answered {
			tokens += c.input + c.output
		} else {
			lost++
		}
	}
	booked := m.one("SELECT coalesce(sum(tokens_in + tokens_out + tokens_cached), 0) FROM llm_calls WHERE outcome = 'ok'")
	lostRows := m.one("SELECT count(*) FROM llm_calls WHERE outcome = 'lost'")
	rows := m.one("SELECT count(*) FROM llm_calls")
	counted := m.one("SELECT sum(CASE WHEN reserved_tokens > 0 THEN reserved_tokens ELSE tokens_in + tokens_out + tokens_cached END) FROM llm_calls")
	if booked != tokens || rows != api.count() || lostRows != 2 || lost != 2 {
		t.Errorf("the ledger has %d calls with %d tokens and %d lost ones, the stand-in counted %d, %d and %d",
			rows, booked, lostRows, api.count(), tokens, lost)
	}
	if counted > limit {
		t.Errorf("%d tokens count, the cap is %d", counted, limit)
	}
	if offline := m.one("SELECT count(*) FROM observations WHERE origin = 'offline'"); offline == 0 {
		t.Error("nothing was done offline: the cap was not reached")
	}
	figure(t, 6, "%d calls, %d tokens in the ledger and at the stand-in, %d lost with kill -9 and %d counted of a cap of %d",
		rows, booked, lostRows, counted, limit)
}

// TestSwitching looks at whom auto asks, and changes the provider of a running worker.
func TestSwitching(t *testing.T) {
	t.Parallel()
	environment, anthropic, openai := newStandIn(t, nil), newStandIn(t, nil), newStandIn(t, nil)
	m := newMemory(t)
	m.configure(map[string]string{"PROVIDER": "auto"})
	// A claude that notes what it was started with, and fails.
	dir := t.TempDir()
	log := dir + "/log"
	script := "#!/bin/sh\n{ echo \"args $*\"; env; cat; } >>'" + log + "' 2>&1\nexit 1\n"
	if err := os.WriteFile(dir+"/claude", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	m.prepend(dir)
	// With a login, without which auto does not start it.
	if err := os.MkdirAll(m.home+"/.claude", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.home+"/.claude/.credentials.json", []byte(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"b"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	worker := m.foreground("ANTHROPIC_API_KEY=sk-ant-of-the-environment", "ANTHROPIC_BASE_URL="+environment.URL,
		"OPENAI_API_KEY=sk-of-the-environment", "CLAUDE_MEM_OPENAI_API_KEY=sk-of-the-environment", "CLAUDE_MEM_OPENAI_BASE_URL="+environment.URL,
		"CLAUDE_MEM_ANTHROPIC_API_KEY=sk-of-the-environment", "CLAUDE_MEM_ANTHROPIC_BASE_URL="+environment.URL)

	other := &host{m: m, id: "FOREIGN-session", foreign: true}
	other.turn(3)
	until(t, settleLimit, "the other host's session is distilled", func() bool {
		return m.one("SELECT count(*) FROM observations WHERE origin = 'offline'") > 0
	})
	started := func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
	if got := started(); got != "" {
		t.Errorf("claude was started for another host's session:\n%s", got)
	}
	own := &host{m: m, id: "own-session"}
	own.turn(3)
	until(t, settleLimit, "claude is started", func() bool { return started() != "" })
	other.turn(3)
	until(t, settleLimit, "the other host's next turn is distilled", func() bool {
		return m.one("SELECT count(*) FROM session_summaries WHERE origin = 'offline'") > 1
	})
	got := started()
	for _, unwanted := range []string{"ANTHROPIC_", "CLAUDE_MEM_ANTHROPIC", "CLAUDE_MEM_OPENAI", "FOREIGN"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("claude was given %s…", unwanted)
		}
	}
	if n := environment.count() + anthropic.count() + openai.count(); n != 0 {
		t.Errorf("%d calls with a key of the environment, want none", n)
	}

	set := func(key, value string) { m.mustCommand("config", "set", key, value) }
	use := func(vendor string, api *standIn) {
		prefix := "CLAUDE_MEM_" + strings.ToUpper(vendor)
		set(prefix+"_BASE_URL", api.URL)
		set(prefix+"_API_KEY", "sk-test-0123456789abcdef")
		set("CLAUDE_MEM_PROVIDER", vendor)
		before := api.count()
		(&host{m: m, id: "with-" + vendor}).turn(3)
		until(t, settleLimit, vendor+" is asked", func() bool { return api.count() > before })
	}
	use("anthropic", anthropic)
	first := anthropic.count()
	use("openai", openai)
	set("CLAUDE_MEM_PROVIDER", "offline")
	second := openai.count()
	summaries := m.one("SELECT count(*) FROM session_summaries WHERE origin = 'offline'")
	(&host{m: m, id: "with-none"}).turn(3)
	until(t, settleLimit, "a turn is distilled offline", func() bool {
		return m.one("SELECT count(*) FROM session_summaries WHERE origin = 'offline'") > summaries
	})
	if anthropic.count() < first || openai.count() != second || environment.count() != 0 {
		t.Errorf("calls after the switch: openai %d, want %d; environment %d", openai.count(), second, environment.count())
	}
	if m.workerPID() != worker {
		t.Errorf("the worker's pid is %d, was %d", m.workerPID(), worker)
	}
	figure(t, 8, "auto: claude for Claude Code, offline for another host, 0 calls with keys of the environment, auto → anthropic → openai → offline in one process")
}

// foreground runs a worker whose environment is not cleaned, and returns its pid.
func (m *memory) foreground(env ...string) int {
	m.t.Helper()
	cmd := exec.Command(binary("claude-mem"), "worker", "run")
	cmd.Env, cmd.Dir = append(append([]string(nil), m.env...), env...), m.home
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	m.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	until(m.t, settleLimit, "the worker runs", func() bool { return m.workerPID() == cmd.Process.Pid })
	return cmd.Process.Pid
}
