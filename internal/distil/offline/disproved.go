package offline

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// tookBack reports whether the turn takes back a finding or an assumed cause that its own
// session stored earlier: in a sentence that says so and has the names of its title.
func (r *reversals) tookBack(old *memory.Observation) bool {
	if old.Session != r.session || old.Type != memory.TypeDiscovery && old.Type != memory.TypeDecision {
		return false
	}
	for _, s := range r.said {
		if lang.Has(s, "disprove") && namesOf(old.Title, s) {
			return true
		}
	}
	return false
}

// corrected reports whether the user says no to what was told before, and the agent agrees
// and says in so many words what it is not.
func (t *turn) corrected() bool {
	if !lang.Has(t.request.text, "deny") {
		return false
	}
	for _, s := range t.message[:min(2, len(t.message))] {
		if lang.Has(s.text, "concede") {
			return slices.ContainsFunc(t.message[:min(3, len(t.message))], func(s sentence) bool { return lang.Has(s.text, "is-not") })
		}
	}
	return false
}

// disproved reports whether an earlier record is the finding of the turn before, which the
// user and the agent agree is wrong.
func (r *reversals) disproved(old *memory.Observation) bool {
	return r.corrected && old.Session == r.session && isFindingOf(old, r.number-1)
}

// withoutReversed leaves out what a later turn of the batch takes back: findings that it
// disproves, and decisions in whose place it puts another.
func withoutReversed(turns []*turn, observations []memory.Observation) []memory.Observation {
	return slices.DeleteFunc(slices.Clone(observations), func(old memory.Observation) bool {
		return slices.ContainsFunc(observations, func(by memory.Observation) bool {
			return by.PromptNumber > old.PromptNumber && slices.ContainsFunc(turns, func(t *turn) bool {
				return t.number == by.PromptNumber && (t.overtakes(&old, &by) || isFindingOf(&old, t.number-1) && t.corrected())
			})
		})
	})
}

// isFindingOf reports whether an observation tells what the turn of a number found out
// without changing anything.
func isFindingOf(o *memory.Observation, number int) bool {
	return o.PromptNumber == number && o.Type == memory.TypeDiscovery && len(o.FilesIn(memory.FileModified)) == 0
}

// namesOf reports whether a sentence has the names of a title: half of its words of code,
// at least one, or where it has none half of its other words, at least two.
func namesOf(title, sentence string) bool {
	code, has := 0, 0
	for _, w := range strings.Fields(title) {
		if w = strings.Trim(w, "`'\"“”()[],.;:!?*"); looksLikeCode(w) || isPathLike(w) {
			code++
			if hasToken(sentence, w) {
				has++
			}
		}
	}
	if code > 0 {
		return 2*has >= code
	}
	known := words(sentence)
	n := 0
	for _, w := range words(title) {
		if len(w) > 3 && !lang.Is(w, "filler") {
			n++
			if slices.Contains(known, w) {
				has++
			}
		}
	}
	return has >= 2 && 2*has >= n
}
