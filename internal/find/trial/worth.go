package trial

import (
	"math"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// priorUses is the weight of the belief that a record is worth what others are at its place: the ratio of the variance
	// of one use and that of what records are worth.
	priorUses = 5
	// often is how often a record was given without any use before it goes down, tooOften before it is no longer given.
	often    = 10
	tooOften = 30
	// mostPlaces bounds how far use moves a record; a person's thumb moves it further.
	mostPlaces = 3
)

// Used reports whether a line was of use: where a lot was drawn, if its record was opened or cited, its file touched or its cure
// run; else its file is no evidence, and neither is its number, which an issue may have too.
func Used(g *accounts.Given, l *accounts.GivenLine) bool {
	is := func(fate *bool) bool { return fate != nil && *fate }
	return is(l.Opened) || is(l.Cured) || g.Held > 0 && (is(l.Touched) || is(l.Cited))
}

// uses counts lines, given and held back, and those that were of use.
type uses struct{ given, used, held, heldUsed float64 }

// cell is the lines of a record, 0 for all, at a place, with lots or without.
type cell struct {
	record memory.ObservationID
	place  string
	drawn  bool
}

// Worth finds out what records are worth by what became of the lines of them.
type Worth map[cell]*uses

// Add adds a text that was given or held back.
func (w Worth) Add(g *accounts.Given) {
	for i := range g.Lines {
		l := &g.Lines[i]
		if l.Kind != memory.RecordObservation {
			continue
		}
		for _, id := range []memory.ObservationID{0, memory.ObservationID(l.ID)} {
			at := cell{id, g.Place, g.Held > 0}
			if w[at] == nil {
				w[at] = &uses{}
			}
			n, used := &w[at].given, &w[at].used
			if g.Arm == memory.ArmHeld {
				n, used = &w[at].held, &w[at].heldUsed
			}
			*n++
			if Used(g, l) {
				*used++
			}
		}
	}
}

// Verdicts returns how many places each record goes ahead, or behind, or memory.Retired.
//
// Where lots were drawn, what a record is worth at a place is the rate of its use when given less that when held back;
// without lots it is the rate less that of all records there. The differences of the places are weighted as by Mantel
// and Haenszel (for differences of rates Greenland and Robins, Biometrics 1985), and shrunk towards zero by their
// uncertainty (Efron and Morris, JASA 1975).
func (w Worth) Verdicts() map[memory.ObservationID]memory.Verdict {
	type sum struct{ gain, weight, given, used float64 }
	sums := map[memory.ObservationID]*sum{}
	for at, u := range w {
		if sums[at.record] == nil {
			sums[at.record] = &sum{}
		}
		s, all := sums[at.record], w[cell{0, at.place, at.drawn}]
		n, expected := u.given, all.used/max(1, all.given)
		if at.drawn {
			n, expected = u.given*u.held/max(1, u.given+u.held), u.heldUsed/max(1, u.held)
		}
		s.gain, s.weight = s.gain+n*(u.used/max(1, u.given)-expected), s.weight+n
		s.given, s.used = s.given+u.given, s.used+u.used
	}
	delete(sums, 0)
	verdicts := map[memory.ObservationID]memory.Verdict{}
	for id, s := range sums {
		v := min(max(memory.Verdict(math.Round(10*s.gain/(s.weight+priorUses))), -mostPlaces), mostPlaces)
		switch {
		case s.used > 0:
		case s.given >= tooOften:
			v = memory.Retired
		case s.given >= often:
			v = min(v, -1)
		}
		if v != 0 {
			verdicts[id] = v
		}
	}
	return verdicts
}

// Places are the moments at which lots are drawn. MomentRate is the error rate of each of the two outcomes at each, which share
// ErrorRate.
var Places = []memory.Moment{memory.MomentPrompt, memory.MomentFile, memory.MomentFailure}

// MomentRate is that of an outcome at one of Places.
const MomentRate = ErrorRate / 6

// Moments compares the texts at a place that were given with those that were held back: by the logarithm of the tool calls of
// the rest of the turn, and by the share of texts with a line that was of use.
func Moments(texts []accounts.Given, place memory.Moment, rate float64) (calls, used Effect) {
	byCalls, byUse := Compare(memory.ArmMemory, memory.ArmHeld), Compare(memory.ArmMemory, memory.ArmHeld)
	for i := range texts {
		g := &texts[i]
		if g.Place != string(place) || g.Held == 0 {
			continue
		}
		lot, n := memory.Trial{Share: g.Held}, collect.Count(g.Lines, func(l accounts.GivenLine) bool { return Used(g, &l) })
		byCalls.Add(Result{g.ProjectPath, g.Arm, math.Log1p(float64(min(g.Calls, MostCalls))), lot.Chance(g.Arm)})
		byUse.Add(Result{g.ProjectPath, g.Arm, float64(min(n, 1)), lot.Chance(g.Arm)})
	}
	return byCalls.Effect(rate), byUse.Effect(rate)
}
