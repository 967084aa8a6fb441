// Package runes classifies and counts characters. It is apart from package text for the hook, which
// cannot afford what that imports.
package runes

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unsafe reports whether r must not stand in a text that a model reads or writes:
// control characters except line ends and tabs, characters that change the direction of
// text, and those that can hide a text in another: tags, zero-width spaces and invisible
// operators. Joiners stay: some scripts need them.
func Unsafe(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r <= 0x9f:
		return r >= 0x7f
	case r == 0x061c, r == 0xfeff, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r >= 0xe0000 && r <= 0xe0fff
}

// Safe returns s without its unsafe characters; an invalid byte is U+FFFD.
func Safe(s string) string {
	return strings.Map(func(r rune) rune {
		if Unsafe(r) {
			return -1
		}
		return r
	}, s)
}

// FirstBytes returns the longest beginning of s of at most n bytes that splits no character; "" for
// a negative n.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// UTF16Len returns the length of s in UTF-16 units, as JavaScript counts it; an invalid byte is one.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
