//go:build unix

package claude

import (
	"os/exec"
	"sync"
	"syscall"
)

// group is a process group, led by the started process. Its members are killed
// together: the CLI may be a script that starts the real one.
type group struct {
	mu       sync.Mutex
	id       int
	released bool
}

// startGroup starts cmd, which is the leader of its process group.
func startGroup(cmd *exec.Cmd) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &group{id: cmd.Process.Pid}, nil
}

// kill ends all members at once.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		// Fails when the group has no members.
		_ = syscall.Kill(-g.id, syscall.SIGKILL)
	}
}

// release forgets the group when the process has ended: its id may be reused.
func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
}
