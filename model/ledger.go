package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"claudemem"
)

// Ledger records model calls and enforces the token caps. store implements it.
type Ledger interface {
	// Reserve checks the caps and commits a row for a call that is about to be made,
	// in one transaction, and returns the row's id. The row counts with Input +
	// Output until it is charged, for ever if the process dies. When the reservation
	// does not fit below a cap, nothing is written and the error is a
	// [*claudemem.CapError].
	Reserve(ctx context.Context, reservation claudemem.ModelReservation) (int64, error)
	// Charge replaces the reservation by the cost of the call.
	Charge(ctx context.Context, id int64, charge claudemem.ModelCharge) error
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
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.Default()
	}
	return &Booked{wrapped{next}, ledger, now, log}
}

// Complete asks unless a cap forbids it. A cap is a ModelError of ClassQuota with
// a [*claudemem.CapError] inside, a failure of the ledger one of ClassTransient.
// In both cases nothing was sent.
func (b *Booked) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	start := b.now()
	if request.MaxTokens <= 0 {
		request.MaxTokens = defaultMaxTokens // the reservation must be an upper bound
	}
	id, err := b.ledger.Reserve(ctx, claudemem.ModelReservation{
		Provider: b.Name(), Model: request.Model, Kind: request.Kind,
		Run: request.Run, Session: request.Session, Host: request.Host, Redo: request.Redo,
		Input: InputTokens(request), Output: request.MaxTokens, At: start,
	})
	if err != nil {
		return claudemem.ModelAnswer{}, b.refused(ctx, err)
	}
	answer, callErr := b.next.Complete(ctx, request)
	if callErr == nil && request.Usable != nil && !request.Usable(answer.Text) {
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
func Unusable(provider string, usage claudemem.ModelUsage) *claudemem.ModelError {
	return &claudemem.ModelError{Provider: provider, Class: claudemem.ClassGarbage, Usage: usage, Err: claudemem.ErrUnusable}
}

// refused returns the error of a call that could not be reserved: ClassQuota for a
// reached cap, ClassTransient for a failing ledger, or ctx's.
func (b *Booked) refused(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	class := claudemem.ClassTransient
	var capped *claudemem.CapError
	if errors.As(err, &capped) {
		class = claudemem.ClassQuota
	}
	return &claudemem.ModelError{Provider: b.Name(), Class: class, Free: true, Err: fmt.Errorf("reserve model call: %w", err)}
}

// chargeOf returns the cost of a call that has ended, without its times.
func chargeOf(request claudemem.ModelRequest, answer claudemem.ModelAnswer, err error) claudemem.ModelCharge {
	s := claudemem.ModelCharge{Outcome: "ok", Model: answer.Model, Usage: answer.Usage, Known: true}
	var failed *claudemem.ModelError
	switch {
	case err == nil && s.Usage == claudemem.ModelUsage{}:
		s.Usage = claudemem.ModelUsage{Input: InputTokens(request), Output: claudemem.EstimateTokens(answer.Text)}
		s.Estimated = true
	case err == nil:
	case errors.As(err, &failed):
		s.Outcome, s.Usage = string(failed.Class), failed.Usage
		if errors.Is(err, claudemem.ErrUnusable) {
			s.Outcome = claudemem.CallUnusable
		}
		s.Known = failed.Usage != claudemem.ModelUsage{} || refusedClass(failed.Class) || failed.Free
	default: // the context has ended
		s.Outcome, s.Known = "canceled", false
	}
	s.USD, s.Priced = Cost(cmp.Or(s.Model, request.Model), s.Usage)
	return s
}

// refusedClass reports whether providers return failures of class without doing
// any work.
func refusedClass(class claudemem.ErrorClass) bool {
	switch class {
	case claudemem.ClassRateLimit, claudemem.ClassQuota, claudemem.ClassLogin, claudemem.ClassPromptTooLong:
		return true
	}
	return false
}

// InputTokens estimates the tokens of a request, rather too high: a token of
// English, code or Chinese has three bytes or more on average, and each message
// costs a few tokens of its own.
func InputTokens(request claudemem.ModelRequest) int {
	const perMessage = 8
	bytes, n := len(request.System)+len(request.Prompt), 2
	for _, m := range request.History {
		bytes += len(m.Text)
		n++
	}
	return (bytes+2)/3 + n*perMessage
}
