//go:build unix

package hook

import "syscall"

// Detached makes a process the leader of its own session, away from the host's terminal and signals.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
