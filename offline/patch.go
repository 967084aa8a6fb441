package offline

import (
	"slices"
	"strings"

	"claudemem/text"
	"claudemem/toolcall"
)

// edit is what one step did to one file.
type edit struct {
	path string
	kind toolcall.FileKind
	// created and deleted speak of the whole file; from is its name before a move.
	created, deleted bool
	from             string
	// added, changed and removed are the declarations that the edit touched.
	added, changed, removed []string
	// tests are the tests among added.
	tests []string
	// headings are those that were added to a document, under those that existing
	// text was changed under.
	headings, under []string
	// firstLine is the first line of prose that was added to a document.
	firstLine string
	// commentOnly says that no code changed, importOnly that only imports did.
	commentOnly, importOnly bool
	linesAdded, linesGone   int
}

// placed is a declaration with its line, for finding what encloses a change.
type placed struct {
	line, indent int
	decl         decl
}

// maxOutline bounds the declarations that are remembered of a file.
const maxOutline = 2000

// outline lists the declarations of a text that begins at line first of its file.
func outline(lang, text string, first int) []placed {
	if lang == "" {
		return nil
	}
	var out []placed
	n := first
	for rest := text; rest != "" && len(out) < maxOutline; n++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if d, ok := declaration(lang, line); ok {
			out = append(out, placed{n, indentOf(line), d})
		}
	}
	return out
}

// indentOf returns the number of blanks and tabs that line begins with.
func indentOf(line string) int {
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// scope follows declarations from line to line and knows which one it is in.
type scope struct {
	lang  string
	stack []placed
}

// newScope returns the scope at the beginning of a line of a file with that outline.
func newScope(lang string, decls []placed, line int) *scope {
	s := &scope{lang: lang}
	for _, p := range decls {
		if p.line >= line {
			break
		}
		s.push(p)
	}
	return s
}

// push enters a declaration: those that are indented as far or further have ended.
func (s *scope) push(p placed) {
	for len(s.stack) > 0 && s.stack[len(s.stack)-1].indent >= p.indent {
		s.stack = s.stack[:len(s.stack)-1]
	}
	if len(s.stack) < 16 {
		s.stack = append(s.stack, p)
	}
}

// enter takes a line in and returns the name of what it declares, or "".
func (s *scope) enter(line string) (string, decl, bool) {
	if d, ok := declaration(s.lang, line); ok {
		s.push(placed{indent: indentOf(line), decl: d})
		return s.name(), d, true
	}
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || isComment(s.lang, line) {
		return "", decl{}, false
	}
	indent := indentOf(line)
	closes := strings.HasPrefix(trimmed, "}") || strings.HasPrefix(trimmed, ")")
	for len(s.stack) > 0 {
		top := s.stack[len(s.stack)-1]
		if top.indent > indent || top.indent == indent && !strings.HasPrefix(trimmed, "{") && !closes {
			s.stack = s.stack[:len(s.stack)-1]
			continue
		}
		break
	}
	return "", decl{}, false
}

// leave pops what a closing line ended; it is called after the line was counted.
func (s *scope) leave(line string) {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "}") && len(s.stack) > 0 && s.stack[len(s.stack)-1].indent == indentOf(line) {
		s.stack = s.stack[:len(s.stack)-1]
	}
}

// name returns the qualified name of the innermost declaration.
func (s *scope) name() string {
	if len(s.stack) == 0 {
		return ""
	}
	top := s.stack[len(s.stack)-1].decl
	owner := strings.TrimPrefix(top.owner, ".")
	if owner == "" {
		for i := len(s.stack) - 2; i >= 0; i-- {
			if s.stack[i].decl.holds {
				owner = s.stack[i].decl.name
				break
			}
		}
	}
	if owner == "" {
		return top.name
	}
	if s.lang == "rs" {
		return owner + "::" + top.name
	}
	return owner + "." + top.name
}

// inside reports whether the innermost declaration is something to name a change by.
func (s *scope) inside() (string, bool) {
	if len(s.stack) == 0 {
		return "", false
	}
	return s.name(), true
}

