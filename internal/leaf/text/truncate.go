package text

import (
	"strings"
	"unicode/utf16"

	"claudemem/internal/leaf/text/runes"
	"claudemem/internal/memory"
)

// mark ends a text that was shortened.
const mark = "…"

// FirstBytes is runes.FirstBytes.
func FirstBytes(s string, n int) string { return runes.FirstBytes(s, n) }

// TruncateBytes shortens s to at most n bytes, "…" (3 bytes) at its end included; "" when
// that has no room. White space before the "…" is removed; a text that fits is returned as it is.
func TruncateBytes(s string, n int) string {
	switch {
	case len(s) <= n:
		return s
	case n < len(mark):
		return ""
	}
	return strings.TrimSpace(FirstBytes(s, n-len(mark))) + mark
}

// TruncateRunes shortens s to at most n characters, "…" at its end included; ""
// when that has no room. Blanks before the "…" are removed; a text that fits is returned as it is.
func TruncateRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, end := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
		}
		if count++; count > n {
			if n < 1 {
				return ""
			}
			return strings.TrimRight(s[:end], " \n") + mark
		}
	}
	return s
}

// TruncateWidth shortens s to a Width of at most n, "…" at its end included; ""
// when that has no room. It ends s at a word where that loses little, and removes punctuation there.
func TruncateWidth(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	end, used, word := 0, 0, 0
	for i, r := range s {
		if end, used = i, used+cost(r); used > (n-1)*memory.LatinCost {
			break // reached, as s is wider than n
		}
		if r == ' ' {
			word = i
		}
	}
	// A word longer than a quarter of the text is split rather than dropped.
	if s[end] != ' ' && word > end*3/4 {
		end = word
	}
	return strings.TrimRight(s[:end], " ,;:.-–—([‹`") + mark
}

// Width returns the room that s takes in a text for a model, in letters of the Latin script: a
// character counts by the tokens that it costs, and at least its UTF-16 units, in which hosts
// measure.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += cost(r)
	}
	return (n + memory.LatinCost - 1) / memory.LatinCost
}

// cost returns the width of a character in parts of a letter's.
func cost(r rune) int { return max(memory.CharacterCost(r), memory.LatinCost*utf16.RuneLen(r)) }
