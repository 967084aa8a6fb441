package glob

import (
	"unicode"
	"unicode/utf8"
)

// matchName reports whether a glob without separators matches a name. A glob
// also matches a name that is the same text, whatever it means as a glob. It
// goes back to the last "*" only.
func matchName(glob, name string, fold bool) bool {
	if glob == name {
		return true
	}
	g, n := 0, 0
	star, mark := -1, 0
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			star, mark = g, n
			g++
			continue
		}
		if g < len(glob) {
			if gSize, nSize, ok := matchOne(glob[g:], name[n:], fold); ok {
				g, n = g+gSize, n+nSize
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[mark:])
		mark += size
		g, n = star+1, mark
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

// matchOne matches one character of a name with the beginning of glob, and returns how
// many bytes of both were used; false when they do not match. A "[" that is not closed
// stands for itself.
func matchOne(glob, name string, fold bool) (gSize, nSize int, ok bool) {
	c, nSize := utf8.DecodeRuneInString(name)
	switch glob[0] {
	case '?':
		return 1, nSize, true
	case '[':
		if inside, size, closed := matchClass(glob, c, fold); closed {
			return size, nSize, inside
		}
	}
	want, gSize := utf8.DecodeRuneInString(glob)
	return gSize, nSize, same(want, c, fold)
}

// matchClass matches a character against the class that glob begins with.
func matchClass(glob string, c rune, fold bool) (inside bool, size int, closed bool) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	for first := true; i < len(glob); first = false {
		if glob[i] == ']' && !first {
			return inside != negated, i + 1, true
		}
		low, n := utf8.DecodeRuneInString(glob[i:])
		i += n
		high := low
		if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			high, n = utf8.DecodeRuneInString(glob[i+1:])
			i += 1 + n
		}
		if low <= c && c <= high || fold && (low <= unicode.ToLower(c) && unicode.ToLower(c) <= high ||
			low <= unicode.ToUpper(c) && unicode.ToUpper(c) <= high) {
			inside = true
		}
	}
	return false, 0, false
}

// same reports whether two characters are equal, with fold in any letter case.
func same(a, b rune, fold bool) bool {
	if a == b || !fold {
		return a == b
	}
	if a < utf8.RuneSelf && b < utf8.RuneSelf {
		return a|0x20 == b|0x20 && letter(byte(a))
	}
	return unicode.ToLower(a) == unicode.ToLower(b)
}
