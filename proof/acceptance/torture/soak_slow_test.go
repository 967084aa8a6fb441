//go:build linux && slow

package torture

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

var soakTime = flag.Duration("soak", 10*time.Minute, "how long TestSoak runs")

const (
	soakAgents = 8
	// soakPause is the mean pause of an agent between two tool calls.
	soakPause = 400 * time.Millisecond
	// soakSettle bounds the time until a model that has failed is asked again, and has read the
	// rest.
	soakSettle = 5 * time.Minute
)

// TestSoak has eight agents work for a time, with a model that fails in five ways, searches,
// context blocks and MCP calls. In its first half the worker is killed at random moments. In
// the second half one worker lives on, and its descriptors, threads and memory are sampled:
// the last third may have no more than the third before. At the end the books balance.
func TestSoak(t *testing.T) {
	var day badDay
	api := world.NewStandIn(t, day.answer)
	m := torture(world.NewMemory(t))
	m.Configure(api.With("anthropic", "DAILY_TOKEN_CAP", "1000000000", "SESSION_TOKEN_CAP", "1000000000"))
	m.MustCommand("worker", "start")
	stop := make(chan struct{})
	var working sync.WaitGroup
	m.hosts = m.sessions(soakAgents)
	for _, h := range m.hosts {
		working.Go(func() { m.work(h, stop) })
	}
	reads := map[string]int{}
	working.Go(func() { m.read(reads, stop) })

	begun, kills := time.Now(), 0
	for time.Since(begun) < *soakTime/2 {
		time.Sleep(time.Duration(rand.Int64N(int64(*soakTime / 30))))
		if m.killWorker() {
			kills++
		}
	}
	worker := m.runWorker()
	var all []sample
	for time.Since(begun) < *soakTime {
		time.Sleep(*soakTime / 600)
		all = append(all, m.sampleOf(worker.Process.Pid))
	}
	close(stop)
	working.Wait()
	day.over.Store(true)
	found := m.checkBooks(soakSettle)
	m.checkSummaries()
	// What got no answer that could be used is shown to the model again when somebody asks.
	m.MustCommand("queue", "retry")
	world.Until(t, soakSettle, "the model has read every turn", func() bool { return m.QueryOne("SELECT count(*) FROM unread_messages") == 0 })
	m.checkHealth()
	if wrong := integrity(m.Memory); wrong != "ok" {
		t.Errorf("integrity_check: %s", wrong)
	}
	if found.lost != found.told {
		t.Errorf("%d events are lost, %d were told to be", found.lost, found.told)
	}
	world.Figure(t, 7, "%v, %d agents, %d SIGKILLs, %d calls of the model (%d failed): %d events sent, %d processed, %d lost and %d told, the books balance; %d reads (%d failed, most while no worker ran)",
		*soakTime, soakAgents, kills, api.Count(), api.Count()-answered(api), found.sent, found.processed, found.lost, found.told, reads["all"], reads["failed"])
	checkGrowth(t, all)
	m.checkIdle(worker)
}

// badDay answers as a model does on a bad day, until it is over: one of five calls fails.
type badDay struct{ over atomic.Bool }

func (d *badDay) answer(*world.Asked) world.Reply {
	if d.over.Load() {
		return world.Reply{}
	}
	switch rand.IntN(25) {
	case 0:
		return world.Reply{Status: http.StatusTooManyRequests, RetryAfter: "1"}
	case 1:
		return world.Reply{Status: http.StatusInternalServerError}
	case 2:
		return world.Reply{Cut: true}
	case 3:
		return world.Reply{Text: world.Prose}
	case 4:
		time.Sleep(3 * time.Second)
	}
	return world.Reply{}
}

// answered counts the requests that were answered.
func answered(s *world.StandIn) (n int) {
	for _, c := range s.Calls() {
		if c.Answered {
			n++
		}
	}
	return n
}

// work plays an agent until stop is closed; its last turn ends.
func (m *tortured) work(h *world.Host, stop <-chan struct{}) {
	pause := func() { time.Sleep(time.Duration(rand.Int64N(int64(2 * soakPause)))) }
	for {
		h.Prompt(fmt.Sprintf("Make change %d of %s", h.N+1, h.ID))
		for range 1 + rand.IntN(6) {
			pause()
			h.Edits(1)
		}
		h.Stop()
		pause()
		select {
		case <-stop:
			return
		default:
		}
	}
}

// read searches, asks for context blocks, and calls tools over MCP until stop is closed. It
// counts them in n.
func (m *tortured) read(n map[string]int, stop <-chan struct{}) {
	client := m.API()
	get := func(target string) error {
		status, body, err := client.Send(http.MethodGet, target, nil)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d: %.200s", status, body)
		}
		return err
	}
	for i := 0; ; i++ {
		var err error
		switch i % 4 {
		case 0:
			err = get("/api/search?" + url.Values{"query": {fmt.Sprintf("change %d", rand.IntN(50))}}.Encode())
		case 1:
			err = get("/api/context?" + url.Values{"project_path": {world.HostProject}}.Encode())
		case 2:
			err = get("/api/search/timeline-by-query?" + url.Values{"query": {"change"}}.Encode())
		case 3:
			err = callTool(m.Memory, "search_memory", map[string]any{"query": "change"})
		}
		n["all"]++
		if err != nil {
			n["failed"]++
		}
		select {
		case <-stop:
			return
		case <-time.After(soakPause):
		}
	}
}

