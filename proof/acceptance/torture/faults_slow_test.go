//go:build linux && slow

package torture

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// faultCase is a fault that the kernel is made to return for some system calls of a program.
type faultCase struct {
	calls string // as strace names them
	fault string // strace's error=E or delay_enter=MICROSECONDS
	// only restricts the fault to these files of the data directory; all calls without it.
	only []string
	// more are further faults at the same time, CALLS:FAULT.
	more []string
	// atStart says that a worker makes such calls only when it starts or stops, or not in
	// each run of the test.
	atStart bool
}

func (c faultCase) name() string {
	name := c.calls + " " + c.fault
	if len(c.only) > 0 {
		name += " of " + strings.Join(c.only, ",")
	}
	if len(c.more) > 0 {
		name += " and " + strings.Join(c.more, " and ")
	}
	return name
}

const (
	eio    = "error=EIO"
	enospc = "error=ENOSPC"
	emfile = "error=EMFILE"
	enomem = "error=ENOMEM"
	// slow is longer than a hook waits for the worker.
	slow = "delay_enter=300000"
)

// opening are the calls that open a file: SQLite uses another one than Go.
const opening = "open,openat"

var (
	databaseFiles = []string{"memory.db", "memory.db-wal", "memory.db-shm"}
	indexFiles    = []string{"index.db", "index.db-wal", "index.db-shm", "index.vec", "index.table"}
)

// workerFaults strike the worker.
var workerFaults = []faultCase{
	{calls: opening, fault: eio, only: databaseFiles, atStart: true},
	{calls: opening, fault: emfile},
	{calls: opening, fault: enospc},
	{calls: "pread64", fault: eio, only: databaseFiles},
	{calls: "pread64", fault: enomem, only: databaseFiles},
	{calls: "pwrite64", fault: enospc},
	{calls: "pwrite64", fault: eio, only: databaseFiles},
	{calls: "pwrite64", fault: eio, only: indexFiles},
	{calls: "write", fault: enospc, only: []string{"logs/worker.log"}, atStart: true},
	{calls: "fsync,fdatasync", fault: eio},
	{calls: "fsync,fdatasync", fault: enospc},
	{calls: "fsync,fdatasync", fault: slow},
	{calls: "ftruncate", fault: enospc, atStart: true},
	{calls: "rename,renameat", fault: eio, atStart: true},
	{calls: "unlink,unlinkat", fault: eio, atStart: true},
	{calls: "mmap", fault: enomem},
	{calls: "accept4", fault: emfile},
	{calls: "getdents64", fault: eio},
	{calls: "fstat,newfstatat,stat,lstat", fault: eio},
	{calls: "fcntl", fault: eio, only: databaseFiles},
}

// hookFaults strike the hooks. A hook that cannot open config.json captures nothing: it may
// not know what is excluded.
var hookFaults = []faultCase{
	{calls: "connect", fault: "error=ECONNREFUSED"},
	{calls: "socket", fault: emfile},
	{calls: "socket", fault: enomem},
	{calls: "read", fault: eio},
	{calls: "write", fault: eio},
	{calls: "write", fault: enospc},
	{calls: "connect", fault: eio, more: []string{"write:" + enospc}},
	{calls: "connect", fault: eio, more: []string{"fsync:" + eio}},
	{calls: "connect", fault: eio, more: []string{"fsync:" + enospc}},
	{calls: "connect", fault: eio, more: []string{"fsync:" + slow}},
	{calls: "connect", fault: eio, more: []string{"renameat,rename,renameat2:" + eio}},
	{calls: "connect", fault: eio, more: []string{"mkdirat:" + enospc}},
	{calls: "connect", fault: eio, more: []string{"flock:" + eio}},
}

// TestFaults has the kernel return errors to the real worker and the real hooks while
// sessions deliver events: to a worker from its start on, to one that serves, and to hooks.
// When the fault is gone, each event is in the books once or was told to be lost, and no
// event is lost by a fault of the worker alone.
func TestFaults(t *testing.T) {
	world.NeedBinaries(t)
	needStrace(t)
	t.Run("worker from its start", func(t *testing.T) {
		m := newTortured(t)
		for _, c := range workerFaults {
			m.strikeStart(c)
		}
	})
	t.Run("worker that serves", func(t *testing.T) {
		m := newTortured(t)
		for _, c := range workerFaults {
			if !c.atStart {
				m.strikeServing(c)
			}
		}
	})
	t.Run("hook", func(t *testing.T) {
		m := newTortured(t)
		for _, c := range hookFaults {
			m.strikeHooks(c)
		}
	})
}

// needStrace fails the test on a machine where strace cannot be used.
func needStrace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Fatalf("strace (Debian: apt-get install strace), with the right to trace: %v %s", err, out)
	}
}

// strace returns the command line that makes a program suffer a fault, and the file that gets
// the calls that did.
func (m *tortured) strace(c faultCase) (line []string, log string) {
	m.T.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		m.T.Fatal(err)
	}
	log = filepath.Join(m.Home, "strace.log")
	calls := []string{c.calls}
	line = []string{path, "-f", "-qq", "-e", "signal=none", "-A", "-o", log, "-e", "inject=" + c.calls + ":" + c.fault}
	for _, more := range c.more {
		line = append(line, "-e", "inject="+more)
		of, _, _ := strings.Cut(more, ":")
		calls = append(calls, of)
	}
	for _, name := range c.only {
		line = append(line, "-P", filepath.Join(m.Dir, name))
	}
	return append(line, "-e", "trace="+strings.Join(calls, ",")), log
}

