package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// memoryBook is a choreBook in memory.
type memoryBook struct {
	mu   sync.Mutex
	done map[string]memory.Millis
}

func (b *memoryBook) ChoreDone(_ context.Context, name string) (memory.Millis, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done[name], nil
}

func (b *memoryBook) NoteChore(_ context.Context, name string, at memory.Millis) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[name] = at
	return nil
}

// TestChoresDue: a chore is due at its interval, after a failure sooner, and when the clock
// was set back.
func TestChoresDue(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	book := &memoryBook{done: map[string]memory.Millis{}}
	failing := errors.New("disk full")
	ran := 0
	backup := chore{name: "backup", every: daily, do: func(context.Context) error { ran++; return failing }}
	c := newChores(book, func() time.Time { return now }, slog.New(slog.DiscardHandler), backup)
	for _, step := range []struct {
		name string
		pass time.Duration
		err  error
		want bool
	}{
		{"never done", 0, failing, true},
		{"failed", choreRetry - 1, nil, false},
		{"failed a while ago", 1, nil, true},
		{"done", daily - 1, nil, false},
		{"done a day ago", 1, nil, true},
		{"the clock was set back", -time.Hour, failing, true},
		{"it was set back again", -time.Hour, nil, true},
		{"done before that", time.Minute, nil, false},
	} {
		now, failing = now.Add(step.pass), step.err
		before := ran
		if c.due(t.Context(), &c.list[0]) {
			c.run(t.Context(), &c.list[0])
		}
		if (ran > before) != step.want {
			t.Errorf("%s: ran %v", step.name, ran > before)
		}
	}
}

// TestChoresClose: a chore that runs ends when the worker closes, and is not done.
func TestChoresClose(t *testing.T) {
	noLeaks(t)
	book := &memoryBook{done: map[string]memory.Millis{}}
	began := make(chan struct{})
	c := newChores(book, time.Now, slog.New(slog.DiscardHandler), chore{name: "backup", every: daily, do: func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}})
	c.start()
	c.look()
	<-began
	if err := c.close(); err != nil || len(book.done) != 0 {
		t.Errorf("%v, done %v", err, book.done)
	}
}

// TestRetention: a worker deletes the rows that are too old.
func TestRetention(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	s, err := store.Open(t.Context(), filepath.Join(dir, control.Database), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old := memory.MillisOf(time.Now().Add(-200 * daily))
	if err := errors.Join(s.RecordInjection(t.Context(), memory.Injection{Host: memory.HostRaw, HostSessionID: "s", Where: "SessionStart", At: old}), s.Close()); err != nil {
		t.Fatal(err)
	}
	cfg := config(dir)
	cfg.Housekeeping = time.Millisecond
	w := open(t, cfg)
	if !eventually(func() bool { at, err := w.store.ChoreDone(t.Context(), "retention"); return err == nil && at != 0 }) {
		t.Fatal("no retention")
	}
	pruned, err := w.store.Prune(t.Context())
	if err != nil || len(pruned) != 0 {
		t.Errorf("%v was left, %v", pruned, err)
	}
}
