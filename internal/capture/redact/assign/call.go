package assign

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// A function of this package that returns a span and false has found no secret: the span then
// means nothing.

// maxCall is how far the argument of a call is from the call's parenthesis, in bytes.
const maxCall = 160

// MinPassed is the length of the shortest literal that is masked because of the call that
// it is an argument of, in bytes.
const MinPassed = 8

// credentialCalls are parts of the names of functions that are given credentials as
// arguments, in small letters.
var credentialCalls = [...]string{"auth", "cred", "login", "connect", "sign", "hmac", "pdo", "password", "secret", "jwt", "encrypt", "decrypt"}

// InCall returns the literal behind the ',' at i, which is an argument of a call
// whose name says that it takes credentials: SetBasicAuth("bob", "x"), jwt.sign(data,
// 'x'), auth=("bob", "x"); false for none, and for a literal that reads like words, is shorter than
// MinPassed or longer than shapes.MaxValue. What is an element of an array or object is no argument.
func InCall(s string, i int) (shapes.Span, bool) {
	q, ok := shapes.QuoteAt(s, shapes.SkipTo(s[:min(len(s), i+8)], i+1, " \n"))
	if !ok {
		return shapes.Span{}, false
	}
	end := q.End(s)
	v := s[q.Start:end]
	// Behind the closing quote the next argument or the end of the call must follow.
	if len(v) < MinPassed || len(v) > shapes.MaxValue || end+1+q.Escapes >= len(s) || !shapes.OneOf(s[end+1+q.Escapes], ",)") ||
		strings.ContainsAny(v, " /@") || shapes.Readable(v) || shapes.Placeholder(v) || shapes.PathLike(v) {
		return shapes.Span{}, false
	}
	depth := 0
	for k := i - 1; k > 0 && k > i-maxCall && depth >= 0; k-- {
		switch s[k] {
		case ')', ']', '}':
			depth++
		case '[', '{':
			depth--
		case ';': // a statement ends there, unless it stands in a string: Server=db;User=sa
			if s[k+1] <= ' ' {
				return shapes.Span{}, false
			}
		case '(':
			if depth--; depth < 0 {
				return shapes.NewSpan(q.Start, end, tokens.RulePassword), callsForCredentials(s[max(0, k-shapes.MaxName):k])
			}
		}
	}
	return shapes.Span{}, false
}

// callsForCredentials reports whether the name of a function at the end of before has one
// of credentialCalls.
func callsForCredentials(before string) bool {
	before = strings.TrimRight(before, " =")
	start := len(before)
	for start > 0 && (shapes.In(before[start-1], shapes.Ident) || shapes.OneOf(before[start-1], ":->")) {
		start--
	}
	return shapes.HasOne(strings.ToLower(before[start:]), credentialCalls[:]...)
}

// maxRecord is the length of a record of fields with colons, in bytes.
const maxRecord = 256

// secretInRecord returns the password of user:password@host without a scheme, of
// address@host:password, of a line of a .pgpass and of "user:password" in quotes, whose
// ':' is at i; false for none, and for what reads like words.
func secretInRecord(s string, i int) (shapes.Span, bool) {
	if i == 0 || i+MinPassed > len(s) || !shapes.IsAlnum(s[i-1]) || !shapes.In(s[i+1], shapes.Visible) || shapes.OneOf(s[i+1], ":/\"'`[{(<$%") {
		return shapes.Span{}, false
	}
	end := shapes.BareEnd(s, i+1, i+shapes.MaxValue, shapes.CurlStops)
	if end-i < MinPassed+1 {
		return shapes.Span{}, false
	}
	start := i
	for start > 0 && i-start < maxRecord && shapes.In(s[start-1], shapes.Visible) && !shapes.OneOf(s[start-1], "\"'`=(),;<>\\") {
		start--
	}
	before, v := s[start:i], strings.TrimRight(s[i+1:end], ",.)")
	quoted := start > 0 && end < len(s) && shapes.OneOf(s[start-1], "\"'") && shapes.OneOf(s[end], "\"'\\")
	at := strings.IndexByte(v, '@')
	switch {
	// user:password@host; a name with the digest of an image is name:tag@sha256:…
	case at > 3 && at+2 < len(v) && shapes.Identifier(before) && shapes.IsLetter(v[at+1]) && !strings.HasPrefix(v[at+1:], "sha"):
		v = v[:at]
	case strings.IndexByte(before, '@') > 0 && strings.IndexByte(before, '.') > 0: // address@host:password
	case strings.Count(before, ":") == 3 && portField(before): // host:port:database:user:password
	case shapes.Mixed(v) && shapes.IsAlnum(s[start]) && strings.Contains(s[max(0, start-maxCall):start], "chpasswd"):
	// "user:password", not "sha:digest" or a time: long, and of small and capital letters and digits
	case quoted && !shapes.Number(before) && len(v) >= 14 && shapes.Only(v, shapes.Alnum) && shapes.Mixed(v) && shapes.Only(before, shapes.Alnum):
	default:
		return shapes.Span{}, false
	}
	return shapes.NewSpan(i+1, i+1+len(v), tokens.RulePassword),
		len(v) >= 6 && !shapes.Readable(v) && !shapes.Only(v, shapes.Digit) && strings.IndexByte(v, '/') < 0 && !shapes.Reference(v)
}

// portField reports whether the second of the fields of a record is a port or a star.
func portField(record string) bool {
	port := strings.Split(record, ":")[1]
	return port == "*" || shapes.Number(port)
}

// tableCell returns the first word of the cell of a table in Markdown or a terminal whose '|' is at
// i, behind the name of a secret; false for one that reads like words.
func tableCell(s string, i int) (shapes.Span, bool) {
	i = shapes.SkipTo(s, i, " |`*")
	end := shapes.BareEnd(s, i, i+shapes.MaxValue, shapes.SettingStops)
	v := s[i:end]
	return shapes.NewSpan(i, end, tokens.RulePassword),
		end < len(s) && shapes.OneOf(s[end], " `") && len(v) >= 6 && !shapes.Readable(v) && !shapes.Placeholder(v) && strings.IndexByte(v, '(') < 0
}

// nextElement returns the text of the element behind the closing tag that ends at i, if
// the text before the tag, label, names a secret, as in the cells of a table in HTML and
// the pairs of a property list; false for none. A label of a key or a signature (famKey) says too
// little.
func nextElement(s string, label string, i int) (shapes.Span, bool) {
	if len(label) > shapes.MaxName || nameFamily(label) < famSecret {
		return shapes.Span{}, false
	}
	for limit := min(len(s), i+shapes.MaxName); i < limit; {
		switch {
		case s[i] == '<':
			n := strings.IndexByte(s[i:limit], '>')
			if n < 0 {
				return shapes.Span{}, false
			}
			i += n + 1
		case shapes.OneOf(s[i], "\n\\"): // perhaps with a mark at the beginning of the next line
			n := strings.IndexByte(s[i:limit], '<')
			if n < 0 {
				return shapes.Span{}, false
			}
			i += n
		case shapes.OneOf(s[i], " \t\r"):
			i++
		default:
			n := strings.IndexAny(s[i:min(len(s), i+maxElement)], "<\n")
			if n < 6 || s[i+n] != '<' || shapes.Readable(s[i:i+n]) {
				return shapes.Span{}, false
			}
			rule := Named(label, s[i:i+n])
			return shapes.NewSpan(i, i+n, rule), rule != ""
		}
	}
	return shapes.Span{}, false
}
