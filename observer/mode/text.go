package mode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"claudemem/text"
)

// escape returns s as text within our elements: valid UTF-8, without control
// characters and without '<', '>' or '&'.
func escape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // an invalid byte is U+FFFD
		b.WriteString(escapeRune(r))
	}
	return b.String()
}

// escapeRune returns r as XML text, "" for a character that is unsafe to show.
func escapeRune(r rune) string {
	switch {
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r == '&':
		return "&amp;"
	case text.Unsafe(r):
		return ""
	}
	return string(r)
}

// minMarked is the smallest limit with room for the mark in the middle.
const minMarked = 400

// clip returns s escaped and within limit bytes: of a longer text the first 60 %
// and the last 30 % of the limit with the number of missing bytes between them. It
// splits no character and no escape, which the functions of package text would.
func clip(s string, limit int) string {
	if headEnd(s, limit) == len(s) {
		return escape(s)
	}
	if limit < minMarked {
		return escape(s[:headEnd(s, limit-len("…"))]) + "…"
	}
	head := headEnd(s, limit*60/100)
	tail := tailStart(s, limit*30/100)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", escape(s[:head]), tail-head, escape(s[tail:]))
}

// headEnd returns the end of the longest beginning of s with at most limit bytes
// escaped.
func headEnd(s string, limit int) int {
	used := 0
	for i, r := range s {
		if used += len(escapeRune(r)); used > limit {
			return i
		}
	}
	return len(s)
}

// tailStart returns the start of the longest end of s with at most limit bytes
// escaped.
func tailStart(s string, limit int) int {
	used := 0
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if used += len(escapeRune(r)); used > limit {
			return i
		}
		i -= size
	}
	return 0
}

// oneLine returns s escaped, on one line, within limit bytes.
func oneLine(s string, limit int) string {
	if limit > 0 && len(s) > 8*limit {
		s = strings.ToValidUTF8(s[:8*limit], "") // far more than is shown; white space may be most of it
	}
	return clip(text.Line(s), limit)
}
