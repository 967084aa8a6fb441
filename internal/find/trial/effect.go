package trial

import (
	"math"

	"claudemem/internal/memory"
)

const (
	// ErrorRate bounds the chance that any interval of a trial is ever wrong. The primary outcome
	// has half of it, the exploratory ones share the rest.
	ErrorRate = 0.05
	// planned is the number of sessions at which an interval is narrowest for its error rate.
	planned = 200
	// fewest sessions have an interval: before, a variance is not known well enough.
	fewest = 30
	// priorSessions is the weight of the mean of all projects in what is expected of a project.
	priorSessions = 3
)

// Result is the outcome of one session that has ended, or of one moment. Chance is the probability that its arm had.
type Result struct {
	Project string
	Arm     memory.Arm
	Value   float64
	Chance  float64
}

// Effect is the mean difference between two arms: what the first one adds to an outcome.
type Effect struct {
	// Sessions are those of the two arms.
	Sessions int
	Mean     float64
	// Low and High bound the effect; they are infinite while too few sessions are known.
	Low, High float64
}

// Known reports whether the interval says on which side of none the effect is.
func (e Effect) Known() bool { return e.Low > 0 || e.High < 0 }

// Comparison compares an arm with another one, over results in the order in which the sessions ended.
//
// It adds up, for each session, what differs from the mean of its project's earlier sessions, weighted
// by the inverse of the arm's probability. That mean takes out most of the differences between projects
// and cannot bias the effect, as it was known before (augmented inverse probability weighting: Robins,
// Rotnitzky and Zhao, JASA 1994).
type Comparison struct {
	arm, other memory.Arm
	expected   expectations
	// n counts all sessions, sessions those of the two arms; squares is the sum of the squares beside
	// the mean (Welford 1962).
	n, sessions   int
	mean, squares float64
}

// Compare returns a comparison of two arms without results.
func Compare(arm, other memory.Arm) *Comparison {
	return &Comparison{arm: arm, other: other, expected: expectations{of: map[string]*sum{}}}
}

// Add adds the result of the session that ended next. One whose value is NaN is left out.
func (c *Comparison) Add(r Result) {
	if math.IsNaN(r.Value) {
		return
	}
	weighted := r.Value - c.expected.next(r.Project, r.Value)
	switch r.Arm {
	case c.arm:
		c.sessions++
		weighted /= r.Chance
	case c.other:
		c.sessions++
		weighted /= -r.Chance
	default:
		weighted = 0
	}
	c.n++
	delta := weighted - c.mean
	c.mean += delta / float64(c.n)
	c.squares += delta * (weighted - c.mean)
}

// Effect returns what the first arm adds to the outcome so far, at an error rate over all looks. The
// interval is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
// (Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 2024,
// theorem 2.2).
func (c *Comparison) Effect(rate float64) Effect {
	e := Effect{Sessions: c.sessions, Mean: c.mean, Low: math.Inf(-1), High: math.Inf(1)}
	if e.Sessions >= fewest {
		half := halfWidth(math.Sqrt(c.squares/float64(c.n)), c.n, rate)
		e.Low, e.High = e.Mean-half, e.Mean+half
	}
	return e
}

// halfWidth returns half of the width of the interval after n sessions, whose differences have a
// standard deviation.
func halfWidth(sd float64, n int, rate float64) float64 {
	log := -2 * math.Log(rate)
	rho := (log + math.Log(log+1)) / planned // the square of the paper's
	at := float64(n)*rho + 1
	return sd * math.Sqrt(at/(float64(n*n)*rho)*math.Log(at/(rate*rate)))
}

// Plan is what a trial can show of a person's tool calls, by the sessions before it.
type Plan struct {
	// Spread is the standard deviation of the outcome around the value expected of each session,
	// Mean is its mean. Sessions is the number of sessions that both are computed from.
	Spread, Mean float64
	Sessions     int
}

// PlanOf returns the plan of a person with these results.
func PlanOf(results []Result) Plan {
	expected, squares, mean := expectations{of: map[string]*sum{}}, 0.0, 0.0
	for _, r := range results {
		off := r.Value - expected.next(r.Project, r.Value)
		squares, mean = squares+off*off, mean+r.Value
	}
	n := math.Max(1, float64(len(results)))
	return Plan{math.Sqrt(squares / n), mean / n, len(results)}
}

// Detectable returns the smallest effect that the trial finds with a chance of 80 % in so many
// sessions.
func (p Plan) Detectable(t *memory.Trial, sessions int) float64 {
	weighted := p.Spread * math.Sqrt(1/t.Chance(memory.ArmMemory)+1/t.Chance(memory.ArmNothing))
	return halfWidth(weighted, sessions, ErrorRate/2) + 0.8416*weighted/math.Sqrt(float64(sessions))
}

// Needed returns how many sessions find a change of the calls by a factor with a chance of 80 %, 0 for
// more than a million.
func (p Plan) Needed(t *memory.Trial, factor float64) int {
	effect := math.Abs(math.Log1p(factor*math.Expm1(p.Mean)) - p.Mean)
	for n := fewest; n <= 1e6; n += 1 + n/100 {
		if p.Detectable(t, n) <= effect {
			return n
		}
	}
	return 0
}

// expectations are the means of what came before, of each project and of all.
type expectations struct {
	all sum
	of  map[string]*sum
}

type sum struct{ n, total float64 }

// next returns what is expected of a session of a project, and adds its value for the next. The
// first session is expected to be as it is.
func (e *expectations) next(project string, value float64) float64 {
	own := e.of[project]
	if own == nil {
		own = &sum{}
		e.of[project] = own
	}
	mean := value
	if e.all.n > 0 {
		mean = (own.total + priorSessions*e.all.total/e.all.n) / (own.n + priorSessions)
	}
	own.n, own.total = own.n+1, own.total+value
	e.all.n, e.all.total = e.all.n+1, e.all.total+value
	return mean
}
