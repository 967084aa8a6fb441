package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestSeveralRunsAtOnce(t *testing.T) {
	b := newBench(t)
	p := b.open(processes(3))
	gate := filepath.Join(t.TempDir(), "gate")
	answers := make(chan string)
	for _, run := range []string{runA, runB, runC} {
		go func() { answers <- ask(t, p, request(run, "until "+gate)) }()
	}
	eventually(t, "three have their prompt", func() bool { return len(b.prompts()) == 3 })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := <-answers; got != "now" {
			t.Errorf("answer %q", got)
		}
	}
}

func TestIdleProcessGivesUpItsSlot(t *testing.T) {
	b := newBench(t)
	p := b.open(processes(2))
	ask(t, p, request(runA, "one"))
	ask(t, p, request(runB, "one"))
	ask(t, p, request(runA, "two", "one", "1"))
	ask(t, p, request(runC, "one")) // B has been idle for longest
	wantStarts(t, b, "A new", "B new", "C new")
	if pids := b.records("start"); !alive(pids[0].PID) || alive(pids[1].PID) {
		t.Error("not the one idle for longest left its slot")
	}
	if got := ask(t, p, request(runB, "two", "one", "1")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "B new", "C new", "B resumed")
	b.neverMoreThan(2)
}

// neverMoreThan checks the number of processes by the log's starts and exits.
func (b *bench) neverMoreThan(n int) {
	b.t.Helper()
	now := 0
	for _, r := range b.records("") {
		switch r.At {
		case "start":
			now++
		case "exit":
			now--
		}
		if now > n {
			b.t.Fatalf("%d processes at once", now)
		}
	}
}

func TestIdleProcessEnds(t *testing.T) {
	b := newBench(t)
	p := b.open(idleAfter(20 * time.Millisecond))
	ask(t, p, request(runA, "one"))
	eventually(t, "the process has ended", func() bool { return len(b.records("exit")) == 1 })
	if got := ask(t, p, request(runA, "two", "one", "1")); got != "<a>two after 2</a>" {
		t.Errorf("answer %q", got)
	}
	wantStarts(t, b, "A new", "A resumed")
}

func TestSlotsInOrderOfArrival(t *testing.T) {
	b := newBench(t)
	p := b.open(processes(1))
	gate := filepath.Join(t.TempDir(), "gate")
	var calls sync.WaitGroup
	call := func(ctx context.Context, run, prompt string, want error) {
		before := p.waiters()
		calls.Go(func() {
			if _, err := p.Complete(ctx, request(run, prompt)); !errors.Is(err, want) {
				t.Errorf("%s: %v", prompt, err)
			}
		})
		eventually(t, prompt+" waits", func() bool { return p.waiters() == before+1 })
	}
	calls.Go(func() { ask(t, p, request(runA, "until "+gate)) })
	eventually(t, "the first has its prompt", func() bool { return len(b.prompts()) == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	call(t.Context(), runA, "second", nil) // its own process is there, but busy
	call(t.Context(), runB, "third", nil)
	call(ctx, runC, "never", context.Canceled)
	call(t.Context(), runA, "fourth", nil)
	call(t.Context(), runC, "fifth", nil)
	waiting := p.waiters()
	cancel()
	eventually(t, "one has left the queue", func() bool { return p.waiters() == waiting-1 })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	if got, want := strings.Join(b.prompts()[1:], " "), "second third fourth fifth"; got != want {
		t.Errorf("order %q, want %q", got, want)
	}
	b.neverMoreThan(1)
}

func (p *Provider) waiters() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// TestManyAtOnce: many runs, few slots, calls that give up, runs that end. At the
// end no slot is held and no process is left.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t)
	p := b.open(processes(3), idleAfter(5*time.Millisecond))
	var calls sync.WaitGroup
	for i := range 40 {
		run := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i%7)
		calls.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 4 {
				time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
			}
			_, err := p.Complete(ctx, request(run, "prompt"))
			var failed *memory.ModelError
			if err != nil && (ctx.Err() == nil || errors.As(err, &failed)) {
				t.Error(err)
			}
			if i%9 == 8 {
				p.EndRun(run)
			}
		})
	}
	calls.Wait()
	for i := range 7 {
		p.EndRun(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i))
	}
	p.mu.Lock()
	if len(p.runs) != 0 || len(p.waiting) != 0 {
		t.Errorf("left: %d runs, %d waiting", len(p.runs), len(p.waiting))
	}
	p.mu.Unlock()
	eventually(t, "all slots free", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.slots == 0 })
	if left, _ := filepath.Glob(filepath.Join(b.home, ".claude", "projects", "*", "*")); len(left) > 0 {
		t.Errorf("transcripts left: %q", left)
	}
}

func TestFailedStartKeepsNoConversation(t *testing.T) {
	b := newBench(t)
	p := b.open(func(o *Options) { o.Command = filepath.Join(b.home, "claude") })
	_, err := p.Complete(t.Context(), request(runA, "one"))
	var e *memory.ModelError
	if !errors.As(err, &e) || e.Class != memory.ClassLogin || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("error %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slots != 0 {
		t.Errorf("%d slots held", p.slots)
	}
}

func TestSystemPromptFile(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(b.dir, runC+".system")
	mine := filepath.Join(b.dir, "notes.system")
	for _, name := range []string{stale, mine} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := b.open()
	gate := filepath.Join(t.TempDir(), "gate")
	done := make(chan string)
	go func() { done <- ask(t, p, request(runA, "until "+gate)) }()
	eventually(t, "prompt read", func() bool { return len(b.prompts()) == 1 })
	files, _ := filepath.Glob(filepath.Join(b.dir, "*"))
	if !slices.Equal(files, []string{filepath.Join(b.dir, runA+".system"), mine}) {
		t.Errorf("files %q", files)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-done
	os.Remove(mine)
	if files, _ = filepath.Glob(filepath.Join(b.dir, "*")); len(files) > 0 {
		t.Errorf("after the answer: %q", files)
	}
}