// callTool calls a tool of the MCP server on stdio.
func callTool(m *world.Memory, tool string, arguments map[string]any) error {
	_, err := m.ToolAnswer(m.Home, tool, arguments)
	return err
}

// runWorker starts a worker in the foreground that writes its stacks into stacksName when it
// gets SIGQUIT. A worker that a hook starts meanwhile is killed.
func (m *tortured) runWorker() *exec.Cmd {
	m.T.Helper()
	for range 200 {
		m.away()()
		stacks, err := os.Create(filepath.Join(m.Home, stacksName))
		if err != nil {
			m.T.Fatal(err)
		}
		cmd := exec.Command(world.Binary("claude-mem"), "worker", "run")
		cmd.Env, cmd.Dir, cmd.Stderr = append(slices.Clone(m.Env), "GOTRACEBACK=all"), m.Home, stacks
		err = cmd.Start()
		_ = stacks.Close() // the worker has it
		if err != nil {
			m.T.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if pid := m.WorkerPID(); pid == cmd.Process.Pid {
				return cmd
			} else if pid != 0 {
				break
			}
		}
		m.kill(cmd)
	}
	m.T.Fatal("no worker of ours gets the lock")
	return nil
}

const stacksName = "stacks"

// goroutines ends a worker of runWorker and returns how many goroutines it had.
func (m *tortured) goroutines(worker *exec.Cmd) int {
	m.T.Helper()
	if err := worker.Process.Signal(syscall.SIGQUIT); err != nil {
		m.T.Fatal(err)
	}
	_ = worker.Wait() // it ends with a status of its own
	stacks, err := os.ReadFile(filepath.Join(m.Home, stacksName))
	if err != nil {
		m.T.Fatal(err)
	}
	return bytes.Count(stacks, []byte("\ngoroutine "))
}

// checkIdle compares the goroutines of the worker that soaked with those of one that has just
// started, both idle, and looks for processes that are left.
func (m *tortured) checkIdle(worker *exec.Cmd) {
	m.T.Helper()
	if m.WorkerPID() != worker.Process.Pid {
		m.T.Errorf("the worker is process %d, want %d: it did not live on", m.WorkerPID(), worker.Process.Pid)
		return
	}
	if left := processes(m.Memory); left != 1 {
		m.T.Errorf("%d processes at the end, want the worker alone", left)
	}
	time.Sleep(2 * time.Second) // connections of clients that are gone end
	soaked := m.goroutines(worker)
	fresh := m.runWorker()
	m.Settle(world.SettleLimit)
	time.Sleep(2 * time.Second)
	first := m.goroutines(fresh)
	world.Figure(m.T, 7, "goroutines when idle: %d, of a new worker %d; 1 process", soaked, first)
	if soaked > first+10 {
		m.T.Errorf("%d goroutines after the soak, a new worker has %d", soaked, first)
	}
}

// processes counts the programs of this package that run.
func processes(m *world.Memory) (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, world.BinDir()+"/") {
			n++
		}
	}
	return n
}

// sample is what a process uses at a moment.
type sample struct {
	descriptors, threads, processes int
	resident                        int // kB
}

func (m *tortured) sampleOf(pid int) (s sample) {
	m.T.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	status, other := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || other != nil {
		m.T.Fatalf("the worker is gone: %v, %v", err, other)
	}
	s.descriptors, s.processes = len(open), processes(m.Memory)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")) // 0 for words
		switch name {
		case "VmRSS":
			s.resident = n
		case "Threads":
			s.threads = n
		}
	}
	return s
}

// checkGrowth compares the medians of the last third of the samples with those of the third
// before; the first third warms up. Medians, because collections of garbage and hooks that
// come at once make single samples vary.
func checkGrowth(t *testing.T, all []sample) {
	t.Helper()
	third := len(all) / 3
	if third < 5 {
		t.Fatalf("%d samples are too few", len(all))
	}
	for _, use := range []struct {
		name  string
		of    func(sample) int
		slack func(before int) int
	}{
		{"descriptors", func(s sample) int { return s.descriptors }, func(int) int { return 5 }},
		{"threads", func(s sample) int { return s.threads }, func(int) int { return 3 }},
		{"processes", func(s sample) int { return s.processes }, func(int) int { return 3 }},
		{"resident kB", func(s sample) int { return s.resident }, func(before int) int { return 4096 + before/10 }},
	} {
		before, after := median(all[third:2*third], use.of), median(all[2*third:], use.of)
		world.Figure(t, 7, "%s: median %d in the second third of %d samples, %d in the last (at most %d)", use.name, before, len(all), after, before+use.slack(before))
		if after > before+use.slack(before) {
			t.Errorf("%s grow from %d to %d", use.name, before, after)
		}
	}
}

func median(samples []sample, of func(sample) int) int {
	values := make([]int, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
