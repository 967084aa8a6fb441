//go:build unix

package worktree

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup runs cmd as the leader of a process group, which is killed when the
// command's context ends.
func runGroup(cmd *exec.Cmd) error {
	// On Linux the process also ends with the thread that started it, and so with us.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = groupLeader()
	cmd.Cancel = func() error {
		if err := cmd.Process.Kill(); err != nil {
			return err // It has ended; its number may be another's by now.
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Fails when there is nobody else.
		return nil
	}
	return cmd.Run()
}
