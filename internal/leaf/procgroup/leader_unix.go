//go:build unix && !linux

package procgroup

import "syscall"

func leader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
