package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"claudemem/internal/memory"
)

// TestSetsOfFarNumbers: a row with a number far beyond the others, as a damaged file may have,
// takes no memory for all those between; what is found is the same.
func TestSetsOfFarNumbers(t *testing.T) {
	ctx := context.Background()
	for _, id := range []int64{1 << 55, -7} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			m := filled(t)
			m.tampered = true
			query := memory.Query{Project: "shop"}
			kinds := []memory.RecordKind{memory.RecordObservation}
			want, err := m.CountRecords(ctx, query, kinds)
			if err != nil || want == 0 {
				t.Fatal(want, err)
			}
			rawExec(t, m.path, "UPDATE observations SET id = ? WHERE id = 3", id)
			if got, err := m.CountRecords(ctx, query, kinds); err != nil || got != want {
				t.Errorf("counted %d, %v, want %d", got, err, want)
			}
			m.reopen(t)
			refs, err := m.FilterRecords(ctx, query, kinds, memory.OrderOldest)
			if err != nil || len(refs) != want || !slices.Contains(refs, ref("observation", id)) {
				t.Errorf("found %v, %v, want %d with number %d", refs, err, want, id)
			}
		})
	}
}

// TestCountsBesideWrites: counts by several goroutines while records come are never more than
// there are, and right at the end.
func TestCountsBesideWrites(t *testing.T) {
	ctx := context.Background()
	m := newMemory(t)
	kinds := []memory.RecordKind{memory.RecordObservation}
	queries := []memory.Query{
		{Types: []memory.ObservationType{memory.TypeBugfix}},
		{Concepts: []string{"gotcha", "pattern"}, Types: []memory.ObservationType{memory.TypeBugfix}},
		{Files: []string{"src"}},
	}
	const records = 40
	done := make(chan struct{})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			last := 0
			for {
				select {
				case <-done:
					return
				default:
				}
				n, err := m.CountRecords(ctx, queries[i%len(queries)], kinds)
				if err != nil || n < last || n > records {
					t.Errorf("counted %d after %d, %v", n, last, err)
					return
				}
				last = n
			}
		})
	}
	for n := range records {
		o := observation(fmt.Sprintf("Observation %d of this test", n*7919))
		o.Type, o.Concepts, o.Files = memory.TypeBugfix, []string{"gotcha"}, []memory.FileRef{{Path: "src/cart.go", Role: memory.FileRead}}
		r := m.enqueue(t, event(memory.KindTool, fmt.Sprint("s", n), fmt.Sprint("t", n), memory.Millis(n)))
		if err := m.Confirm(ctx, m.claim(t, r[0].Session, 0), memory.Outcome{Observations: []memory.Observation{o}}); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	group.Wait()
	for _, q := range queries {
		if n, err := m.CountRecords(ctx, q, kinds); err != nil || n != records {
			t.Errorf("%+v: counted %d, %v, want %d", q, n, err, records)
		}
	}
}
