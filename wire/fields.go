package wire

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// ErrNotJSON says that a text is not what was expected: not JSON, or not an object.
var ErrNotJSON = errors.New("not a JSON object")

// maxDepth bounds nesting. A host's payload nests by about ten; encoding/json,
// which reads it in the worker, gives up at 10,000.
const maxDepth = 512

// Fields calls visit for each member of the JSON object in data, in order, with
// the key decoded and the value as it stands. The whole of data is checked
// first, so that visit only ever sees parts of valid JSON; a byte order mark and
// surrounding white space are allowed. A repeated key is visited each time.
func Fields(data []byte, visit func(key string, value []byte)) error {
	s := scanner{data: TrimBOM(data)}
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != '{' {
		return ErrNotJSON
	}
	type member struct{ key, value []byte }
	found := make([]member, 0, 24)
	if !s.object(0, func(key, value []byte) { found = append(found, member{key, value}) }) {
		return ErrNotJSON
	}
	s.space()
	if s.pos != len(s.data) {
		return ErrNotJSON
	}
	for _, m := range found {
		key, _ := Text(m.key)
		visit(key, m.value)
	}
	return nil
}

// Elements calls visit for each element of the JSON array in data and reports
// whether it is one; where it breaks off, the elements before have been visited.
func Elements(data []byte, visit func(value []byte)) bool {
	s := scanner{data: data}
	s.space()
	return s.pos < len(data) && data[s.pos] == '[' && s.array(0, visit)
}

// TrimBOM removes a UTF-8 byte order mark, which some shells put before what they pipe.
func TrimBOM(data []byte) []byte {
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		return data[3:]
	}
	return data
}

// Valid reports whether data is one JSON value.
func Valid(data []byte) bool {
	s := scanner{data: data}
	s.space()
	if !s.value(0) {
		return false
	}
	s.space()
	return s.pos == len(data)
}

// scanner walks JSON text by RFC 8259. Like encoding/json it lets invalid UTF-8
// and lone surrogates pass inside strings.
type scanner struct {
	data []byte
	pos  int
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return
		}
	}
}

// value steps over one value; false means that there is none.
func (s *scanner) value(depth int) bool {
	if s.pos >= len(s.data) || depth > maxDepth {
		return false
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		return s.str()
	case c == '{':
		return s.object(depth, nil)
	case c == '[':
		return s.array(depth, nil)
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return false
}

// object steps over the object at pos; visit, if given, sees its members as they stand.
func (s *scanner) object(depth int, visit func(key, value []byte)) bool {
	s.pos++
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == '}' {
		s.pos++
		return true
	}
	for {
		s.space()
		from := s.pos
		if s.pos >= len(s.data) || s.data[s.pos] != '"' || !s.str() {
			return false
		}
		key := s.data[from:s.pos]
		s.space()
		if s.pos >= len(s.data) || s.data[s.pos] != ':' {
			return false
		}
		s.pos++
		s.space()
		from = s.pos
		if !s.value(depth + 1) {
			return false
		}
		if visit != nil {
			visit(key, s.data[from:s.pos])
		}
		s.space()
		if s.pos >= len(s.data) {
			return false
		}
		c := s.data[s.pos]
		s.pos++
		if c == '}' {
			return true
		}
		if c != ',' {
			return false
		}
	}
}

// array steps over the array at pos; visit, if given, sees its elements as they stand.
func (s *scanner) array(depth int, visit func(value []byte)) bool {
	s.pos++
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == ']' {
		s.pos++
		return true
	}
	for {
		s.space()
		from := s.pos
		if !s.value(depth + 1) {
			return false
		}
		if visit != nil {
			visit(s.data[from:s.pos])
		}
		s.space()
		if s.pos >= len(s.data) {
			return false
		}
		c := s.data[s.pos]
		s.pos++
		if c == ']' {
			return true
		}
		if c != ',' {
			return false
		}
	}
}

// str steps over a string; pos is at its opening quote.
func (s *scanner) str() bool {
	data := s.data
	for i := s.pos + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			s.pos = i + 1
			return true
		case c < 0x20:
			return false
		case c == '\\':
			i++
			if i >= len(data) {
				return false
			}
			switch data[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(data) {
					return false
				}
				for _, h := range data[i+1 : i+5] {
					if hexValue(h) < 0 {
						return false
					}
				}
				i += 4
			default:
				return false
			}
		}
	}
	return false
}

func (s *scanner) number() bool {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > from
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

// Text decodes a JSON string; false means that raw is something else. As in
// encoding/json lone surrogates and invalid UTF-8 become U+FFFD.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	plain := true
	for _, c := range in {
		if c == '\\' {
			plain = false
			break
		}
	}
	if plain && utf8.Valid(in) {
		return string(in), true
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		c := in[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(in[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		if i+1 >= len(in) {
			return "", false
		}
		i += 2
		switch in[i-1] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hexRune(in[i:])
			if r < 0 {
				return "", false
			}
			i += 4
			if 0xD800 <= r && r < 0xDC00 && i+1 < len(in) && in[i] == '\\' && in[i+1] == 'u' {
				if low := hexRune(in[i+2:]); 0xDC00 <= low && low < 0xE000 {
					r = (r-0xD800)<<10 | (low - 0xDC00) + 0x10000
					i += 6
				}
			}
			out = utf8.AppendRune(out, r) // writes U+FFFD for a surrogate
		default:
			out = append(out, in[i-1])
		}
	}
	return string(out), true
}

// hexRune reads the four digits of a \u escape, -1 when there are not four.
func hexRune(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		h := hexValue(c)
		if h < 0 {
			return -1
		}
		r = r<<4 | h
	}
	return r
}

func hexValue(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return rune(c - 'A' + 10)
	}
	return -1
}

// Integer decodes a JSON number, cutting what follows the point; anything else is 0.
func Integer(raw []byte) int64 {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f >= 1<<62 || f <= -1<<62 {
		return 0
	}
	return int64(f)
}

// Flag decodes a JSON boolean; anything else is false.
func Flag(raw []byte) bool { return string(raw) == "true" }

// AppendText appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendText(b []byte, s string) []byte {
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
