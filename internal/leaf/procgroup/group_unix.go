//go:build unix

package procgroup

import (
	"os/exec"
	"sync"
	"syscall"
)

// Group is a process group, led by the started process.
type Group struct {
	mu       sync.Mutex
	id       int
	released bool
}

// Start starts cmd as the leader of a group of its own; it sets cmd.SysProcAttr. The caller waits
// for cmd and then calls Release; on Linux it holds its thread until then (see the package).
func Start(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = leader()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Group{id: cmd.Process.Pid}, nil
}

// Kill ends all members at once. It may be called from any goroutine, also after Release, when it
// does nothing.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		// Fails when the group has no members.
		_ = syscall.Kill(-g.id, syscall.SIGKILL)
	}
}

// Release forgets the group when the process has ended: its id may be reused.
func (g *Group) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
}
