package lock

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTryLocksOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil || first == nil {
		t.Fatalf("Try = %v, %v", first, err)
	}
	if second, err := Try(path); second != nil || err != nil {
		t.Errorf("second Try = %v, %v, want nil, nil", second, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := Try(path)
	if err != nil || third == nil {
		t.Fatalf("Try after Close = %v, %v", third, err)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTryWithoutDirectory(t *testing.T) {
	if f, err := Try(filepath.Join(t.TempDir(), "no", "lock")); f != nil || !os.IsNotExist(err) {
		t.Errorf("Try = %v, %v, want fs.ErrNotExist", f, err)
	}
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Try(path)
	if err != nil || held == nil {
		t.Fatalf("Try = %v, %v", held, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*poll)
	defer cancel()
	if f, err := Wait(ctx, path); f != nil || err != nil {
		t.Errorf("Wait for a held lock = %v, %v, want nil, nil", f, err)
	}
	time.AfterFunc(3*poll, func() { _ = held.Close() })
	f, err := Wait(t.Context(), path)
	if err != nil || f == nil {
		t.Fatalf("Wait = %v, %v", f, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
