package block

import (
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// withoutSuperseded returns the stored and related observations without those that a person has
// silenced or a later record reverses, one that waits in the queue included, and the lines of
// these, which other layers may repeat.
func (r *run) withoutSuperseded(stored []memory.Observation, related []memory.Related, waiting []memory.Observation) ([]memory.Observation, []memory.Related, []line) {
	reversed := collect.Set(collect.Flat(waiting, func(o memory.Observation) []memory.ObservationID { return o.Supersedes }))
	gone := func(o *memory.Observation) bool {
		return o.SupersededBy != 0 || reversed[o.ID] && !o.Pinned || r.judged.Silenced(o.Ref())
	}
	var superseded []line
	for i := range stored {
		o := &stored[i]
		if !gone(o) {
			continue
		}
		note := ""
		if o.SupersededBy != 0 {
			note = fmt.Sprintf(" (superseded by #%d)", o.SupersededBy)
		} else if reversed[o.ID] {
			note = " (taken back since)"
		}
		superseded = append(superseded, line{text: observationLine(o, r.req.ProjectPath).text, session: o.Session, note: note, spare: true})
	}
	if len(superseded) == 0 && len(reversed) == 0 && len(r.judged) == 0 {
		return stored, related, nil
	}
	stored = slices.DeleteFunc(slices.Clone(stored), func(o memory.Observation) bool { return gone(&o) })
	related = slices.DeleteFunc(slices.Clone(related), func(f memory.Related) bool { return gone(f.Observation) })
	return stored, related, superseded
}

// leaveReversed leaves out the lines of sessions that tell of nothing but work which later
// records reverse: nothing says in their own text that it does not hold any more. One that
// tells of other work too, or has a next step, stays and is marked by passOn.
func leaveReversed(sections []section) {
	reversed := map[memory.SessionID][]line{}
	for _, s := range sections {
		for _, l := range s.superseded {
			reversed[l.session] = append(reversed[l.session], l)
		}
	}
	for i := range sections {
		if s := &sections[i]; s.name == layerSessions {
			s.lines = slices.DeleteFunc(slices.Clone(s.lines), func(l line) bool { return tellsOnly(l.text, reversed[l.session]) })
		}
	}
}

// reconcile leaves out the lines that disagree with one that is newer or that a person wants kept: given both, a
// model believes either. The line of a session, which may tell more, stays and says that it is outdated.
func reconcile(sections []section) {
	all := collect.Flat(sections, func(s section) []*line { return collect.Pointers(s.lines) })
	for _, l := range all {
		for _, by := range all {
			if l.yieldsTo == nil && l.claim.Yields(by.claim) {
				if l.yieldsTo = by; by.claim.At < l.claim.At {
					by.tail += " (of " + by.claim.Day() + ", said otherwise on " + l.claim.Day() + ")"
				}
			}
		}
	}
	for i := range sections {
		s := &sections[i]
		var kept []line
		for _, l := range s.lines {
			switch by := l.yieldsTo; {
			case by == nil:
				kept = append(kept, l)
			case s.name == layerSessions:
				l.tail += " (outdated since " + by.claim.Day() + ")"
				kept = append(kept, l)
			default:
				l.why = "says otherwise than a line of " + by.claim.Day()
				s.known = append(s.known, l)
			}
		}
		s.lines = kept
	}
}

// tellsOnly reports whether each statement of a session's line is told by one of the
// observations. A line that only has the request does not tell what was done.
func tellsOnly(said string, observations []line) bool {
	if len(observations) == 0 || strings.HasPrefix(said, askedStart) || strings.Contains(said, nextMark) {
		return false
	}
	said, _, _ = strings.Cut(said, askedMark)
	statements := 0
	for _, sentence := range text.Sentences(said, nil) {
		for clause := range strings.SplitSeq(strings.TrimRight(sentence, ".… "), "; ") {
			if clause = strings.TrimSpace(clause); clause == "" {
				continue
			}
			words := recall.WordsOf(clause)
			if !slices.ContainsFunc(observations, func(o line) bool {
				return recall.ContainsFold(o.text, clause) || recall.Echoes(words, recall.WordsOf(o.text))
			}) {
				return false
			}
			statements++
		}
	}
	return statements > 0
}

// passOn marks also the lines above that tell of the same work: an observation
// that only repeats its session's line is left out, and its mark would be with it.
// So is one that is superseded.
func passOn(sections []section) {
	for _, from := range sections {
		for _, l := range slices.Concat(from.superseded, from.lines) {
			if l.note == "" || !l.spare {
				continue
			}
			words := recall.WordsOf(l.text)
			for _, to := range sections {
				if to.name != layerSessions {
					continue
				}
				for i := range to.lines {
					if s := &to.lines[i]; s.session == l.session && s.note == "" && (recall.Echoes(words, recall.WordsOf(s.text)) || l.title != "" && tellsOf(s.text, l.title)) {
						s.note = l.note
						s.tail += l.note
					}
				}
			}
		}
	}
}
