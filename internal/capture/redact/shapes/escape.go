package shapes

import "strings"

// EscapeAt returns the byte that the escape at i, which is within s, stands for and where it ends;
// false if there is none. A character beyond ASCII may be 0xff. Backslashes and "%25" may be
// repeated, as nested strings and addresses have them. \n and \" are none here (see DecodedAt).
func EscapeAt(s string, i int) (c byte, end int, ok bool) {
	switch s[i] {
	case '%':
		for i+4 < len(s) && s[i+1] == '2' && s[i+2] == '5' && hexByte(s[i+3]) && hexByte(s[i+4]) {
			i += 2 // the '5' stands for the '%' that it ends
		}
		if i+2 < len(s) && hexByte(s[i+1]) && hexByte(s[i+2]) {
			return hexValue(s[i+1])<<4 | hexValue(s[i+2]), i + 3, true
		}
	case '\\':
		i = SkipBackslashes(s, i)
		switch {
		case i+4 < len(s) && s[i] == 'u' && hexByte(s[i+1]) && hexByte(s[i+2]) && hexByte(s[i+3]) && hexByte(s[i+4]):
			if s[i+1] == '0' && s[i+2] == '0' {
				return hexValue(s[i+3])<<4 | hexValue(s[i+4]), i + 5, true
			}
			return 0xff, i + 5, true
		case i+2 < len(s) && s[i] == 'x' && hexByte(s[i+1]) && hexByte(s[i+2]):
			return hexValue(s[i+1])<<4 | hexValue(s[i+2]), i + 3, true
		}
	case '&':
		return entityAt(s, i+1)
	case 0xef: // the full-width signs < and >
		if strings.HasPrefix(s[i:], "\uff1c") || strings.HasPrefix(s[i:], "\uff1e") {
			return s[i+2] - 0x9c + '<', i + 3, true
		}
	}
	return 0, 0, false
}

// entityAt is EscapeAt for the entities of XML; i is behind the '&'. Of a character reference at
// most 6 digits are read, and a value above 0xff is 0xff.
func entityAt(s string, i int) (c byte, end int, ok bool) {
	if i >= len(s) || !OneOf(s[i], "#qalg") {
		return 0, 0, false
	}
	for _, e := range [...]struct {
		name string
		c    byte
	}{{"quot;", '"'}, {"apos;", '\''}, {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}} {
		if len(s)-i >= len(e.name) && s[i:i+len(e.name)] == e.name {
			return e.c, i + len(e.name), true
		}
	}
	if i+2 >= len(s) || s[i] != '#' {
		return 0, 0, false
	}
	j, base, n := i+1, 10, 0
	if s[j]|0x20 == 'x' {
		j, base = j+1, 16
	}
	start := j
	for ; j < len(s) && j < start+6 && hexByte(s[j]) && (base == 16 || IsDigit(s[j])); j++ {
		n = n*base + int(hexValue(s[j]))
	}
	if j == start || j >= len(s) || s[j] != ';' {
		return 0, 0, false
	}
	return byte(min(n, 0xff)), j + 1, true
}

func hexByte(c byte) bool { return In(c, Hex) }

// hexValue returns the value of a hexadecimal digit.
//
//go:noinline
func hexValue(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// NextEscape returns the position of the first escape in s[from:to], to if there is none.
func NextEscape(s string, from, to int) int {
	for i := from; i < to; i++ {
		if c := s[i]; c == '%' || c == '\\' || c == '&' || c == 0xef {
			if _, _, ok := EscapeAt(s, i); ok {
				return i
			}
			if c == '\\' {
				i = SkipBackslashes(s, i) - 1
			}
		}
	}
	return to
}

// DecodedAt returns the byte at i, or that of the escape there, and where the next one
// begins. Beside other escapes \n, \r and \t are escapes of a line feed, and \" and \/ of themselves.
func DecodedAt(s string, i int) (byte, int) {
	switch s[i] {
	case '%', '&', 0xef:
		if c, end, ok := EscapeAt(s, i); ok {
			return c, end
		}
	case '\\':
		if c, end, ok := EscapeAt(s, i); ok {
			return c, end
		}
		if k := SkipBackslashes(s, i); k < len(s) && OneOf(s[k], "nrt\"/") {
			switch s[k] {
			case 'n', 'r', 't':
				return '\n', k + 1
			}
			return s[k], k + 1
		}
	}
	return s[i], i + 1
}

// MaxAttributes is how far the '>' of a tag may be from its name, in bytes, and the
// longest white space within a tag.
const MaxAttributes = 256

// Bracket returns the length of c ('<' or '>') at i, written plainly or as an
// escape of JSON within a string; 0 when it is not there.
func Bracket(s string, i int, c byte) int {
	if i >= len(s) {
		return 0
	}
	if s[i] == c {
		return 1
	}
	found, end, ok := EscapeAt(s, i)
	if ok && found == '&' { // \u0026lt;
		found, end, ok = entityAt(s, end)
	}
	if ok && found == c {
		return end - i
	}
	return 0
}

// Invisible returns the length in bytes of the character at i, which is within s, if it is a blank
// other than those of ASCII, or has no width: a no-break space, a zero-width joiner, a soft hyphen;
// 0 for others.
func Invisible(s string, i int) int {
	switch s[i] {
	case 0xc2: // U+00A0, U+00AD
		if i+1 < len(s) && (s[i+1] == 0xa0 || s[i+1] == 0xad) {
			return 2
		}
	case 0xe2: // U+2000 to U+200F, U+2028 to U+202F, U+205F to U+206F
		if i+2 < len(s) && (s[i+1] == 0x80 && (s[i+2] <= 0x8f || s[i+2] >= 0xa8 && s[i+2] <= 0xaf) || s[i+1] == 0x81 && s[i+2] >= 0x9f && s[i+2] <= 0xaf) {
			return 3
		}
	case 0xe3: // U+3000
		if strings.HasPrefix(s[i:], "\u3000") {
			return 3
		}
	case 0xef: // U+FEFF
		if strings.HasPrefix(s[i:], "\ufeff") {
			return 3
		}
	}
	return 0
}

// SkipSpace returns the first position from i on that is no white space and not
// invisible, at most MaxAttributes behind it.
func SkipSpace(s string, i int) int {
	end := min(len(s), i+MaxAttributes)
	for i < end {
		switch c := s[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case c >= 0x80 && Invisible(s, i) > 0:
			i += Invisible(s, i)
		default:
			return i
		}
	}
	return i
}
