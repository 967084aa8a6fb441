package jsonscan

import "bytes"

// Relax returns JSON as people write it by hand in strict form: a byte order
// mark, // and /* */ comments and commas before a closing bracket become blanks.
// Every other byte keeps its position, so that positions and lines in the result
// are those of data. It returns data itself when there is nothing to blank.
//
// What is broken stays broken: a comment that never ends is left as it stands, and of several
// commas none becomes a blank.
func Relax(data []byte) []byte {
	out, changed := data, false
	blank := func(from, to int) {
		if !changed {
			out, changed = bytes.Clone(data), true
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	if bytes.HasPrefix(data, byteOrderMark) {
		blank(0, len(byteOrderMark))
	}
	comma := -1    // a ',' with nothing but blanks after it so far
	value := false // a value or an opening bracket's element stands before
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			i = StringEnd(data, i)
			comma, value = -1, true
		case c == '/' && i+1 < len(data) && data[i+1] == '/':
			end := i + bytes.IndexByte(data[i:], '\n')
			if end < i {
				end = len(data)
			}
			blank(i, end)
			i = end
		case c == '/' && i+1 < len(data) && data[i+1] == '*':
			n := bytes.Index(data[i+2:], []byte("*/"))
			if n < 0 {
				return out
			}
			blank(i, i+n+4)
			i += n + 4
		case c == ',':
			if comma = -1; value {
				comma = i
			}
			value = false
			i++
		case c == ']' || c == '}':
			if comma >= 0 {
				blank(comma, comma+1)
			}
			comma, value = -1, true
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			comma, value = -1, c != '[' && c != '{' && c != ':'
			i++
		}
	}
	return out
}
