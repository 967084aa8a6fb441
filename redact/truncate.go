package redact

import (
	"strconv"
	"unicode/utf8"
)

// TruncationMark stands where n bytes of a text were taken out.
func TruncationMark(n int) string {
	return "\n[claude-mem: " + strconv.Itoa(n) + " bytes cut]\n"
}

// wordReach is how far from where it would fall a cut looks for white space. Most
// tokens and keys are shorter, so a cut splits none of those that only the full
// rules know.
const wordReach = 512

// TruncateMiddle keeps the head and the tail of a text over limit bytes, at most half of
// limit each, with a TruncationMark between them. Mask first: half a secret is not recognised.
func TruncateMiddle(s string, limit int) string { return TruncateMiddleTo(s, limit, limit/2) }

// TruncateMiddleTo is TruncateMiddle for a text over longest bytes, of which at most end bytes are
// kept at each end.
func TruncateMiddleTo(s string, longest, end int) string {
	if len(s) <= longest {
		return s
	}
	head, tail := headSeam(s, end), tailSeam(s, len(s)-end)
	return s[:head] + TruncationMark(tail-head) + s[tail:]
}

// headSeam returns where to end a head of at most n bytes: behind white space if
// there is any near, and never within a character.
func headSeam(s string, n int) int {
	for i := n; i > 0 && i > n-wordReach; i-- {
		if isSpace(s[i-1]) {
			return i
		}
	}
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// tailSeam returns where to begin a tail of at most len(s)-n bytes.
func tailSeam(s string, n int) int {
	for i := n; i < len(s) && i < n+wordReach; i++ {
		if isSpace(s[i]) {
			return i
		}
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
