package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claudemem/internal/memory"
)

// scripted is a Provider that answers with its results in order, the last one
// for ever, and keeps the requests.
type scripted struct {
	mu       sync.Mutex
	results  []any // memory.ModelAnswer or error
	requests []memory.ModelRequest
	during   func(context.Context) // runs in every call
	ended    []string
	closed   int
}

func (s *scripted) Name() string      { return "scripted" }
func (s *scripted) EndRun(run string) { s.ended = append(s.ended, run) }
func (s *scripted) Close() error      { s.closed++; return nil }

func (s *scripted) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	s.mu.Lock()
	s.requests = append(s.requests, request)
	result := s.results[0]
	if len(s.results) > 1 {
		s.results = s.results[1:]
	}
	s.mu.Unlock()
	if s.during != nil {
		s.during(ctx)
	}
	if err, ok := result.(error); ok {
		return memory.ModelAnswer{}, err
	}
	return result.(memory.ModelAnswer), nil
}

func failing(class memory.ErrorClass, wait time.Duration) error {
	return &memory.ModelError{Provider: "scripted", Class: class, Wait: wait, Free: true, Err: errors.New("as the script says")}
}

var fine = memory.ModelAnswer{Text: "fine", Model: "claude-haiku-5-5", Usage: memory.ModelUsage{Input: 100, Output: 10, Cached: 50}}

func TestDecoratorsPassThrough(t *testing.T) {
	s := &scripted{results: []any{fine}}
	p := NewRetry(NewLimit(NewBooked(s, newMemoryLedger(0, 0), nil, nil), 60), time.Now)
	if _, err := p.Complete(t.Context(), testRequest()); err != nil {
		t.Fatal(err)
	}
	p.EndRun("r1")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Name() != "scripted" || !slices.Equal(s.ended, []string{"r1"}) || s.closed != 1 {
		t.Errorf("got name %s, ended %v, closed %d", p.Name(), s.ended, s.closed)
	}
}

func TestRetry(t *testing.T) {
	transient := failing(memory.ClassTransient, 0)
	tests := []struct {
		name    string
		results []any
		calls   int
		pauses  []time.Duration
		class   memory.ErrorClass
		took    time.Duration // each further call
	}{
		{"success", []any{fine}, 1, nil, "", 0},
		{"once", []any{transient, fine}, 2, []time.Duration{250 * time.Millisecond}, "", 0},
		{"for ever", []any{transient}, 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}, memory.ClassTransient, 0},
		{"asked to wait", []any{failing(memory.ClassTransient, 3*time.Second), fine}, 2, []time.Duration{3 * time.Second}, "", 0},
		{"asked for too long", []any{failing(memory.ClassTransient, 11*time.Second), fine}, 1, nil, memory.ClassTransient, 0},
		{"over the budget", []any{failing(memory.ClassTransient, 9*time.Second)}, 2, []time.Duration{9 * time.Second}, memory.ClassTransient, 15 * time.Second},
		{"rate limit", []any{failing(memory.ClassRateLimit, time.Second), fine}, 1, nil, memory.ClassRateLimit, 0},
		{"quota", []any{failing(memory.ClassQuota, 0)}, 1, nil, memory.ClassQuota, 0},
		{"login", []any{failing(memory.ClassLogin, 0)}, 1, nil, memory.ClassLogin, 0},
		{"too long", []any{failing(memory.ClassPromptTooLong, 0)}, 1, nil, memory.ClassPromptTooLong, 0},
		{"garbage", []any{failing(memory.ClassGarbage, 0)}, 1, nil, memory.ClassGarbage, 0},
		{"then another", []any{transient, failing(memory.ClassLogin, 0)}, 2, []time.Duration{250 * time.Millisecond}, memory.ClassLogin, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &scripted{results: tt.results}
			now := conformanceNow
			var pauses []time.Duration
			p := NewRetry(s, func() time.Time { return now })
			p.jitter = func() float64 { return 0 }
			p.sleep = func(_ context.Context, d time.Duration) error {
				pauses, now = append(pauses, d), now.Add(d+tt.took)
				return nil
			}
			answer, err := p.Complete(t.Context(), testRequest())
			if len(s.requests) != tt.calls || !slices.Equal(pauses, tt.pauses) {
				t.Errorf("got %d calls, pauses %v, want %d, %v", len(s.requests), pauses, tt.calls, tt.pauses)
			}
			if tt.class == "" {
				if err != nil || answer != fine {
					t.Errorf("got %+v, %v", answer, err)
				}
				return
			}
			checkFailure(t, err, "scripted", tt.class)
		})
	}
}

func TestRetryStopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{results: []any{failing(memory.ClassTransient, 5*time.Second)}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := NewRetry(s, time.Now).Complete(ctx, testRequest())
		if !errors.Is(err, context.Canceled) || len(s.requests) != 1 {
			t.Errorf("got %v after %d calls", err, len(s.requests))
		}
		// A pause that would outlast the caller's deadline is not begun.
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err = NewRetry(s, time.Now).Complete(ctx, testRequest())
		checkFailure(t, err, "scripted", memory.ClassTransient)
		if time.Since(start) != 0 {
			t.Errorf("waited %v", time.Since(start))
		}
	})
}

