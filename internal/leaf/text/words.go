package text

import (
	"iter"
	"slices"
	"strings"

	"claudemem/internal/leaf/collect"
)

// Set returns the set of the words in s.
func Set(s string) map[string]bool {
	return collect.Set(strings.Fields(s))
}

// Add appends the items to a list that are neither empty nor in it yet, in order. Like append it may
// write behind the end of list. It compares with each, so that lists are short.
func Add(list []string, items ...string) []string {
	for _, item := range items {
		if item != "" && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// First returns the first item of a list, "" for none.
func First(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// Before returns s up to the first sep, AfterLast what follows the last one; all of
// s without any.
func Before(s, sep string) string {
	before, _, _ := strings.Cut(s, sep)
	return before
}

// AfterLast: see Before.
func AfterLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

// LowerASCII returns s with the ASCII letters in lower case, so that offsets into the
// result are offsets into s.
func LowerASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// HasWord reports whether s has word, which is not empty, not as a part of a longer one: no ASCII
// letter, digit or '_' stands before or behind it. Letter case counts.
func HasWord(s, word string) bool {
	for i := range Indexes(s, word) {
		end := i + len(word)
		if (i == 0 || !IsIdent(s[i-1])) && (end == len(s) || !IsIdent(s[end])) {
			return true
		}
	}
	return false
}

// Indexes yields each index at which s has part, which must not be empty; two may overlap.
func Indexes(s, part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; from++ {
			i := strings.Index(s[from:], part)
			if from += i; i < 0 || !yield(from) {
				return
			}
		}
	}
}

// ContainsAny reports whether s contains one of the parts.
func ContainsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// HasExtension reports whether a path ends in an extension of at most 7 characters
// that begins with a letter.
func HasExtension(p string) bool {
	i := strings.LastIndexByte(p, '.')
	return i >= 0 && i < len(p)-1 && len(p)-i <= 8 && IsLetter(p[i+1])
}

// IsLetter, IsDigit and IsIdent report whether c is an ASCII letter, a digit, or one
// of these or '_'.
func IsLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// IsDigit: see IsLetter.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsIdent: see IsLetter.
func IsIdent(c byte) bool { return IsLetter(c) || c == '_' || IsDigit(c) }
