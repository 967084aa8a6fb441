package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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

// TestEffort: what a session of a trial does over again is counted over all of its batches, and its tokens stand beside it; what
// was never noted is not known.
func TestEffort(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	if _, err := m.BeginTrial(ctx, memory.Trial{Share: 50}); err != nil {
		t.Fatal(err)
	}
	m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "s", Where: "SessionStart", Arm: memory.ArmMemory, At: base + 1})
	m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: "idle", Where: "SessionStart", Arm: memory.ArmNothing, At: base + 1})
	id := m.enqueue(t, event(memory.KindPrompt, "s", "p", 10), event(memory.KindPrompt, "idle", "p2", 10), event(memory.KindPrompt, "outside", "p3", 10))[0].Session
	at := memory.Millis(20)
	// does confirms a batch of one call.
	does := func(tool, input, failure string, change ...func(*memory.PendingEvent)) {
		t.Helper()
		at++
		m.enqueue(t, event(memory.KindTool, "s", fmt.Sprint(tool, at), at, func(a *memory.Arrival) {
			a.Event.ToolName, a.Event.ToolInput, a.Event.ToolError, a.Event.WorktreeRoot = tool, json.RawMessage(input), failure, "/home/dev/shop"
			if failure != "" {
				a.Event.ToolResponse = nil
			}
		}))
		claim := m.claim(t, id, 10)
		for _, c := range change {
			c(&claim.Events[0])
		}
		if err := m.Confirm(ctx, claim, memory.Outcome{}); err != nil {
			t.Fatal(err)
		}
	}
	symbols := func(changes ...string) func(*memory.PendingEvent) {
		return func(e *memory.PendingEvent) {
			e.Files = []memory.FileRef{{Path: "b.go", Role: memory.FileModified}}
			for _, c := range changes {
				e.Symbols = append(e.Symbols, changed("b.go", c, at))
			}
		}
	}
	by := func(agent string) func(*memory.PendingEvent) {
		return func(e *memory.PendingEvent) { e.Event.AgentID = agent }
	}
	const readA, readPart, editA = `{"file_path":"/home/dev/shop/a.go"}`, `{"file_path":"/home/dev/shop/a.go","offset":5}`, `{"file_path":"/home/dev/shop/a.go","old_string":"1","new_string":"2"}`
	const tests, install = `{"command":"go test ./..."}`, `{"command":"npm install left-pad"}`
	for _, step := range []struct {
		do   func()
		want [3]int
	}{
		{func() { does("Read", readA, "") }, [3]int{0, 0, 0}},
		{func() { does("Read", readPart, "") }, [3]int{0, 0, 0}},
		{func() { does("Read", readA, "", by("agent")) }, [3]int{0, 0, 0}},
		{func() { does("Read", readA, "") }, [3]int{1, 0, 0}},
		{func() { does("Edit", editA, "") }, [3]int{1, 0, 0}},
		{func() { does("Read", readA, "") }, [3]int{1, 0, 0}},
		{func() { does("Read", readA, "no such file") }, [3]int{1, 0, 0}},
		{func() { does("Bash", tests, "Exit code 1") }, [3]int{1, 0, 0}},
		{func() { does("Bash", tests, "Exit code 1") }, [3]int{1, 1, 0}},
		{func() { does("Bash", tests, "") }, [3]int{1, 2, 0}},
		{func() { does("Bash", tests, "") }, [3]int{1, 2, 0}},
		{func() { does("Bash", tests, "Exit code 1") }, [3]int{1, 2, 0}},
		{func() { does("Bash", install, "") }, [3]int{1, 2, 0}},
		{func() { does("Bash", tests, "Exit code 1") }, [3]int{1, 2, 0}},
		{func() { does("Edit", editA, "", symbols("modified F 1>2")) }, [3]int{1, 2, 0}},
		{func() { does("Bash", tests, "") }, [3]int{1, 2, 0}},
		{func() { does("Edit", editA, "", symbols("modified F 2>3", "new G >7")) }, [3]int{1, 2, 0}},
		{func() { does("Edit", editA, "", symbols("modified F 3>2", "deleted G 7>")) }, [3]int{1, 2, 1}},
		{func() { does("Edit", editA, "", symbols("unchanged F 2>1")) }, [3]int{1, 2, 2}},
		{func() { does("Edit", editA, "", symbols("unchanged H 2>1")) }, [3]int{1, 2, 2}},
	} {
		step.do()
		sessions, err := m.TrialSessions(ctx, 0, base+1_000_000, base+100_000)
		if err != nil || len(sessions) != 3 {
			t.Fatalf("%+v, %v", sessions, err)
		}
		for _, s := range sessions {
			got, want := [4]int{s.Reread, s.Repeated, s.Reverted, s.Tokens}, [4]int{-1, -1, -1, -1}
			if s.Arm == memory.ArmMemory {
				want = [4]int{step.want[0], step.want[1], step.want[2], -1}
			}
			if got != want {
				t.Errorf("after %d ms %v, want %v", at, got, want)
			}
		}
	}
	for _, n := range []int{400, 700} {
		if err := m.NoteTokens(ctx, id, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.NoteTokens(ctx, id+2, 900); err != nil { // of no trial
		t.Fatal(err)
	}
	tokens := ""
	sessions, err := m.TrialSessions(ctx, 0, base+1_000_000, base+100_000)
	for _, s := range sessions {
		tokens += fmt.Sprint(s.Arm, s.Tokens, " ")
	}
	if err != nil || !strings.Contains(tokens, "memory700 ") || strings.Contains(tokens, "900") {
		t.Errorf("tokens %q, %v", tokens, err)
	}
}

// TestForked: a session that begins without a start of its own is in the arm of the start before it, which was of the original; a
// session with a start, or of another project, is not.
func TestForked(t *testing.T) {
	ctx := t.Context()
	m := newMemory(t)
	if _, err := m.BeginTrial(ctx, memory.Trial{Share: 50}); err != nil {
		t.Fatal(err)
	}
	m.clock.at = base + 5
	trial, err := m.Trial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	start := func(session, source string, arm memory.Arm, at memory.Millis) {
		t.Helper()
		m.record(t, memory.Injection{Host: memory.HostClaudeCode, HostSessionID: session, ProjectPath: "/home/dev/shop", Where: "SessionStart", Source: source, Arm: arm, At: trial.StartedAt + at})
	}
	from := trial.StartedAt - base
	start("original", "startup", memory.ArmNothing, 1)
	m.enqueue(t, event(memory.KindPrompt, "original", "p1", from+2))
	start("original", "resume", memory.ArmNothing, 3)
	m.enqueue(t, event(memory.KindPrompt, "fork", "p2", from+4))
	start("own", "startup", memory.ArmMemory, 5)
	m.enqueue(t, event(memory.KindPrompt, "own", "p3", from+6))
	m.enqueue(t, event(memory.KindPrompt, "elsewhere", "p4", from+7, func(a *memory.Arrival) { a.Event.ProjectPath = "/home/dev/other" }))
	start("fork", "resume", memory.ArmNothing, 8)
	m.enqueue(t, event(memory.KindPrompt, "fork of it", "p5", from+9))
	for session, want := range map[string]memory.Arm{"fork": memory.ArmNothing, "fork of it": memory.ArmNothing, "original": "", "own": "", "elsewhere": "", "not there": ""} {
		if got, err := m.TrialOf(ctx, memory.HostClaudeCode, session); err != nil || got.Forked != want {
			t.Errorf("%s: %q, %v, want %q", session, got.Forked, err, want)
		}
	}
}
