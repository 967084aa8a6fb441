package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// benchPayload is the size of the median tool event in bytes.
const benchPayload = 2400

func benchArrival(session, n int) memory.Arrival {
	output, _ := json.Marshal(map[string]string{"stdout": strings.Repeat("ok  \tclaudemem/store\t0.412s\n", benchPayload/27)})
	id := fmt.Sprintf("%016x%016x", 1_700_000_000_000_000_000+n, n)
	host := fmt.Sprintf("5b1d5a52-77a3-4d4b-9a53-%012d", session)
	tool := fmt.Sprintf("toolu_%024d", n)
	return memory.Arrival{
		Key: "tool:claude-code:" + host + ":" + tool,
		Event: memory.Event{
			DeliveryID: id, Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: host,
			PromptID: "44675fdb-0210-4f57-b4a3-404f3225d2fd", OccurredAt: memory.Millis(1_700_000_000_000 + n),
			ProjectPath: "/home/dev/project", Cwd: "/home/dev/project", ToolName: "Bash", ToolUseID: tool,
			ToolInput: json.RawMessage(`{"command":"go test ./..."}`), ToolResponse: output,
		},
		ReceivedAt: memory.Millis(1_700_000_000_000 + n),
	}
}

// BenchmarkEnqueue measures durable events a second. Each writer is a session
// that waits for its receipt before it sends the next event, as a hook does.
func BenchmarkEnqueue(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s, err := store.Open(context.Background(), filepath.Join(b.TempDir(), "memory.db"), store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			arrivals := make([]memory.Arrival, b.N)
			for i := range arrivals {
				arrivals[i] = benchArrival(i%writers, i)
			}
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range writers {
				group.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= b.N {
							return
						}
						if _, err := s.Enqueue(context.Background(), arrivals[i]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkClaimConfirm measures how fast a backlog in turns of 20 events is
// worked off, with an observation and a summary for each turn.
func BenchmarkClaimConfirm(b *testing.B) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const turn = 20
	var session memory.SessionID
	for i := 0; i < b.N; i += turn {
		var arrivals []memory.Arrival
		for j := i; j < i+turn; j++ {
			arrivals = append(arrivals, benchArrival(0, j))
		}
		receipts, err := s.Enqueue(ctx, arrivals...)
		if err != nil {
			b.Fatal(err)
		}
		session = receipts[0].Session
	}
	b.ResetTimer()
	for i := 0; i < b.N; i += turn {
		claim, err := s.Claim(ctx, fmt.Sprint("claim", i), session, turn, 1)
		if err != nil || len(claim.Events) != turn {
			b.Fatal(len(claim.Events), err)
		}
		if err := s.Confirm(ctx, claim, memory.Outcome{
			Observations: []memory.Observation{{
				Type: memory.TypeBugfix, Title: fmt.Sprintf("Fixed the parser %d", i), Narrative: strings.Repeat("n", 500),
				Facts: []string{"one", "two"}, Concepts: []string{"gotcha"},
				Files: []memory.FileRef{{Path: "parser.go", Role: memory.FileModified}}, PromptNumber: i,
			}},
			Summaries: []memory.Summary{{Request: "fix it", Completed: "fixed", PromptNumber: i}},
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead measures what a context block reads, of a memory with 100,000
// observations in 2,000 sessions of one project.
func BenchmarkRead(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "memory.db")
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	const sessions, each = 2000, 50
	for i := range sessions {
		receipts, err := s.Enqueue(ctx, benchArrival(i, i))
		if err != nil {
			b.Fatal(err)
		}
		claim, err := s.Claim(ctx, fmt.Sprint("c", i), receipts[0].Session, 0, 1)
		if err != nil {
			b.Fatal(err)
		}
		outcome := memory.Outcome{Summaries: []memory.Summary{{Request: "asked", Completed: "done"}}}
		for j := range each {
			n := i*each + j
			outcome.Observations = append(outcome.Observations, memory.Observation{
				Type: memory.TypeChange, Title: fmt.Sprintf("Change %d of the module", n), Narrative: strings.Repeat("n", 400),
				Facts: []string{"one fact", "another fact"}, Concepts: []string{"what-changed"},
				Files: []memory.FileRef{{Path: fmt.Sprintf("src/m%d/file%d.go", n%200, n%5000), Role: memory.FileModified}},
				// A day apart, so that each is not compared with all the others.
				CreatedAt: memory.Millis(1_400_000_000_000 + n*3_600_000),
			})
		}
		if err := s.Confirm(ctx, claim, outcome); err != nil {
			b.Fatal(err)
		}
	}
	reads := []struct {
		name string
		read func() error
	}{
		{"newest10", func() error {
			_, err := s.Observations(ctx, memory.Query{Project: "/home/dev/project", Limit: 10})
			return err
		}},
		{"recent10", func() error {
			_, err := s.RecentSessions(ctx, "/home/dev/project", 10)
			return err
		}},
		{"totals", func() error {
			_, err := s.Totals(ctx, "/home/dev/project")
			return err
		}},
		{"path", func() error {
			_, err := s.Observations(ctx, memory.Query{Files: []string{"src/m7/file7.go"}, Limit: 20})
			return err
		}},
		{"concept", func() error {
			_, err := s.Observations(ctx, memory.Query{Project: "project", Concepts: []string{"what-changed"}, Limit: 20})
			return err
		}},
		{"books", func() error {
			_, err := s.Books(ctx)
			return err
		}},
		{"open", func() error {
			r, err := store.OpenReadOnly(ctx, path)
			if err != nil {
				return err
			}
			return r.Close()
		}},
	}
	for _, r := range reads {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if err := r.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
