package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// checkWorker checks the worker, or why there is none, its socket and its port. That
// none runs is fine as long as nothing waits for it.
func checkWorker(ctx context.Context, e *exam) ([]Finding, string) {
	w := e.worker()
	var list []Finding
	fine := "not running: hooks start it when they need it"
	switch {
	case w.Running:
		list, fine = e.runningWorker(w.Status), fmt.Sprintf("running, pid %d, version %s", w.PID, w.Version)
		if w.Port != 0 {
			fine += ", http://127.0.0.1:" + strconv.Itoa(w.Port)
		}
	case w.lockErr != nil:
		list = append(e.absentWorker(false), e.found("worker-unknown", fmt.Sprintf("whether a worker runs is not known: %v", w.lockErr)))
	default:
		list = e.absentWorker(w.held)
	}
	list = append(list, e.socket()...)
	return append(list, e.port(ctx, w.Status)...), fine
}

// reportedElsewhere are the stages that have a check of their own.
var reportedElsewhere = map[string]bool{"queue": true, "index": true}

// runningWorker finds a worker of another version, and stages of it that are in trouble.
func (e *exam) runningWorker(state control.Status) []Finding {
	var list []Finding
	versions := fmt.Sprintf("the worker is version %s (wire %d), this program %s (wire %d)", state.Version, state.Wire, e.Version, wire.Version)
	switch {
	case control.Outranks(api.Identity{Version: state.Version, Wire: state.Wire}, api.Identity{Version: e.Version, Wire: wire.Version}), state.Wire > wire.Version:
		list = append(list, e.found("worker-newer", versions, "version", state.Version, "path", e.Executable))
	case state.Wire != wire.Version:
		list = append(list, e.found("worker-wire", versions))
	case state.Version != e.Version:
		list = append(list, e.found("worker-version", versions))
	}
	return append(list, collect.Pick(slices.Sorted(maps.Keys(state.Stages)), func(name string) (Finding, bool) {
		return e.found("worker-stage", name+": "+state.Stages[name]), state.Stages[name] != "ok" && !reportedElsewhere[name]
	})...)
}

// absentWorker returns the findings about a worker that does not answer: one that holds the lock
// and is mute, what a dead one has left, starts that failed, and events that wait for one. None of
// these: none runs, and none is needed.
func (e *exam) absentWorker(lockHeld bool) []Finding {
	info, unread := wire.ReadWorkerInfo(e.DataDir)
	switch {
	case lockHeld && unread == nil && info.PID > 0 && isOurs(info.PID):
		return []Finding{e.found("worker-mute", fmt.Sprintf("the worker (pid %d) holds worker.lock and does not answer", info.PID)).
			instead(killCommand(info.PID) + "; claude-mem worker start")}
	case lockHeld:
		return []Finding{e.found("worker-mute", "a process holds worker.lock and does not answer")}
	}
	var list []Finding
	switch {
	case unread == nil && isOurs(info.PID):
		// It has started since the lock was tested.
	case unread == nil:
		list = append(list, e.found("worker-died", fmt.Sprintf("the worker (pid %d) is no longer running", info.PID)))
	case !errors.Is(unread, fs.ErrNotExist):
		list = append(list, e.found("worker-died", "worker.json is left from a worker that is no longer running, and cannot be parsed"))
	}
	at, attempts, reason, err := wire.LastStart(e.DataDir)
	list = append(list, problem(err == nil && attempts > 0 && (reason != "" || e.now.Sub(at).Abs() > startFailed),
		e.found("worker-start-failed", fmt.Sprintf("%s to start the worker failed, the last %s: %s",
			text.Count(attempts, "attempt"), e.ago(at), cmp.Or(reason, "no reason is known"))))...)
	books, _ := e.books() // checkDatabase reports the error
	names, _ := spooled(wire.SpoolOf(e.DataDir))
	n := books.Pending + books.Processing + len(names)
	return append(list, problem(n > 0, e.found("worker-away", "not running, and "+waiting(n, "event")))...)
}

// isOurs reports whether a process exists and, where /proc shows it, is a claude-mem: the
// number may be another program's by now.
func isOurs(pid int) bool {
	if !alive(pid) {
		return false
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err != nil || bytes.Contains(line, []byte("claude-mem"))
}

// killCommand returns the command that ends a process that does not react, such as one that
// was stopped. Accepted events survive it.
func killCommand(pid int) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("taskkill /F /PID %d", pid)
	}
	return fmt.Sprintf("kill -9 %d", pid)
}

// startFailed is the age from which a start without a worker is reported as failed. Hooks
// start another worker earlier, which may still succeed.
const startFailed = 2 * wire.StartLimit

// socket reports a socket that lies outside the data directory, and whether others could
// tamper with it there.
func (e *exam) socket() []Finding {
	socket := wire.SocketPath(e.DataDir, e.Getenv)
	dir := filepath.Dir(socket)
	if dir == filepath.Clean(e.DataDir) {
		return nil
	}
	if info, err := os.Lstat(dir); err == nil && foreign(info) {
		return []Finding{e.found("socket-foreign", dir+", where the socket would be, belongs to another user")}
	} else if err == nil && !wire.Alone(dir) {
		return []Finding{e.found("socket-unsafe", dir+", where the socket would be, is open to others", "path", dir)}
	}
	return []Finding{e.found("socket-elsewhere", fmt.Sprintf("the data directory's path has %d characters: the socket is %s", len(e.DataDir), socket))}
}

// port finds that the port of the settings is taken, and suggests another: that of the worker, 0
// for none, or the next on which nothing answers.
func (e *exam) port(ctx context.Context, state control.Status) []Finding {
	want := control.WantedPort(e.settings(), e.DataDir)
	if want == 0 || want == state.Port {
		return nil
	}
	switch {
	case state.Running && state.Port != 0:
		return []Finding{e.found("port-taken", fmt.Sprintf("port %d is in use; the worker uses %d", want, state.Port), "port", strconv.Itoa(state.Port))}
	case state.Running:
		return []Finding{e.found("port-taken", fmt.Sprintf("the worker has no port: %d and the next ones are in use", want), "port", "0")}
	case answers(ctx, want):
		free := want + 1
		for free < want+100 && answers(ctx, free) {
			free++
		}
		return []Finding{e.found("port-taken", fmt.Sprintf("port %d is in use by another program", want), "port", strconv.Itoa(free))}
	}
	return nil
}

// answers reports whether a program listens on a port of this machine.
func answers(ctx context.Context, port int) bool {
	dialer := net.Dialer{Timeout: 300 * time.Millisecond}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
