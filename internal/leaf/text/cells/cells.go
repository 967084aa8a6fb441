// Package cells measures and cuts text by the columns that it takes in a terminal: a Chinese
// character or an emoji takes two, a combining mark none. It stands apart from package text, which
// claude-mem-hook links.
package cells

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxMarks bounds the combining marks on one character: a pile of them covers other lines.
const maxMarks = 2

// Steady leaves out the characters whose width terminals disagree on: flags, skin tones, the
// frame of a keycap, and combining marks without a character, or too many on one.
func Steady(s string) string {
	if ascii(s) {
		return s
	}
	marks := maxMarks
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff, r == 0x20e3:
			return -1
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				return -1
			}
		case unicode.IsSpace(r):
			marks = maxMarks
		default:
			marks = 0
		}
		return r
	}, s)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Width returns the number of columns of s, which has no styles.
func Width(s string) int {
	if ascii(s) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// Cut shortens s, which has no styles, to at most n columns, "…" at its end included.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if Width(s) <= n {
		return s
	}
	end := End(s, n-1)
	return strings.TrimRight(s[:end], " ") + "…"
}

// End returns the end of the longest beginning of s of at most n columns, in bytes.
func End(s string, n int) (end int) {
	used := 0
	for i, r := range s {
		w := 1
		if r >= 0x80 {
			w = ansi.StringWidthWc(string(r))
		}
		if used+w > n {
			return i
		}
		used += w
	}
	return len(s)
}
