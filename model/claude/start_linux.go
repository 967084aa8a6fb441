package claude

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starter starts processes that die with this one. Linux sends a child's
// parent-death signal when the *thread* that started it ends, and Go's runtime
// ends threads; so one goroutine, locked to its thread for as long as there are
// processes, starts them all.
type starter struct {
	mu     sync.Mutex
	starts chan start
	done   chan struct{}
	closed bool
}

type start struct {
	cmd    *exec.Cmd
	result chan<- started
}

type started struct {
	group group
	err   error
}

// start starts cmd as the leader of a group of its own.
func (s *starter) start(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return group{}, errors.New("closed")
	}
	if s.starts == nil {
		s.starts, s.done = make(chan start), make(chan struct{})
		go s.run()
	}
	s.mu.Unlock()
	result := make(chan started, 1)
	s.starts <- start{cmd, result}
	r := <-result
	return r.group, r.err
}

func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for next := range s.starts {
		g, err := startGroup(next.cmd)
		next.result <- started{g, err} // capacity 1
	}
}

// close ends the thread and with it its remaining children. No start may be
// running.
func (s *starter) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.starts != nil {
		close(s.starts)
		<-s.done
	}
}
