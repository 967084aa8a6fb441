package mode

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape returns s as text within our elements: valid UTF-8, without control
// characters and without '<', '>' or '&'.
func escape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // an invalid byte is U+FFFD
		writeRune(&b, r)
	}
	return b.String()
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '<':
		b.WriteString("&lt;")
	case r == '>':
		b.WriteString("&gt;")
	case r == '&':
		b.WriteString("&amp;")
	case !isDropped(r):
		b.WriteRune(r)
	}
}

// isDropped reports whether r is removed: control characters except line ends and
// tabs, and characters that change the direction of text.
func isDropped(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == 0xfeff || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// escapedLen returns the bytes of r after escaping.
func escapedLen(r rune) int {
	switch {
	case r == '<', r == '>':
		return 4
	case r == '&':
		return 5
	case isDropped(r):
		return 0
	}
	return utf8.RuneLen(r)
}

// minMarked is the smallest limit with room for the mark in the middle.
const minMarked = 400

// clip returns s escaped and within limit bytes: of a longer text the first 60 %
// and the last 30 % of the limit with the number of missing bytes between them. It
// splits no character and no escape.
func clip(s string, limit int) string {
	total := 0
	for _, r := range s {
		if total += escapedLen(r); total > limit {
			break
		}
	}
	if total <= limit {
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
		if used += escapedLen(r); used > limit {
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
		if used += escapedLen(r); used > limit {
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
	return clip(strings.Join(strings.Fields(s), " "), limit)
}
