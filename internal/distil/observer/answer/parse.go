package answer

import (
	"cmp"
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// defaultMaxBytes is ten times the longest useful answer.
const defaultMaxBytes = 256 << 10

// Options describe the mode of an answer.
type Options struct {
	// Types of the mode.
	Types []memory.ObservationType
	// FallbackType replaces an unknown type; it is one of Types.
	FallbackType memory.ObservationType
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
	// ClassProse is text without an answer, or one that is not understood as a whole; it
	// may be an error in words.
	ClassProse Class = "prose"
)

// Answer is a parsed answer. Its records have the fields that the model can know;
// the caller adds ids, session, project and times.
type Answer struct {
	Observations []memory.Observation
	Summary      *memory.Summary
	Learnings    []memory.Learning
	// SkipSummary: the model says that the turn needs no summary; Summary is nil
	// then.
	SkipSummary bool
	Class       Class
}

// Parse parses an answer: JSON if it begins so, else XML, XML that was escaped as a whole,
// or JSON below a remark. What it does not understand is ClassProse and has no record.
func Parse(text string, opts Options) Answer {
	text = normalise(text[:min(len(text), cmp.Or(opts.MaxBytes, defaultMaxBytes))])
	if beginsJSON.MatchString(text) {
		return opts.answer(readJSON(text))
	}
	r := readXML(text)
	asWritten := opts.answer(r)
	if asWritten.found() || r.unclear {
		return asWritten
	}
	if decoded := decode(protect(text)); decoded != text {
		if a := opts.answer(readXML(decoded)); a.found() {
			return a
		}
	}
	if a := opts.answer(readJSON(text)); a.found() {
		return a
	}
	return asWritten
}

// found reports whether the answer has a record or says that there is no summary.
func (a *Answer) found() bool { return a.Class == ClassRecords || a.SkipSummary }

// answer returns the answer with the records that were read.
func (o *Options) answer(r *reading) Answer {
	a := Answer{SkipSummary: r.skip, Class: ClassRecords}
	for _, rec := range r.records[:min(len(r.records), maxRecords)] {
		r.doubt(!o.add(&a, rec))
	}
	if r.skip {
		a.Summary = nil
	}
	switch {
	case r.unclear:
		return Answer{Class: ClassProse}
	case len(a.Observations) > 0, a.Summary != nil, len(a.Learnings) > 0:
	case r.skip, isIdle(decode(text.TruncateBytes(r.outside.String(), maxNarrative))):
		a.Class = ClassIdle
	default:
		a.Class = ClassProse
	}
	return a
}

// add adds a record to the answer unless it is empty. It returns false for one that is
// not understood.
func (o *Options) add(a *Answer, r *record) bool {
	for _, pair := range r.attrs {
		if e := elements[pair[0]]; e.in(r.kind) && r.value(e.field) == "" {
			r.fields[e.field] = []string{pair[1]}
		}
	}
	switch r.kind {
	case kindLearning:
		if l := learning(r); l.Content != "" {
			a.Learnings = append(a.Learnings, l)
		}
	case kindSummary:
		if s := summary(r); a.Summary == nil && !s.Empty() {
			a.Summary = &s
		}
	default:
		obs, understood := o.observation(r)
		if obs.Title != "" {
			a.Observations = append(a.Observations, obs)
		}
		return understood
	}
	return true
}

// idles are the beginnings of answers that say that there is nothing to record.
var idles = []string{
	"nothing to record", "nothing worth", "nothing new", "nothing noteworthy", "nothing significant", "nothing of note",
	"no observation", "no new observation", "no records", "no summary", "no learnings", "no significant", "no noteworthy",
	"no output", "no meaningful", "there is nothing to record", "there is nothing worth", "there are no observations",
	"not worth recording", "skip", "idle", "ok", "understood", "acknowledged",
}

// emptyForm matches JSON of our form without content.
var emptyForm = regexp.MustCompile(`^(?:[\s{}\[\]:,"]|observations?|summar(?:y|ies)|learnings?|null)*$`)

// isIdle reports whether the text outside of records says only that there are
// none.
func isIdle(s string) bool {
	s = strings.TrimSpace(strings.NewReplacer("```xml", "", "```json", "", "```", "").Replace(s))
	if isNothing(s) || emptyForm.MatchString(s) {
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
