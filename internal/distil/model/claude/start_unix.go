//go:build unix && !linux

package claude

import (
	"os/exec"
	"syscall"
)

// starter starts processes. Without a parent-death signal they end when this
// process is killed, because the pipe of their stdin closes.
type starter struct{}

// start starts cmd as the leader of a group of its own.
func (*starter) start(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startGroup(cmd)
}

func (*starter) close() {}
