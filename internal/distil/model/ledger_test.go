package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"claudemem/internal/memory"
)

// memoryLedger is a Ledger with the behaviour that a store's must have. A cap
// of 0 is none.
type memoryLedger struct {
	mu                 sync.Mutex
	dayCap, sessionCap int
	rows               []ledgerRow
	chargeErr          error
}

type ledgerRow struct {
	memory.ModelReservation
	charged *memory.ModelCharge
}

func newMemoryLedger(dayCap, sessionCap int) *memoryLedger {
	return &memoryLedger{dayCap: dayCap, sessionCap: sessionCap}
}

// counted returns the tokens that a row counts against the caps.
func (r ledgerRow) counted() int {
	if r.charged == nil || !r.charged.Known {
		return r.Input + r.Output
	}
	u := r.charged.Usage
	return u.Input + u.Output + u.Cached
}

func (l *memoryLedger) used(day string, session memory.SessionID) (ofDay, ofSession int) {
	for _, r := range l.rows {
		if r.At.Format(time.DateOnly) == day {
			ofDay += r.counted()
		}
		if r.Session == session {
			ofSession += r.counted()
		}
	}
	return ofDay, ofSession
}

func (l *memoryLedger) Reserve(ctx context.Context, r memory.ModelReservation) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ofDay, ofSession := l.used(r.At.Format(time.DateOnly), r.Session)
	wanted := r.Input + r.Output
	if l.dayCap > 0 && ofDay+wanted > l.dayCap {
		return 0, &memory.CapError{Which: memory.CapDay, Limit: l.dayCap, Used: ofDay, Wanted: wanted}
	}
	if l.sessionCap > 0 && ofSession+wanted > l.sessionCap {
		return 0, &memory.CapError{Which: memory.CapSession, Limit: l.sessionCap, Used: ofSession, Wanted: wanted}
	}
	l.rows = append(l.rows, ledgerRow{ModelReservation: r})
	return int64(len(l.rows)), nil
}

func (l *memoryLedger) Charge(ctx context.Context, id int64, s memory.ModelCharge) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.chargeErr != nil {
		return l.chargeErr
	}
	if l.rows[id-1].charged != nil {
		return fmt.Errorf("charge call %d: charged already", id)
	}
	l.rows[id-1].charged = &s
	return nil
}

// TestUnusableAnswerIsBooked checks that an answer which its request cannot use is a
// failure, is paid for, and has its own outcome in the ledger.
func TestUnusableAnswerIsBooked(t *testing.T) {
	book := newMemoryLedger(0, 0)
	p := NewBooked(&scripted{results: []any{memory.ModelAnswer{Text: "Sure, I will watch.", Usage: memory.ModelUsage{Input: 10, Output: 4}}}}, book, nil, nil)
	_, err := p.Complete(t.Context(), memory.ModelRequest{Prompt: "x", Usable: func(a memory.ModelAnswer) bool { return strings.Contains(a.Text, "<") }})
	var failed *memory.ModelError
	if !errors.Is(err, memory.ErrUnusable) || !errors.As(err, &failed) || failed.Class != memory.ClassGarbage || failed.Transient() {
		t.Errorf("got %v", err)
	}
	if c := book.rows[0].charged; c == nil || c.Outcome != memory.CallUnusable || c.Usage.Input != 10 || !c.Known {
		t.Errorf("charged %+v", c)
	}
}

