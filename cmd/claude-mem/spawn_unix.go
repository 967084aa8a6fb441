//go:build !windows

package main

import "syscall"

// detached puts a child into a session of its own: it outlives us and our terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
