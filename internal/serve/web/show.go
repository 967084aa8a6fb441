package web

import (
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/serve/filter"
)

// The longest texts that a page shows, in bytes; the JSON has all of it. A page with one text
// at its limit stays below 150 KB, escaped.
const (
	maxLine  = 280
	maxBrief = 2 << 10
	maxBlock = 16 << 10
)

// functions are those of the templates.
func (v *Viewer) functions() template.FuncMap {
	return template.FuncMap{
		"line":  line,
		"lines": block,
		"prose": func(s string) []*text.Block { return text.Blocks(block(s)) },
		"brief": func(s string) []*text.Block {
			return text.Blocks(fit(text.Terminal(text.FirstBytes(s, 2*maxBrief)), maxBrief))
		},
		"written": func(s string) []*text.Block {
			return text.Written(fit(text.Terminal(text.FirstBytes(s, 2*maxBrief)), maxBrief))
		},
		"spans":  func(s string) []text.Span { return text.Spans(line(s)) },
		"href":   hrefTo,
		"local":  func(ref string) bool { return strings.HasPrefix(hrefTo(ref), "/") },
		"fields": func(s string) string { return fit(text.TerminalLine(text.FirstBytes(s, 4*maxLine)), 2*maxLine) },
		"cut":    isCut,
		"long":   long,
		"mark":   mark,
		"count":  text.GroupedCount,
		"glyph":  func(t memory.ObservationType) string { return t.Glyph() },
		"hue":    hue,
		"at":     v.at,
		"iso":    func(at memory.Millis) string { return at.Time().UTC().Format(time.RFC3339) },
		"clock":  func(at memory.Millis) string { return at.Time().In(v.opts.Location).Format("15:04") },
		"thumb":  thumbOf,
		"asset":  func(name string) string { return "/static/" + name + "?v=" + v.static[name].version },
		"number": text.Grouped,
		"token": func(name, value string) string {
			return filter.Token{Name: name, Value: text.TerminalLine(value)}.String()
		},
	}
}

// line returns a foreign text on one line, cut, without invisible characters.
func line(s string) string {
	return fit(text.TerminalLine(text.FirstBytes(s, 2*maxLine)), maxLine)
}

// block returns a foreign text with its line breaks, cut, without invisible characters.
func block(s string) string {
	return fit(text.Terminal(text.FirstBytes(s, 2*maxBlock)), maxBlock)
}

// passage is a piece of a line: code or not, with the words marked that were searched for.
type passage struct {
	Code   bool
	Pieces []words.Piece
}

// mark returns a foreign text on one line, as line does, in passages.
func mark(s string, searched []string) []passage {
	return collect.Map(text.Spans(line(s)), func(s text.Span) passage { return passage{s.Code, words.Mark(s.Text, searched)} })
}

// hrefTo returns the address of what a piece of a text refers to: a page of the viewer, or elsewhere; ""
// for nothing.
func hrefTo(ref string) string {
	place, _, isPlace := strings.Cut(ref, ":")
	switch {
	case ref == "" || strings.HasPrefix(ref, "http") && strings.Contains(ref, "://") || place == "mailto":
		return ref
	case isPlace:
		return filtered("/", filter.Filter{Tokens: []filter.Token{{Name: "files", Value: strings.TrimPrefix(place, "./")}}})
	case ref[0] == 'L':
		return "/learnings?all=true#learning-" + ref[1:]
	case ref[0] == '#':
		return "/observation/" + ref[1:]
	}
	return "/session/" + ref[1:]
}

// isCut reports whether block cuts s.
func isCut(s string) bool { return len(s) > 2*maxBlock || block(s) != text.Terminal(s) }

// long reports whether line or a link would cut s.
func long(s string) bool { return len(s) > maxLine }

// fit cuts s to at most n bytes of HTML, in which some characters need five.
func fit(s string, n int) string {
	size := 0
	for i, r := range s {
		cost := utf8.RuneLen(r)
		if r < utf8.RuneSelf && strings.ContainsRune(`&<>"'+`, r) {
			cost = len("&amp;")
		}
		if size += cost; size > n {
			return text.TruncateBytes(s, max(i, len("…")))
		}
	}
	return s
}

// at returns a time as people read it.
func (v *Viewer) at(at memory.Millis) string {
	return text.When(v.opts.Clock().In(v.opts.Location), at.Time())
}

// hue returns the class of a type's colour; types of other modes have the neutral one.
func hue(t memory.ObservationType) string {
	if slices.Contains(types, t) {
		return "type-" + string(t)
	}
	return "type-other"
}
