package answer

import (
	"strings"

	"claudemem"
)

// DefaultMaxBytes is how much of an answer is read when Options do not say. A
// model's longest useful answer is a tenth of it.
const DefaultMaxBytes = 256 << 10

// Options say what a mode knows.
type Options struct {
	// Types are the mode's; none means the six of the mode "code".
	Types []claudemem.ObservationType
	// FallbackType is what an unknown type becomes; "" is discovery or, where
	// there is none, the first type.
	FallbackType claudemem.ObservationType
	// Concepts are the mode's; others are kept all the same.
	Concepts []string
	// MaxBytes is how much of the text is read; 0 is DefaultMaxBytes.
	MaxBytes int
}

// Class says what kind of answer a text is.
type Class string

// The classes.
const (
	// ClassRecords has at least one observation, summary or learning.
	ClassRecords Class = "records"
	// ClassIdle says that there is nothing to record.
	ClassIdle Class = "idle"
	// ClassProse is text that is no answer; it may be an error in words.
	ClassProse Class = "prose"
)

// Answer is what a text says. Records carry what the model can know: ids,
// session, project and times are filled in by who asked.
type Answer struct {
	Observations []claudemem.Observation
	Summary      *claudemem.Summary
	Learnings    []claudemem.Learning
	// SkipSummary is the model's word that the turn needs no summary; there is none then.
	SkipSummary bool
	Class       Class
	// Truncated says that the text broke off within a field, or was longer than MaxBytes.
	Truncated bool
}

// Parse reads an answer. There is no error: what cannot be understood is left out.
func Parse(text string, opts Options) Answer {
	opts.defaults()
	var a Answer
	if len(text) > opts.MaxBytes {
		text = text[:opts.MaxBytes]
		a.Truncated = true
	}
	p := parseRecords(normalise(text))
	opts.collect(&a, p)
	return a
}

func (o *Options) defaults() {
	if len(o.Types) == 0 {
		o.Types = []claudemem.ObservationType{
			claudemem.TypeBugfix, claudemem.TypeFeature, claudemem.TypeRefactor,
			claudemem.TypeChange, claudemem.TypeDiscovery, claudemem.TypeDecision,
		}
	}
	if o.FallbackType == "" {
		o.FallbackType = o.Types[0]
		for _, t := range o.Types {
			if t == claudemem.TypeDiscovery {
				o.FallbackType = t
			}
		}
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
}

// parseRecords finds the records: in JSON if that is what the text is, else as XML,
// else as XML that was escaped as a whole, else as JSON somewhere in the text.
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
		plain := text
		if strings.Contains(text, "&lt;") {
			plain = decode(text)
		}
		if plain == text || i == escapings {
			break
		}
		text = plain
	}
	if len(p.records) == 0 {
		p.anyJSON(text)
	}
	return p
}

// collect makes values of the records.
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

// add makes a value of r, of another kind than its element says if that fits its
// fields better.
func (o *Options) add(a *Answer, r *record) {
	if r.implicit && r.fields() < 2 {
		return // a tag in prose
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
	sum, isSummary := o.summary(r)
	switch {
	case kind == nLearning:
		if l, ok := o.learning(r); ok && len(a.Learnings) < maxRecords {
			a.Learnings = append(a.Learnings, l)
		}
	case isObservation && (kind == nObservation || !isSummary && r.fields() > 0):
		a.Observations = append(a.Observations, obs)
	case isSummary && a.Summary == nil:
		a.Summary = &sum
	}
}

// dropCutItem leaves out the list item in which the answer broke off, if it is
// not the only one.
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

// idles are how an answer begins that says in words that there is nothing.
var idles = []string{
	"nothing to record", "nothing worth", "nothing new", "nothing noteworthy", "nothing significant", "nothing of note",
	"no observation", "no new observation", "no records", "no summary", "no learnings", "no significant", "no noteworthy",
	"no output", "no meaningful", "there is nothing to record", "there is nothing worth", "there are no observations",
	"not worth recording", "skip", "idle", "ok", "understood", "acknowledged",
}

// isIdle tells whether text outside of records says no more than that there are none.
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
