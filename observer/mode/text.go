package mode

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape makes s text within our elements: valid UTF-8, without control
// characters, and with no '<', '>' or '&' of its own.
func escape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // an invalid byte comes as U+FFFD
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
	case !dropped(r):
		b.WriteRune(r)
	}
}

// dropped are control characters, line ends and tabs aside, and those that turn
// text around.
func dropped(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == 0xfeff || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// escapedLen is how many bytes r takes once it is escaped.
func escapedLen(r rune) int {
	switch {
	case r == '<', r == '>':
		return 4
	case r == '&':
		return 5
	case dropped(r):
		return 0
	}
	return utf8.RuneLen(r)
}

// minMarked is the shortest limit at which a cut leaves room for its mark.
const minMarked = 400

// clip escapes s and keeps the result within limit bytes: of a text that is too
// long it shows the first 60 % and the last 30 % of the limit, and between them
// how much is missing. A cut is never within a character or an escape.
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

// headEnd is where the longest beginning of s ends that takes at most limit bytes escaped.
func headEnd(s string, limit int) int {
	used := 0
	for i, r := range s {
		if used += escapedLen(r); used > limit {
			return i
		}
	}
	return len(s)
}

// tailStart is where the longest end of s begins that takes at most limit bytes escaped.
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

// oneLine is s escaped, on one line, cut to limit bytes.
func oneLine(s string, limit int) string {
	if limit > 0 && len(s) > 8*limit {
		s = strings.ToValidUTF8(s[:8*limit], "") // far more than is shown; white space may be most of it
	}
	return clip(strings.Join(strings.Fields(s), " "), limit)
}
