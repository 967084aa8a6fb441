//go:build unix && !linux

package claude

import (
	"os/exec"
	"syscall"
)

// starter starts processes. There is no parent-death signal here: when this
// process is killed, the pipe of their stdin closes, and with it they end.
type starter struct{}

// start starts cmd as the leader of a group of its own.
func (*starter) start(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startGroup(cmd)
}

func (*starter) close() {}