func TestRetryJitter(t *testing.T) {
	p := NewRetry(&scripted{}, time.Now)
	p.jitter = func() float64 { return 0.999 }
	for try, want := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		if got := p.pause(try + 1); got > want || got < want*99/100 {
			t.Errorf("pause %d: got %v, want almost %v", try+1, got, want)
		}
	}
	if got := p.pause(1000); got > 10*time.Second {
		t.Errorf("got %v", got)
	}
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var order []string
		var at []time.Duration
		s := &scripted{results: []any{fine}}
		p := NewLimit(s, 3)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				request := testRequest()
				request.Run = fmt.Sprint(i)
				if _, err := p.Complete(t.Context(), request); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order, at = append(order, request.Run), append(at, time.Since(start))
			})
			synctest.Wait() // so that they queue in order
		}
		all.Wait()
		if got := strings.Join(order, ""); got != "01234567" {
			t.Errorf("got order %s, want that of arrival", got)
		}
		want := []time.Duration{0, 0, 0, time.Minute, time.Minute, time.Minute, 2 * time.Minute, 2 * time.Minute}
		if !slices.Equal(at, want) {
			t.Errorf("got %v, want %v", at, want)
		}
	})
}

func TestLimitWaiterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := NewLimit(&scripted{results: []any{fine}}, 1)
		ask := func(ctx context.Context) (time.Duration, error) {
			_, err := p.Complete(ctx, testRequest())
			return time.Since(start), err
		}
		if at, err := ask(t.Context()); at != 0 || err != nil {
			t.Fatal(at, err)
		}
		// Two that give up, the one with the turn and the one behind it, and one that stays.
		impatient, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if at, err := ask(impatient); at != 10*time.Second || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, %v", at, err)
				}
			})
		}
		synctest.Wait()
		all.Go(func() {
			if at, err := ask(t.Context()); at != time.Minute || err != nil {
				t.Errorf("got %v, %v: those who left should have taken nothing", at, err)
			}
		})
		all.Wait()
	})
}

func TestLimitClockSetBack(t *testing.T) {
	now := conformanceNow
	var slept time.Duration
	p := NewLimit(&scripted{results: []any{fine}}, 1).(*Limit)
	p.now = func() time.Time { return now }
	p.sleep = func(_ context.Context, d time.Duration) error {
		slept = d
		return nil
	}
	for range 2 {
		if _, err := p.Complete(t.Context(), testRequest()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-10 * time.Hour)
	}
	if slept != time.Minute {
		t.Errorf("slept %v, want a minute", slept)
	}
}

func TestNoLimit(t *testing.T) {
	s := &scripted{results: []any{fine}}
	for _, n := range []int{0, -1} {
		if got := NewLimit(s, n); got != Provider(s) {
			t.Errorf("limit %d: got %T", n, got)
		}
	}
}

func TestPrices(t *testing.T) {
	var lists []struct {
		AsOf string `json:"as_of"`
	}
	if err := json.Unmarshal(pricesJSON, &lists); err != nil || len(lists) == 0 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	for _, list := range lists {
		if _, err := time.Parse(time.DateOnly, list.AsOf); err != nil {
			t.Errorf("as_of %q is no day", list.AsOf)
		}
	}
	for name, price := range prices() {
		if price.Input <= 0 || price.Output < price.Input || price.Cached != nil && *price.Cached > price.Input || name != strings.ToLower(name) {
			t.Errorf("%s: %+v", name, price)
		}
	}
	for _, v := range vendors {
		if _, ok := PriceOf(v.defaultModel); !ok && v.keyNeeded {
			t.Errorf("no price for %s's default model %s", v.name, v.defaultModel)
		}
	}
	usage := memory.ModelUsage{Input: 1_000_000, Cached: 2_000_000, Output: 100_000}
	tests := []struct {
		model string
		want  float64
		known bool
	}{
		{"claude-haiku-5-5", 0.10 + 0.02 + 0.05, true},
		{"claude-haiku-4-5-20251001", 1 + 0.20 + 0.50, true},
		{"Claude-Haiku-4-5", 1 + 0.20 + 0.50, true},
		{"openai/gpt-5.6-luna", 0.20 + 0.04 + 0.12, true},
		{"gpt-5.4-mini-2026-03-17", 0.75 + 0.15 + 0.45, true},
		{"gemini-3.5-flash-lite", 0.30 + 0.60 + 0.25, true}, // cached at the full price: unknown
		{"qwen2.5-coder:7b", 0, false},
		{"claude-haiku-5-5-x", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		got, known := Cost(tt.model, usage)
		if known != tt.known || got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("Cost(%q) = %v, %v, want %v, %v", tt.model, got, known, tt.want, tt.known)
		}
	}
}
