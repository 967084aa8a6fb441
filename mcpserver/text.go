package mcpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem"
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
		case claudemem.Invisible(r):
			continue
		case r == '<' && claudemem.OpensTag(text[i+1:]):
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
		case claudemem.Invisible(r):
			continue
		case r == '<' && claudemem.OpensTag(text[i+1:]):
			r = '‹'
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
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
