package answer

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
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
	// Cut: the model was stopped, so that what is left open at the end is not whole.
	Cut bool
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
	Observations []memory.Observation
	Summary      *memory.Summary
	Learnings    []memory.Learning
	// SkipSummary: the model says that the turn needs no summary; Summary is nil
	// then.
	SkipSummary bool
	// Lost counts the records that were left out, because the answer breaks off in them.
	Lost  int
	Class Class
}

// Parse parses an answer. It leaves out what it does not understand; there is no
// error.
func Parse(text string, opts Options) Answer {
	return opts.parse(normalise(text[:min(len(text), cmp.Or(opts.MaxBytes, defaultMaxBytes))]))
}

// jsonBegin matches the beginning of a text that is JSON.
var jsonBegin = regexp.MustCompile("^\\s*(?:```.*\n\\s*)?[{\\[\"]")

// parse parses JSON if the text begins so, else XML, else XML that was escaped as a
// whole, else JSON anywhere in the text.
func (o *Options) parse(text string) Answer {
	if jsonBegin.MatchString(text) {
		a := o.collect(parseXML(xmlOf(text)))
		if a.found() {
			return a
		}
		if json.Valid([]byte(text)) {
			return Answer{Class: classOf(text)} // tags in its strings are text
		}
	}
	asWritten := o.collect(parseXML(text))
	a := asWritten
	for range 2 {
		decoded := decode(protect(text))
		if a.found() || decoded == text {
			break
		}
		text = decoded
		a = o.collect(parseXML(text))
	}
	if !a.found() {
		a = o.collect(parseXML(xmlOf(text)))
	}
	if !a.found() {
		return asWritten
	}
	return a
}

// found reports whether the answer has a record or says that there is no summary.
func (a *Answer) found() bool { return a.Class == ClassRecords || a.SkipSummary }

// collect returns the answer with the records of p, those that were thoughts left out.
func (o *Options) collect(p *parser) Answer {
	var a Answer
	records := p.records
	if p.thought < len(records) {
		records = records[p.thought:]
	}
	for _, r := range records {
		switch {
		case r.implicit && len(r.seen) < 2: // only a tag in prose
		case r == p.tail && (p.torn || o.Cut):
			a.Lost++
		default:
			o.add(&a, r)
		}
	}
	if a.SkipSummary = p.skip; p.skip {
		a.Summary = nil
	}
	switch {
	case len(a.Observations) > 0, a.Summary != nil, len(a.Learnings) > 0:
		a.Class = ClassRecords
	case a.Lost > 0:
		a.Class = ClassProse
	case p.skip:
		a.Class = ClassIdle
	default:
		a.Class = classOf(decode(text.TruncateBytes(p.stack[0].text.String(), maxLoose)))
	}
	return a
}

// add adds r to the answer, as a record of another kind than its element says if
// that fits its fields better.
func (o *Options) add(a *Answer, r *record) {
	if r.kind == kindLearning || r.seen["content"] && (r.seen["category"] || r.seen["confidence"]) {
		if l, ok := learning(r); ok && len(a.Learnings) < maxRecords {
			a.Learnings = append(a.Learnings, l)
		}
		return
	}
	loose := strings.TrimSpace(decode(r.loose))
	if t, isTag := tag(loose, 0); len(r.seen) == 0 && (isTag || strings.HasPrefix(loose, "{")) {
		// JSON in XML, or an answer in CDATA.
		if isTag && t.isField() {
			loose = "<observation>" + loose + "</observation>"
		}
		inner := o.parse(loose)
		a.Observations = append(a.Observations, inner.Observations...)
		a.Learnings = append(a.Learnings, inner.Learnings...)
		a.Summary = cmp.Or(a.Summary, inner.Summary)
		return
	}
	obs, isObservation := o.observation(r)
	sum, isSummary := summary(r)
	switch {
	case isObservation && (r.kind == kindObservation || !isSummary && len(r.seen) > 0):
		if len(a.Observations) < maxRecords {
			a.Observations = append(a.Observations, obs)
		}
	case isSummary && a.Summary == nil:
		a.Summary = &sum
	}
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

// classOf returns the class of a text without records: idle if it says only that there
// are none.
func classOf(s string) Class {
	if isIdle(s) {
		return ClassIdle
	}
	return ClassProse
}

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
	return slices.ContainsFunc(idles, func(idle string) bool {
		after, ok := strings.CutPrefix(bare, idle)
		return ok && (len(idle) > 4 || strings.Trim(after, ".!)]*_ \n") == "")
	})
}
