package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// Bounds of a text that is parsed for a filter in words: a question is a line.
const (
	maxReadBytes = 200
	maxReadWords = 24
)

var recordName = regexp.MustCompile(`^(#|S)([0-9]{1,15})$`)

// byName finds the record that a text names, #123, or the records of session S12.
// It returns ok false when there is none of that name, or when it does not pass the filter.
func (s *Searcher) byName(ctx context.Context, p plan) (f found, ok bool, err error) {
	m := recordName.FindStringSubmatch(p.text)
	// S3 is the name of a storage service long before it is that of a session.
	if m == nil || p.text == "S3" {
		return found{}, false, nil
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return found{}, false, nil //nolint:nilerr // then it is no name
	}
	if m[1] == "S" {
		return s.bySession(ctx, p, memory.SessionID(n))
	}
	ref := memory.RecordRef{Kind: memory.RecordObservation, ID: n}
	hits, err := s.records.RecordsByRefs(ctx, ref)
	if err != nil || len(hits) == 0 {
		return found{}, false, err
	}
	if p.filtered() || len(p.kinds) > 0 {
		// The filter, narrowed to the record's own moment, is a short list.
		at, q := hits[0].CreatedAt, p.query
		if q.Since > at || q.Until != 0 && q.Until < at {
			return found{}, false, nil
		}
		q.Since, q.Until, q.Limit, q.Offset = at, at, 0, 0
		passing, err := s.records.FilterRecords(ctx, q, p.kinds, memory.OrderNewest)
		if err != nil || !slices.Contains(passing, ref) {
			return found{}, false, err
		}
	}
	p.note(p.text + " was taken for the observation of that number")
	p.understood.Text = ""
	refs := cutPage([]memory.RecordRef{ref}, p.query.Offset, p.query.Limit)
	return found{refs: refs, total: 1, understood: p.understood}, true, nil
}

// bySession lists the records of a session. ok is false when there is no such session, when none
// of its records passes the filter, and when the request has a session already.
func (s *Searcher) bySession(ctx context.Context, p plan, id memory.SessionID) (f found, ok bool, err error) {
	if p.query.Session != 0 {
		return found{}, false, nil
	}
	if _, err := s.records.Session(ctx, id); err != nil {
		if memory.CodeOf(err) == memory.CodeNotFound {
			err = nil
		}
		return found{}, false, err
	}
	p.query.Session = id
	p.note(p.text + " was taken for the session of that number")
	p.understood.Text = ""
	f, err = s.byFilter(ctx, p)
	if err != nil || f.total == 0 {
		return found{}, false, err
	}
	return f, true, nil
}

// understand turns the dates and types in a text into a filter. A filter of
// the request's own is not touched, and one that leaves nothing is taken back: the
// text may have meant something else.
func (s *Searcher) understand(ctx context.Context, p plan) (plan, error) {
	r := reading{
		now:   s.opts.Clock().In(s.opts.Location),
		dates: !p.dated(),
		types: len(p.query.Types) == 0 && (len(p.kinds) == 0 || slices.Contains(p.kinds, memory.RecordObservation)),
	}
	if !r.parse(p.text) {
		return p, nil
	}
	q := p
	q.text = r.rest
	q.understood.Text = r.rest
	q.understood.Since, q.understood.Until = r.since, r.until
	q.understood.Types = r.named
	if !p.dated() {
		q.query.Since, q.query.Until = r.since, r.until
	}
	if r.strict {
		q.query.Types = r.named
		q = q.narrowed()
	} else {
		q.prefer = r.named
	}
	if !r.strict && r.since == 0 && r.until == 0 {
		return q, nil
	}
	n, err := s.count(ctx, q)
	if err != nil {
		return plan{}, err
	}
	if n == 0 {
		p.note(fmt.Sprintf("nothing passes what the text says of time and type (%s); its words were searched for", r.describe()))
		return p, nil
	}
	q.counted = n
	return q, nil
}

// reading is the dates and types that a text names.
type reading struct {
	now          time.Time // in the user's zone
	dates, types bool      // what to look for

	rest         string // what is left to search for
	since, until memory.Millis
	named        []memory.ObservationType
	strict       bool // nothing but named is wanted
}

// describe returns the filter in words.
func (r *reading) describe() string {
	var parts []string
	day := func(m memory.Millis) string { return m.Time().In(r.now.Location()).Format("2006-01-02 15:04") }
	if r.since != 0 {
		parts = append(parts, "since "+day(r.since))
	}
	if r.until != 0 {
		parts = append(parts, "until "+day(r.until))
	}
	if r.strict {
		parts = append(parts, collect.Map(r.named, func(t memory.ObservationType) string { return string(t) })...)
	}
	return strings.Join(parts, ", ")
}

