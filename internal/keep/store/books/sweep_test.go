package books_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/books"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// The sweep of every 30 seconds must not write, nor drop the remembered sessions,
// when it finds nothing to change.
func TestSweepWithoutWorkWritesNothing(t *testing.T) {
	const base memory.Millis = 1_760_000_000_000
	keeper := books.NewBookkeeper()
	m, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), store.Options{Books: keeper, Clock: func() time.Time { return base.Time() }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	for _, session := range []string{"s1", "s2"} {
		if _, err := m.Enqueue(t.Context(), memory.Arrival{Key: session, ReceivedAt: base, Event: memory.Event{
			Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: session, OccurredAt: base, ProjectPath: "/p", ToolName: "Bash", ToolUseID: session,
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if claim, err := m.Claim(t.Context(), "claimer", 2, 0, base); err != nil || len(claim.Events) != 1 {
		t.Fatalf("claimed %+v %v", claim, err)
	}
	free, busy, occupied := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		occupied <- m.WriteKeeping(context.Background(), "occupy", func(*db.Tx) {
			close(busy)
			<-free
		})
	}()
	<-busy
	swept := make(chan error, 1)
	go func() {
		healed, err := m.Heal(context.Background(), base-1, nil)
		interrupted, err2 := m.Interrupt(context.Background(), base-1000)
		if healed+interrupted > 0 {
			t.Errorf("healed %d, interrupted %d, want nothing", healed, interrupted)
		}
		swept <- errors.Join(err, err2)
	}()
	select {
	case err := <-swept:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the sweep waits for the writer")
		defer func() { <-swept }()
	}
	close(free)
	if err := <-occupied; err != nil {
		t.Fatal(err)
	}
	if err := m.WriteKeeping(t.Context(), "look", func(*db.Tx) {
		if n := books.Remembered(keeper); n != 2 {
			t.Errorf("the bookkeeper remembers %d sessions, want 2", n)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
