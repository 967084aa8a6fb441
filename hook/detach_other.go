//go:build !unix && !windows

package hook

import "syscall"

// detached asks for nothing on systems that we know nothing of.
func detached() *syscall.SysProcAttr { return nil }
