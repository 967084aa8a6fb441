package mode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

// escapeRune returns r as XML text, "" for a character that is unsafe to show.
func escapeRune(r rune) string {
	switch r {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	}
	return plainRune(r)
}

// minMarked is the smallest limit with room for the mark in the middle.
const minMarked = 400

// plainRune returns r, "" for a character that is unsafe to show.
func plainRune(r rune) string {
	if text.Unsafe(r) {
		return ""
	}
	return string(r)
}

// clip returns s escaped and within limit bytes; see clipAs.
func clip(s string, limit int) string { return clipAs(s, limit, escapeRune) }

// raw returns s as it is but for control characters, within limit bytes, for text between
// delimiters that it cannot contain; see clipAs.
func raw(s string, limit int) string { return clipAs(s, limit, plainRune) }

// clipAs returns s with each character as show returns it, within limit bytes: of a longer
// text the first 60 % and the last 30 % of the limit with the number of missing bytes
// between them. It splits no character and no escape, which the functions of package text
// would.
func clipAs(s string, limit int, show func(rune) string) string {
	if headEnd(s, limit, show) == len(s) {
		return shown(s, show)
	}
	if limit < minMarked {
		return shown(s[:headEnd(s, limit-len("…"), show)], show) + "…"
	}
	head := headEnd(s, limit*60/100, show)
	tail := tailStart(s, limit*30/100, show)
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", shown(s[:head], show), tail-head, shown(s[tail:], show))
}

// shown returns s with each character as show returns it.
func shown(s string, show func(rune) string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // an invalid byte is U+FFFD
		b.WriteString(show(r))
	}
	return b.String()
}

// headEnd returns the end of the longest beginning of s with at most limit bytes
// when it is shown.
func headEnd(s string, limit int, show func(rune) string) int {
	used := 0
	for i, r := range s {
		if used += len(show(r)); used > limit {
			return i
		}
	}
	return len(s)
}

// tailStart returns the start of the longest end of s with at most limit bytes when it is
// shown.
func tailStart(s string, limit int, show func(rune) string) int {
	used := 0
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if used += len(show(r)); used > limit {
			return i
		}
		i -= size
	}
	return 0
}

// oneLine returns s escaped, on one line, within limit bytes.
func oneLine(s string, limit int) string { return clip(text.Line(beginning(s, limit)), limit) }

// rawLine returns s on one line, within limit bytes, for text between delimiters.
func rawLine(s string, limit int) string { return raw(text.Line(beginning(s, limit)), limit) }

// beginning returns as much of s as one line of limit bytes can need: far more than is
// shown, because white space may be most of it.
func beginning(s string, limit int) string { return text.FirstBytes(s, 8*limit) }
