package mcpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// line makes one harmless line of a record's text, of at most so many code points
// (0: any): no control, bidirectional or otherwise invisible characters, white space
// as one space, and no bracket that could close the frame or open another.
func line(text string, most int) string {
	var b strings.Builder
	space, n := false, 0
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case invisible(r):
			continue
		case r == '<' && beginsTag(text[i+1:]):
			r = '‹'
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		if most > 0 && n >= most-1 {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// lines does so with a text of several lines, each of which keeps its indent.
func lines(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsSpace(r):
			r = ' '
			if text[i] == '\r' {
				continue
			}
		case invisible(r):
			continue
		case r == '<' && beginsTag(text[i+1:]):
			r = '‹'
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// invisible reports whether r has no place in a text: control and formatting
// characters, private use, and what stands for broken UTF-8.
func invisible(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co)
}

// beginsTag reports whether what follows a '<' could be read as a tag, also by a
// lenient reader: "a < b" and "x <- y" stay as they are.
func beginsTag(rest string) bool {
	first := true
	for _, r := range rest {
		switch {
		case r == '/' || r == '!' || r == '?':
			return true
		case unicode.IsLetter(r) || r == '_':
			return first
		case unicode.IsSpace(r):
			first = false
		case invisible(r):
			// It will not be there, so what comes next is what follows the bracket.
		default:
			return false
		}
	}
	return false
}

// cut keeps at most so many code points of a text.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == max(most-1, 0) {
			return strings.TrimRight(text[:i], " \n") + "…"
		}
		n++
	}
	return text
}
