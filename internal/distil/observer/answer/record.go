package answer

import (
	"cmp"
	"regexp"
	"strings"

	"claudemem/internal/leaf/text"
)

// record is an observation, summary or learning as the answer has it.
type record struct {
	kind string
	// implicit: the answer has its fields without an element around them.
	implicit bool
	texts    map[string]string
	lists    map[string][]string
	seen     map[string]bool // the fields that occurred
	attrs    map[string]string
	// loose is text outside of fields, at most maxLoose bytes.
	loose string
}

const (
	// maxLoose bounds the text of a record outside of its fields.
	maxLoose = 8 << 10
	// maxRecords bounds the records of an answer, and their nesting when none is
	// closed.
	maxRecords = 64
)

func newRecord(kind string) *record {
	return &record{kind: kind, texts: map[string]string{}, lists: map[string][]string{}, seen: map[string]bool{}, attrs: map[string]string{}}
}

// addText adds a text field. The first title, subtitle or the like counts; prose
// is joined.
func (r *record) addText(field, s string) {
	s = strings.TrimSpace(s)
	switch before := r.texts[field]; {
	case isNothing(before):
		r.texts[field] = s
	case field == "narrative" || elements[field].nativeTo(kindSummary):
		if !isNothing(s) && len(before) < maxNarrative {
			r.texts[field] = before + "\n" + s
		}
	}
}

// addItems appends texts that are not blank to a list, up to maxItems.
func (r *record) addItems(field string, items ...string) {
	for _, s := range items {
		if s = strings.TrimSpace(s); s != "" && len(r.lists[field]) < maxItems {
			r.lists[field] = append(r.lists[field], s)
		}
	}
}

// frame is an element that is open, with its text so far.
type frame struct {
	element
	record *record
	text   strings.Builder
	// end is the token that closes the element. Without one of its own (closed is
	// false), the next field of its record ends it.
	end    int
	closed bool
	// opened counts the opening tags that were kept as text.
	opened map[string]int
	// children: a list has elements. lines: a text begins with <item> elements; each
	// becomes a line.
	children, lines bool
}

// parser collects the records of an answer from its tokens.
type parser struct {
	*markup
	records []*record
	// stack has the open elements; the first frame is the text outside of records.
	stack []*frame
	skip  bool
	// thought is the number of records before a stray </think>.
	thought int
	full    bool
	// tail is the record that the answer leaves open, nil for none. torn: the answer, which closes
	// other elements, ends within its text.
	tail *record
	torn bool
}

// parseXML returns a parser with the records of a text in XML.
func parseXML(src string) *parser {
	p := &parser{markup: scan(src), stack: []*frame{{}}}
	pos := 0
	for i := 0; i < len(p.tokens) && !p.full; i++ {
		t := &p.tokens[i]
		p.write(p.src[pos:t.start])
		pos = t.end
		switch {
		case t.role == thought && !p.top().isField():
			if end := p.nextClose(t.name, i); !t.closing && end < len(p.tokens) {
				i, pos = end, p.tokens[end].end
			} else if t.closing { // everything before it is a thought
				p.popTo(1)
				p.thought = len(p.records)
				p.stack[0].text.Reset()
			}
		case t.closing:
			p.closeTag(t)
		default:
			p.openTag(i)
		}
	}
	p.write(p.src[pos:])
	tail := p.top()
	p.popTo(1)
	p.tail = tail.record
	p.torn = p.tail != nil && len(p.closes) > 0 && (tail.isField() || len(p.tail.seen) == 0 && strings.TrimSpace(tail.text.String()) != "")
	return p
}

// top returns the innermost open element.
func (p *parser) top() *frame { return p.stack[len(p.stack)-1] }

// write adds text to the innermost open element.
func (p *parser) write(s string) { p.top().text.WriteString(s) }

// writeTag adds a tag as text; <item> in a field that begins with items begins a line instead.
// Opening tags are counted, so that closeTag keeps theirs.
func (p *parser) writeTag(t *token) {
	f := p.top()
	switch {
	case !f.isField() || t.closing:
	case t.name == "item" && (f.lines || strings.TrimSpace(f.text.String()) == ""):
		f.lines = true
		p.write("\n")
		return
	case !t.empty:
		if f.opened == nil {
			f.opened = map[string]int{}
		}
		f.opened[t.name]++
	}
	p.write(p.src[t.start:t.end])
}

// closeTag handles a closing tag: it closes its element and those within, or is stray.
func (p *parser) closeTag(t *token) {
	f := p.top()
	if f.isField() && f.name != t.name && f.opened[t.name] > 0 {
		f.opened[t.name]--
		p.writeTag(t)
		return
	}
	for i := len(p.stack) - 1; i > 0; i-- {
		if p.stack[i].name == t.name {
			p.popTo(i)
			return
		}
		if p.stack[i].role == recordRole && t.role != recordRole {
			break
		}
	}
	if f.isField() && t.role != wrapper && t.role != child && !t.nativeTo(f.record.kind) {
		p.writeTag(t)
	}
}

