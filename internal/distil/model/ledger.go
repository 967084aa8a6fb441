package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Ledger records model calls and enforces the token caps. accounts.Ledger implements it, and
// memoryLedger in the tests, which need no database.
type Ledger interface {
	// Reserve checks the caps and commits a row for a call that is about to be made,
	// in one transaction, and returns the row's id. The row counts with Input +
	// Output until it is charged, for ever if the process dies. When the reservation
	// does not fit below a cap, nothing is written and the error is a
	// [*memory.CapError].
	Reserve(ctx context.Context, reservation memory.ModelReservation) (int64, error)
	// Charge replaces the reservation by the cost of the call.
	Charge(ctx context.Context, id int64, charge memory.ModelCharge) error
}

// chargeTime bounds the writing of a charge, which must happen although the
// call's context has ended.
const chargeTime = 5 * time.Second

// Booked is a Provider that reserves every call in the ledger before it is made
// and charges it afterwards.
type Booked struct {
	wrapped
	ledger Ledger
	now    func() time.Time
	log    *slog.Logger
}

// NewBooked wraps next. now nil is time.Now, log nil is slog's default; charges
// that could not be written are logged.
func NewBooked(next Provider, ledger Ledger, now func() time.Time, log *slog.Logger) *Booked {
	now = memory.ClockOr(now)
	return &Booked{wrapped{next}, ledger, now, cmp.Or(log, slog.Default())}
}

// Complete asks unless a cap forbids it. A cap is a ModelError of ClassQuota with
// a [*memory.CapError] inside, a failure of the ledger one of ClassTransient.
// In both cases nothing was sent. An answer that request.Usable refuses is returned with the error
// of Unusable, and charged.
func (b *Booked) Complete(ctx context.Context, request memory.ModelRequest) (memory.ModelAnswer, error) {
	start := b.now()
	if request.MaxTokens <= 0 {
		request.MaxTokens = defaultMaxTokens // the reservation must be an upper bound
	}
	id, err := b.ledger.Reserve(ctx, memory.ModelReservation{
		Provider: b.Name(), Model: request.Model, Kind: request.Kind,
		Run: request.Run, Session: request.Session, Host: request.Host, Redo: request.Redo,
		Input: InputTokens(request), Output: request.MaxTokens, At: start,
	})
	if err != nil {
		return memory.ModelAnswer{}, b.refused(ctx, err)
	}
	answer, callErr := b.next.Complete(ctx, request)
	if callErr == nil && request.Usable != nil && !request.Usable(answer) {
		callErr = Unusable(b.Name(), answer.Usage)
	}
	end := b.now()
	charge := chargeOf(request, answer, callErr)
	charge.Duration, charge.At = end.Sub(start), end
	charging, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTime)
	defer cancel()
	if err := b.ledger.Charge(charging, id, charge); err != nil {
		// The answer is paid for and is returned all the same. The reservation goes on
		// counting, which is the safe error.
		b.log.Warn("charge model call", "provider", b.Name(), "call", id, "error", err)
	}
	return answer, callErr
}

// Unusable returns the failure of a model that answered with text that holds nothing of
// what was asked for. Asking again may help.
func Unusable(provider string, usage memory.ModelUsage) *memory.ModelError {
	return &memory.ModelError{Provider: provider, Class: memory.ClassGarbage, Usage: usage, Err: memory.ErrUnusable}
}

// refused returns the error of a call that could not be reserved: ClassQuota for a
// reached cap, ClassTransient for a failing ledger, or ctx's.
func (b *Booked) refused(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	class := memory.ClassTransient
	if errors.As(err, new(*memory.CapError)) {
		class = memory.ClassQuota
	}
	return &memory.ModelError{Provider: b.Name(), Class: class, Free: true, Err: fmt.Errorf("reserve model call: %w", err)}
}

// refused are the classes of failures that providers return without doing any work.
var refused = []memory.ErrorClass{memory.ClassRateLimit, memory.ClassQuota, memory.ClassLogin, memory.ClassPromptTooLong}

// chargeOf returns the cost of a call that has ended, without its times. It is not Known when the
// model may have worked and nobody says how much.
func chargeOf(request memory.ModelRequest, answer memory.ModelAnswer, err error) memory.ModelCharge {
	s := memory.ModelCharge{Outcome: "ok", Model: answer.Model, Usage: answer.Usage, Known: true}
	var failed *memory.ModelError
	switch {
	case err == nil && s.Usage == memory.ModelUsage{}:
		s.Usage = memory.ModelUsage{Input: InputTokens(request), Output: memory.EstimateTokens(answer.Text)}
		s.Estimated = true
	case err == nil:
	case errors.As(err, &failed):
		s.Outcome, s.Usage = string(failed.Class), failed.Usage
		if errors.Is(err, memory.ErrUnusable) {
			s.Outcome = memory.CallUnusable
		}
		s.Known = failed.Usage != memory.ModelUsage{} || slices.Contains(refused, failed.Class) || failed.Free
	default: // the context has ended
		s.Outcome, s.Known = "canceled", false
	}
	s.USD, s.Priced = Cost(cmp.Or(s.Model, request.Model), s.Usage)
	return s
}

// InputTokens estimates the tokens of a request, rather too high: a token of
// English, code or Chinese has three bytes or more on average, and each message
// costs a few tokens of its own.
func InputTokens(request memory.ModelRequest) int {
	const perMessage = 8
	bytes := len(request.System) + len(request.Prompt) + collect.Sum(request.History, func(m memory.ModelMessage) int { return len(m.Text) })
	return (bytes+2)/3 + (2+len(request.History))*perMessage
}
