package answer

import "strings"

// maxNesting bounds the nesting of fields and of markup within CDATA that is
// parsed.
const maxNesting = 3

// fieldOf parses the field that token i opens, into r.
func (p *parser) fieldOf(r *record, i, depth int) (next, pos int) {
	t := p.tokens[i]
	switch {
	case t.name.isChild():
		list := t.name.list()
		if list == nFile {
			list = nFilesRead
		}
		r.mark(list)
		text, next, pos := p.child(r, i, len(p.tokens))
		r.addItem(list, text)
		return next, pos
	case t.kind == tSelf:
		r.mark(t.name)
		if text := valueOf(attributes(p.src[t.attrs:t.attrsEnd])); t.name.isList() {
			r.addItem(t.name, text)
		} else {
			r.addText(t.name, text)
		}
		return i + 1, t.end
	case t.name.isList():
		r.mark(t.name)
		return p.list(r, i, depth)
	}
	r.mark(t.name)
	return p.scalar(r, i, depth)
}

// gathering collects a field's text between its tokens.
type gathering struct {
	p    *parser
	b    strings.Builder
	from int
	// opened counts the opening tags that were kept as text and are not closed yet,
	// by name.
	opened [nameCount]uint16
	// lines: the text is a list of <item>; each becomes a line.
	lines bool
	// broken: a CDATA section had no end, so its end may occur as text.
	broken bool
}

// until adds the text up to position end.
func (g *gathering) until(end int) {
	if end > g.from {
		g.b.WriteString(decode(g.p.src[g.from:end]))
	}
	g.from = end
}

// skip adds the text before a token and leaves the token out.
func (g *gathering) skip(t token) {
	g.until(t.start)
	g.from = t.end
}

// markup adds a comment or CDATA section and reports whether t was one.
func (g *gathering) markup(t token) bool {
	switch t.kind {
	case tComment, tCDataOpen:
		g.skip(t)
		g.broken = g.broken || t.kind == tCDataOpen
		return true
	case tCData:
		g.skip(t)
		g.b.WriteString(g.p.src[t.attrs:t.attrsEnd])
		return true
	}
	return false
}

// tagText adds a tag as text. It leaves out a closing tag of one of our fields
// that nothing here opened.
func (g *gathering) tagText(r *record, t token) {
	switch {
	case t.name == nItem && (g.lines || strings.TrimSpace(g.p.src[g.from:t.start]) == "" && g.b.Len() == 0):
		g.lines = true
		g.skip(t)
		if t.kind != tClose {
			g.b.WriteByte('\n')
		}
	case t.kind == tOpen:
		g.opened[t.name]++
	case t.kind == tClose && g.opened[t.name] > 0:
		g.opened[t.name]--
	case t.kind == tClose && (t.name.nativeTo(r.kind) || t.name.isChild()):
		g.skip(t)
	}
}

// textTo returns the text up to position end.
func (g *gathering) textTo(end int) string {
	g.until(end)
	s := strings.TrimSpace(g.b.String())
	if g.broken {
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(s, "]]>"), "]]"))
	}
	return s
}

// scalar parses a text field.
func (p *parser) scalar(r *record, i, depth int) (next, pos int) {
	t := p.tokens[i]
	g := gathering{p: p, from: t.end}
	end := p.nextClose(t.name, i+1)
	if end >= p.boundary(r, i+1) {
		return p.openScalar(r, i)
	}
	for j := i + 1; j < end; {
		k := p.tokens[j]
		switch {
		case g.markup(k):
		case k.kind == tClose:
			g.tagText(r, k)
		case k.name == t.name && p.meantAsClose(&g, j):
			r.addText(t.name, g.textTo(k.start))
			return j + 1, k.end
		case !p.structural(r, j, end):
			g.tagText(r, k)
		case k.kind == tSelf:
			g.skip(k)
		case depth < maxNesting && k.name.isField() && p.nextClose(k.name, j) < end:
			// A field within this one: parse it, and continue after it.
			g.until(k.start)
			j, g.from = p.fieldOf(r, j, depth+1)
			continue
		default:
			// Its closing tag belongs to a later field.
			r.addText(t.name, g.textTo(k.start))
			return j, k.start
		}
		j++
	}
	r.addText(t.name, g.textTo(p.tokens[end].start))
	return end + 1, p.tokens[end].end
}

// meantAsClose reports whether the opening tag at token j was meant to close the
// field: <title>Text<title> before the next tag.
func (p *parser) meantAsClose(g *gathering, j int) bool {
	k := p.tokens[j]
	if g.b.Len() == 0 && strings.TrimSpace(p.src[g.from:k.start]) == "" {
		return false
	}
	return strings.TrimSpace(p.src[k.end:p.token(j+1).start]) == ""
}

// structural reports whether the opening tag at token j, inside a field of r that
// is closed at token end, opens a field of ours instead of being text: r does not
// have that field yet and will not get it later.
func (p *parser) structural(r *record, j, end int) bool {
	n := p.tokens[j].name
	if n == nSummary {
		return p.opensSummary(j)
	}
	if n.isChild() {
		n = n.list()
	}
	return n.isField() && n.nativeTo(r.kind) && !r.has(n) && p.nextOpen(n, end) >= p.boundary(r, end)
}

// openScalar parses a text field without a closing tag of its own: it ends where
// another element of ours begins or ends.
func (p *parser) openScalar(r *record, i int) (next, pos int) {
	t := p.tokens[i]
	g := gathering{p: p, from: t.end}
	for j := i + 1; j < len(p.tokens); j++ {
		k := p.tokens[j]
		if g.markup(k) {
			continue
		}
		stop, behind := p.ends(r, k, j)
		if !stop {
			continue
		}
		if k.kind == tOpen && k.name == t.name && p.meantAsClose(&g, j) {
			behind = true
		}
		r.addText(t.name, withoutTail(g.textTo(k.start)))
		return p.continueAt(j, behind)
	}
	r.cutField = t.name
	r.addText(t.name, withoutTail(g.textTo(len(p.src))))
	return len(p.tokens), len(p.src)
}

