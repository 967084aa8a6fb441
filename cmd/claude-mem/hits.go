package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// glyphLegend explains the signs of records.
const glyphLegend = `Signs: ● bugfix, ◆ feature, ↻ refactor, ✓ change, ⚖ decision, ○ discovery and other
types; § summary of a turn, › prompt, ▶ the anchor of a timeline.`

// shownIDs returns the ids of the first hits, at most most, as arguments of show.
func shownIDs(hits []api.Hit, most int) []string {
	var ids []string
	for i := range hits {
		entry := hits[i].Entry()
		if id := strings.TrimPrefix(entry.Name(), "#"); len(ids) < most && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// entry prints a line of a list, and the subtitle below it.
func (p *printer) entry(e api.Line, withProject bool) {
	p.entryLine("", e, withProject)
	if e.Subtitle != "" {
		p.printf("%14s%s\n", "", p.style(styleDim, p.fit(e.Subtitle, 120, 14)))
	}
}

// entryLine prints a line of a list: mark, age, glyph, title, the prompt that a summary
// answers, and name.
func (p *printer) entryLine(mark string, e api.Line, withProject bool) {
	title, most := e.Reported(), 100
	if e.Asked != "" {
		title, most = title+" (asked: "+e.Asked+")", 160
	}
	name, where := joined(", ", e.Name(), e.Mark()), textIf(withProject && e.Project != "", " "+oneLine(e.Project, 60))
	// Beside the title: two columns of a mark, ten of the age, the glyph and spaces.
	rest := 17 + utf8.RuneCountInString(name+where)
	p.printf("%s%s  %s %s %s%s\n", mark, p.when(e.CreatedAtEpoch), e.Glyph(), p.fit(title, most, rest), p.style(styleDim, name), p.style(styleDim, where))
}

// hitInFull prints a record as show does.
func (p *printer) hitInFull(h *api.Hit) {
	if h.Observation != nil {
		p.observation(h.Observation)
		return
	}
	e := h.Entry()
	p.printf("%s %s  %s\n%s\n", e.Glyph(), p.style(styleBold, oneLine(e.Reported(), 0)), p.style(styleDim, e.Name()),
		p.style(styleDim, strings.Join([]string{string(e.Kind), p.ago(e.CreatedAtEpoch), oneLine(e.Project, 60)}, " · ")))
	switch {
	case h.Prompt != nil:
		p.printf("\n%s\n", safe(h.Prompt.Text))
	case h.Summary != nil:
		p.summary(h.Summary)
	}
}

// explanation prints a score with its terms and factors.
func (p *printer) explanation(e *memory.Explanation) {
	value := func(part *memory.ScorePart) string { return oneLine(part.Name, 40) + " " + scoreText(part.Value) }
	terms := mapped(e.Parts, value)
	sum := strings.Join(terms, " + ")
	if len(terms) > 1 && len(e.Factors) > 0 {
		sum = "(" + sum + ")"
	}
	for i := range e.Factors {
		sum += " × " + value(&e.Factors[i])
	}
	about := joined("; ", scoreText(e.Score())+" = "+sum,
		textIf(len(e.Words) > 0, "words "+oneLine(strings.Join(e.Words, " "), 80)), textIf(e.Fragment != "", "nearest "+oneLine(e.Fragment, 40)))
	p.printf("%14s%s\n", "", p.style(styleDim, about))
}

// scoreText returns a score with three decimals.
func scoreText(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// understoodNotes returns the notes about changes that the search made to the query.
func understoodNotes(u *memory.Understood) []string {
	if u == nil {
		return nil
	}
	notes := u.Reading(time.Local, func(said string) string { return oneLine(said, 40) })
	for _, wrong := range slices.Sorted(maps.Keys(u.Corrected)) {
		notes = append(notes, fmt.Sprintf("No record has %q; searched for %q.", oneLine(wrong, 40), oneLine(u.Corrected[wrong], 40)))
	}
	for _, note := range u.Notes {
		notes = append(notes, oneLine(note, 0))
	}
	return notes
}
