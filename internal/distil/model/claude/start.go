package claude

import (
	"os/exec"
	"runtime"
	"sync"

	"claudemem/internal/leaf/procgroup"
)

// starter starts processes that die with this one. Linux sends a child's
// parent-death signal when the *thread* that started it ends, and Go's runtime
// ends threads; so one goroutine, locked to its thread for as long as there are
// processes, starts them all.
type starter struct {
	once   sync.Once
	starts chan func()
	done   chan struct{}
}

// start starts cmd as the leader of a group of its own.
func (s *starter) start(cmd *exec.Cmd) (g *procgroup.Group, err error) {
	s.once.Do(func() {
		s.starts, s.done = make(chan func()), make(chan struct{})
		go s.run()
	})
	done := make(chan struct{})
	s.starts <- func() {
		g, err = procgroup.Start(cmd)
		close(done)
	}
	<-done
	return g, err
}

// run starts processes on one system thread that lives until the starter closes: a
// process is killed when the thread that started it ends (Pdeathsig).
func (s *starter) run() {
	defer close(s.done)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for start := range s.starts {
		start()
	}
}

// close ends the thread and with it its remaining children. It is called once, and no start
// may be running or follow.
func (s *starter) close() {
	if s.starts != nil {
		close(s.starts)
		<-s.done
	}
}
