//go:build unix

package claude

import (
	"os/exec"
	"sync"
	"syscall"
)

// group is a process group, led by the process that was started. Its members
// are killed together: the CLI may be a script around the CLI.
type group struct{ state *groupState }

type groupState struct {
	mu       sync.Mutex
	id       int
	released bool
}

func startGroup(cmd *exec.Cmd) (group, error) {
	if err := cmd.Start(); err != nil {
		return group{}, err
	}
	return group{&groupState{id: cmd.Process.Pid}}, nil
}

// kill ends all members at once.
func (g group) kill() {
	g.state.mu.Lock()
	defer g.state.mu.Unlock()
	if !g.state.released {
		// Fails when the group has no members any more.
		_ = syscall.Kill(-g.state.id, syscall.SIGKILL)
	}
}

// release says that the process is gone: its id may become another's.
func (g group) release() {
	g.state.mu.Lock()
	defer g.state.mu.Unlock()
	g.state.released = true
}
