package jsonscan

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"
)

// ErrNotObject says that a text is not one JSON object. A [*SyntaxError] is one
// too.
var ErrNotObject = errors.New("not a JSON object")

// A SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Line  int // from 1
	found string
}

// Error returns the line and what cannot stand there.
func (e *SyntaxError) Error() string {
	return "line " + strconv.Itoa(e.Line) + ": unexpected " + e.found
}

// Is makes every SyntaxError an ErrNotObject.
func (e *SyntaxError) Is(target error) bool { return target == ErrNotObject }

const (
	// MaxDepth bounds nesting as encoding/json does.
	MaxDepth = 10_000
	// MaxMemberDepth bounds nesting in [Members], which parses what other programs
	// send. A host's payload nests by about ten.
	MaxMemberDepth = 512
)

// Check returns a [*SyntaxError] when data is not one JSON value.
func Check(data []byte) error {
	s := scanner{data: data, limit: MaxDepth}
	if s.whole() {
		return nil
	}
	return s.syntaxError()
}

// Members calls visit for each member of the JSON object in data, in order, with
// the key decoded and the value as it stands. The whole of data is checked
// first, so that visit only ever sees parts of valid JSON; a byte order mark and
// surrounding white space are allowed. A repeated key is visited each time. value is a part of data.
// The error is an [ErrNotObject], also for nesting beyond MaxMemberDepth; nothing was visited then.
func Members(data []byte, visit func(key string, value []byte)) error {
	s := scanner{data: TrimBOM(data), limit: MaxMemberDepth}
	s.space()
	if s.at() != '{' {
		if s.value(0) {
			return ErrNotObject
		}
		return s.syntaxError()
	}
	type member struct{ key, value []byte }
	found := make([]member, 0, 24)
	if !s.container(0, func(key, value []byte) { found = append(found, member{key, value}) }) || !s.end() {
		return s.syntaxError()
	}
	for _, m := range found {
		key, _ := Unquote(m.key)
		visit(key, m.value)
	}
	return nil
}

// Decode sets fields from the members of the JSON object in data by their names, as SetField
// does. It ignores other members. The error is an [ErrNotObject].
func Decode(data []byte, fields map[string]any) error {
	return Members(data, func(key string, value []byte) { SetField(fields[key], value) })
}

// SetField sets a *string, *int, *int64 or *bool to a value of valid JSON, empty ("", 0, false) when
// the value is of another type (a number as with Int64), and a *[]byte to the value as it stands,
// part of the data. It ignores any other field, also nil.
func SetField(field any, value []byte) {
	switch field := field.(type) {
	case *string:
		*field, _ = Unquote(value)
	case *int:
		*field = int(Int64(value))
	case *int64:
		*field = Int64(value)
	case *bool:
		*field = Bool(value)
	case *[]byte:
		*field = value
	}
}

// Parts calls visit for each member of the object, or each element of the array, that
// valid is; the key of an element is "". It checks no string, so that it skips a text of
// a megabyte in microseconds: valid has to be a value that [Members] found.
func Parts(valid []byte, visit func(key string, value []byte)) {
	s := scanner{data: valid, limit: MaxDepth, trusted: true}
	if s.at() == '{' || s.at() == '[' {
		s.container(0, func(key, value []byte) {
			name, _ := Unquote(key)
			visit(name, value)
		})
	}
}

// Kinds of tokens. An opening or closing bracket is its own kind.
const (
	Key    byte = 'k' // the string before a ':'
	String byte = '"'
	Scalar byte = '0' // a number, true, false or null
)

// Tokens calls visit for each token of data, in order, while it checks it, and
// reports whether data is one JSON value: what was visited before a false is
// valid up to there. data[start:end] is the token, with its quotes.
func Tokens(data []byte, visit func(kind byte, start, end int)) bool {
	s := scanner{data: data, limit: MaxDepth, token: visit}
	return s.whole()
}

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// TrimBOM removes a UTF-8 byte order mark, which some shells put before what they pipe.
func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, byteOrderMark) }

// scanner steps over JSON text. When a step fails, pos is at the byte that
// cannot stand there.
type scanner struct {
	data  []byte
	pos   int
	limit int                             // of nesting
	token func(kind byte, start, end int) // nil: tokens are not reported
	// trusted: the text was checked before, so that strings are only stepped over.
	trusted bool
}

// at returns the byte at pos, 0 at the end of the text.
func (s *scanner) at() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// emit reports a token from start to the present position, if anybody asked for tokens.
func (s *scanner) emit(kind byte, start int) {
	if s.token != nil {
		s.token(kind, start, s.pos)
	}
}

