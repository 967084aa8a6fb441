//go:build unix

package hook

import "syscall"

// Detached returns attributes that put a process into a session of its own, apart
// from the host's terminal and signals.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
