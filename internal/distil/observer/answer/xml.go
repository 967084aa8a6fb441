package answer

import (
	"regexp"
	"slices"
	"strings"
)

// maxRecords bounds the records of an answer.
const maxRecords = 64

// record is an observation, summary or learning as the answer has it.
type record struct {
	kind   string
	fields map[string][]string
	// attrs are the values in its tag; they count where the element is missing.
	attrs [][2]string
	// cut is the field in which the answer broke off.
	cut string
}

// reading is what an answer has.
type reading struct {
	records []*record
	// skip: the answer says that there is no summary.
	skip bool
	// unclear: it cannot be told what belongs to which field or record.
	unclear bool
	// outside is the text outside of records.
	outside strings.Builder
}

// doubt makes the answer unclear if something in it is not understood.
func (r *reading) doubt(is bool) { r.unclear = r.unclear || is }

// reader reads XML. Elements do not nest, except for the items of lists: a field has all
// up to its closing tag as text, or without one what stands before the next tag.
type reader struct {
	reading
	src  string
	tags []tag
	pos  int // src is read up to here
	// open has at most one record of a kind, to which fields are added.
	open []*record
}

func newReader(src string) *reader {
	src = protect(src)
	return &reader{src: src, tags: scan(src)}
}

// readXML returns the records of a text in XML.
func readXML(src string) *reading {
	r := newReader(src)
	thoughts, draft := 0, false
	for i := 0; i < len(r.tags) && len(r.records) <= maxRecords; {
		t, next := &r.tags[i], i+1
		r.outside.WriteString(r.src[r.pos:t.start])
		r.pos = t.end
		switch {
		case t.role == thought && t.closing: // everything before it is a thought
			thoughts, draft = len(r.records), r.unclear
			r.open, r.unclear = nil, false
			r.outside.Reset()
		case t.role == thought && t.close < len(r.tags):
			r.pos = r.tags[t.close].end
			next = t.close + 1
		case t.role == recordRole && t.closing:
			r.end(t.name)
		case t.closing:
		case t.role == skip:
			r.skip = true
		case t.role == recordRole:
			next = r.record(i)
		case t.role >= line:
			next = r.field(i)
		}
		i = next
	}
	r.outside.WriteString(r.src[r.pos:])
	if thoughts < len(r.records) {
		r.records = r.records[thoughts:]
	} else {
		r.doubt(draft)
	}
	return &r.reading
}

// end ends the open record of a kind.
func (r *reader) end(kind string) {
	r.open = slices.DeleteFunc(r.open, func(rec *record) bool { return rec.kind == kind })
}

// record reads what stands in the record of tag i before its first field, and returns the
// next tag. A learning is text, and so may an observation be.
func (r *reader) record(i int) int {
	t, next := &r.tags[i], i+1
	rec := &record{kind: t.name, fields: map[string][]string{}, attrs: t.attributes()}
	r.records = append(r.records, rec)
	r.end(t.name)
	if t.empty {
		return next
	}
	r.open = append(r.open, rec)
	first := t.element // of the tags in it
	if next < len(r.tags) && !r.tags[next].closing {
		first = r.tags[next].element
	}
	switch {
	case t.name == kindLearning && !first.in(kindLearning):
		rec.fields["content"] = []string{decode(r.body(i, t.bound))}
		return t.bound
	case t.name == kindObservation && first == t.element && next < len(r.tags):
		s := strings.TrimSpace(decode(r.body(i, next)))
		r.doubt(strings.IndexAny(s, "<{[") == 0) // escaped elements or JSON
		if !isIdle(s) {
			rec.fields["narrative"] = []string{s}
		}
	}
	return next
}

// body returns the text between the tags i and j.
func (r *reader) body(i, j int) string {
	r.pos = len(r.src)
	if j < len(r.tags) {
		r.pos = r.tags[j].start
	}
	return r.src[r.tags[i].end:r.pos]
}

