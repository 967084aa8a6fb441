//go:build !unix && !windows

package hook

import "syscall"

// Detached returns nil: on other systems processes are not detached.
func Detached() *syscall.SysProcAttr { return nil }