// openTag handles the opening tag at token i.
func (p *parser) openTag(i int) {
	t := &p.tokens[i]
	for f := p.top(); f.isField(); f = p.top() {
		if p.nests(f, t) {
			break
		}
		if f.closed || !p.ends(f, t) {
			p.writeTag(t)
			return
		}
		p.pop()
	}
	switch t.role {
	case skip:
		p.skip = true
	case recordRole:
		if r := p.top().record; r != nil && r.implicit {
			p.pop()
		}
		r := newRecord(t.name)
		for key, value := range attributes(t.attrs) {
			r.attrs[elementOf(key).name] = value
		}
		if p.push(r); t.empty && !p.full {
			p.pop()
		}
	case scalar, list, child:
		p.field(i)
	}
}

// nests reports whether the opening tag t, within the open field f, begins an element of
// its own there: a list's item, or a field that the record does not have yet and does not
// get later.
func (p *parser) nests(f *frame, t *token) bool {
	switch {
	case f.role == list && t.role == child:
		return true
	case f.role == child || !f.closed:
		return false
	case t.role == recordRole:
		return t.name == kindSummary && !t.html
	}
	r := f.record
	has := r.texts[t.field] != "" || len(r.lists[t.field]) > 0 || t.field == f.field
	return t.nativeTo(r.kind) && !has && p.nextOpen(t.name, f.end) >= p.boundary(r, f.end)
}

// ends reports whether the opening tag t ends the field f, which has no closing tag.
func (p *parser) ends(f *frame, t *token) bool {
	switch {
	case t.role == recordRole:
		return !t.html
	case t.role == child && f.role == child:
		return t.name != "item" || f.name == "item"
	}
	return t.role == wrapper || t.role == skip || t.nativeTo(f.record.kind)
}

// field opens the field or the list's item at token i, in the record that it belongs to: outside
// of records in an implicit one. It opens none for what is text within a learning, and for an
// item outside of a list.
func (p *parser) field(i int) {
	t, f := &p.tokens[i], p.top()
	r := f.record
	switch {
	case f.isField():
	case r == nil && t.name == "file", r != nil && r.kind == kindLearning && !t.nativeTo(kindLearning):
		p.writeTag(t) // a learning may mention a <title> tag
		return
	case t.name == "item", r == nil && t.nativeTo(kindLearning):
		return
	case r == nil, p.beginsAnother(r, i):
		implicit := r == nil || r.implicit
		if r != nil {
			p.pop()
		}
		r = newRecord(kindObservation) // or a summary, by its fields
		r.implicit = implicit
		p.push(r)
	}
	if p.full {
		return
	}
	opened := &frame{element: t.element, record: r, end: p.nextClose(t.name, i+1)}
	limit := p.boundary(r, i+1)
	if f.closed {
		limit = min(limit, f.end)
	}
	if t.role == child {
		limit = min(limit, p.nextOpen(t.name, i+1))
		if f.role == list {
			f.children = true
			opened.field = f.name
		}
	}
	opened.closed = opened.end < limit
	if t.empty {
		values := attributes(t.attrs)
		opened.text.WriteString(cmp.Or(values["path"], values["name"], values["value"], values["text"], values["content"]))
	}
	r.seen[opened.field] = true
	p.stack = append(p.stack, opened)
	if t.empty {
		p.pop()
	}
}

// beginsAnother reports whether the field at token i begins another observation whose
// tags were forgotten: a second type or title after a complete first one.
func (p *parser) beginsAnother(r *record, i int) bool {
	if r.kind != kindObservation || !r.seen["title"] || !r.seen["narrative"] && !r.seen["facts"] {
		return false
	}
	end := p.boundary(r, i)
	switch name := p.tokens[i].name; name {
	case "type":
		return r.seen[name]
	case "title":
		return p.nextOpen("narrative", i) < end || p.nextOpen("facts", i) < end
	}
	return false
}

// boundary returns the token, from i on, at which the record certainly ends: its
// own closing tag or the next observation.
func (p *parser) boundary(r *record, i int) int {
	return min(p.nextClose(r.kind, i), p.nextOpen(kindObservation, i))
}

// push opens a record within the open one; beyond maxRecords it only sets p.full.
func (p *parser) push(r *record) {
	if p.full = len(p.records) == maxRecords; !p.full {
		p.records = append(p.records, r)
		p.stack = append(p.stack, &frame{element: elements[r.kind], record: r})
	}
}

// popTo closes the open elements from index i on.
func (p *parser) popTo(i int) {
	for len(p.stack) > i {
		p.pop()
	}
}

// cutTag matches the rest of a misspelt or cut tag at the end of a field that was not
// closed.
var cutTag = regexp.MustCompile(`<(?:/[\w:.-]{0,32}>?|[\w:.-]{0,32})$`)

// pop closes the innermost element and adds its text to the record.
func (p *parser) pop() {
	f := p.top()
	p.stack = p.stack[:len(p.stack)-1]
	r := f.record
	if !f.isField() {
		r.loose = text.TruncateBytes(f.text.String(), maxLoose)
		return
	}
	s := strings.TrimSpace(decode(f.text.String()))
	if !f.closed {
		s = strings.TrimSpace(cutTag.ReplaceAllString(s, ""))
	}
	switch {
	case f.role == scalar:
		r.addText(f.field, s)
	case f.role == child:
		r.addItems(f.field, s)
	case !f.children:
		r.addItems(f.field, splitList(f.field, s)...)
	}
}
