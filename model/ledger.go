package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"claudemem"
)

// Ledger is the book of the model calls, llm_calls. A store implements it.
type Ledger interface {
	// Reserve checks the caps and commits a row for a call that is about to be
	// made, in one transaction, and returns the row's id. The row counts with
	// Input + Output until it is settled: for ever, if the process dies. When the
	// reservation does not fit below a cap, nothing is written and the error says
	// which cap it is, by a method Cap() string: day or session.
	Reserve(ctx context.Context, reservation Reservation) (int64, error)
	// Settle replaces the reservation by what the call did cost.
	Settle(ctx context.Context, id int64, settlement Settlement) error
}

// Reservation is a call that is about to be made.
type Reservation struct {
	Provider string
	Model    string // as asked for; empty for the provider's default
	Kind     string // of the request: observation, summary, turn
	Run      string
	Session  claudemem.SessionID
	Host     claudemem.Host
	// Input is the estimate of what will be read, Output the most that can be
	// written, both in tokens.
	Input  int
	Output int
	// At is when, by the observer's clock; its local day is the one of the cap.
	At time.Time
}

// Settlement is what became of a reserved call.
type Settlement struct {
	// Outcome is ok, canceled, or the class of the error.
	Outcome string
	Model   string // the name that answered, empty when none did
	Usage   claudemem.ModelUsage
	// Known is false when the call may have cost something that nobody told us:
	// it was cut off, timed out or was canceled. The reservation should then go
	// on counting.
	Known bool
	// Estimated: the provider answered and did not say what it cost; Usage is
	// our estimate.
	Estimated bool
	// USD is the estimated price, if Priced: the model is in the price table.
	USD      float64
	Priced   bool
	Duration time.Duration
	At       time.Time
}

// The caps, as CapError names them.
const (
	CapDay     = "day"
	CapSession = "session"
)

// ErrCap is what errors.Is finds in the error of a call that a cap forbade.
var ErrCap = errors.New("token cap reached")

// CapError says which cap forbade a call. Token counts.
type CapError struct {
	Which  string // CapDay or CapSession
	Limit  int
	Used   int // what counts against the cap already, reservations included
	Wanted int
}

func (e *CapError) Error() string {
	return fmt.Sprintf("%s cap of %d tokens: %d used, %d wanted", e.Which, e.Limit, e.Used, e.Wanted)
}

// Cap is Which; whoever cannot import this package asks for the method.
func (e *CapError) Cap() string { return e.Which }

// Is makes errors.Is(err, ErrCap) hold.
func (e *CapError) Is(target error) bool { return target == ErrCap }

// Free reports that a forbidden call cost nothing.
func (e *CapError) Free() bool { return true }

// settleTime bounds the writing of a settlement, which must happen although the
// call's context has ended.
const settleTime = 5 * time.Second

// Booked books every call before it is made and after it has ended.
type Booked struct {
	wrapped
	ledger Ledger
	now    func() time.Time
	log    *slog.Logger
}

// NewBooked wraps next. now nil is time.Now, log nil is slog's default; it is
// told of settlements that could not be written.
func NewBooked(next Provider, ledger Ledger, now func() time.Time, log *slog.Logger) *Booked {
	if now == nil {
		now = time.Now
	}
	if log == nil {
		log = slog.Default()
	}
	return &Booked{wrapped{next}, ledger, now, log}
}

// Complete asks if no cap forbids it. A cap comes back as a ModelError of
// ClassQuota with a [*CapError] inside, or whatever error with a method Cap the
// ledger returned; a ledger that cannot be written as ClassTransient. In both
// cases nothing was sent.
func (b *Booked) Complete(ctx context.Context, request claudemem.ModelRequest) (claudemem.ModelAnswer, error) {
	start := b.now()
	if request.MaxTokens <= 0 {
		request.MaxTokens = defaultMaxTokens // the reservation must be a bound
	}
	id, err := b.ledger.Reserve(ctx, Reservation{
		Provider: b.Name(), Model: request.Model, Kind: request.Kind,
		Run: request.Run, Session: request.Session, Host: request.Host,
		Input: InputTokens(request), Output: request.MaxTokens, At: start,
	})
	if err != nil {
		return claudemem.ModelAnswer{}, b.refused(ctx, err)
	}
	answer, callErr := b.next.Complete(ctx, request)
	end := b.now()
	settlement := settle(request, answer, callErr)
	settlement.Duration, settlement.At = end.Sub(start), end
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := b.ledger.Settle(settling, id, settlement); err != nil {
		// The answer is paid for and must not be lost over this. The reservation
		// goes on counting, which errs on the safe side.
		b.log.Warn("settle model call", "provider", b.Name(), "call", id, "error", err)
	}
	return answer, callErr
}

func (b *Booked) refused(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	class := claudemem.ClassTransient
	var cap interface{ Cap() string }
	if errors.As(err, &cap) {
		class = claudemem.ClassQuota
	}
	return &claudemem.ModelError{Provider: b.Name(), Class: class, Err: fmt.Errorf("reserve model call: %w", err)}
}

// settle is what is known about the cost of a call that has ended.
func settle(request claudemem.ModelRequest, answer claudemem.ModelAnswer, err error) Settlement {
	s := Settlement{Outcome: "ok", Model: answer.Model, Usage: answer.Usage, Known: true}
	var failed *claudemem.ModelError
	switch {
	case err == nil && s.Usage == claudemem.ModelUsage{}:
		s.Usage = claudemem.ModelUsage{Input: InputTokens(request), Output: claudemem.EstimateTokens(answer.Text)}
		s.Estimated = true
	case err == nil:
	case errors.As(err, &failed):
		s.Outcome, s.Usage = string(failed.Class), failed.Usage
		s.Known = failed.Usage != claudemem.ModelUsage{} || refusedClass(failed.Class) || costsNothing(err)
	default: // the context has ended
		s.Outcome, s.Known = "canceled", false
	}
	model := s.Model
	if model == "" {
		model = request.Model
	}
	s.USD, s.Priced = Cost(model, s.Usage)
	return s
}

// refusedClass: failures with which every provider refuses a call before it works.
func refusedClass(class claudemem.ErrorClass) bool {
	switch class {
	case claudemem.ClassRateLimit, claudemem.ClassQuota, claudemem.ClassLogin, claudemem.ClassPromptTooLong:
		return true
	}
	return false
}

// InputTokens estimates what a request costs to read, rather too much: a token
// of English, of code and of Chinese is three bytes or more on average. Each
// message has a few tokens of its own.
func InputTokens(request claudemem.ModelRequest) int {
	const perMessage = 8
	bytes, n := len(request.System)+len(request.Prompt), 2
	for _, m := range request.History {
		bytes += len(m.Text)
		n++
	}
	return (bytes+2)/3 + n*perMessage
}