// syntaxError returns the error for the present position.
func (s *scanner) syntaxError() *SyntaxError {
	found := "end of JSON"
	if s.pos < len(s.data) {
		c, _ := utf8.DecodeRune(s.data[s.pos:])
		found = strconv.QuoteRune(c) + " in JSON"
	}
	return &SyntaxError{1 + bytes.Count(s.data[:min(s.pos, len(s.data))], []byte("\n")), found}
}

// whole steps over one value and the white space around it, up to the end.
func (s *scanner) whole() bool {
	s.space()
	return s.value(0) && s.end()
}

// end reports whether only white space is left.
func (s *scanner) end() bool {
	s.space()
	return s.pos == len(s.data)
}

// space skips white space.
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
	if depth > s.limit {
		return false
	}
	start, ok := s.pos, false
	switch c := s.at(); {
	case c == '"':
		if s.str() {
			s.emit(String, start)
			return true
		}
	case c == '{' || c == '[':
		return s.container(depth, nil)
	case c == '-' || '0' <= c && c <= '9':
		ok = s.number()
	default:
		ok = s.word("true") || s.word("false") || s.word("null")
	}
	if ok {
		s.emit(Scalar, start)
	}
	return ok
}

// bracket steps over one bracket.
func (s *scanner) bracket(c byte) bool {
	if s.at() != c {
		return false
	}
	s.pos++
	s.emit(c, s.pos-1)
	return true
}

// container steps over the object or array at pos, depth levels deep; visit, if given, sees its
// members or elements as they stand, a key with its quotes, an element with the key nil. False for
// what is no JSON, also if members were visited before.
func (s *scanner) container(depth int, visit func(key, value []byte)) bool {
	open := s.at()
	end := open + 2 // } is { + 2, ] is [ + 2
	s.bracket(open)
	s.space()
	if s.bracket(end) {
		return true
	}
	for {
		s.space()
		var key []byte
		from := s.pos
		if open == '{' {
			if s.at() != '"' || !s.str() {
				return false
			}
			key = s.data[from:s.pos]
			s.emit(Key, from)
			s.space()
			if s.at() != ':' {
				return false
			}
			s.pos++
			s.space()
			from = s.pos
		}
		if !s.value(depth + 1) {
			return false
		}
		if visit != nil {
			visit(key, s.data[from:s.pos])
		}
		s.space()
		if s.at() != ',' {
			return s.bracket(end)
		}
		s.pos++
	}
}

// str steps over a string; pos is at its opening quote. False for one that does not end, has a
// control character or an unknown escape.
func (s *scanner) str() bool {
	data := s.data
	if s.trusted {
		s.pos = StringEnd(data, s.pos)
		return true
	}
	for i := s.pos + 1; ; i++ {
		i += plainLength(data[i:])
		s.pos = i
		switch {
		case i >= len(data) || data[i] < ' ':
			return false
		case data[i] == '"':
			s.pos++
			return true
		}
		if i++; i >= len(data) {
			s.pos = i
			return false
		}
		switch data[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if _, ok := hex4(data[i+1:]); !ok {
				return false
			}
			i += 4
		default:
			return false
		}
	}
}

// number skips a number and reports whether it is one by JSON's grammar: after 0 no digits, digits
// behind a point.
func (s *scanner) number() bool {
	if s.at() == '-' {
		s.pos++
	}
	if s.at() == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.at() == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return true
}

// digits skips digits and reports whether there was one.
func (s *scanner) digits() bool {
	from := s.pos
	for c := s.at(); '0' <= c && c <= '9'; c = s.at() {
		s.pos++
	}
	return s.pos > from
}

// word skips w if it comes next, and reports whether it did.
func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return false
	}
	s.pos += len(w)
	return true
}

// Shallow returns data with each object or array that is nested deeper than limit replaced
// by a string that says how many bytes were there, and whether there was one. It does not
// check data: of valid JSON the result is valid, of other text it is not. It needs no stack,
// so that any depth will do. Without a cut, and where brackets do not match, it returns data and
// false. mark returns the text that stands for so many bytes.
func Shallow(data []byte, limit int, mark func(bytes int) string) (shallow []byte, cut bool) {
	depth, begin := 0, 0 // of the value that is cut
	out := make([]byte, 0, min(len(data), 1<<20))
	kept := 0 // up to where data is in out
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = StringEnd(data, i)
			continue
		case '{', '[':
			if depth++; depth == limit+1 {
				out, begin = append(out, data[kept:i]...), i
			}
		case '}', ']':
			if depth == limit+1 {
				out = AppendQuote(out, mark(i+1-begin))
				kept, cut = i+1, true
			}
			if depth--; depth < 0 {
				return data, false // no JSON
			}
		}
		i++
	}
	if !cut || depth != 0 {
		return data, false
	}
	return append(out, data[kept:]...), true
}
