package moments

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/recall/block"
	"claudemem/internal/memory"
)

// only is the Source of a block that has one record.
type only struct {
	block.Source
	record memory.Observation
}

func (o only) RecentSessions(context.Context, string, int) ([]memory.SessionDigest, error) {
	return nil, nil
}

func (o only) RecentSymbols(context.Context, string, memory.SessionID, int) ([]memory.SymbolChange, error) {
	return nil, nil
}

func (o only) Observations(context.Context, memory.Query) ([]memory.Observation, error) {
	return []memory.Observation{o.record}, nil
}

func (o only) Totals(context.Context, string) (memory.Totals, error) { return memory.Totals{}, nil }

func (o only) Learnings(context.Context, memory.LearningQuery) ([]memory.Learning, error) {
	return nil, nil
}

// shownInBlock returns a memory of the record after a session was given a block of that
// budget, and the block.
func shownInBlock(t *testing.T, o memory.Observation, budget int) (*remembered, memory.ContextBlock) {
	t.Helper()
	builder := block.New(only{record: o}, block.Options{Clock: func() time.Time { return noon }})
	var shown memory.ContextBlock
	inBubble(t, func() {
		var err error
		shown, err = builder.Context(context.Background(), memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: testProject, Source: "startup", Budget: budget})
		if err != nil {
			t.Error(err)
		}
	})
	if !slices.Contains(shown.Injection.Observations, o.ID) {
		t.Fatalf("the block does not show #%d:\n%s", o.ID, shown.Text)
	}
	m := &remembered{records: []memory.Observation{o}}
	m.book(memory.Recollection{Injection: shown.Injection})
	return m, shown
}

const (
	lockCause = "one statement per row locked the table for minutes"
	noCopy    = "I considered a COPY, but the replica cannot read it"
)

// TestWhatTheBlockHadNoRoomFor checks that a prompt brings the sentences of a record that
// the block showed without them, and brings them once.
func TestWhatTheBlockHadNoRoomFor(t *testing.T) {
	m, block := shownInBlock(t, ledgerWork(), 85)
	if strings.Contains(block.Text, noCopy) {
		t.Fatalf("the block says all:\n%s", block.Text)
	}
	r := reminderOf(m)
	if c := recallOf(t, r, prompted("show me the exports please"), 9); c.Text != "" {
		t.Errorf("nothing that answers, and it was given again:\n%s", c.Text)
	}
	ask := prompted("should we use COPY for the export?")
	c := recallOf(t, r, ask, 9)
	wellGiven(t, c)
	if !strings.Contains(c.Text, noCopy) {
		t.Fatalf("got %q", c.Text)
	}
	for _, line := range strings.Split(block.Text, "\n") {
		if _, said, ok := strings.Cut(strings.TrimSpace(line), "500 rows"); ok && strings.Contains(c.Text, said) {
			t.Errorf("the block said %q already:\n%s", said, c.Text)
		}
	}
	if again := recallOf(t, r, ask, 9); again.Text != "" {
		t.Errorf("claimed, and given again:\n%s", again.Text)
	}
	r.Forget(c)
	if again := recallOf(t, r, ask, 9); again.Text != c.Text {
		t.Errorf("it did not reach its session, and then came %q", again.Text)
	}
	m.book(c)
	if again := recallOf(t, reminderOf(m), ask, 9); again.Text != "" {
		t.Errorf("booked, and given again after a restart:\n%s", again.Text)
	}
}

func TestWhatTheBlockSaidIsNotSaidAgain(t *testing.T) {
	ask := prompted("should we use COPY for the export?")
	m, block := shownInBlock(t, ledgerWork(), 0)
	if !strings.Contains(block.Text, noCopy) || !strings.Contains(block.Text, lockCause) {
		t.Fatalf("the block has room for all:\n%s", block.Text)
	}
	if c := recallOf(t, reminderOf(m), ask, 9); c.Text != "" {
		t.Errorf("said in the block, and again:\n%s", c.Text)
	}
	m, _ = shownInBlock(t, ledgerWork(), 85)
	if c := recallOf(t, reminderOf(m), ask, 7); c.Text != "" {
		t.Errorf("a session's own record:\n%s", c.Text)
	}
	m.shown.Said = nil // booked by an earlier version
	if c := recallOf(t, reminderOf(m), ask, 9); c.Text != "" {
		t.Errorf("nobody knows what was said, and it is said again:\n%s", c.Text)
	}
}

// A file brings the cause, a failure the cure, where the block did not tell.
func TestTheRestAtAFileAndAFailure(t *testing.T) {
	o := hubBug(1)
	o.Title, o.Subtitle = "Hub clients are written by one goroutine", "register and unregister go through channels now"
	o.Facts = append(o.Facts, "Readers copy the list")
	o.Narrative = "Broadcasts wrote the map while a client left, because nothing held the lock. A mutex around hub.clients fixed the concurrent writes, not a channel."
	for moment, want := range map[memory.Moment]string{
		memory.MomentFile:    "because nothing held the lock",
		memory.MomentFailure: "A mutex around hub.clients fixed the concurrent writes",
	} {
		m, block := shownInBlock(t, o, 90)
		if strings.Contains(block.Text, want) {
			t.Fatalf("the block says all:\n%s", block.Text)
		}
		c := recallOf(t, reminderOf(m), moments()[moment], 9)
		wellGiven(t, c)
		if !strings.Contains(c.Text, want) {
			t.Errorf("%s: got %q, want %q", moment, c.Text, want)
		}
		m.book(c)
		if again := recallOf(t, reminderOf(m), moments()[moment], 9); again.Text != "" {
			t.Errorf("%s: said again after a restart:\n%s", moment, again.Text)
		}
		m, block = shownInBlock(t, o, 0)
		if !strings.Contains(block.Text, want) {
			t.Fatalf("the block has room for all:\n%s", block.Text)
		}
		if c := recallOf(t, reminderOf(m), moments()[moment], 9); c.Text != "" {
			t.Errorf("%s: said in the block, and again:\n%s", moment, c.Text)
		}
	}
}
