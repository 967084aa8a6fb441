package answer

import (
	"cmp"
	"strings"

	"claudemem"
)

// defaultMaxBytes is ten times the longest useful answer.
const defaultMaxBytes = 256 << 10

// Options describe the mode of an answer.
type Options struct {
	// Types of the mode.
	Types []claudemem.ObservationType
	// FallbackType replaces an unknown type; it is one of Types.
	FallbackType claudemem.ObservationType
	// Concepts of the mode; others are kept as well.
	Concepts []string
	// MaxBytes bounds the part of the text that is parsed; 0 is 256 KB.
	MaxBytes int
}

// Class is the kind of an answer.
type Class string

// The classes.
const (
	// ClassRecords has at least one observation, summary or learning.
	ClassRecords Class = "records"
	// ClassIdle: the answer says that there is nothing to record.
	ClassIdle Class = "idle"
	// ClassProse is text without an answer; it may be an error in words.
	ClassProse Class = "prose"
)

// Answer is a parsed answer. Its records have the fields that the model can know;
// the caller adds ids, session, project and times.
type Answer struct {
	Observations []claudemem.Observation
	Summary      *claudemem.Summary
	Learnings    []claudemem.Learning
	// SkipSummary: the model says that the turn needs no summary; Summary is nil
	// then.
	SkipSummary bool
	Class       Class
	// Truncated: the text ended within a field, or was longer than MaxBytes.
	Truncated bool
}

// Parse parses an answer. It leaves out what it does not understand; there is no
// error.
func Parse(text string, opts Options) Answer {
	opts.MaxBytes = cmp.Or(opts.MaxBytes, defaultMaxBytes)
	var a Answer
	if len(text) > opts.MaxBytes {
		text = text[:opts.MaxBytes]
		a.Truncated = true
	}
	p := parseRecords(normalise(text))
	opts.collect(&a, p)
	return a
}

// parseRecords returns a parser with the records of text: JSON if all of text is
// JSON, else XML, else XML that was escaped as a whole, else JSON anywhere in the
// text.
func parseRecords(text string) *parser {
	p := &parser{}
	if p.wholeJSON(text); len(p.records) > 0 || p.skip || p.emptyJSON {
		return p
	}
	const escapings = 2
	for i := 0; ; i++ {
		p = &parser{}
		p.parseView(scan(text), 0)
		if len(p.records) > 0 || p.skip {
			break
		}
		if i == escapings || !strings.Contains(text, "&lt;") {
			break
		}
		text = decode(text)
	}
	if len(p.records) == 0 {
		p.anyJSON(text)
	}
	return p
}

// collect adds the records of p to the answer.
func (o *Options) collect(a *Answer, p *parser) {
	records := p.records
	if p.thought < len(records) {
		records = records[p.thought:]
	}
	for _, r := range records {
		o.add(a, r)
	}
	a.SkipSummary = p.skip
	if p.skip {
		a.Summary = nil
	}
	outside := p.outside.String()
	switch {
	case len(a.Observations) > 0, a.Summary != nil, len(a.Learnings) > 0:
		a.Class = ClassRecords
	case p.skip, p.emptyJSON, isIdle(outside):
		a.Class = ClassIdle
	default:
		a.Class = ClassProse
	}
}

// add adds r to the answer, as a record of another kind than its element says if
// that fits its fields better.
func (o *Options) add(a *Answer, r *record) {
	if r.implicit && r.fields() < 2 {
		return // only a tag in prose
	}
	if r.cutField != noName {
		a.Truncated = true
		r.dropCutItem()
	}
	kind := r.kind
	if kind != nLearning && r.fields() == 0 && strings.HasPrefix(strings.TrimSpace(r.loose.String()), "{") {
		inner := &parser{}
		inner.anyJSON(r.loose.String())
		for _, j := range inner.records {
			o.add(a, j)
		}
		return
	}
	obs, isObservation := o.observation(r)
	sum, isSummary := summary(r)
	switch {
	case kind == nLearning:
		if l, ok := learning(r); ok && len(a.Learnings) < maxRecords {
			a.Learnings = append(a.Learnings, l)
		}
	case isObservation && (kind == nObservation || !isSummary && r.fields() > 0):
		a.Observations = append(a.Observations, obs)
	case isSummary && a.Summary == nil:
		a.Summary = &sum
	}
}

// dropCutItem removes the list item in which the answer broke off, unless it is
// the only one.
func (r *record) dropCutItem() {
	n := r.cutField
	if n == nFile {
		n = nFilesRead
		for _, later := range [...]name{nFilesModified, nFilesEdited} {
			if len(r.lists[later]) > 0 {
				n = later
			}
		}
	}
	n = n.list()
	if items := r.lists[n]; n.isList() && len(items) > 1 {
		r.lists[n] = items[:len(items)-1]
	}
}

// idles are the beginnings of answers that say that there is nothing to record.
var idles = []string{
	"nothing to record", "nothing worth", "nothing new", "nothing noteworthy", "nothing significant", "nothing of note",
	"no observation", "no new observation", "no records", "no summary", "no learnings", "no significant", "no noteworthy",
	"no output", "no meaningful", "there is nothing to record", "there is nothing worth", "there are no observations",
	"not worth recording", "skip", "idle", "ok", "understood", "acknowledged",
}

// isIdle reports whether the text outside of records says only that there are
// none.
func isIdle(s string) bool {
	s = strings.TrimSpace(s)
	for _, fence := range []string{"```xml", "```json", "```"} {
		s = strings.ReplaceAll(s, fence, "")
	}
	s = strings.TrimSpace(s)
	if isNothing(s) {
		return true
	}
	if len(s) > 160 {
		return false
	}
	bare := strings.ToLower(strings.TrimLeft(s, "([*_ "))
	for _, idle := range idles {
		if after, ok := strings.CutPrefix(bare, idle); ok && (len(idle) > 4 || strings.Trim(after, ".!)]*_ \n") == "") {
			return true
		}
	}
	return false
}
