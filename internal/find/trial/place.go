package trial

import (
	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// ofProject is the number of moments from which a place is judged in a single project.
	ofProject = 100
	// beforeReturn is the number of moments after which a place that is switched off is judged anew.
	beforeReturn = 200
)

// Place is a place that has to be switched, in a project or in all (""), with its new state.
type Place struct {
	Moment         memory.Moment
	Project, State string
}

// Switched returns the places that have to be switched by the texts of a trial, the oldest first: off where lines are known
// to make the turn longer, over all projects or in one with moments enough; on again where they do not, among the few that
// were given since.
//
// The judgements over all projects share half of ErrorRate. Those in single ones share the rest: the i-th project of a
// place, in the order of their first moments, has the share 1/(i(i+1)), so that those to come change nothing.
func Switched(t *memory.Trial, texts []accounts.Given) (changed []Place) {
	rate := ErrorRate / 2 / float64(len(Places))
	for _, at := range Places {
		if t.Places[memory.PlaceName(memory.PlaceKept, string(at), "")] != 0 {
			continue
		}
		here := collect.Keep(texts, func(g accounts.Given) bool { return g.Place == string(at) })
		if state := switched(t, at, "", here, rate); state != "" {
			changed = append(changed, Place{at, "", state})
		}
		projects, of := collect.Group(here, func(g *accounts.Given) string { return g.ProjectPath })
		for i, project := range projects {
			if len(of[project]) < ofProject {
				continue
			}
			if state := switched(t, at, project, of[project], rate/float64((i+1)*(i+2))); state != "" {
				changed = append(changed, Place{at, project, state})
			}
		}
	}
	return changed
}

// switched returns the state that a place has to be switched to by the texts since it was switched last, "" for none.
func switched(t *memory.Trial, at memory.Moment, project string, texts []accounts.Given, rate float64) string {
	off := t.Places[memory.PlaceName(memory.PlaceOff, string(at), project)]
	since := max(off, t.Places[memory.PlaceName(memory.PlaceOn, string(at), project)])
	texts = collect.Keep(texts, func(g accounts.Given) bool { return g.At >= since })
	switch calls, _ := Moments(texts, at, rate); {
	case off == 0 && calls.Low > 0:
		return memory.PlaceOff
	case off != 0 && calls.Sessions >= beforeReturn && calls.Mean <= 0:
		return memory.PlaceOn
	}
	return ""
}
