package answer

import (
	"math/bits"
	"strings"

	"claudemem/text"
)

// record is an observation, summary or learning as the answer has it.
type record struct {
	kind name
	// implicit: the answer has its fields without an element around them.
	implicit bool
	texts    [nameCount]string
	lists    [nameCount][]string
	seen     uint64 // bits of the fields that occurred
	// cutField is the field in which the answer broke off.
	cutField name
	// loose is text outside of fields, at most maxLoose bytes.
	loose strings.Builder
	attrs []attribute
}

// maxLoose bounds the text of a record outside of its fields.
const maxLoose = 8 << 10

func (r *record) has(n name) bool { return r.seen&(1<<n) != 0 }
func (r *record) mark(n name)     { r.seen |= 1 << n }

// fields returns the number of different fields.
func (r *record) fields() int { return bits.OnesCount64(r.seen) }

// addText adds a text field. The first title, subtitle or the like counts; prose
// is joined.
func (r *record) addText(n name, text string) {
	text = strings.TrimSpace(text)
	switch before := r.texts[n]; {
	case isNothing(before):
		r.texts[n] = text
	case n == nNarrative || n >= nRequest && n <= nNotes:
		if !isNothing(text) && len(before) < maxNarrative {
			r.texts[n] = before + "\n" + text
		}
	}
}

// addItem appends a text that is not blank to the list of field n, up to maxItems.
func (r *record) addItem(n name, text string) {
	if text = strings.TrimSpace(text); text != "" && len(r.lists[n]) < maxItems {
		r.lists[n] = append(r.lists[n], text)
	}
}

// maxRecords bounds the records of an answer, and their nesting when none is
// closed.
const maxRecords = 64

// parser collects the records of an answer from its tokens.
type parser struct {
	*view
	records []*record
	stack   []*record
	// openKinds counts the records on the stack by kind.
	openKinds [nameCount]int
	// outside is text outside of records, for the class of the answer.
	outside strings.Builder
	skip    bool
	// thought is the number of records before a stray </think>.
	thought int
	full    bool
	// emptyJSON: the text is JSON of our form without content.
	emptyJSON bool
}

// top returns the innermost open record, nil outside of records.
func (p *parser) top() *record {
	if len(p.stack) == 0 {
		return nil
	}
	return p.stack[len(p.stack)-1]
}

// push opens a record within the open one; beyond maxRecords it only sets p.full.
func (p *parser) push(r *record) {
	if len(p.records) == maxRecords {
		p.full = true
		return
	}
	p.records = append(p.records, r)
	p.stack = append(p.stack, r)
	p.openKinds[r.kind]++
}

// pop closes the innermost open record.
func (p *parser) pop() {
	r := p.top()
	p.stack = p.stack[:len(p.stack)-1]
	p.openKinds[r.kind]--
}

// parseView parses the tokens of v.
func (p *parser) parseView(v *view, depth int) {
	outer := p.view
	p.view = v
	defer func() { p.view = outer }()
	pos := 0
	for i := 0; i < len(v.tokens) && !p.full; {
		t := v.tokens[i]
		if t.start > pos {
			p.text(v.src[pos:t.start])
		}
		i, pos = p.step(i, depth)
	}
	if pos < len(v.src) {
		p.text(v.src[pos:])
	}
}

// text adds text outside of fields, decoded; verbatim adds it as it is.
func (p *parser) text(s string) { p.verbatim(decode(s)) }

// verbatim keeps text that is in no field, of the open record or outside of all, up to
// maxLoose bytes.
func (p *parser) verbatim(s string) {
	b := &p.outside
	if r := p.top(); r != nil {
		b = &r.loose
	}
	if room := maxLoose - b.Len(); room > 0 {
		b.WriteString(text.TruncateBytes(s, room))
	}
}

