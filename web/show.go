package web

import (
	"html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"claudemem"
	"claudemem/text"
)

// The longest texts that a page shows, in bytes; the JSON has all of it. A page with one text
// at its limit stays below 150 KB, escaped.
const (
	maxLine  = 280
	maxBlock = 16 << 10
)

// functions are those of the templates.
func (v *Viewer) functions() template.FuncMap {
	return template.FuncMap{
		"line":    line,
		"lines":   block,
		"fields":  func(s string) string { return fit(text.TerminalLine(text.FirstBytes(s, 4*maxLine)), 2*maxLine) },
		"cut":     isCut,
		"long":    long,
		"mark":    mark,
		"count":   text.Count,
		"glyph":   func(t claudemem.ObservationType) string { return t.Glyph() },
		"hue":     hue,
		"at":      v.at,
		"iso":     func(at claudemem.Millis) string { return at.Time().UTC().Format(time.RFC3339) },
		"clock":   func(at claudemem.Millis) string { return at.Time().In(v.opts.Location).Format("15:04") },
		"asset":   func(name string) string { return "/static/" + name + "?v=" + v.static[name].version },
		"foreign": func(p claudemem.Provenance) bool { return p.Foreign() },
		"number":  text.Grouped,
		"token":   func(name, value string) string { return token{name, text.TerminalLine(value)}.String() },
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

// at returns a time as people read it: with the day, without the year in this one.
func (v *Viewer) at(at claudemem.Millis) string {
	t := at.Time().In(v.opts.Location)
	if t.Year() == v.opts.Clock().In(v.opts.Location).Year() {
		return t.Format("Mon 2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// day returns the heading of a day, as "Today" or "Mon 2 Jan".
func day(now time.Time, at claudemem.Millis) string {
	t := at.Time().In(now.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return "Today"
	case t.Format(time.DateOnly) == now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Monday 2 January")
	default:
		return t.Format("Monday 2 January 2006")
	}
}

// hue returns the class of a type's colour; types of other modes have the neutral one.
func hue(t claudemem.ObservationType) string {
	switch t {
	case claudemem.TypeBugfix, claudemem.TypeFeature, claudemem.TypeRefactor, claudemem.TypeChange, claudemem.TypeDiscovery, claudemem.TypeDecision:
		return "type-" + string(t)
	}
	return "type-other"
}

// piece is a part of a line; Marked if it is a word that was searched for.
type piece struct {
	Text   string
	Marked bool
}

// mark returns a line in pieces, with the words that begin with one of words marked.
func mark(s string, words []string) (pieces []piece) {
	s = line(s)
	if len(words) == 0 {
		return []piece{{Text: s}}
	}
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			i += size
			continue
		}
		end := i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !wordRune(r) {
				break
			}
			end += size
		}
		if beginsWith(s[i:end], words) {
			if i > start {
				pieces = append(pieces, piece{Text: s[start:i]})
			}
			pieces = append(pieces, piece{s[i:end], true})
			start = end
		}
		i = end
	}
	if start < len(s) {
		pieces = append(pieces, piece{Text: s[start:]})
	}
	return pieces
}

// beginsWith reports whether a word begins with one of words, in any letter case.
func beginsWith(word string, words []string) bool {
	word = strings.ToLower(word)
	for _, w := range words {
		if w != "" && strings.HasPrefix(word, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
