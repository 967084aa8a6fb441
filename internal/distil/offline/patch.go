package offline

import (
	"strings"

	"claudemem/internal/capture/outline"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// edit is what one step did to one file.
type edit struct {
	path string
	kind toolcall.FileKind
	// created and deleted speak of the whole file; from is its name before a move.
	created, deleted bool
	from             string
	// symbols are the functions and types that the edit changed, as far as it is known.
	symbols []memory.SymbolChange
	// headings are those that were added to a document, under those that existing
	// text was changed under.
	headings, under []string
	// firstLine is the first line of prose that was added to a document.
	firstLine string
	// plus and minus are the lines that a patch added and removed, if it is known.
	plus, minus []string
	// commentOnly says that no code changed, importOnly that only imports did.
	commentOnly, importOnly bool
}

// maxLines bounds the lines of a new text that are read for prose.
const maxLines = 20000

// newEdit reads an edit; symbols is what it is known to have changed, nil if that is not known.
// Without a text or a patch the edit has its path and kind alone.
func newEdit(x *toolcall.Edit, symbols []memory.SymbolChange) *edit {
	e := &edit{path: shown(x.Path, maxPath), created: x.Created, deleted: x.Deleted, from: shown(x.From, maxPath), symbols: symbols}
	e.kind = toolcall.KindOfFile(e.path)
	switch {
	case x.Whole:
		heading, n := "", 0
		for line := range strings.Lines(x.Text) {
			if n++; n > maxLines {
				break
			}
			e.parseProse(line, &heading)
			e.plus = append(e.plus, line)
		}
	case len(x.Hunks) > 0:
		e.parseHunks(x.Hunks)
	}
	return e
}

// parseHunks reads the lines of a patch: prose, and whether they are comments or imports.
func (e *edit) parseHunks(hunks []toolcall.Hunk) {
	comments, imports, changes := true, true, 0
	for _, h := range hunks[:min(len(hunks), 200)] {
		heading := ""
		for _, line := range h.Lines[:min(len(h.Lines), 4000)] {
			if line == "" {
				continue
			}
			switch sign, code := line[0], line[1:]; sign {
			case '+', '-':
				changes++
				comments = comments && outline.CommentLine(e.path, code)
				imports = imports && (strings.TrimSpace(code) == "" || outline.ImportLine(e.path, code))
				if sign == '-' {
					e.minus = append(e.minus, code)
					continue
				}
				e.plus = append(e.plus, code)
				e.parseProse(code, &heading)
			case ' ':
				if h, ok := strings.CutPrefix(strings.TrimLeft(code, "#"), " "); ok && strings.HasPrefix(code, "#") {
					heading = h
				}
			}
		}
	}
	// A line alone may mislead: "* 2" can be code.
	if changes > 0 && len(e.symbols) == 0 && outline.Language(e.path) != "" {
		e.commentOnly, e.importOnly = comments, imports && !comments
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

// firstSentence returns the first sentence of s, at most 100 characters; "" for none.
func firstSentence(s string) string {
	for _, x := range sentences(s) {
		return cut(x.text, 100)
	}
	return ""
}
