package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// StringEnd returns the position after the closing quote of the string whose
// opening quote is at i; len(data) when it has none. It looks at nothing but
// quotes and backslashes, so data need not be JSON. It takes linear time.
func StringEnd(data []byte, i int) int {
	for j := i + 1; j < len(data); {
		n := bytes.IndexByte(data[j:], '"')
		if n < 0 {
			break
		}
		j += n
		backslashes := 0
		for k := j - 1; k > i && data[k] == '\\'; k-- {
			backslashes++
		}
		j++
		if backslashes%2 == 0 {
			return j
		}
	}
	return len(data)
}

// The lowest and the highest bit of each of eight bytes.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// plainLength returns how many bytes at the beginning of data stand for themselves
// in a string: up to a quote, a backslash or a control character. It looks at eight
// bytes at once: a file's content in a payload has hundreds of thousands.
func plainLength(data []byte) int {
	i := 0
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := w^('"'*ones), w^('\\'*ones)
		// The highest bit of each byte that is 0, or less than a blank. A borrow makes
		// bytes above such a byte wrong, never those below.
		found := ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' {
		i++
	}
	return i
}

// Unquote decodes a JSON string; false means that raw is something else. As in
// encoding/json lone surrogates and invalid UTF-8 become U+FFFD. raw is a value that this package has
// found, without blanks around it: what is between the quotes is not checked.
func Unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	body := raw[1 : len(raw)-1]
	if bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body) {
		return string(body), true
	}
	return string(AppendUnquoted(nil, body)), true
}

// AppendUnquoted appends the text of a string, given without its quotes, and returns dst as append
// does. What cannot be decoded (invalid UTF-8, a lone surrogate, a broken \u) becomes U+FFFD; a
// backslash at the end is dropped.
func AppendUnquoted(dst, body []byte) []byte {
	from := len(dst)
	dst = slices.Grow(dst, len(body))
	for len(body) > 0 {
		if body[0] != '\\' {
			plain := bytes.IndexByte(body, '\\')
			if plain < 0 {
				plain = len(body)
			}
			dst, body = append(dst, body[:plain]...), body[plain:]
			continue
		}
		if len(body) == 1 {
			break // nothing is behind the backslash
		}
		c := body[1]
		body = body[2:]
		if c != 'u' {
			if c >= 'b' && c <= 't' {
				c = unescaped[c-'b']
			}
			dst = append(dst, c)
			continue
		}
		r, ok := hex4(body)
		if !ok {
			dst = utf8.AppendRune(dst, utf8.RuneError)
			continue
		}
		body = body[4:]
		if utf16.IsSurrogate(r) && bytes.HasPrefix(body, []byte(`\u`)) {
			if low, ok := hex4(body[2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				body = body[6:]
			}
		}
		dst = utf8.AppendRune(dst, r) // writes U+FFFD for a surrogate
	}
	if utf8.Valid(dst[from:]) {
		return dst
	}
	return append(dst[:from], string([]rune(string(dst[from:])))...) // an invalid byte is a U+FFFD
}

// unescaped has the bytes that the escapes \b to \t stand for: letters that are none
// stand for themselves.
const unescaped = "\bcde\fghijklm\nopq\rs\t"

// hex4 parses the four hexadecimal digits of a \u escape; false if there are none.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

// AppendQuote appends s as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD; "<", ">" and
// "&" are not escaped.
func AppendQuote(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// Object returns a JSON object of pairs of a key and a value, in their order: a string is a text, an
// int64 a number, a []byte JSON as it stands. A value of another type would leave the object broken.
func Object(pairs ...any) []byte {
	b := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendQuote(b, pairs[i].(string)), ':')
		switch value := pairs[i+1].(type) {
		case string:
			b = AppendQuote(b, value)
		case int64:
			b = strconv.AppendInt(b, value, 10)
		case []byte:
			b = append(b, value...)
		}
	}
	return append(b, '}')
}

// Int64 decodes a JSON number and drops what follows the point; anything else, and a number beyond
// 2^62, is 0.
func Int64(raw []byte) int64 {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f >= 1<<62 || f <= -1<<62 {
		return 0
	}
	return int64(f)
}

// Bool decodes a JSON boolean; anything else is false.
func Bool(raw []byte) bool { return string(raw) == "true" }
