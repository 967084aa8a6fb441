package shapes

import "strings"

const (
	// MaxValue is how much of a value is judged, in bytes. The whole value is masked.
	MaxValue = 128
	// MaxQuoted is how far a closing quote may be from the opening one, in bytes.
	MaxQuoted = 4096
	// maxHeader is how much of a header's value is judged, in bytes.
	maxHeader = 1024
)

// A quote is an opening quote and the number of backslashes before it.
type Quote struct {
	Start   int // of the text after it
	Char    byte
	Escapes int
}

// QuoteAt parses an opening quote at i, also after the letter of r"…", b'…', f"…"; false
// if there is none.
func QuoteAt(s string, i int) (Quote, bool) {
	if i+1 < len(s) && strings.IndexByte("rbfuRBFUN@$", s[i]) >= 0 && strings.IndexByte("\"'`", s[i+1]) >= 0 {
		i++
	}
	j := SkipBackslashes(s, i)
	if j >= len(s) || strings.IndexByte("\"'`", s[j]) < 0 {
		return Quote{}, false
	}
	q := Quote{Start: j + 1, Char: s[j], Escapes: j - i}
	if strings.HasPrefix(s[j:], `"""`) || strings.HasPrefix(s[j:], "'''") {
		q.Start = j + 3
	}
	return q, true
}

// End returns the end of the quoted text: at the closing quote or its backslashes, else at
// the end of the line (not in backquotes), after MaxQuoted bytes, or at the end of s. A quote
// behind backslashes closes if the opening one had as many or more; if that had none, an even
// number of backslashes escapes nothing.
func (q Quote) End(s string) int {
	limit := min(len(s), q.Start+MaxQuoted)
	escapes := 0
	for i := q.Start; i < limit; i++ {
		switch c := s[i]; {
		case c == '\\':
			escapes++
			continue
		case c == q.Char && (q.Escapes > 0 && escapes <= q.Escapes || q.Escapes == 0 && escapes%2 == 0):
			return i - min(escapes, q.Escapes)
		case c == '\n' && q.Char != '`':
			return i
		}
		escapes = 0
	}
	return limit
}

// Closing reports whether the quote closes a string instead of opening one, as in
// "--password=" + value: what follows looks like code that goes on. end is q.End(s).
func (q Quote) Closing(s string, end int) bool {
	i := SkipTo(s[:end], q.Start, " ")
	if i == end || strings.IndexByte("+,)%.;", s[i]) < 0 {
		return false
	}
	// A password in quotes may begin so too: then a quote closes it, and no blank is before the sign.
	return end == len(s) || s[end] != q.Char && s[end] != '\\' || i > q.Start && s[i] != ')'
}

// ConvertedLiteral parses []byte("…") and similar conversions at i and returns the quote of their
// literal; false if there is none.
func ConvertedLiteral(s string, i int) (Quote, bool) {
	for _, conversion := range [...]string{"[]byte(", "string(", "bytes(", "String(", "SecretStr(", "Buffer.from(", "b64decode("} {
		if strings.HasPrefix(s[i:], conversion) {
			return QuoteAt(s, i+len(conversion))
		}
	}
	return Quote{}, false
}

// Sets of bytes that end a value without quotes: in code, for a password after NAME=,
// for all after a NAME= in capitals, for a flag's value, for curl's, for a cookie's.
const (
	CodeStops = 1 << iota
	PasswordStops
	SettingStops
	FlagStops
	CurlStops
	CookieStops
)

const allStops = CodeStops | PasswordStops | SettingStops | FlagStops | CurlStops | CookieStops

// stopSets says of each byte in which sets it is.
var stopSets = [256]byte{
	' ': allStops, '\t': allStops, '\r': allStops, '\n': allStops, '"': allStops, '\'': allStops, '`': allStops,
	'<': CodeStops | FlagStops, '>': CodeStops | FlagStops, ')': CodeStops | FlagStops, ']': CodeStops | FlagStops,
	'(': CodeStops, '[': CodeStops, '{': CodeStops, '}': CodeStops,
	',': CodeStops | FlagStops | CookieStops, ';': CodeStops | FlagStops | CurlStops | CookieStops,
	'&': CodeStops | PasswordStops | FlagStops, '|': CodeStops | PasswordStops | FlagStops | CurlStops,
}

// BareEnd returns where a value without quotes that starts at i ends: at a byte of the sets of
// stops, at an escape such as \n or \", or at limit. A caller that judges only the beginning of
// a value asks again from there for the end.
func BareEnd(s string, i, limit int, stops byte) int {
	limit = min(limit, len(s))
	for i < limit && stopSets[s[i]]&stops == 0 {
		if s[i] != '\\' {
			i++
			continue
		}
		end := SkipBackslashes(s[:limit], i)
		if end < len(s) && strings.IndexByte("nrt\"'", s[end]) >= 0 {
			break // the escape of text within a string
		}
		i = end
	}
	return i
}
