package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text/runes"
)

// What a TruncationMark has around its number.
const (
	markStart = "\n[claude-mem: "
	markEnd   = " bytes cut]\n"
)

// TruncationMark returns the text that replaces n removed bytes.
func TruncationMark(n int) string { return markStart + strconv.Itoa(n) + markEnd }

// IsTruncated reports whether a text has a TruncationMark.
func IsTruncated(s string) bool {
	for {
		_, rest, found := strings.Cut(s, markStart)
		if !found {
			return false
		}
		if digits := strings.TrimLeft(rest, "0123456789"); digits != rest && strings.HasPrefix(digits, markEnd) {
			return true
		}
		s = rest
	}
}

// wordReach is how far TruncateMiddle moves an end to reach white space, in bytes.
// Most tokens and keys are shorter, so none is split that only redact/rules masks.
const wordReach = 512

// TruncateMiddle returns a text of at most limit bytes as it is. Of a longer one
// it keeps head and tail, at most limit/2 bytes each, with a TruncationMark between
// them. Mask first: half a secret is not recognised.
func TruncateMiddle(s string, limit int) string { return TruncateMiddleTo(s, limit, limit/2) }

// TruncateMiddleTo is like TruncateMiddle for a text over longest bytes, but keeps
// at most end bytes at each end. longest is at least twice end, so that the ends are apart; what
// it returns may be longer than longest by the mark.
func TruncateMiddleTo(s string, longest, end int) string {
	if len(s) <= longest {
		return s
	}
	head, tail := headSeam(s, end), tailSeam(s, len(s)-end)
	return s[:head] + TruncationMark(tail-head) + s[tail:]
}

// headSeam returns the end of a head of at most n bytes, fewer than s has: after white space within
// wordReach, otherwise between two characters.
func headSeam(s string, n int) int {
	low := max(0, n-wordReach)
	if i := strings.LastIndexAny(s[low:n], blanks); i >= 0 {
		return low + i + 1
	}
	return len(runes.FirstBytes(s, n))
}

// tailSeam returns the start of a tail of at most len(s)-n bytes, like headSeam.
func tailSeam(s string, n int) int {
	if i := strings.IndexAny(s[n:min(len(s), n+wordReach)], blanks); i >= 0 {
		return n + i
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

const blanks = " \n\t\r"
