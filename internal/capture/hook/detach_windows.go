package hook

import "syscall"

// Detached returns attributes that separate a process from the host's console and
// its Ctrl-C.
func Detached() *syscall.SysProcAttr {
	const detachedProcess = 0x00000008
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP,
	}
}