func TestBookedCharges(t *testing.T) {
	unfree := &memory.ModelError{Class: memory.ClassTransient, Err: errors.New("the answer was cut off")}
	paidGarbage := &memory.ModelError{Class: memory.ClassGarbage, Usage: memory.ModelUsage{Input: 9, Output: 1}, Err: errors.New("empty")}
	reserved := InputTokens(testRequest()) + 1234
	tests := []struct {
		name    string
		result  any
		outcome string
		known   bool
		counted int
	}{
		{"success", fine, "ok", true, 160},
		{"success without usage", memory.ModelAnswer{Text: "1234567"}, "ok", true, InputTokens(testRequest()) + 2},
		{"login", failing(memory.ClassLogin, 0), "login", true, 0},
		{"rate limit of a provider of another kind", &memory.ModelError{Class: memory.ClassRateLimit, Err: errors.New("x")}, "rate_limit", true, 0},
		{"500", failing(memory.ClassTransient, 0), "transient", true, 0},
		{"cut", unfree, "transient", false, reserved},
		{"garbage that was paid for", paidGarbage, "garbage", true, 10},
		{"canceled", context.Canceled, "canceled", false, reserved},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ledger := newMemoryLedger(0, 0)
			s := &scripted{results: []any{tt.result}}
			s.during = func(context.Context) {
				if got := ledger.rows[0].counted(); got != reserved {
					t.Errorf("during the call %d tokens are counted, want the reservation of %d", got, reserved)
				}
			}
			now := conformanceNow
			p := NewBooked(s, ledger, func() time.Time { now = now.Add(time.Second); return now }, nil)
			answer, err := p.Complete(t.Context(), testRequest())
			if want, ok := tt.result.(memory.ModelAnswer); ok && answer != want || !ok && err != tt.result { //nolint:errorlint // the very value
				t.Errorf("got %+v, %v: the ledger must not change the answer", answer, err)
			}
			row := ledger.rows[0]
			if row.charged == nil || row.charged.Outcome != tt.outcome || row.charged.Known != tt.known || row.counted() != tt.counted {
				t.Fatalf("got %+v counting %d, want %s, known %v, %d", row.charged, row.counted(), tt.outcome, tt.known, tt.counted)
			}
			if row.charged.Duration != time.Second || row.charged.At != row.At.Add(time.Second) {
				t.Errorf("got %v at %v", row.charged.Duration, row.charged.At)
			}
			if row.Provider != "scripted" || row.Kind != "observation" || row.Session != 4711004711 || row.Run != "run-secret-name" || row.Output != 1234 {
				t.Errorf("got %+v", row.ModelReservation)
			}
			if row.charged.Priced != (tt.name == "success") {
				t.Errorf("got priced %v", row.charged.Priced)
			}
		})
	}
}

func TestBookedCaps(t *testing.T) {
	one := InputTokens(testRequest()) + 1234
	tests := []struct {
		name         string
		day, session int
		which        memory.TokenCap
	}{
		{"day", one - 1, 0, memory.CapDay},
		{"session", 0, one - 1, memory.CapSession},
		{"both", one - 1, one - 1, memory.CapDay},
		{"exactly", one, one, ""},
		{"none", 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &scripted{results: []any{fine}}
			ledger := newMemoryLedger(tt.day, tt.session)
			_, err := NewRetry(NewBooked(s, ledger, nil, nil), time.Now).Complete(t.Context(), testRequest())
			if tt.which == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkFailure(t, err, "scripted", memory.ClassQuota)
			var e *memory.CapError
			if !errors.As(err, &e) || e.Which != tt.which {
				t.Errorf("got %v, want the %s cap", err, tt.which)
			}
			if len(s.requests) != 0 || len(ledger.rows) != 0 {
				t.Errorf("got %d calls, %d rows, want none", len(s.requests), len(ledger.rows))
			}
		})
	}
}

// brokenLedger cannot be written.
type brokenLedger struct{ err error }

func (l brokenLedger) Reserve(context.Context, memory.ModelReservation) (int64, error) {
	return 0, l.err
}
func (l brokenLedger) Charge(context.Context, int64, memory.ModelCharge) error { return l.err }

