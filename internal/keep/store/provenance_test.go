package store_test

import (
	"context"
	"testing"

	"claudemem/internal/memory"
)

// TestProvenanceIsKept: the mark of an event comes back with its claim, that of a record
// with the record.
func TestProvenanceIsKept(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	marked := event(memory.KindTool, "s", "page", 1)
	marked.Provenance = memory.FromWeb
	m.enqueue(t, marked, event(memory.KindTool, "s", "unmarked", 2))
	claim := m.claim(t, 1, 0)
	if len(claim.Events) != 2 || claim.Events[0].Provenance != memory.FromWeb || claim.Events[1].Provenance != "" {
		t.Fatalf("claimed %+v", claim.Events)
	}
	o := observation("A page says so")
	o.Provenance = memory.ProvenanceOf(claim.Events)
	if err := m.Confirm(ctx, claim, memory.Outcome{Observations: []memory.Observation{o}}); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Observation(ctx, 1); err != nil || got.Provenance != memory.FromWeb {
		t.Errorf("got %q %v, want %q", got.Provenance, err, memory.FromWeb)
	}
}

// TestLearningTellsProvenance: a learning says what it was drawn from, the most trusted of
// what has said it; a person's words are a person's.
func TestLearningTellsProvenance(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	const content = "Run the linter before each commit"
	check := func(want memory.Provenance) {
		t.Helper()
		list, err := m.Learnings(ctx, memory.LearningQuery{})
		if err != nil || len(list) != 1 || list[0].Provenance != want {
			t.Errorf("got %+v %v, want one from %q", list, err, want)
		}
	}
	for _, step := range []struct{ from, want memory.Provenance }{
		{memory.FromAgent, memory.FromAgent}, {memory.FromProject, memory.FromAgent}, {memory.FromUser, memory.FromUser},
	} {
		outcome := memory.Outcome{Learnings: []memory.Learning{{Category: "workflow", Content: content, Confidence: .5, Provenance: step.from}}}
		if err := m.Confirm(ctx, claimed(t, m, "s"), outcome); err != nil {
			t.Fatal(err)
		}
		check(step.want)
	}
	m = newMemory(t)
	if err := m.Confirm(ctx, claimed(t, m, "s"), memory.Outcome{Learnings: []memory.Learning{{Category: "workflow", Content: content, Confidence: .5, Provenance: memory.FromAgent}}}); err != nil {
		t.Fatal(err)
	}
	other := "Run the linter before each push"
	if _, err := m.EditLearning(ctx, 1, memory.LearningEdit{Content: &other}); err != nil {
		t.Fatal(err)
	}
	check(memory.FromUser)
}