// struck counts the calls that a fault struck.
func struck(t testing.TB, log string) int {
	t.Helper()
	content, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	_ = os.Remove(log)
	return bytes.Count(content, []byte("(INJECTED)")) + bytes.Count(content, []byte("(DELAYED)"))
}

// straced is a program below strace, which leads a group of processes.
type straced struct {
	*exec.Cmd
	ended chan struct{}
}

func (m *tortured) startStrace(line ...string) *straced {
	m.T.Helper()
	s := &straced{exec.Command(line[0], line[1:]...), make(chan struct{})}
	s.Env, s.Dir = m.Env, m.Home
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.Start(); err != nil {
		m.T.Fatal(err)
	}
	go func() {
		_ = s.Wait() // its status is that of what it traced
		close(s.ended)
	}()
	return s
}

// endWithin reports whether the program ends by itself within limit.
func (s *straced) endWithin(limit time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// signal sends a signal to strace and what it runs.
func (s *straced) signal(sig syscall.Signal) { _ = syscall.Kill(-s.Process.Pid, sig) }

// strikeStart starts a worker that suffers a fault, while sessions deliver, and ends it.
func (m *tortured) strikeStart(c faultCase) {
	m.T.Helper()
	m.away()()
	line, log := m.strace(c)
	s := m.startStrace(append(line, "--seccomp-bpf", world.Binary("claude-mem"), "worker", "run")...)
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		if _, err := os.Lstat(filepath.Join(m.Dir, "worker.json")); err == nil || s.endWithin(10*time.Millisecond) {
			break
		}
	}
	m.play(2, 1)()
	end := "ended by itself"
	if !s.endWithin(0) {
		end = "stopped"
		s.signal(syscall.SIGTERM)
		if !s.endWithin(5 * time.Second) {
			end = "killed"
			s.signal(syscall.SIGKILL)
			<-s.ended
		}
	}
	m.away()()
	m.afterFault("worker from its start", c, end, struck(m.T, log))
}

// strikeServing makes a worker that serves suffer a fault for a while.
func (m *tortured) strikeServing(c faultCase) {
	m.T.Helper()
	m.MustCommand("worker", "start")
	pid := m.WorkerPID()
	line, log := m.strace(c)
	s := m.startStrace(append(line, "-p", fmt.Sprint(pid))...)
	world.Until(m.T, world.SettleLimit, "strace is attached", func() bool { return traced(pid) })
	m.play(2, 1)()
	_, _ = m.Command("search", "change") // what it says under the fault is not of interest
	_, _ = m.Command("backup")
	s.signal(syscall.SIGINT) // strace leaves the worker alone
	<-s.ended
	end := "went on"
	if m.WorkerPID() != pid {
		end = "ended by itself"
	}
	m.play(2, 1)()
	m.afterFault("worker that serves", c, end, struck(m.T, log))
}

// traced reports whether all threads of a process are traced.
func traced(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range files {
		if status, err := os.ReadFile(path); err != nil || bytes.Contains(status, []byte("TracerPid:\t0\n")) {
			return false
		}
	}
	return len(files) > 0
}

// strikeHooks runs hooks that suffer a fault.
func (m *tortured) strikeHooks(c faultCase) {
	m.T.Helper()
	m.MustCommand("worker", "start")
	if strings.Contains(c.name(), "mkdir") {
		if err := os.RemoveAll(filepath.Join(m.Dir, "spool")); err != nil {
			m.T.Fatal(err)
		}
	}
	line, log := m.strace(c)
	m.under = append(line, "-b", "execve") // not the worker that the hook may start
	m.play(1, 2)()
	m.under = nil
	m.afterFault("hook", c, "returned 0", struck(m.T, log))
}

// afterFault checks the memory once the fault is gone.
func (m *tortured) afterFault(program string, c faultCase, end string, struck int) {
	m.T.Helper()
	if asides := m.countAsides(); asides > m.asides {
		// A file that cannot be read is recovered like a damaged one.
		if !slices.Equal(c.only, databaseFiles) || m.QueryOne("SELECT count(*) FROM notices WHERE text LIKE '%is kept in%'") == 0 {
			m.T.Errorf("%s, %s: the memory was recovered", program, c.name())
		}
		end += ", the memory was recovered"
		m.asides = asides
	}
	before := m.lostBefore
	// A whole file that lacks its name is taken over when it is ten seconds old.
	unnamed, _ := filepath.Glob(filepath.Join(m.Dir, "spool", "*.json.tmp"))
	for _, path := range unnamed {
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			m.T.Error(err)
		}
	}
	m.check()
	m.play(len(m.hosts), 0)() // ends turns that were cut short
	m.Indexed(world.SettleLimit)
	found := m.checkAll()
	lost, told := found.lost-before.lost, found.told-before.told
	m.lostBefore = found
	world.Figure(m.T, 2, "%s, %s: %d calls failed, it %s; %d events lost, %d of them told", program, c.name(), struck, end, lost, told)
	if struck == 0 {
		m.T.Errorf("%s struck no call of the %s", c.name(), program)
	}
	if lost != told || program != "hook" && lost > 0 {
		m.T.Errorf("%s: %d events are lost, %d were told to be", c.name(), lost, told)
	}
}
