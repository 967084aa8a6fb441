package agentfiles

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestLocked: a file that another program keeps for itself is said, and the others are done.
func TestLocked(t *testing.T) {
	dir := project(t, map[string]string{"CLAUDE.md": "x\n", "AGENTS.md": "x\n"})
	name, err := syscall.UTF16PtrFromString(filepath.Join(dir, "CLAUDE.md"))
	must(t, err)
	const shareNothing = 0
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ, shareNothing, nil, syscall.OPEN_EXISTING, 0, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.CloseHandle(handle) })
	report := sync(t, dir, []Target{Root}, records())
	if got := actions(report); report.Failed() != 1 || got["AGENTS.md"] != "add" || got["CLAUDE.md"] == "add" {
		t.Errorf("got %v", got)
	}
}
