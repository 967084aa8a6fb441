//go:build !windows

package lock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReleaseWithCopies checks that a copy of the file, as a process has it between
// fork and exec, does not keep the lock.
func TestReleaseWithCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Try(path)
	if err != nil || f == nil {
		t.Fatalf("Try = %v, %v", f, err)
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	held := os.NewFile(uintptr(fd), path)
	defer held.Close()
	if err := Release(f); err != nil {
		t.Fatal(err)
	}
	again, err := Try(path)
	if err != nil || again == nil {
		t.Fatalf("Try after Release = %v, %v", again, err)
	}
	again.Close()
}