// parseHunks fills an edit from its patch. decls is the outline of the file before.
func (e *edit) parseHunks(hunks []toolcall.Hunk, decls []placed) {
	lang := languageOf(e.path)
	comments, imports, changes := true, true, 0
	gone := map[string]decl{}
	var goneOrder []string
	for _, h := range hunks[:min(len(hunks), 200)] {
		old, cur := newScope(lang, decls, h.OldStart), newScope(lang, decls, h.OldStart)
		heading := ""
		for _, line := range h.Lines[:min(len(h.Lines), 4000)] {
			if line == "" {
				continue
			}
			sign, code := line[0], line[1:]
			switch sign {
			case '+', '-':
				changes++
				comments = comments && isComment(lang, code)
				imports = imports && (strings.TrimSpace(code) == "" || isImport(lang, code))
				if sign == '+' {
					e.linesAdded++
					e.parseProse(code, &heading)
				} else {
					e.linesGone++
				}
				if lang == "" || e.kind == toolcall.FileDoc {
					continue
				}
				in := cur
				if sign == '-' {
					in = old
				}
				if name, d, ok := in.enter(code); ok {
					if sign == '-' {
						gone[name] = d
						goneOrder = append(goneOrder, name)
					} else {
						e.declared(name, d)
					}
				} else if name, ok := in.inside(); ok && strings.TrimSpace(code) != "" && !isComment(lang, code) {
					e.changed = text.Add(e.changed, name)
				}
				in.leave(code)
			case ' ':
				if h, ok := strings.CutPrefix(strings.TrimLeft(code, "#"), " "); ok && strings.HasPrefix(code, "#") {
					heading = h
				}
				if lang != "" {
					old.enter(code)
					cur.enter(code)
					old.leave(code)
					cur.leave(code)
				}
			}
		}
	}
	for _, name := range goneOrder {
		if slices.Contains(e.added, name) { // its line changed, nothing came or went
			e.added = without(e.added, name)
			e.tests = without(e.tests, name)
			e.changed = text.Add(e.changed, name)
		} else {
			e.removed = text.Add(e.removed, name)
		}
	}
	for _, name := range slices.Concat(e.added, e.removed) {
		e.changed = without(e.changed, name)
	}
	e.commentOnly = changes > 0 && comments && lang != ""
	e.importOnly = changes > 0 && imports && !comments && lang != ""
}

// parseText fills an edit that wrote a whole new text, and returns its outline.
func (e *edit) parseText(text string) []placed {
	var out []placed
	lang := languageOf(e.path)
	s := newScope(lang, nil, 0)
	heading := ""
	for rest := text; rest != "" && e.linesAdded < 20000; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		e.linesAdded++
		e.parseProse(line, &heading)
		if lang == "" || e.kind == toolcall.FileDoc {
			continue
		}
		if name, d, ok := s.enter(line); ok {
			e.declared(name, d)
			if len(out) < maxOutline {
				out = append(out, placed{e.linesAdded, indentOf(line), d})
			}
		}
		s.leave(line)
	}
	return out
}

// declared notes a new declaration; what is nested in a function is not worth a name.
func (e *edit) declared(name string, d decl) {
	if name == "" || len(e.added) >= 60 {
		return
	}
	e.added = text.Add(e.added, name)
	if d.test {
		e.tests = text.Add(e.tests, name)
	}
}

// parseProse notes headings and the first sentence of what was added to a document.
func (e *edit) parseProse(line string, heading *string) {
	if e.kind != toolcall.FileDoc {
		return
	}
	s := strings.TrimSpace(line)
	switch {
	case s == "" || strings.HasPrefix(s, "```") || strings.HasPrefix(s, "|") || strings.HasPrefix(s, "<!--"):
	case s[0] == '#':
		h := shown(strings.TrimLeft(s, "# "), 60)
		*heading = ""
		e.headings = text.Add(e.headings, h)
	default:
		if *heading != "" {
			e.under = text.Add(e.under, shown(*heading, 60))
			*heading = ""
		}
		if e.firstLine == "" {
			e.firstLine = firstSentence(strings.TrimLeft(s, "-*> "))
		}
	}
}

// firstSentence returns the first sentence of s, at most 100 bytes; "" for none.
func firstSentence(s string) string {
	for _, x := range sentences(s) {
		return cut(x.text, 100)
	}
	return ""
}

// without returns a list without x, nil when nothing remains.
func without(list []string, x string) []string {
	var rest []string
	for _, y := range list {
		if y != x {
			rest = append(rest, y)
		}
	}
	return rest
}

// renamed returns the old and the new name if the edit only renamed one thing, else two
// empty strings.
func (e *edit) renamed() (from, to string) {
	if len(e.added) == 1 && len(e.removed) == 1 && len(e.tests) == 0 && e.linesAdded == e.linesGone {
		return e.removed[0], e.added[0]
	}
	return "", ""
}
