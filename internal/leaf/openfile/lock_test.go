package openfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTryLocksOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path)
	if err != nil || first == nil {
		t.Fatalf("TryLock = %v, %v", first, err)
	}
	if second, err := TryLock(path); second != nil || err != nil {
		t.Errorf("second TryLock = %v, %v, want nil, nil", second, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := TryLock(path)
	if err != nil || third == nil {
		t.Fatalf("TryLock after Close = %v, %v", third, err)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTryWithoutDirectory(t *testing.T) {
	if f, err := TryLock(filepath.Join(t.TempDir(), "no", "lock")); f != nil || !os.IsNotExist(err) {
		t.Errorf("TryLock = %v, %v, want fs.ErrNotExist", f, err)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := TryLock(path)
	if err != nil || held == nil {
		t.Fatalf("TryLock = %v, %v", held, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	if f, err := Lock(ctx, path); f != nil || err != nil {
		t.Errorf("Lock of a held lock = %v, %v, want nil, nil", f, err)
	}
	time.AfterFunc(3*lockPoll, func() { _ = held.Close() })
	f, err := Lock(t.Context(), path)
	if err != nil || f == nil {
		t.Fatalf("Lock = %v, %v", f, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
