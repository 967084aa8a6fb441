//go:build linux

package compare

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claudemem/proof/acceptance/world"
)

// Of a session that is sent while workers are killed: the tool events of a turn, and after how
// many of them there is a kill.
const (
	turnEvents   = 10
	eventsAKill  = 5
	killLimit    = 15 * time.Minute       // then no more are sent
	betweenCalls = 100 * time.Millisecond // an agent works between two calls
	killSession  = "compare-kills"
	payloadSize  = 2400
)

// payload returns what Claude Code sends for an event: number n of a session.
func payload(kind, session, cwd string, n int) []byte {
	p := map[string]any{"session_id": session, "cwd": cwd, "permission_mode": "default", "transcript_path": cwd + "/none.jsonl"}
	switch kind {
	case ofPrompt:
		p["hook_event_name"], p["prompt"], p["prompt_id"] = "UserPromptSubmit", fmt.Sprintf("Rename the parts of step %d", n), fmt.Sprintf("%s-prompt-%d", session, n)
	case ofStop:
		p["hook_event_name"], p["last_assistant_message"] = "Stop", fmt.Sprintf("The parts of step %d are renamed.", n)
		p["prompt_id"] = fmt.Sprintf("%s-prompt-%d", session, n)
	default:
		file := fmt.Sprintf("%s/%s-%04d.go", cwd, session, n)
		p["hook_event_name"], p["tool_name"], p["tool_use_id"] = "PostToolUse", "Edit", fmt.Sprintf("%s-tool-%04d", session, n)
		p["tool_input"] = map[string]any{"file_path": file, "old_string": "part", "new_string": fmt.Sprintf("piece%d", n)}
		p["tool_response"] = map[string]any{"filePath": file, "oldString": "part", "newString": fmt.Sprintf("piece%d", n), "originalFile": ""}
	}
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // text and numbers always encode
	}
	return b
}

// toolPayload returns tool events of a session with payloadSize bytes each.
func toolPayload(session, cwd string) func(int) []byte {
	return func(n int) []byte {
		b := string(payload(ofTool, session, cwd, n))
		const line = `\tfor i := range parts { total += len(parts[i].Text) }\n`
		fill := strings.Repeat(line, max(0, payloadSize-len(b))/len(line))
		return []byte(strings.Replace(b, `"originalFile":""`, `"originalFile":"`+fill+`"`, 1))
	}
}

// under is a program whose worker is killed while its hooks send events.
type under struct {
	name string
	// hook returns a run of the program's hook for an event.
	hook func(kind string, input []byte) *exec.Cmd
	// pid returns the worker's process, 0 if none runs.
	pid func() int
	// start starts the worker by the program's own command.
	start func() error
	cwd   string
}

// kill sends the events of a session, one after the other, and kills the worker at a random
// moment of every fifth. If the hooks have started none by then, the program's command does.
func (u *under) kill(t *testing.T) (row killRow) {
	t.Helper()
	row = killRow{Name: u.name, Sent: *events}
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // nothing secret
	busy, calls := time.Duration(0), 0
	send := func(kind string, n int, during func()) {
		cmd, start := u.hook(kind, payload(kind, killSession, u.cwd, n)), time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		during()
		if cmd.Wait() != nil {
			row.FailedHooks++
		}
		busy += time.Since(start)
		calls++
		time.Sleep(betweenCalls)
	}
	nothing := func() {}
	began := time.Now()
	for n := range *events {
		if time.Since(began) > killLimit {
			row.Sent = n
			break
		}
		turn := n / turnEvents
		if n%turnEvents == 0 {
			send(ofPrompt, turn, nothing)
		}
		during := nothing
		if n%eventsAKill == eventsAKill/2 {
			pause := time.Duration(random.Float64() * float64(busy) / float64(calls))
			if u.pid() == 0 {
				world.Must(t, u.start())
			}
			during = func() {
				time.Sleep(pause)
				if pid := u.pid(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
					_, _ = unix.Wait4(pid, nil, 0, nil) // fails for a worker that is no child
					world.WaitGone(t, pid)
					row.Kills++
				}
			}
		}
		send(ofTool, n, during)
		if n%turnEvents == turnEvents-1 || n == *events-1 {
			send(ofStop, turn, nothing)
		}
	}
	row.Took = time.Since(began)
	return row
}

// adopt makes this process the parent of workers whose parent has ended, so that a killed one can
// be waited for. Where init is slow to do that, a program may take a dead worker for a live one.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// settled polls count until it has been the same for a while, at most limit, and returns it.
func settled(limit, quiet time.Duration, full int, count func() int) int {
	last, since, end := count(), time.Now(), time.Now().Add(limit)
	for last < full && time.Since(since) < quiet && time.Now().Before(end) {
		time.Sleep(200 * time.Millisecond)
		if n := count(); n != last {
			last, since = n, time.Now()
		}
	}
	return last
}

// ofHome returns the processes whose HOME is a folder.
func ofHome(home string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ") // it may have ended
		if strings.Contains("\x00"+string(env), "\x00HOME="+home+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endAll kills what runs with a HOME that only this test has given to anything.
func endAll(home string) {
	for range 5 {
		pids := ofHome(home)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
