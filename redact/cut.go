package redact

import (
	"strconv"
	"unicode/utf8"
)

// CutMark stands where n bytes of a text were taken out.
func CutMark(n int) string {
	return "\n[claude-mem: " + strconv.Itoa(n) + " bytes cut]\n"
}

// Cut keeps the head and the tail of a text over limit bytes, half of limit
// each, with a CutMark between them. Mask first: half a secret is not recognised.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit/2, len(s)-limit/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + CutMark(tail-head) + s[tail:]
}
