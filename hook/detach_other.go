//go:build !unix && !windows

package hook

import "syscall"

// Detached asks for nothing on systems that we know nothing of.
func Detached() *syscall.SysProcAttr { return nil }
