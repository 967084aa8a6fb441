//go:build !windows

package openfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUnlockWithCopies checks that a copy of the file, as a process has it between
// fork and exec, does not keep the lock.
func TestUnlockWithCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := TryLock(path)
	if err != nil || f == nil {
		t.Fatalf("TryLock = %v, %v", f, err)
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	held := os.NewFile(uintptr(fd), path)
	defer held.Close()
	if err := Unlock(f); err != nil {
		t.Fatal(err)
	}
	again, err := TryLock(path)
	if err != nil || again == nil {
		t.Fatalf("TryLock after Unlock = %v, %v", again, err)
	}
	again.Close()
}
