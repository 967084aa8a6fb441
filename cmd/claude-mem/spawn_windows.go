package main

import "syscall"

// detachedProcess is DETACHED_PROCESS of the Windows API, which package syscall lacks.
const detachedProcess = 0x00000008

// detached gives a child no console and a process group of its own: it outlives us.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
