//go:build unix

package observer

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

	"claudemem/proof/acceptance/world"
)

// TestLongSession is 300 events in one session: requests stay small, and what was
// there at the beginning is still known at the end.
func TestLongSession(t *testing.T) {
	t.Parallel()
	const events, perTurn = 300, 6
	api := world.NewStandIn(t, nil)
	m := world.NewMemory(t)
	m.Configure(api.With("anthropic", "SESSION_TOKEN_CAP", "0", "DAILY_TOKEN_CAP", "0"))
	m.MustCommand("worker", "start")
	h := &world.Host{M: m, ID: "long"}
	work := strings.Repeat("\tif err := step(ctx); err != nil {\n\t\treturn err\n\t}\n", 20) // 1 KB
	for n := 1; n <= events; n++ {
		if n%perTurn == 1 {
			h.Prompt(fmt.Sprintf("Continue with part %d", n/perTurn+1))
		}
		file := fmt.Sprintf("src/part_%03d.go", n)
		if n == 5 {
			file = "src/quaternion_ledger.go"
		}
		h.Edit(file, fmt.Sprintf("// step-%03d\n%s", n, work))
		if n%perTurn == 0 {
			h.Stop()
		}
	}
	if b := m.Settle(world.SettleLimit); b.Processed != b.Received || b.Failed != 0 {
		t.Errorf("books %+v, want all processed", b)
	}
	total, largest, again, shown := 0, 0, 0, 0
	at290 := false
	calls := api.Calls()
	for _, c := range calls {
		size := len(c.Body)
		total, largest = total+size, max(largest, size)
		// Re-sending everything: all prompts and answers so far go along again. The
		// digest that a fresh run begins with is ours and would not be needed.
		question := len(c.Prompt) - max(strings.LastIndex(c.Prompt, "<user_request number="), 0)
		again += len(c.System) + question + shown
		shown += question + 4*c.Output
		if strings.Contains(c.Prompt, "step-290") {
			at290 = true
			if !bytes.Contains(c.Body, []byte("quaternion_ledger")) {
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
	world.Figure(t, 3, "%d events, %d calls, largest %d bytes, mean %d, %.1f times fewer input tokens than re-sending everything",
		events, len(calls), largest, mean, saved)
}

// TestPoison has one event in a batch of 20 that no model can be asked about.
func TestPoison(t *testing.T) {
	t.Parallel() // it mostly waits
	api := world.NewStandIn(t, func(q *world.Asked) world.Reply {
		if strings.Contains(q.Prompt, "POISON") {
			return world.Reply{Text: " "} // an answer that is none
		}
		return world.Reply{}
	})
	m := world.NewMemory(t)
	m.Configure(api.With("anthropic"))
	m.MustCommand("worker", "start")
	h := &world.Host{M: m, ID: "poison"}
	h.Prompt("Make twenty changes")
	for n := range 20 {
		content := fmt.Sprintf("// mark-%02d", n)
		if n == 12 {
			content += " POISON"
		}
		h.Edit(fmt.Sprintf("src/twenty_%02d.go", n), content)
	}
	h.Stop()
	b := m.Settle(2 * world.SettleLimit)
	if b.Failed != 0 || b.Processed != b.Received {
		t.Errorf("books %+v, want all processed", b)
	}
	observed := map[string]bool{}
	mark := regexp.MustCompile(`mark-\d{2}`)
	for _, c := range api.Calls() {
		if c.Answered && !strings.Contains(c.Prompt, "POISON") {
			for _, s := range mark.FindAllString(c.Prompt, -1) {
				observed[s] = true
			}
		}
	}
	if len(observed) != 19 || observed["mark-12"] {
		t.Errorf("%d events were observed, want the 19 good ones", len(observed))
	}
	alone := m.QueryOne(`SELECT count(DISTINCT f.path) FROM observations o JOIN observation_files f ON f.observation_id = o.id WHERE o.origin = 'offline'`)
	if good := m.QueryOne(`SELECT count(*) FROM observations o JOIN observation_files f ON f.observation_id = o.id
		WHERE o.origin = 'offline' AND f.path LIKE '%twenty_12.go'`); alone != 1 || good != 1 {
		t.Errorf("%d files in what was extracted offline, %d of them the bad event's; want it alone", alone, good)
	}
	world.Figure(t, 5, "poison: %d observed in %d calls, 1 extracted offline", len(observed), api.Count())
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
	api := world.NewStandIn(t, func(*world.Asked) world.Reply {
		if n.Add(1) > killAt && waiting.Add(1) <= 2 {
			if waiting.Load() == 2 {
				once.Do(func() { close(reached) })
			}
			<-release
		}
		return world.Reply{}
	})
	defer func() {
		select {
		case <-release:
		default:
			close(release)
		}
	}()
	m := world.NewMemory(t)
	m.Configure(api.With("anthropic", "DAILY_TOKEN_CAP", fmt.Sprint(limit), "MAX_OBSERVERS", "2"))
	m.MustCommand("worker", "start")
	hosts := make([]*world.Host, sessions)
	for i := range hosts {
		hosts[i] = &world.Host{M: m, ID: fmt.Sprint("caps-", i)}
	}
	round := func() {
		for _, h := range hosts {
			h.Turn(3)
		}
	}
	for range 4 {
		round()
	}
	select {
	case <-reached:
	case <-time.After(world.SettleLimit):
		t.Fatal("two calls at a time never came")
	}
	pid := m.WorkerPID()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	world.Until(t, 10*time.Second, "the worker is dead", func() bool { return m.WorkerPID() == 0 })
	close(release)
	for range 4 {
		round()
	}
	b := m.Settle(2 * world.SettleLimit)
	if b.Processed != b.Received || b.Failed != 0 {
		t.Errorf("books %+v, want all processed", b)
	}
	tokens, lost := 0, 0
	for _, c := range api.Calls() {
		if c.Answered {
			tokens += c.Input + c.Output
		} else {
			lost++
		}
	}
	booked := m.QueryOne("SELECT coalesce(sum(tokens_in + tokens_out + tokens_cached), 0) FROM llm_calls WHERE outcome = 'ok'")
	lostRows := m.QueryOne("SELECT count(*) FROM llm_calls WHERE outcome = 'lost'")
	rows := m.QueryOne("SELECT count(*) FROM llm_calls")
	counted := m.QueryOne("SELECT sum(CASE WHEN reserved_tokens > 0 THEN reserved_tokens ELSE tokens_in + tokens_out + tokens_cached END) FROM llm_calls")
	if booked != tokens || rows != api.Count() || lostRows != 2 || lost != 2 {
		t.Errorf("the ledger has %d calls with %d tokens and %d lost ones, the stand-in counted %d, %d and %d",
			rows, booked, lostRows, api.Count(), tokens, lost)
	}
	if counted > limit {
		t.Errorf("%d tokens count, the cap is %d", counted, limit)
	}
	if offline := m.QueryOne("SELECT count(*) FROM observations WHERE origin = 'offline'"); offline == 0 {
		t.Error("nothing was done offline: the cap was not reached")
	}
	world.Figure(t, 6, "%d calls, %d tokens in the ledger and at the stand-in, %d lost with kill -9 and %d counted of a cap of %d",
		rows, booked, lostRows, counted, limit)
}

// TestSwitching looks at whom auto asks, and changes the provider of a running worker.
func TestSwitching(t *testing.T) {
	t.Parallel()
	environment, anthropic, openai := world.NewStandIn(t, nil), world.NewStandIn(t, nil), world.NewStandIn(t, nil)
	m := world.NewMemory(t)
	m.Configure(map[string]string{"PROVIDER": "auto"})
	// A claude that notes what it was started with, and fails.
	dir := t.TempDir()
	log := dir + "/log"
	script := "#!/bin/sh\n{ echo \"args $*\"; env; cat; } >>'" + log + "' 2>&1\nexit 1\n"
	if err := os.WriteFile(dir+"/claude", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	m.Prepend(dir)
	// With a login, without which auto does not start it.
	if err := os.MkdirAll(m.Home+"/.claude", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.Home+"/.claude/.credentials.json", []byte(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"b"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	worker := foreground(m, "ANTHROPIC_API_KEY=sk-ant-of-the-environment", "ANTHROPIC_BASE_URL="+environment.URL,
		"OPENAI_API_KEY=sk-of-the-environment", "CLAUDE_MEM_OPENAI_API_KEY=sk-of-the-environment", "CLAUDE_MEM_OPENAI_BASE_URL="+environment.URL,
		"CLAUDE_MEM_ANTHROPIC_API_KEY=sk-of-the-environment", "CLAUDE_MEM_ANTHROPIC_BASE_URL="+environment.URL)

	other := &world.Host{M: m, ID: "FOREIGN-session", Foreign: true}
	other.Turn(3)
	world.Until(t, world.SettleLimit, "the other host's session is distilled", func() bool {
		return m.QueryOne("SELECT count(*) FROM observations WHERE origin = 'offline'") > 0
	})
	started := func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
	if got := started(); got != "" {
		t.Errorf("claude was started for another host's session:\n%s", got)
	}
	own := &world.Host{M: m, ID: "own-session"}
	own.Turn(3)
	world.Until(t, world.SettleLimit, "claude is started", func() bool { return started() != "" })
	other.Turn(3)
	world.Until(t, world.SettleLimit, "the other host's next turn is distilled", func() bool {
		return m.QueryOne("SELECT count(*) FROM session_summaries WHERE origin = 'offline'") > 1
	})
	got := started()
	for _, unwanted := range []string{"ANTHROPIC_", "CLAUDE_MEM_ANTHROPIC", "CLAUDE_MEM_OPENAI", "FOREIGN"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("claude was given %s…", unwanted)
		}
	}
	if n := environment.Count() + anthropic.Count() + openai.Count(); n != 0 {
		t.Errorf("%d calls with a key of the environment, want none", n)
	}

	set := func(key, value string) { m.MustCommand("config", "set", key, value) }
	use := func(vendor string, api *world.StandIn) {
		prefix := "CLAUDE_MEM_" + strings.ToUpper(vendor)
		set(prefix+"_BASE_URL", api.URL)
		set(prefix+"_API_KEY", "sk-test-0123456789abcdef")
		set("CLAUDE_MEM_PROVIDER", vendor)
		before := api.Count()
		(&world.Host{M: m, ID: "with-" + vendor}).Turn(3)
		world.Until(t, world.SettleLimit, vendor+" is asked", func() bool { return api.Count() > before })
	}
	use("anthropic", anthropic)
	first := anthropic.Count()
	use("openai", openai)
	set("CLAUDE_MEM_PROVIDER", "offline")
	second := openai.Count()
	summaries := m.QueryOne("SELECT count(*) FROM session_summaries WHERE origin = 'offline'")
	(&world.Host{M: m, ID: "with-none"}).Turn(3)
	world.Until(t, world.SettleLimit, "a turn is distilled offline", func() bool {
		return m.QueryOne("SELECT count(*) FROM session_summaries WHERE origin = 'offline'") > summaries
	})
	if anthropic.Count() < first || openai.Count() != second || environment.Count() != 0 {
		t.Errorf("calls after the switch: openai %d, want %d; environment %d", openai.Count(), second, environment.Count())
	}
	if m.WorkerPID() != worker {
		t.Errorf("the worker's pid is %d, was %d", m.WorkerPID(), worker)
	}
	world.Figure(t, 8, "auto: claude for Claude Code, offline for another host, 0 calls with keys of the environment, auto → anthropic → openai → offline in one process")
}

// foreground runs a worker whose environment is not cleaned, and returns its pid.
func foreground(m *world.Memory, env ...string) int {
	m.T.Helper()
	cmd := exec.Command(world.Binary("claude-mem"), "worker", "run")
	cmd.Env, cmd.Dir = append(append([]string(nil), m.Env...), env...), m.Home
	if err := cmd.Start(); err != nil {
		m.T.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	m.T.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	world.Until(m.T, world.SettleLimit, "the worker runs", func() bool { return m.WorkerPID() == cmd.Process.Pid })
	return cmd.Process.Pid
}
