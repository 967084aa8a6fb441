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
