package queue_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/queue"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// BenchmarkWakeUp measures the time from the receipt of an event to the moment
// that a free observer has heard of it, and until it has claimed it.
func BenchmarkWakeUp(b *testing.B) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	q := queue.New(s, queue.Options{})
	if err := q.Open(ctx); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = q.Close() }()

	type reached struct{ heard, claimed time.Time }
	done := make(chan reached)
	life, end := context.WithCancel(ctx)
	defer end()
	go func() {
		for {
			select {
			case <-life.Done():
				return
			case <-q.Ready():
			}
			heard := time.Now()
			backlog, err := q.Backlog(ctx)
			if err != nil || len(backlog) == 0 {
				continue // the signal of a confirm
			}
			claim, err := q.Claim(ctx, backlog[0].Session.ID, 0)
			if err != nil {
				b.Error(err)
				return
			}
			claimed := time.Now()
			if err := q.Confirm(ctx, claim, memory.Outcome{}); err != nil {
				b.Error(err)
				return
			}
			done <- reached{heard, claimed}
		}
	}()
	payload := fmt.Sprintf(`{"stdout":%q}`, strings.Repeat("x", 2300))
	var heard, claimed []time.Duration
	for i := range b.N {
		_, err := q.Enqueue(ctx, memory.Arrival{Key: fmt.Sprint("k", i), Event: memory.Event{
			Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: "s", ToolName: "Bash", ToolResponse: []byte(payload),
		}})
		if err != nil {
			b.Fatal(err)
		}
		durable := time.Now()
		r := <-done
		heard = append(heard, r.heard.Sub(durable))
		claimed = append(claimed, r.claimed.Sub(durable))
	}
	slices.Sort(heard)
	slices.Sort(claimed)
	b.ReportMetric(float64(heard[len(heard)/2].Microseconds()), "µs-heard-p50")
	b.ReportMetric(float64(heard[len(heard)*99/100].Microseconds()), "µs-heard-p99")
	b.ReportMetric(float64(claimed[len(claimed)/2].Microseconds()), "µs-claimed-p50")
	b.ReportMetric(float64(claimed[len(claimed)*99/100].Microseconds()), "µs-claimed-p99")
}
