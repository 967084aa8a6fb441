package trial

import (
	"math"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// MostCalls bounds the tool calls of a session as an outcome: a runaway session is one of many, and
// counts as long. The other outcomes have their own bounds.
const (
	MostCalls       = 500
	mostPrompts     = 100
	mostCorrections = 5
	mostFailed      = 100
	mostTurns       = 20
	mostMinutes     = 120
	mostAgain       = 100
	mostTokens      = 100_000_000
)

// Outcome is a number that a session ends with.
type Outcome struct {
	Name string
	// Ratio outcomes are compared by their logarithms: an effect is a factor.
	Ratio bool
	// value is NaN for a session of which it is not known.
	value func(*accounts.TrialSession) float64
}

// Outcomes are compared by every trial. The first one is the primary outcome; what the others say is
// exploratory.
var Outcomes = []Outcome{
	{"tool calls", true, func(s *accounts.TrialSession) float64 { return math.Log1p(float64(min(s.Calls, MostCalls))) }},
	{"prompts", true, func(s *accounts.TrialSession) float64 { return math.Log1p(float64(min(len(s.Prompts), mostPrompts))) }},
	{"corrections by the user", false, func(s *accounts.TrialSession) float64 {
		later := s.Prompts[min(1, len(s.Prompts)):]
		return float64(min(len(collect.Keep(later, lang.Denies)), mostCorrections))
	}},
	{"failed calls", true, func(s *accounts.TrialSession) float64 { return math.Log1p(float64(min(s.Failed, mostFailed))) }},
	{"turns to a passing check", true, func(s *accounts.TrialSession) float64 { return math.Log1p(first(float64(s.PassedIn), mostTurns)) }},
	{"minutes to the first edit", true, func(s *accounts.TrialSession) float64 { return math.Log1p(first(s.EditedAfter.Minutes(), mostMinutes)) }},
	{"files read again", true, func(s *accounts.TrialSession) float64 { return known(s.Reread, mostAgain) }},
	{"failed commands repeated", true, func(s *accounts.TrialSession) float64 { return known(s.Repeated, mostAgain) }},
	{"edits taken back", true, func(s *accounts.TrialSession) float64 { return known(s.Reverted, mostAgain) }},
	{"tokens", true, func(s *accounts.TrialSession) float64 { return known(s.Tokens, mostTokens) }},
}

// known returns the logarithm of a number, at most most; NaN for -1.
func known(n, most int) float64 {
	if n < 0 {
		return math.NaN()
	}
	return math.Log1p(float64(min(n, most)))
}

// first returns when something came first, at most most, which stands for never too: 0.
func first(at, most float64) float64 {
	if at <= 0 {
		return most
	}
	return min(at, most)
}

// Of returns the outcome of a session of a trial as a result.
func (o *Outcome) Of(t *memory.Trial, s *accounts.TrialSession) Result {
	return Result{s.Project, s.Arm, o.value(s), t.Chance(s.Arm)}
}

// Rate returns the error rate of the i-th of Outcomes, compared with so many arms.
func Rate(i, arms int) float64 {
	if i == 0 {
		return ErrorRate / 2 / float64(arms)
	}
	return ErrorRate / 2 / float64((len(Outcomes)-1)*arms)
}
