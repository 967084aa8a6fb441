package observer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"claudemem/internal/distil/model"
	"claudemem/internal/distil/observer"
	"claudemem/internal/memory"
)

// TestLongSession: 300 events in one session, and 120 where each of them costs more. The size of requests is bounded, the
// thread is kept, and it costs a tenth of re-sending everything.
func TestLongSession(t *testing.T) {
	if testing.Short() {
		t.Skip("measures the requests of 1,260 events")
	}
	tests := []struct {
		name       string
		events     int
		turn, size int // events of a turn, bytes of each one's output
		keeps      bool
		schedule   observer.Options
		mean       int // most bytes of a request on average; 0 is not looked at
	}{
		{"unbatched", 120, 6, 2400, false, observer.Options{}, 16 << 10},
		{"turns of 6", 300, 6, 1000, false, observer.Options{BatchingEnabled: true, BatchMaxSize: 20}, 16 << 10},
		{"turns of 6, kept by the provider", 300, 6, 1000, true, observer.Options{BatchingEnabled: true, BatchMaxSize: 20}, 20 << 10},
		{"turns of 3", 300, 3, 1500, false, observer.Options{BatchingEnabled: true, BatchMaxSize: 20}, 16 << 10},
		{"turns of 20 full events", 120, 20, 20_000, false, observer.Options{BatchingEnabled: true, BatchMaxSize: 20}, 0},
		{"turns of 20 full events, kept by the provider", 120, 20, 20_000, true, observer.Options{BatchingEnabled: true, BatchMaxSize: 20}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{name: "p"}
				if tt.keeps {
					p = keepingProvider("p")
				}
				r := startRig(t, chooseAlways(t, p, tt.keeps), nil, tt.schedule)
				n := 0
				for n < tt.events {
					r.together(func() {
						r.prompt("a")
						for range min(tt.turn, tt.events-n) {
							r.edit("a", fmt.Sprintf("src/part%03d/token_store_%03d.go", n, n), tt.size)
							n++
						}
						r.stop("a")
					})
					r.waitIdle()
				}
				if b := r.books(); b.Processed != b.Received {
					t.Fatalf("books: %+v, want all processed", b)
				}
				all := p.all()
				total, naive, shown := 0, 0, 0
				runs := map[string]bool{}
				for i, q := range all {
					if p.sizes[i] > 40<<10 {
						t.Errorf("request %d has %d bytes", i, p.sizes[i])
					}
					total += p.sizes[i]
					runs[q.Run] = true
					// The whole conversation goes along again.
					naive += model.InputTokens(memory.ModelRequest{System: q.System, Prompt: q.Prompt}) + shown
					shown += model.InputTokens(memory.ModelRequest{Prompt: q.Prompt}) + memory.EstimateTokens(usualAnswer(q))
				}
				mean := total / len(all)
				t.Logf("%d requests in %d runs, mean %d bytes, largest %d, %d input tokens, re-sending all %d (%.1f times)",
					len(all), len(runs), mean, slices.Max(p.sizes), p.input, naive, float64(naive)/float64(p.input))
				if tt.mean > 0 && mean > tt.mean {
					t.Errorf("mean %d bytes, want at most %d", mean, tt.mean)
				}
				if len(runs) < 2 {
					t.Error("the run was never compacted")
				}
				last := all[len(all)-1]
				text := last.Prompt
				for _, m := range last.History {
					text += m.Text
				}
				for _, name := range []string{"src/part005/token_store_005.go", fmt.Sprintf("token_store_%03d.go", tt.events-10)} {
					if !strings.Contains(text, name) {
						t.Errorf("%s is not in the last request", name)
					}
				}
			})
		})
	}
}

func TestDigestKeepsNames(t *testing.T) {
	if testing.Short() {
		t.Skip("290 requests of one run")
	}
	synctest.Test(t, func(t *testing.T) {
		p := &scripted{name: "p", do: func(int, memory.ModelRequest) (memory.ModelAnswer, error) {
			return memory.ModelAnswer{Text: "<observations/>"}, nil
		}}
		r := startRig(t, chooseAlways(t, p, false), nil, observer.Options{})
		r.together(func() {
			r.prompt("a")
			for n := range 290 {
				r.edit("a", fmt.Sprintf("src/part%03d/token_store_%03d.go", n, n), 600)
			}
			r.stop("a")
		})
		r.waitIdle()
		all := p.all()
		if len(all) != 291 {
			t.Fatalf("%d calls, want 291", len(all))
		}
		text := all[289].Prompt
		for _, m := range all[289].History {
			text += m.Text
		}
		if !strings.Contains(text, "src/part005/token_store_005.go") {
			t.Error("the file of event 5 is not in the request at event 290")
		}
	})
}
