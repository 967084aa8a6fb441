package trial

import (
	"math"

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
)

// Session is what is known of a session that has ended.
type Session struct {
	Project string
	Arm     memory.Arm
	Calls   int
	Prompts []string
}

// Outcome is a number that a session ends with.
type Outcome struct {
	Name string
	// Ratio outcomes are compared by their logarithms: an effect is a factor.
	Ratio bool
	value func(*Session) float64
}

// Outcomes are compared by every trial. The first one is the primary outcome; what the others say is
// exploratory.
var Outcomes = []Outcome{
	{"tool calls", true, func(s *Session) float64 { return math.Log1p(float64(min(s.Calls, MostCalls))) }},
	{"prompts", true, func(s *Session) float64 { return math.Log1p(float64(min(len(s.Prompts), mostPrompts))) }},
	{"corrections by the user", false, func(s *Session) float64 {
		later := s.Prompts[min(1, len(s.Prompts)):]
		return float64(min(len(collect.Keep(later, lang.Denies)), mostCorrections))
	}},
}

// Of returns the outcome of a session as a result.
func (o *Outcome) Of(s *Session) Result { return Result{s.Project, s.Arm, o.value(s)} }

// Rate returns the error rate of the i-th of Outcomes, compared with so many arms.
func Rate(i, arms int) float64 {
	if i == 0 {
		return ErrorRate / 2 / float64(arms)
	}
	return ErrorRate / 2 / float64((len(Outcomes)-1)*arms)
}
