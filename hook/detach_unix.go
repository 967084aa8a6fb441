//go:build unix

package hook

import "syscall"

// detached makes a process the leader of its own session, away from the host's terminal and signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
