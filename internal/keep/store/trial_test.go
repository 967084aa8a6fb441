package store_test

import (
	"context"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestTrial: one trial runs at a time, each with a secret of its own; its sessions are listed in the
// order in which they ended, in the arm of their first start.
func TestTrial(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	if none, err := m.Trial(ctx); err != nil || none.ID != 0 || none.Runs() {
		t.Fatalf("before the first: %+v, %v", none, err)
	}
	first, err := m.BeginTrial(ctx, memory.Trial{Share: 50, Placebo: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.BeginTrial(ctx, memory.Trial{Share: 50, Placebo: 10}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a second one: %v, want %s", err, memory.CodeConflict)
	}
	given := func(session string, arm memory.Arm, at memory.Millis) {
		t.Helper()
		if err := m.RecordInjection(ctx, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: session, Where: "SessionStart", Arm: arm, At: base + at}); err != nil {
			t.Fatal(err)
		}
	}
	given("late", memory.ArmNothing, 1)
	given("late", memory.ArmMemory, 9) // the trial was ended, and it was resumed
	given("early", memory.ArmMemory, 2)
	m.enqueue(t, event(memory.KindPrompt, "late", "p1", 10))
	m.enqueue(t, event(memory.KindPrompt, "early", "p2", 11))
	m.enqueue(t, event(memory.KindTool, "early", "t1", 12))
	m.enqueue(t, event(memory.KindTool, "late", "t2", 5000))
	m.enqueue(t, event(memory.KindTool, "without a prompt", "t3", 13))
	// Calls that are done: skipped ones are at once.
	done := func(name string, result memory.Result, at memory.Millis) {
		m.enqueue(t, event(memory.KindTool, "early", name+string(result), at, func(a *memory.Arrival) {
			a.Event.ToolName, a.Result, a.SkipReason = name, result, "tool"
		}))
	}
	done("Read", "", 20)
	done("Bash", memory.ResultFailed, 21)
	done("Bash", memory.ResultPassed, 23)
	done("Write", "", 61)
	done("Edit", "", 71)
	sessions, err := m.TrialSessions(ctx, 0, base+1_000_000, base+100)
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%+v, %v, want two sessions", sessions, err)
	}
	early, late := sessions[0], sessions[1]
	if early.Arm != memory.ArmMemory || late.Arm != memory.ArmNothing || !early.Ended || late.Ended || len(early.Prompts) != 1 {
		t.Errorf("got %+v and %+v", early, late)
	}
	if early.Calls != 5 || early.Failed != 1 || early.PassedIn != 1 || early.EditedAfter != 50*time.Millisecond || late.Failed+late.PassedIn != 0 || late.EditedAfter != 0 {
		t.Errorf("got the outcomes of %+v and %+v", early, late)
	}
	if err := m.EndTrial(ctx); err != nil {
		t.Fatal(err)
	}
	second, err := m.BeginTrial(ctx, memory.Trial{Share: 20})
	if err != nil || string(second.Secret) == string(first.Secret) || len(second.Secret) != 32 {
		t.Errorf("the second has %d bytes of secret, %v", len(second.Secret), err)
	}
	if now, err := m.Trial(ctx); err != nil || now.ID != second.ID || !now.Runs() || now.Share != 20 {
		t.Errorf("got %+v, %v", now, err)
	}
}