func TestBookedWhenLedgerFails(t *testing.T) {
	s := &scripted{results: []any{fine}}
	full := errors.New("disk full")
	_, err := NewBooked(s, brokenLedger{full}, nil, nil).Complete(t.Context(), testRequest())
	checkFailure(t, err, "scripted", memory.ClassTransient)
	if !errors.Is(err, full) || len(s.requests) != 0 {
		t.Errorf("got %v, %d calls: what cannot be booked is not asked", err, len(s.requests))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewBooked(s, brokenLedger{full}, nil, nil).Complete(ctx, testRequest()); err != context.Canceled { //nolint:errorlint // the very value
		t.Errorf("got %v", err)
	}
}

func TestBookedKeepsAnswer(t *testing.T) {
	ledger := newMemoryLedger(0, 0)
	ledger.chargeErr = errors.New("disk full")
	var logged bytes.Buffer
	p := NewBooked(&scripted{results: []any{fine}}, ledger, nil, slog.New(slog.NewTextHandler(&logged, nil)))
	if answer, err := p.Complete(t.Context(), testRequest()); err != nil || answer != fine {
		t.Errorf("got %+v, %v: an answer that was paid for is kept", answer, err)
	}
	if !strings.Contains(logged.String(), "disk full") || strings.Contains(logged.String(), "observed_from") {
		t.Errorf("got log %s", &logged)
	}
	if ledger.rows[0].counted() != InputTokens(testRequest())+1234 {
		t.Error("the reservation should go on counting")
	}
}

// TestBookedChargesCanceledCall: a call is charged although its context has ended.
func TestBookedChargesCanceledCall(t *testing.T) {
	ledger := newMemoryLedger(0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{results: []any{fine}, during: func(context.Context) { cancel() }}
	if _, err := NewBooked(s, ledger, nil, nil).Complete(ctx, testRequest()); err != nil {
		t.Fatal(err)
	}
	if ledger.rows[0].charged == nil {
		t.Error("not charged")
	}
}

// TestBookedBounds: a request without a limit of the answer gets one.
func TestBookedBounds(t *testing.T) {
	ledger := newMemoryLedger(0, 0)
	s := &scripted{results: []any{fine}}
	request := testRequest()
	request.MaxTokens = 0
	if _, err := NewBooked(s, ledger, nil, nil).Complete(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if ledger.rows[0].Output != defaultMaxTokens || s.requests[0].MaxTokens != defaultMaxTokens {
		t.Errorf("got %d reserved, %d asked", ledger.rows[0].Output, s.requests[0].MaxTokens)
	}
}

// TestBookedCrash: a call that never ended counts with its reservation, and the
// next process, which opens the same ledger, counts it as well.
func TestBookedCrash(t *testing.T) {
	one := InputTokens(testRequest()) + 1234
	ledger := newMemoryLedger(2*one, 0)
	func() {
		defer func() { _ = recover() }()
		s := &scripted{results: []any{fine}, during: func(context.Context) { panic("killed") }}
		_, _ = NewBooked(s, ledger, nil, nil).Complete(t.Context(), testRequest())
	}()
	next := NewBooked(&scripted{results: []any{context.Canceled}}, ledger, nil, nil)
	if _, err := next.Complete(t.Context(), testRequest()); capped(err) {
		t.Errorf("got %v, want room for one more", err)
	}
	if _, err := next.Complete(t.Context(), testRequest()); !capped(err) {
		t.Errorf("got %v, want the cap", err)
	}
}

func capped(err error) bool {
	var e *memory.CapError
	return errors.As(err, &e)
}

// TestCapHolds: concurrent calls never exceed the cap as long as no call costs
// more than its reservation.
func TestCapHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1000, 30000).Draw(rt, "cap")
		calls := rapid.IntRange(1, 30).Draw(rt, "calls")
		costs := rapid.SliceOfN(rapid.IntRange(0, 1234), calls, calls).Draw(rt, "costs")
		ledger := newMemoryLedger(limit, 0)
		synctest.Test(t, func(t *testing.T) {
			var all sync.WaitGroup
			for i, cost := range costs {
				all.Go(func() {
					var result any = memory.ModelAnswer{Text: "x", Usage: memory.ModelUsage{Input: 50, Output: cost}}
					if cost%7 == 0 {
						result = context.Canceled
					}
					s := &scripted{results: []any{result}, during: func(context.Context) { time.Sleep(time.Duration(i*cost) * time.Millisecond) }}
					_, err := NewBooked(s, ledger, func() time.Time { return conformanceNow }, nil).Complete(t.Context(), testRequest())
					if err != nil && !capped(err) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					ledger.mu.Lock()
					defer ledger.mu.Unlock()
					if used, _ := ledger.used(conformanceNow.Format(time.DateOnly), 0); used > limit {
						t.Errorf("%d used of %d", used, limit)
					}
				})
			}
			all.Wait()
		})
	})
}

// TestInputTokens: the estimate is above the usual one for every script, because a
// reservation has to be an upper bound.
func TestInputTokens(t *testing.T) {
	for _, text := range []string{"", "plain English words", "func main() { fmt.Println(\"<x>\") }", "日本語のテキスト", "Привет, мир", "🎉🎉🎉"} {
		request := memory.ModelRequest{Prompt: text, System: text, History: []memory.ModelMessage{{Role: "user", Text: text}}}
		if got, usual := InputTokens(request), 3*memory.EstimateTokens(text); got < usual {
			t.Errorf("%q: got %d, want at least %d", text, got, usual)
		}
	}
}

// TestStack: retry, limit, ledger and a real provider together. Each attempt has
// its row, and the books equal the other side's count.
func TestStack(t *testing.T) {
	s := startStandIn(t, reply{status: 529, body: messagesDialect.error(529, "overloaded_error", "Overloaded")})
	ledger := newMemoryLedger(100_000, 0)
	p := NewRetry(NewLimit(NewBooked(open(t, Config{Provider: "anthropic", BaseURL: s.URL}), ledger, nil, nil), 100), time.Now)
	p.sleep = func(context.Context, time.Duration) error { return nil }
	_, err := p.Complete(t.Context(), testRequest())
	checkFailure(t, err, "anthropic", memory.ClassTransient)
	if s.count() != 3 || len(ledger.rows) != 3 {
		t.Errorf("got %d requests, %d rows, want 3", s.count(), len(ledger.rows))
	}
	if used, _ := ledger.used(time.Now().Format(time.DateOnly), 0); used != 0 {
		t.Errorf("got %d tokens for refused calls", used)
	}
}