// continueAt returns the token and the position of token j or, with behind, those
// behind it.
func (p *parser) continueAt(j int, behind bool) (next, pos int) {
	if behind {
		return j + 1, p.token(j).end
	}
	return j, p.token(j).start
}

// ends reports whether token k ends a field of r that has no closing tag of its
// own, and whether k is consumed by that.
func (p *parser) ends(r *record, k token, j int) (stop, behind bool) {
	switch {
	case k.kind == tClose && k.name.isRecord():
		return p.openKinds[k.name] > 0, false
	case k.name == nSummary && r.kind != nSummary:
		return p.opensSummary(j), false
	case k.name.isRecord(), k.name == nWrapper, k.name == nSkip:
		return true, false
	case k.name.nativeTo(r.kind), k.name != nItem && k.name.list().nativeTo(r.kind):
		return true, k.kind == tClose
	}
	return false, false
}

// withoutTail removes the rest of a misspelt or cut tag from the end of a field
// that was not closed.
func withoutTail(s string) string {
	at := strings.LastIndexByte(s, '<')
	if at < 0 || len(s)-at > maxName+3 {
		return s
	}
	tail, complete := strings.CutSuffix(s[at+1:], ">")
	bare, closing := strings.CutPrefix(tail, "/")
	if complete && !closing {
		return s // a complete opening tag is text
	}
	for i := range len(bare) {
		if !nameByte(bare[i]) {
			return s
		}
	}
	return strings.TrimSpace(s[:at])
}

// list parses a list field: its child elements or, without any, its text.
func (p *parser) list(r *record, i, depth int) (next, pos int) {
	t := p.tokens[i]
	n := t.name
	loose := gathering{p: p, from: t.end}
	limit, closed := p.boundary(r, i+1), false
	for _, spelt := range [2]name{n, otherName(n)} {
		if end := p.nextClose(spelt, i+1); spelt != noName && end < limit {
			limit, closed = end, true
		}
	}
	children := false
	finish := func(j int, behind bool) (next, pos int) {
		if text := loose.textTo(p.token(j).start); !children {
			p.addLoose(r, n, text, depth)
		}
		return p.continueAt(j, behind)
	}
	for j := i + 1; j < limit; {
		k := p.tokens[j]
		switch {
		case loose.markup(k):
		case k.name.isChild():
			loose.skip(k)
			if k.kind == tClose {
				break
			}
			children = true
			var text string
			text, j, loose.from = p.child(r, j, limit)
			r.addItem(n, text)
			if j > limit {
				return j, loose.from
			}
			continue
		case closed && (k.kind == tClose || !p.structural(r, j, limit)):
			loose.tagText(r, k)
		case closed:
			return finish(j, false)
		default:
			if stop, behind := p.ends(r, k, j); stop {
				return finish(j, behind)
			}
		}
		j++
	}
	if limit == len(p.tokens) && r.cutField == noName {
		r.cutField = n
	}
	return finish(limit, closed)
}

// otherName returns the list whose closing tag models often use for n.
func otherName(n name) name {
	switch n {
	case nFilesEdited:
		return nFilesModified
	case nFilesModified:
		return nFilesEdited
	}
	return noName
}

// child parses the list element that token i opens; it ends before token limit.
func (p *parser) child(r *record, i, limit int) (text string, next, pos int) {
	t := p.tokens[i]
	if t.kind == tSelf {
		return valueOf(attributes(p.src[t.attrs:t.attrsEnd])), i + 1, t.end
	}
	g := gathering{p: p, from: t.end}
	end := p.nextClose(t.name, i+1)
	if end < limit && end < p.nextOpen(t.name, i+1) && end < p.boundary(r, i+1) {
		for j := i + 1; j < end; j++ {
			if k := p.tokens[j]; !g.markup(k) {
				g.tagText(r, k)
			}
		}
		return g.textTo(p.tokens[end].start), end + 1, p.tokens[end].end
	}
	for j := i + 1; j < limit; j++ {
		k := p.tokens[j]
		if g.markup(k) {
			continue
		}
		stop, behind := p.ends(r, k, j)
		if k.name.isChild() {
			if k.name == nItem && t.name != nItem {
				continue
			}
			stop, behind = true, k.kind == tClose
		}
		if !stop {
			continue
		}
		next, pos = p.continueAt(j, behind && !k.name.isList())
		return withoutTail(g.textTo(k.start)), next, pos
	}
	if limit == len(p.tokens) {
		r.cutField = t.name
	}
	next, pos = p.continueAt(limit, false)
	return withoutTail(g.textTo(pos)), next, pos
}

// addLoose adds the items of a list that was written as text: escaped elements,
// JSON, bullets, lines or commas.
func (p *parser) addLoose(r *record, n name, text string, depth int) {
	if depth < maxNesting && strings.HasPrefix(text, "<") {
		if inner := scan(text); len(inner.tokens) > 0 && inner.tokens[0].name.isChild() {
			outer := p.view
			p.view = inner
			for i := 0; i < len(inner.tokens); {
				if t := inner.tokens[i]; t.kind == tClose || !t.name.isChild() {
					i++
					continue
				}
				var item string
				item, i, _ = p.child(&record{kind: r.kind}, i, len(inner.tokens))
				r.addItem(n, item)
			}
			p.view = outer
			return
		}
	}
	for _, item := range splitList(n, text) {
		r.addItem(n, item)
	}
}
