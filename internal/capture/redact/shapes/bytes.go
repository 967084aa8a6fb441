// Package shapes says what bytes, words and values look like: the classes of bytes that
// tokens are made of, where a value ends, whether it reads like words, stands for a secret
// or is random, what escapes stand for. Nothing here knows a kind of secret or the name of
// one.
//
// Place in the flow: the last of the passes of package redact, which all others use.
package shapes

import (
	"slices"
	"strings"
	"unsafe"
)

// Functions with many callers are not inlined (go:noinline), as the copies would make the hook
// larger: see package redact.

// OneOf is strings.IndexByte(chars, c) >= 0 for a few chars.
//
//go:noinline
func OneOf(c byte, chars string) bool {
	for i := range len(chars) {
		if chars[i] == c {
			return true
		}
	}
	return false
}

// HasAlnum reports whether v has an ASCII letter or digit, or any other byte beyond
// ASCII.
func HasAlnum(v string) bool {
	return strings.ContainsFunc(v, func(c rune) bool { return c >= 0x80 || IsAlnum(byte(c)) })
}

// LineEnd returns where the line of position i ends, without its line end, at most maxHeader bytes
// on.
func LineEnd(s string, i int) int {
	line := s[i:min(len(s), i+maxHeader)]
	if n := strings.IndexAny(line, "\r\n"); n >= 0 {
		return i + n
	}
	return i + len(line)
}

// Classes of bytes that tokens are made of.
const (
	Digit      = 1 << iota // 0-9
	HexLower               // 0-9 a-f
	Hex                    // 0-9 a-f A-F
	UpperDigit             // A-Z 0-9
	Letter                 // A-Z a-z
	Alnum                  // A-Z a-z 0-9
	Word                   // alnum _ -
	WordEqual              // alnum _ - =
	Dotted                 // alnum _ - = .
	Ident                  // alnum _ . -
	Token                  // alnum . _ ~ + / = -
	Base64                 // alnum + / =
	Wrapped                // alnum _ - + / \ and line breaks
	Path                   // alnum _ - . / @ %
	Visible                // all but blanks
	Lower                  // a-z
)

// ClassOf returns the class that a body names by a letter.
func ClassOf(letter byte) uint16 {
	return 1 << strings.IndexByte("dhxulnwetikbjps", letter)
}

var classes = func() (t [256]uint16) {
	add := func(chars string, class uint16) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	const alnum = Alnum | Word | WordEqual | Dotted | Ident | Token | Base64 | Wrapped | Path
	for c := '0'; c <= '9'; c++ {
		t[c] = Digit | HexLower | Hex | UpperDigit | alnum
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = UpperDigit | Letter | alnum
		t[c|0x20] = Lower | Letter | alnum
	}
	add("abcdef", HexLower|Hex)
	add("ABCDEF", Hex)
	add("_-", Word|WordEqual|Dotted|Ident|Token|Wrapped|Path)
	add("=", WordEqual|Dotted|Token|Base64)
	add(".", Dotted|Ident|Token|Path)
	add("~+/", Token)
	add("+/", Base64|Wrapped)
	add("\\\r\n", Wrapped)
	add("/@%", Path)
	for c := '!'; c <= 0xff; c++ {
		t[c] |= Visible
	}
	return t
}()

// In reports whether c is of one of the classes.
func In(c byte, class uint16) bool { return classes[c]&class != 0 }

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool { return In(c, Alnum) }

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// Only reports whether all bytes of s are of class.
//
//go:noinline
func Only(s string, class uint16) bool { return RunEnd(s, 0, class) == len(s) }

// RunEnd returns where the run of class that starts at i ends.
//
//go:noinline
func RunEnd(s string, i int, class uint16) int {
	for i < len(s) && In(s[i], class) {
		i++
	}
	return i
}

// HasOne reports whether s has one of the words.
func HasOne(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// EndsInOne reports whether s ends in one of the suffixes.
//
//go:noinline
func EndsInOne(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// WordAt returns the word of Ident bytes at i, behind at most 8 blanks, quotes and backslashes; ""
// for none. It ends MaxName bytes behind i.
//
//go:noinline
func WordAt(s string, i int) string {
	limit := min(len(s), i+8)
	i = SkipTo(s[:limit], i, " \t\"'\\")
	return s[i:RunEnd(s[:min(len(s), i+MaxName)], i, Ident)]
}

// LineBounds returns where the line of i ends and where the next begins, -1 if it has no
// end within limit bytes: then end is that of the bytes or of s. The line feed may be written \n.
//
//go:noinline
func LineBounds(s string, i, limit int) (end, next int) {
	for end = i; end < len(s) && end < i+limit; end++ {
		switch s[end] {
		case '\n':
			return end, end + 1
		case '\\':
			if k := SkipBackslashes(s, end); k < len(s) && s[k] == 'n' {
				return end, k + 1
			}
		}
	}
	return end, -1
}

// View returns b as a string without a copy. b must not change while it is used.
func View(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// MaxName is the longest name that is judged, in bytes.
const MaxName = 64

// IsUpper reports whether c is a capital ASCII letter.
func IsUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// IsLower reports whether c is a small ASCII letter.
func IsLower(c byte) bool { return c >= 'a' && c <= 'z' }

// Listed reports whether word is one of list, whose words have a blank before and behind
// them. A list takes a fraction of the code of a switch.
func Listed(list, word string) bool {
	if word == "" || strings.IndexByte(word, ' ') >= 0 {
		return false
	}
	for at := 0; ; {
		n := strings.Index(list[at:], word)
		if n < 0 {
			return false
		}
		at += n + len(word)
		if list[at] == ' ' && list[at-len(word)-1] == ' ' {
			return true
		}
	}
}

// Number reports whether word is one of digits.
func Number(word string) bool { return word != "" && Only(word, Digit) }

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return IsLower(c) || IsUpper(c) }

// SkipBackslashes returns the first position from i on that is no backslash.
//
//go:noinline
func SkipBackslashes(s string, i int) int {
	for i < len(s) && s[i] == '\\' {
		i++
	}
	return i
}

// HasPrefixFold is strings.HasPrefix without regard to letter case; prefix is ASCII.
func HasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// HasSuffixFold is strings.HasSuffix without regard to letter case; suffix is ASCII.
//
//go:noinline
func HasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// StartsWord reports whether no letter or digit stands before i. The letter of an
// escape (\n) does not count.
func StartsWord(s string, i int) bool {
	return i == 0 || !IsAlnum(s[i-1]) || i > 1 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0
}

// EqualsOne reports whether s is one of the words, without regard to letter case.
func EqualsOne(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return len(word) == len(s) && strings.EqualFold(word, s) })
}

// SkipTo returns the first position from i on whose byte is none of chars.
func SkipTo(s string, i int, chars string) int {
	for i < len(s) && OneOf(s[i], chars) {
		i++
	}
	return i
}

// SkipBack returns the end of s[low:i] without the bytes of chars at its end.
func SkipBack(s string, low, i int, chars string) int {
	for i > low && OneOf(s[i-1], chars) {
		i--
	}
	return i
}

// KeyOf returns the low five bits of two bytes: letters count the same in both cases.
func KeyOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }
