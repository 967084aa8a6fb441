//go:build linux && slow

package acceptance

import (
	"bytes"
	"encoding/json"
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
	api := newStandIn(t, day.answer)
	m := newMemory(t).torture()
	m.configure(api.with("anthropic", "DAILY_TOKEN_CAP", "1000000000", "SESSION_TOKEN_CAP", "1000000000"))
	m.mustCommand("worker", "start")
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
	m.mustCommand("queue", "retry")
	until(t, soakSettle, "the model has read every turn", func() bool { return m.one("SELECT count(*) FROM unread_messages") == 0 })
	m.checkHealth()
	if wrong := m.integrity(); wrong != "ok" {
		t.Errorf("integrity_check: %s", wrong)
	}
	if found.lost != found.told {
		t.Errorf("%d events are lost, %d were told to be", found.lost, found.told)
	}
	figure(t, 7, "%v, %d agents, %d SIGKILLs, %d calls of the model (%d failed): %d events sent, %d processed, %d lost and %d told, the books balance; %d reads (%d failed, most while no worker ran)",
		*soakTime, soakAgents, kills, api.count(), api.count()-api.answered(), found.sent, found.processed, found.lost, found.told, reads["all"], reads["failed"])
	checkGrowth(t, all)
	m.checkIdle(worker)
}

// badDay answers as a model does on a bad day, until it is over: one of five calls fails.
type badDay struct{ over atomic.Bool }

func (d *badDay) answer(*asked) reply {
	if d.over.Load() {
		return reply{}
	}
	switch rand.IntN(25) {
	case 0:
		return reply{status: http.StatusTooManyRequests, retryAfter: "1"}
	case 1:
		return reply{status: http.StatusInternalServerError}
	case 2:
		return reply{cut: true}
	case 3:
		return reply{text: prose}
	case 4:
		time.Sleep(3 * time.Second)
	}
	return reply{}
}

// answered counts the requests that were answered.
func (s *standIn) answered() (n int) {
	for _, c := range s.calls() {
		if c.answered {
			n++
		}
	}
	return n
}

// work plays an agent until stop is closed; its last turn ends.
func (m *tortured) work(h *host, stop <-chan struct{}) {
	pause := func() { time.Sleep(time.Duration(rand.Int64N(int64(2 * soakPause)))) }
	for {
		h.prompt(fmt.Sprintf("Make change %d of %s", h.n+1, h.id))
		for range 1 + rand.IntN(6) {
			pause()
			h.edits(1)
		}
		h.stop()
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
	client := m.api()
	get := func(target string) error {
		status, body, err := client.send(http.MethodGet, target, nil)
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
			err = get("/api/context?" + url.Values{"project_path": {hostProject}}.Encode())
		case 2:
			err = get("/api/search/timeline-by-query?" + url.Values{"query": {"change"}}.Encode())
		case 3:
			err = m.callTool("search_memory", map[string]any{"query": "change"})
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
func (m *memory) callTool(tool string, arguments map[string]any) error {
	_, err := m.toolAnswer(m.home, tool, arguments)
	return err
}

// toolAnswer calls a tool of the MCP server in a directory and returns the result as JSON.
func (m *memory) toolAnswer(dir, tool string, arguments map[string]any) (string, error) {
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		return "", err
	}
	cmd := exec.Command(binary("claude-mem"), "mcp")
	cmd.Env, cmd.Dir = m.env, dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = in.Close() }()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintf(in, "%s\n", call)
	for decoder := json.NewDecoder(out); ; {
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if err := decoder.Decode(&answer); err != nil {
			return "", err
		}
		if answer.ID == 2 {
			if !bytes.Contains(answer.Result, []byte("content")) {
				return "", fmt.Errorf("%s: %.200s", tool, answer.Result)
			}
			return string(answer.Result), nil
		}
	}
}

// runWorker starts a worker in the foreground that writes its stacks into stacksName when it
// gets SIGQUIT. A worker that a hook starts meanwhile is killed.
func (m *tortured) runWorker() *exec.Cmd {
	m.t.Helper()
	for range 200 {
		m.away()()
		stacks, err := os.Create(filepath.Join(m.home, stacksName))
		if err != nil {
			m.t.Fatal(err)
		}
		cmd := exec.Command(binary("claude-mem"), "worker", "run")
		cmd.Env, cmd.Dir, cmd.Stderr = append(slices.Clone(m.env), "GOTRACEBACK=all"), m.home, stacks
		err = cmd.Start()
		_ = stacks.Close() // the worker has it
		if err != nil {
			m.t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if pid := m.workerPID(); pid == cmd.Process.Pid {
				return cmd
			} else if pid != 0 {
				break
			}
		}
		m.kill(cmd)
	}
	m.t.Fatal("no worker of ours gets the lock")
	return nil
}

const stacksName = "stacks"

// goroutines ends a worker of runWorker and returns how many goroutines it had.
func (m *tortured) goroutines(worker *exec.Cmd) int {
	m.t.Helper()
	if err := worker.Process.Signal(syscall.SIGQUIT); err != nil {
		m.t.Fatal(err)
	}
	_ = worker.Wait() // it ends with a status of its own
	stacks, err := os.ReadFile(filepath.Join(m.home, stacksName))
	if err != nil {
		m.t.Fatal(err)
	}
	return bytes.Count(stacks, []byte("\ngoroutine "))
}

// checkIdle compares the goroutines of the worker that soaked with those of one that has just
// started, both idle, and looks for processes that are left.
func (m *tortured) checkIdle(worker *exec.Cmd) {
	m.t.Helper()
	if m.workerPID() != worker.Process.Pid {
		m.t.Errorf("the worker is process %d, want %d: it did not live on", m.workerPID(), worker.Process.Pid)
		return
	}
	if left := m.processes(); left != 1 {
		m.t.Errorf("%d processes at the end, want the worker alone", left)
	}
	time.Sleep(2 * time.Second) // connections of clients that are gone end
	soaked := m.goroutines(worker)
	fresh := m.runWorker()
	m.settle(settleLimit)
	time.Sleep(2 * time.Second)
	first := m.goroutines(fresh)
	figure(m.t, 7, "goroutines when idle: %d, of a new worker %d; 1 process", soaked, first)
	if soaked > first+10 {
		m.t.Errorf("%d goroutines after the soak, a new worker has %d", soaked, first)
	}
}

// processes counts the programs of this package that run.
func (m *memory) processes() (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, binDir+"/") {
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
	m.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	status, other := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || other != nil {
		m.t.Fatalf("the worker is gone: %v, %v", err, other)
	}
	s.descriptors, s.processes = len(open), m.processes()
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
		figure(t, 7, "%s: median %d in the second third of %d samples, %d in the last (at most %d)", use.name, before, len(all), after, before+use.slack(before))
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
