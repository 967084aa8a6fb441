package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A document is JSON taken apart into its strings. What is between them stays as
// it is, byte for byte.
type document struct {
	raw     []byte
	strings []jsonString
}

// A jsonString is a string of a document.
type jsonString struct {
	start, end int // in raw, with the quotes
	text       string
	changed    bool
	isKey      bool
	// key is the index of the key whose value this is, or whose array it is an
	// element of; -1 when there is none.
	key int
	// array is the array that the string is an element of, 0 when it is none.
	array int
}

// parseDocument takes raw apart; false means that it is not JSON.
func parseDocument(raw []byte) (document, bool) {
	if !json.Valid(raw) {
		return document{}, false
	}
	d := document{raw: raw}
	type container struct {
		array int // 0 for an object
		key   int // of the value being read
	}
	stack := []container{{key: -1}}
	arrays, expectKey := 0, false
	for i := 0; i < len(raw); i++ {
		top := &stack[len(stack)-1]
		switch raw[i] {
		case '{':
			stack = append(stack, container{key: -1})
			expectKey = true
		case '[':
			arrays++
			stack = append(stack, container{array: arrays, key: top.key})
			expectKey = false
		case '}', ']':
			stack = stack[:len(stack)-1]
			expectKey = false
		case ',':
			expectKey = len(stack) > 1 && top.array == 0
		case '"':
			end := stringEnd(raw, i)
			s := jsonString{start: i, end: end, key: top.key, array: top.array, isKey: expectKey}
			s.text = strings.ToValidUTF8(string(unquote(nil, raw[i+1:end-1])), "\ufffd")
			if expectKey {
				s.key, s.array = -1, 0
				top.key = len(d.strings)
				expectKey = false
			}
			d.strings = append(d.strings, s)
			i = end - 1
		}
	}
	return d, true
}

// keyOf returns the text of the key that a string belongs to, "" for none.
func (d *document) keyOf(s *jsonString) string {
	if s.key < 0 {
		return ""
	}
	return d.strings[s.key].text
}

// set changes the text of a string.
func (s *jsonString) set(text string) {
	if text != s.text {
		s.text, s.changed = text, true
	}
}

// encode puts the document together again.
func (d *document) encode() []byte {
	changed := false
	for i := range d.strings {
		changed = changed || d.strings[i].changed
	}
	if !changed {
		return d.raw
	}
	out := make([]byte, 0, len(d.raw))
	last := 0
	for i := range d.strings {
		s := &d.strings[i]
		if !s.changed {
			continue
		}
		out = append(out, d.raw[last:s.start]...)
		out = appendQuoted(out, s.text)
		last = s.end
	}
	return append(out, d.raw[last:]...)
}

// stringEnd returns the position after the closing quote of the string whose
// opening quote is at i; len(raw) when it has none.
func stringEnd(raw []byte, i int) int {
	for j := i + 1; j < len(raw); {
		n := bytes.IndexByte(raw[j:], '"')
		if n < 0 {
			break
		}
		j += n
		backslashes := 0
		for k := j - 1; k > i && raw[k] == '\\'; k-- {
			backslashes++
		}
		j++
		if backslashes%2 == 0 {
			return j
		}
	}
	return len(raw)
}

// unquote appends the text of a string to dst; body is what is between the
// quotes. Lone surrogates and bad escapes become U+FFFD, as with encoding/json.
func unquote(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		n := bytes.IndexByte(body[i:], '\\')
		if n < 0 {
			return append(dst, body[i:]...)
		}
		dst = append(dst, body[i:i+n]...)
		i += n + 1
		if i >= len(body) {
			return dst
		}
		c := body[i]
		i++
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, ok := hex4(body, i)
			if !ok {
				dst = utf8.AppendRune(dst, utf8.RuneError)
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+1 < len(body) && body[i] == '\\' && body[i+1] == 'u' {
					low, ok = hex4(body, i+2)
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// appendQuoted appends text as a JSON string. What is no UTF-8 becomes U+FFFD.
func appendQuoted(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c == '\r':
				dst = append(dst, '\\', 'r')
			case c < ' ' || c == 0x7f:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}
