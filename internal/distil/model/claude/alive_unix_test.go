//go:build unix

package claude

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func killProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// gone reports whether a process that is not our child has ended. Where nobody
// reaps orphans it stays as a zombie, which is as good.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !alive(pid)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
