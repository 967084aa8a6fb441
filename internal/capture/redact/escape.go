package redact

import "strings"

// Text within text has escapes: \u0022 and \x22 in strings of code and logs, %22 in
// addresses, &quot; in XML. A secret behind them is found in a decoded copy of the
// text around them.

const (
	// escapeContext is how far before the first and after the last escape of a part
	// text is decoded with it, and how far two escapes of a part are from each other
	// at most, in bytes.
	escapeContext = 256
	// maxEscaped is the length of a part, in bytes.
	maxEscaped = 64 << 10
	// maxEscapes is how many escapes may stand for one another: \u0026quot;.
	maxEscapes = 2
)

// escapeAt returns the byte that the escape at i stands for and where it ends; false if
// there is none. A character beyond ASCII is 0xff. Backslashes and "%25" may be
// repeated, as nested strings and addresses have them.
func escapeAt(s string, i int) (c byte, end int, ok bool) {
	switch s[i] {
	case '%':
		for i+4 < len(s) && s[i+1] == '2' && s[i+2] == '5' && hexByte(s[i+3]) && hexByte(s[i+4]) {
			i += 2
		}
		if i+2 < len(s) && hexByte(s[i+1]) && hexByte(s[i+2]) {
			return hexValue(s[i+1])<<4 | hexValue(s[i+2]), i + 3, true
		}
	case '\\':
		i = skipBackslashes(s, i)
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

// entityAt is escapeAt for the entities of XML; i is behind the '&'.
func entityAt(s string, i int) (c byte, end int, ok bool) {
	if i >= len(s) || !oneOf(s[i], "#qalg") {
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
	for ; j < len(s) && j < start+6 && hexByte(s[j]) && (base == 16 || isDigit(s[j])); j++ {
		n = n*base + int(hexValue(s[j]))
	}
	if j == start || j >= len(s) || s[j] != ';' {
		return 0, 0, false
	}
	return byte(min(n, 0xff)), j + 1, true
}

func hexByte(c byte) bool { return classes[c]&classHex != 0 }

// hexValue returns the value of a hexadecimal digit.
//
//go:noinline
func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// nextEscape returns the position of the first escape in s[from:to], to if there is none.
func nextEscape(s string, from, to int) int {
	for i := from; i < to; i++ {
		if c := s[i]; c == '%' || c == '\\' || c == '&' || c == 0xef {
			if _, _, ok := escapeAt(s, i); ok {
				return i
			}
			if c == '\\' {
				i = skipBackslashes(s, i) - 1
			}
		}
	}
	return to
}

// escapedSecrets returns the secrets in s that escapes hide from the scanner, in order
// and apart from each other. from is the position of the first escape, depth how many
// escapes may stand for one another.
func escapedSecrets(s string, from, depth int) []span {
	var found []span
	for at := nextEscape(s, from, len(s)); at < len(s); {
		start := max(at-escapeContext, 0)
		if len(found) > 0 {
			start = max(start, found[len(found)-1].end)
		}
		limit, last := min(len(s), at+maxEscaped), at
		for last < limit {
			next := nextEscape(s, last+1, min(limit, last+escapeContext))
			if next == min(limit, last+escapeContext) {
				break
			}
			last = next
		}
		end := runEnd(s[:limit], min(limit, last+escapeContext), classToken)
		found = secretsDecoded(s, start, end, depth, found)
		at = nextEscape(s, end, len(s))
	}
	return found
}

// secretsDecoded appends the secrets in s[start:end], whose escapes it decodes.
func secretsDecoded(s string, start, end, depth int, found []span) []span {
	decoded := make([]byte, 0, end-start)
	for i := start; i < end; {
		var c byte
		c, i = decodedAt(s[:end], i)
		decoded = append(decoded, c)
	}
	text := view(decoded)
	var sc scanner
	i, n := start, 0 // in s and in decoded
	seek := func(position int) int {
		for n < position {
			_, i = decodedAt(s[:end], i)
			n++
		}
		return i
	}
	before := len(found)
	for secret, ok := sc.next(text); ok; secret, ok = sc.next(text) {
		found = append(found, span{seek(secret.start), seek(secret.end), secret.rule})
	}
	if len(found) == before && sc.escape > 0 && depth > 1 {
		for _, secret := range escapedSecrets(text, sc.escape-1, depth-1) {
			found = append(found, span{seek(secret.start), seek(secret.end), secret.rule})
		}
	}
	return found
}

// decodedAt returns the byte at i, or that of the escape there, and where the next one
// begins. Beside other escapes \n and \" are escapes too.
func decodedAt(s string, i int) (byte, int) {
	switch s[i] {
	case '%', '&', 0xef:
		if c, end, ok := escapeAt(s, i); ok {
			return c, end
		}
	case '\\':
		if c, end, ok := escapeAt(s, i); ok {
			return c, end
		}
		if k := skipBackslashes(s, i); k < len(s) && oneOf(s[k], "nrt\"/") {
			switch s[k] {
			case 'n', 'r', 't':
				return '\n', k + 1
			}
			return s[k], k + 1
		}
	}
	return s[i], i + 1
}
