package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/uuid"

	"claudemem/internal/memory"
)

// TestRunName: a name that is no UUID has one made from it, always the same.
func TestRunName(t *testing.T) {
	b := newBench(t)
	p := b.open()
	ask(t, p, request("../../etc/passwd", "one"))
	if got := ask(t, p, request("../../etc/passwd", "two")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	if _, err := os.Stat(b.transcript("../../etc/passwd")); err != nil {
		t.Error(err)
	}
}

func TestEndRun(t *testing.T) {
	b := newBench(t)
	p := b.open()
	ask(t, p, request(runA, "one"))
	ask(t, p, request(runB, "one"))
	stranger := filepath.Join(filepath.Dir(b.transcript(runA)), runC+".jsonl")
	other := filepath.Join(filepath.Dir(b.transcript(runA)), "memory")
	if err := os.WriteFile(stranger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	p.EndRun(runA)
	p.EndRun(runA)
	p.EndRun("")
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	if exists(b.transcript(runA)) || !exists(b.transcript(runB)) || !exists(stranger) || !exists(other) {
		t.Error("not just the run's transcript is gone")
	}
	if alive(b.records("start")[0].PID) || !alive(b.records("start")[1].PID) {
		t.Error("not just the run's process is gone")
	}
	// Of an earlier worker.
	p.Close()
	p.EndRun(runB) // too late
	if !exists(b.transcript(runB)) {
		t.Error("a closed provider deletes")
	}
	p = b.open()
	p.EndRun(runB)
	if exists(b.transcript(runB)) {
		t.Error("an earlier worker's transcript is left")
	}
	// A link is not followed.
	if err := os.Symlink(stranger, b.transcript(runA)); err == nil {
		p.EndRun(runA)
		if !exists(stranger) || !exists(b.transcript(runA)) {
			t.Error("a link was followed or removed")
		}
		os.Remove(b.transcript(runA))
	}
	// A run may begin again.
	if got := ask(t, p, request(runB, "again")); got != "<a>again after 0</a>" {
		t.Errorf("answer %q", got)
	}
}

func TestEndRunDuringACall(t *testing.T) {
	b := newBench(t)
	p := b.open()
	gate := filepath.Join(t.TempDir(), "gate")
	done := make(chan string)
	go func() { done <- ask(t, p, request(runA, "until "+gate)) }()
	eventually(t, "prompt read", func() bool { return len(b.prompts()) == 1 })
	p.EndRun(runA)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != "now" {
		t.Errorf("answer %q", got)
	}
	if _, err := os.Stat(b.transcript(runA)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("transcript: %v", err)
	}
	b.noneLeft()
}

func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBench(t, "FAKE_STUBBORN=1")
	p := b.open(processes(2))
	ask(t, p, request(runA, "idle"))
	results := make(chan error)
	for _, run := range []string{runB, runC, uuid.NewString()} { // one in flight, two wait
		go func() {
			_, err := p.Complete(context.Background(), request(run, "hang"))
			results <- err
		}()
	}
	eventually(t, "one hangs", func() bool { return len(b.prompts()) >= 2 })
	p.Close()
	p.Close()
	for range 3 {
		var e *memory.ModelError
		if err := <-results; !errors.As(err, &e) || e.Class != memory.ClassTransient {
			t.Errorf("error %v", err)
		}
	}
	if _, err := p.Complete(t.Context(), request(runA, "late")); err == nil {
		t.Error("a closed provider answers")
	}
	b.noneLeft()
	eventually(t, "goroutines gone", func() bool { return runtime.NumGoroutine() <= before })
}
