package moments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/find/recall"
	"claudemem/internal/find/recall/gate"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// atFailure finds records of the same failure and its fix.
func (r *reminding) atFailure(ctx context.Context) (reminder, error) {
	m := reminder{frame: failureFrame}
	switch toolcall.ParseInput(&r.event).Tool {
	case toolcall.ToolCommand, toolcall.ToolOther:
	default: // the error is about how the tool was called, or about the network
		return m, nil
	}
	failure := strings.TrimSpace(r.event.ToolError)
	if lang.Has(failure[:min(len(failure), 200)], "refusal") {
		return m, nil
	}
	said := parseComplaint(failure)
	query := said.query()
	if query == "" {
		return m, nil // a grep without a match, an exit status alone, nothing of its own
	}
	found, err := r.related(ctx, query)
	if err != nil {
		return m, err
	}
	same := collect.Map(found, func(f memory.Related) precedent { return said.seenIn(f.Observation) })
	same = collect.Keep(same, func(p precedent) bool { return gate.Failure(p.FailureEvidence) })
	if len(same) == 0 {
		return m, nil
	}
	if err := r.readShown(ctx); err != nil {
		return m, err
	}
	same = slices.DeleteFunc(same, func(p precedent) bool { return !r.isNew(p.Observation) && !r.tellsCure(&p) })
	slices.SortStableFunc(same, func(a, b precedent) int {
		return cmp.Or(cmp.Compare(b.strength(), a.strength()), cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	same = memory.Ranked(r.shown.Judged, same, func(p *precedent) memory.RecordRef { return p.Ref() })
	observations := make([]memory.Observation, len(same))
	by := map[memory.ObservationID]precedent{}
	for i, p := range same {
		observations[i], by[p.ID] = *p.Observation, p
	}
	m.lines = r.lines(ctx, observations, func(o memory.Observation) (string, []recall.Statement) { return r.sayPrecedent(by[o.ID]) },
		func(o *memory.Observation) string { return by[o.ID].why() })
	return m, nil
}

// query returns the text to search for: the names of tests and of the functions in which
// it went wrong, and the lines with words of their own; "" when there are none of these.
func (c *complaint) query() string {
	lines := collect.Keep(c.lines, func(l complaintLine) bool { return len(l.words) > 0 || len(c.functions) > 0 })
	said := collect.Map(lines, func(l complaintLine) string { return runNoise.ReplaceAllString(l.text, " ") })
	return strings.Join(slices.Concat(c.tests, c.functions, said), "\n")
}

// precedent is a record that may tell of the same failure.
type precedent struct {
	*memory.Observation
	gate.FailureEvidence
	// said is the statement that tells of the failure, fix that which tells what
	// made it go away; either may be "".
	said, fix string
}

// strength weighs how likely the record is of the same failure: the share of the error's
// words that it has, 1 for the same test and 0.5 for the same place.
func (p precedent) strength() float64 {
	s := p.Message
	if p.Test {
		s++
	}
	if p.Place {
		s += 0.5
	}
	return s
}

// why says in a few words what the record has of the failure.
func (p precedent) why() string {
	switch {
	case p.Test:
		return "the same test failed"
	case p.Message > 0:
		return fmt.Sprintf("has %.0f %% of what is particular to the error", 100*p.Message)
	}
	return "failed at the same place"
}

// seenIn returns the evidence that a record is about the same failure, and the
// statements of it that tell the failure and its fix.
func (c *complaint) seenIn(o *memory.Observation) precedent {
	p := precedent{Observation: o}
	statements := append([]string{o.Title, o.Subtitle}, o.Facts...)
	statements = append(statements, text.Sentences(text.Line(o.Narrative), nil)...)
	known := wordSet(o.Title + " " + o.Subtitle)
	for _, place := range c.Places {
		p.Place = p.Place || slices.ContainsFunc(o.Files, func(f memory.FileRef) bool { return strings.HasSuffix("/"+f.Path, "/"+place) })
	}
	best := 0.0
	for _, s := range statements {
		low := strings.ToLower(s)
		if tellsNoFix(s) {
			continue
		}
		for _, t := range c.tests {
			if isOwnName(t) && text.HasWord(low, strings.ToLower(t)) {
				p.Test = true
				if p.said == "" && toolcall.SaysTrouble(s) {
					p.said = s
				}
			}
		}
		for _, f := range c.functions {
			p.Function = p.Function || strings.Contains(s, f) && text.HasWord(low, strings.ToLower(f))
		}
		if !toolcall.SaysTrouble(s) {
			continue
		}
		has := wordSet(s)
		for _, l := range c.lines {
			if l.absent && !lang.Has(low, "absent") || !l.touches(has) {
				continue
			}
			e := l.comparedWith(func(w string) bool { return has[w] || known[w] })
			// The line that the record has most of counts; of two, the one that says more.
			if score := e.Message*min(e.Own, 6) + e.Kind/2; score > best {
				best = score
				p.Message, p.Own, p.Subject, p.Kind = e.Message, e.Own, e.Subject, e.Kind
				p.said = s
			}
		}
	}
	if p.Fixed = true; gate.Failure(p.FailureEvidence) { // else it need not be looked for
		p.fix = fixIn(o, p.said)
	}
	p.Fixed = p.fix != ""
	return p
}

// touches reports whether a statement has any word of the line, or any word that
// says of what sort the error is when the line has none of its own.
func (l *complaintLine) touches(has map[string]bool) bool {
	for w := range l.words {
		if has[w] {
			return true
		}
	}
	return len(l.words) == 0 && slices.ContainsFunc(l.kind, func(w string) bool { return has[w] })
}

// comparedWith returns how much of the line a text has, by a function that reports
// whether it has a word.
func (l *complaintLine) comparedWith(has func(word string) bool) gate.FailureEvidence {
	var e gate.FailureEvidence
	shared := 0.0
	for w, weight := range l.words {
		e.Own += weight
		if has(w) {
			shared += weight
		}
	}
	if e.Own > 0 {
		e.Message = shared / e.Own
	}
	count := func(words []string) (share float64) {
		for _, w := range words {
			if has(w) {
				share += 1 / float64(len(words))
			}
		}
		return share
	}
	e.Subject = len(l.subjects) == 0 || count(l.subjects) >= 0.5
	e.Kind = count(l.kind)
	return e
}

// fixIn returns the statement of a record that tells what made the failure (in the
// statement said) go away, "" when none does. A failure on the way to something else has
// left no word of how it ended.
func fixIn(o *memory.Observation, said string) string {
	if lang.Begins(said, "own-failed-midway") {
		return ""
	}
	if isFixTitle(o.Title) {
		return o.Title
	}
	account := text.Sentences(text.Line(o.Narrative), nil)
	best, bestScore := "", 0
	for _, s := range slices.Concat(account, []string{o.Subtitle}, o.Facts, []string{o.Title}) {
		if s == "" || tellsNoFix(s) || lang.Begins(s, "own-failed") {
			continue
		}
		var score int
		switch {
		case lang.Has(s, "cure-sign"):
			score = 6
		case o.Type == memory.TypeBugfix && lang.Has(s, "fix-sign"):
			score = 4
		default:
			continue
		}
		if toolcall.SaysTrouble(s) { // better what only tells the cure
			score -= 2
		}
		if s == o.Title {
			score -= 2
		}
		if strings.Contains(s, "`") {
			score++
		}
		if score > bestScore {
			best, bestScore = s, score
		}
	}
	if best == "" && o.Type == memory.TypeBugfix {
		// What is told last of a bug is how it ended.
		if n := len(account); n > 1 && account[n-1] != said {
			return account[n-1]
		}
		return o.Title
	}
	return best
}

// tellsNoFix reports whether a statement of the offline observer tells of a failure that nobody
// overcame, that a command passes, or that it passes again without the cause.
func tellsNoFix(s string) bool {
	return lang.Begins(s, "own-open") || strings.Contains(s, "`") && lang.Has(s, "own-passing", "own-overcome")
}

func isFixTitle(title string) bool {
	return lang.Is(strings.TrimSuffix(text.Before(title, " "), ":"), "fix-title")
}

// sayPrecedent returns a reminder's line for a record of the same failure: the fix,
// which may be the title, and what the error was.
func (r *reminding) sayPrecedent(p precedent) (title string, details []recall.Statement) {
	title, details = r.gist(*p.Observation)
	title = text.TruncateWidth(title, momentChars/2)
	said, _ := lang.Cut(p.said, "own-failed-before")
	if said = text.Unstopped(r.plain(said)); said != "" {
		said = "error then: " + text.TruncateWidth(said, momentChars/2)
	}
	fixed := p.fix != p.Title
	fix := text.Unstopped(r.plain(p.fix))
	told := said == "" || p.said == p.Title || p.said == p.fix || recall.ContainsFold(title, said)
	switch {
	case told && fixed:
		return title, asDetails(fix)
	case told:
		return title, details
	case fixed:
		return title, asDetails(fix + "; " + said)
	default:
		return title, asDetails(said)
	}
}

// isOwnName reports whether a test's name is enough to know the test by.
func isOwnName(test string) bool {
	return len(test) >= 8 && (strings.ContainsAny(test, "_ ") || recall.IsShaped(test))
}

// wordSet returns the words of a text that characterise an error, and its numbers of two
// to five digits.
func wordSet(text string) map[string]bool {
	set := collect.Set(errorWords(text))
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if len(w) >= 2 && len(w) <= 5 { // the port that an error names
			set[w] = true
		}
	}
	return set
}