// field reads the field at tag i, and returns the next tag.
func (r *reader) field(i int) int {
	t := &r.tags[i]
	rec := r.owner(t)
	if rec == nil { // a field without a record, unless it is a tag in a sentence
		r.doubt(t.of != "" && t.of != kindLearning && (len(r.open) > 0 || t.close == i+1))
		return i + 1
	}
	values, next, whole := r.values(i)
	if !whole {
		rec.cut = t.field
	}
	rec.fields[t.field] = append(rec.fields[t.field], values...)
	return next
}

// values returns the texts of the field at tag i, those of its items if it is a list, and
// the next tag. whole is false if the answer breaks off in the text; the item in which it
// does is left out.
func (r *reader) values(i int) (values []string, next int, whole bool) {
	t, first := &r.tags[i], i+1
	if t.role != child && first < len(r.tags) && r.tags[first].role == child && strings.TrimSpace(r.src[t.end:r.tags[first].start]) == "" {
		values, next = r.items(first)
		return values, next, true
	}
	s, next, whole := r.text(i)
	values = []string{s}
	if t.role == list || strings.HasPrefix(s, `["`) {
		var ok bool
		values, ok = splitList(t.name, s)
		r.doubt(!ok)
	}
	if !whole && (t.role == list || t.role == child) {
		values = values[:max(0, len(values)-1)]
	}
	return values, next, whole
}

// owner returns the record to which the field at t belongs; nil for none.
func (r *reader) owner(t *tag) *record {
	for _, rec := range slices.Backward(r.open) {
		if t.in(rec.kind) {
			// A second title or type after a text is of another record.
			again := (t.name == "title" || t.name == "type") && len(rec.fields[t.name]) > 0
			r.doubt(again && len(rec.fields["narrative"])+len(rec.fields["facts"]) > 0)
			return rec
		}
	}
	return nil
}

// items returns the items of a list that begin at tag i, and the next tag. The item in
// which the answer breaks off is left out.
func (r *reader) items(i int) (items []string, next int) {
	for next = i; next < len(r.tags) && r.tags[next].role == child; {
		if r.tags[next].closing {
			r.pos = r.tags[next].end
			next++
			continue
		}
		s, end, whole := r.text(next)
		if next = end; whole {
			items = append(items, s)
		}
	}
	return items, next
}

// cutTag matches the rest of a misspelt or cut tag at the end of a field that was not
// closed.
var cutTag = regexp.MustCompile(`<(?:/[\w:.-]{0,32}>?|[\w:.-]{0,32})\s*$`)

// text returns the text of the field or item at tag i and the tag that ends it. whole is
// false if the answer breaks off in it.
func (r *reader) text(i int) (s string, end int, whole bool) {
	t := &r.tags[i]
	if t.empty { // <file path="a.go"/>
		for _, pair := range t.attributes() {
			if pair[0] == "path" || pair[0] == "name" || pair[0] == "value" {
				s = pair[1]
			}
		}
		return s, i + 1, true
	}
	end = i + 1
	if t.close < t.bound && r.closes(i) {
		return strings.TrimSpace(decode(r.body(i, t.close))), t.close, true
	}
	if t.role != child {
		r.doubt(t.close < t.bound && !r.tags[end].closing) // two fields overlap
		for end < len(r.tags) && r.tags[end].role == child && !r.tags[end].in(kindObservation) {
			end++
		}
	}
	s = strings.TrimSpace(decode(r.body(i, end)))
	return strings.TrimSpace(cutTag.ReplaceAllString(s, "")), end, end < len(r.tags)
}

// closes reports whether the next closing tag of the field at tag i is its own.
func (r *reader) closes(i int) bool {
	t := &r.tags[i]
	if t.role != line {
		return t.again > t.close
	}
	between := r.tags[i+1 : t.close]
	return len(between) < 8 && !slices.ContainsFunc(between, func(o tag) bool { return o.name != t.name && o.in(kindObservation) })
}
