package api

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Line is one line of a list for people and agents: a record, or a turn whose prompt and
// summary are both in the list. A turn's line is that of its summary.
type Line struct {
	Entry
	// Asked is the title of the turn's prompt, "" when the summary's title repeats it and
	// for a record alone.
	Asked string
	// First is the position in the list of the first record of the line, at which the
	// line stands and whose time it has; Shown is the position of the record that Entry is.
	First, Shown int
}

// Lines merges the prompt and the summary of each turn in a list into one line, which
// stands where the first of them stands. It stops at the first entry that needs more than
// most lines (0: any number) and returns how many entries the lines are made of.
func Lines(entries []Entry, most int) (lines []Line, used int) {
	type turn struct {
		session memory.SessionID
		prompt  int
	}
	known := map[turn]int{}
	for i, e := range entries {
		t := turn{e.SessionDBID, e.PromptNumber}
		ofTurn := t.session != 0 && t.prompt != 0 && (e.Kind == memory.RecordPrompt || e.Kind == memory.RecordSummary)
		if at, ok := known[t]; ofTurn && ok && lines[at].add(e, i) {
			continue
		}
		if most > 0 && len(lines) == most {
			return lines, i
		}
		if ofTurn {
			known[t] = len(lines)
		}
		lines = append(lines, Line{Entry: e, First: i, Shown: i})
	}
	return lines, len(entries)
}

// add makes the line of a prompt or of a summary that of the turn; e is the other one, at
// position i. It returns false for a second record of a kind, which gets a line of its own. The
// line keeps its place and time.
func (l *Line) add(e Entry, i int) bool {
	if l.Shown != l.First || l.Asked != "" || l.Kind == e.Kind {
		return false
	}
	prompt := e
	if e.Kind == memory.RecordSummary {
		prompt = l.Entry
		e.IsAnchor, e.CreatedAtEpoch, e.CreatedAtISO = l.IsAnchor, l.CreatedAtEpoch, l.CreatedAtISO
		l.Entry, l.Shown = e, i
	}
	if !repeats(l.Title, prompt.Title) {
		l.Asked = prompt.Title
	}
	return true
}

// repeats reports whether one of two titles begins with the words of the other, in any letter case
// and without regard to signs. An empty b repeats every title.
func repeats(a, b string) bool {
	a, b = wordsOf(a), wordsOf(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) && a != ""
}

// wordsOf returns the words of a title in lower case, a space after each.
func wordsOf(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return strings.Join(append(words, ""), " ")
}

// Widened returns the request for twice the records, and some for the turns that are
// running beside the anchor's: enough for as many lines as r asks for records, up to half
// of MaxLimit on each side. A depth of 0, or below, stays.
func (r TimelineRequest) Widened() TimelineRequest {
	const besides = 10
	for _, depth := range []*int{&r.Before, &r.After} {
		if *depth > 0 {
			*depth = max(*depth, min(2**depth+besides, MaxLimit))
		}
	}
	return r
}

// Lines returns the lines of a timeline, at most before and after of them on each side of
// the anchor's. A turn's line stands at whichever of its records is nearer to the anchor,
// so that nothing near leaves for a farther place.
func (t *Timeline) Lines(before, after int) []Line {
	anchor := max(slices.IndexFunc(t.Timeline, func(e Entry) bool { return e.IsAnchor || e.Kind == KindAnchor }), 0)
	order := make([]int, len(t.Timeline))
	for i := range order {
		order[i] = i
	}
	away := func(i int) int { return max(i-anchor, anchor-i) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(away(i), away(j)) })
	outwards := collect.Map(order, func(i int) Entry { return t.Timeline[i] })
	merged, _ := Lines(outwards, 0)
	var lines []Line
	left := map[bool]int{true: before, false: after}
	for _, l := range merged {
		l.First, l.Shown = order[l.First], order[l.Shown]
		if earlier := l.First < anchor; l.First != anchor {
			if left[earlier]--; left[earlier] < 0 {
				continue
			}
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.First, b.First) })
	return lines
}
