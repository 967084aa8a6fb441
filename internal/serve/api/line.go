package api

import (
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
	units, used := unitsOf(entries, most, true)
	return collect.Map(units, func(unit []int) Line {
		return lineOf(entries, slices.DeleteFunc(unit, func(i int) bool { return i >= used }))
	}), used
}

// lineOf returns the line of a record, or of a prompt and a summary. It keeps the place and time of
// the first.
func lineOf(entries []Entry, unit []int) Line {
	l := Line{Entry: entries[unit[0]], First: unit[0], Shown: unit[0]}
	if len(unit) == 1 {
		return l
	}
	prompt, e := entries[unit[1]], entries[unit[1]]
	if e.Kind == memory.RecordSummary {
		prompt = l.Entry
		e.IsAnchor, e.CreatedAtEpoch, e.CreatedAtISO = l.IsAnchor, l.CreatedAtEpoch, l.CreatedAtISO
		l.Entry, l.Shown = e, unit[1]
	}
	if !repeats(l.Title, prompt.Title) {
		l.Asked = prompt.Title
	}
	return l
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
	return collect.Map(t.units(before, after, true), func(unit []int) Line { return lineOf(t.Timeline, unit) })
}