// step handles token i, which is outside of fields, and returns the token and the
// position to continue from.
func (p *parser) step(i, depth int) (next, pos int) {
	t := p.tokens[i]
	next, pos = i+1, t.end
	switch {
	case t.kind == tComment, t.kind == tCDataOpen:
	case t.kind == tCData:
		content := p.src[t.attrs:t.attrsEnd]
		r := p.top()
		if inner := scan(content); depth < maxNesting && len(inner.tokens) > 0 && (r == nil || r.kind != nLearning) {
			p.parseView(inner, depth+1)
		} else {
			p.verbatim(content)
		}
	case t.name == nThink:
		return p.think(i)
	case t.name == nSkip:
		p.skip = p.skip || t.kind != tClose
	case t.name.isRecord():
		p.record(t)
	case t.kind == tClose:
	case t.name.isField() || t.name.isChild() && t.name != nItem:
		return p.field(i)
	}
	return next, pos
}

// think skips a model's thinking. With a closing tag alone, everything before it
// is thinking.
func (p *parser) think(i int) (next, pos int) {
	t := p.tokens[i]
	switch t.kind {
	case tOpen:
		if end := p.nextClose(nThink, i+1); end < len(p.tokens) {
			return end + 1, p.tokens[end].end
		}
	case tClose:
		for len(p.stack) > 0 {
			p.pop()
		}
		p.thought = len(p.records)
		p.outside.Reset()
	}
	return i + 1, t.end
}

// record opens or closes a record.
func (p *parser) record(t token) {
	if t.kind == tClose {
		if p.openKinds[t.name] == 0 {
			return
		}
		for p.top().kind != t.name {
			p.pop()
		}
		p.pop()
		return
	}
	if r := p.top(); r != nil && r.implicit {
		p.pop()
	}
	p.push(&record{kind: t.name, attrs: attributes(strings.TrimSuffix(p.src[t.attrs:t.attrsEnd], "/"))})
	if t.kind == tSelf && !p.full {
		p.pop()
	}
}

// field parses the field that token i opens into the record that it belongs to.
func (p *parser) field(i int) (next, pos int) {
	t := p.tokens[i]
	r := p.top()
	if r != nil && r.kind == nLearning && !t.name.nativeTo(nLearning) || r == nil && t.name == nFile {
		// Text here: a learning may mention a <title> tag.
		p.text(p.src[t.start:t.end])
		return i + 1, t.end
	}
	switch {
	case r == nil:
		kind := nObservation
		if t.name.nativeTo(nSummary) && t.name != nFilesRead {
			kind = nSummary
		} else if t.name.nativeTo(nLearning) {
			return i + 1, t.end
		}
		p.push(&record{kind: kind, implicit: true})
	case p.beginsAnother(r, i):
		p.pop()
		p.push(&record{kind: r.kind, implicit: r.implicit})
	}
	if p.full {
		return len(p.tokens), len(p.src)
	}
	return p.fieldOf(p.top(), i, 0)
}

// beginsAnother reports whether the field that token i opens begins another
// observation whose tags were forgotten: a second type or title after a complete
// first one.
func (p *parser) beginsAnother(r *record, i int) bool {
	n := p.tokens[i].name
	if r.kind != nObservation || !r.has(n) || !r.has(nNarrative) && !r.has(nFacts) {
		return false
	}
	switch n {
	case nType:
		return r.has(nTitle)
	case nTitle:
		return p.nextOpen(nNarrative, i) < p.boundary(r, i) || p.nextOpen(nFacts, i) < p.boundary(r, i)
	}
	return false
}

// boundary returns the token, from i on, at which the record certainly ends: its
// own closing tag or the next observation.
func (p *parser) boundary(r *record, i int) int {
	end := p.nextClose(r.kind, i)
	// HTML and C# comments have a <summary> as well: skip a pair of those in text.
	for tries := 0; r.kind == nSummary && tries < 4; tries++ {
		open := p.nextOpen(nSummary, i)
		if open >= end || p.opensSummary(open) {
			break
		}
		i = end + 1
		end = p.nextClose(r.kind, i)
	}
	return min(end, p.nextOpen(nObservation, i))
}

// opensSummary reports whether the <summary> at token i is ours: a field follows.
func (p *parser) opensSummary(i int) bool {
	// Past a few comments only, to keep the work linear.
	for limit := min(len(p.tokens), i+8); i+1 < limit; {
		i++
		if t := p.tokens[i]; t.kind != tComment {
			return t.kind != tClose && t.name.nativeTo(nSummary)
		}
	}
	return false
}