// parse reports whether the text names dates or types; rest is then the rest of the
// text, "" if only filler words are left. Long texts, code and subjects of commits are not parsed.
func (r *reading) parse(text string) bool {
	r.rest = text
	if len(text) > maxReadBytes || isCode(text) {
		return false
	}
	tokens := lexWords(text)
	if len(tokens) == 0 || len(tokens) > maxReadWords || isSubject(text, tokens) {
		return false
	}
	dated := false
	if r.dates {
		tokens, dated = r.readDates(tokens)
	}
	typed := false
	if r.types {
		tokens, typed = r.readTypes(tokens, dated)
	}
	switch {
	case !dated && !typed:
		return false
	case !slices.ContainsFunc(tokens, func(w word) bool { return !lang.Is(w.text, "query-filler") }):
		r.rest = ""
	default:
		r.rest = join(text, tokens)
	}
	return true
}

// word is a word of a text as it was typed.
type word struct {
	text       string // in lower case, without punctuation at its end
	raw        string // as it was typed, without punctuation at its end
	start, end int    // of the whole in the text
	stop       bool   // punctuation ends it
}

// lexWords splits at spaces.
func lexWords(text string) []word {
	var words []word
	start := 0
	for whole := range strings.SplitSeq(text, " ") {
		end := start + len(whole)
		if whole != "" {
			raw := strings.TrimRight(whole, ",.;:?!")
			words = append(words, word{strings.ToLower(raw), raw, start, end, len(raw) < len(whole)})
		}
		start = end + 1
	}
	return words
}

// join puts the words that are left together again.
func join(text string, words []word) string {
	return strings.Trim(strings.Join(collect.Map(words, func(w word) string { return text[w.start:w.end] }), " "), " ,;:")
}

// isCode reports whether a text has signs of program text or quotes: what looks
// like a date in it belongs to that.
func isCode(text string) bool {
	return strings.ContainsAny(text, "`\"(){}[]<>=$\\|&") || strings.Contains(text, "::") || strings.Contains(text, "->")
}

// isSubject reports whether words read like the subject of a commit, or like an
// order for a change, and not like a question about what has been: "fix: …",
// "Add a filter for last week". Questions that ask for a time ("when", "how long") count too.
func isSubject(text string, words []word) bool {
	first := words[0]
	if lang.Is(first.text, "query-order") || strings.Contains(text[first.start:first.end], ":") {
		return true
	}
	return lang.Is(first.text, "query-when") || len(words) > 1 && lang.Is(first.text, "query-how") && lang.Is(words[1].text, "query-how-far")
}

// readTypes reads a request for records of a type at the beginning of words, mostly in the
// plural: a "bug" in a text is most often one bug. The
// type becomes a filter only where nothing else is asked for; with a topic it makes
// such records stand higher, so that it loses none: r.named is the type and r.strict says that
// it is a filter. dated says that a time was taken out of the words. It returns the words that
// are left to search for, and whether there was a type.
func (r *reading) readTypes(words []word, dated bool) ([]word, bool) {
	i, request := 0, false
	if i < len(words) && lang.Is(words[i].text, "query-request") {
		request = true
		i++
	}
	for i < len(words) && lang.Is(words[i].text, "query-determiner") && !words[i].stop {
		i++
	}
	if i == len(words) {
		return words, false
	}
	noun := words[i]
	t := memory.ObservationType(lang.Value(noun.text, "type-noun"))
	if i+1 < len(words) && lang.Is(noun.text+" "+words[i+1].text, "bug-fix") {
		t = memory.TypeBugfix
		i++
		noun = words[i]
	}
	i++
	if t == "" || noun.stop && i < len(words) {
		return words, false
	}
	rest := words[i:]
	verbs := 0
	for verbs < len(rest) && lang.Is(rest[verbs].text, "query-aside") {
		verbs++
	}
	named := []memory.ObservationType{t}
	switch {
	case verbs == len(rest) && (request || dated):
		r.named, r.strict = named, true
		return nil, true
	case request && (verbs > 0 || lang.Is(rest[0].text, "query-topic")):
		rest = rest[verbs:]
		if lang.Is(rest[0].text, "query-about") && len(rest) > 1 {
			rest = rest[1:]
		}
		r.named = named
		return rest, true
	case !request && (len(rest) == 0 || lang.Is(rest[0].text, "query-topic")):
		r.named = named
		// The noun says which type, and is not searched for: "features" would find the
		// features of a model. Alone it may be what is looked for.
		if len(rest) > 1 {
			return append(slices.Clone(words[:i-1]), rest[1:]...), true
		}
		return words, true // not a question: the noun may be what is searched for
	}
	return words, false
}
