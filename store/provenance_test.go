package store_test

import (
	"context"
	"testing"

	"claudemem"
)

// TestProvenanceIsKept: the mark of an event comes back with its claim, that of a record
// with the record.
func TestProvenanceIsKept(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	marked := event(claudemem.KindTool, "s", "page", 1)
	marked.Provenance = claudemem.FromWeb
	m.enqueue(t, marked, event(claudemem.KindTool, "s", "unmarked", 2))
	claim := m.claim(t, 1, 0)
	if len(claim.Events) != 2 || claim.Events[0].Provenance != claudemem.FromWeb || claim.Events[1].Provenance != "" {
		t.Fatalf("claimed %+v", claim.Events)
	}
	o := observation("A page says so")
	o.Provenance = claudemem.ProvenanceOf(claim.Events)
	if err := m.Confirm(ctx, claim, claudemem.Outcome{Observations: []claudemem.Observation{o}}); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Observation(ctx, 1); err != nil || got.Provenance != claudemem.FromWeb {
		t.Errorf("got %q %v, want %q", got.Provenance, err, claudemem.FromWeb)
	}
}

// TestLearningTellsProvenance: a learning says what it was drawn from, the most trusted of
// what has said it; a person's words are a person's.
func TestLearningTellsProvenance(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	const content = "Run the linter before each commit"
	check := func(want claudemem.Provenance) {
		t.Helper()
		list, err := m.Learnings(ctx, claudemem.LearningQuery{})
		if err != nil || len(list) != 1 || list[0].Provenance != want {
			t.Errorf("got %+v %v, want one from %q", list, err, want)
		}
	}
	for _, step := range []struct{ from, want claudemem.Provenance }{
		{claudemem.FromAgent, claudemem.FromAgent}, {claudemem.FromProject, claudemem.FromAgent}, {claudemem.FromUser, claudemem.FromUser},
	} {
		outcome := claudemem.Outcome{Learnings: []claudemem.Learning{{Category: "workflow", Content: content, Confidence: .5, Provenance: step.from}}}
		if err := m.Confirm(ctx, claimed(t, m, "s"), outcome); err != nil {
			t.Fatal(err)
		}
		check(step.want)
	}
	m = newMemory(t)
	if err := m.Confirm(ctx, claimed(t, m, "s"), claudemem.Outcome{Learnings: []claudemem.Learning{{Category: "workflow", Content: content, Confidence: .5, Provenance: claudemem.FromAgent}}}); err != nil {
		t.Fatal(err)
	}
	other := "Run the linter before each push"
	if _, err := m.EditLearning(ctx, 1, claudemem.LearningEdit{Content: &other}); err != nil {
		t.Fatal(err)
	}
	check(claudemem.FromUser)
}
