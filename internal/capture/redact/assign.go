package redact

import "strings"

const (
	// maxValue is how much of a value is judged, in bytes. The whole value is masked.
	maxValue = 128
	// maxQuoted is how far a closing quote may be from the opening one, in bytes.
	maxQuoted = 4096
	// maxQuotes is how many blanks, quotes and backslashes may be before a token.
	maxQuotes = 8
	// maxHeader is how much of a header's value is judged, in bytes.
	maxHeader = 1024
)

// An assignment is a name, an operator and a value in code, configuration, a shell
// command, a header or a query string.
type assignment struct {
	name       string
	family     family
	nameStart  int
	comparison bool // ==
	tight      bool // no white space around the operator
	colon      bool
	valueStart int // after white space
}

// secretAtAssign returns the secret whose ':' or '=' is at i: an assignment's value, a
// URL's password or curl's -u; false for none.
func secretAtAssign(s string, i int) (span, bool) {
	opEnd := i + 1
	next := byte(0)
	if opEnd < len(s) {
		next = s[opEnd]
	}
	a := assignment{}
	if s[i] == ':' {
		a.colon = true
		if next == ':' || i > 0 && s[i-1] == ':' {
			return span{}, false
		}
		if next == '/' || next == '\\' {
			if found, ok := secretInURL(s, i); ok {
				return found, true
			}
		}
		if next == '=' {
			opEnd++
		}
	} else {
		if i > 0 && marks[s[i-1]]&markOperator != 0 {
			return span{}, false
		}
		switch next {
		case '=':
			a.comparison = true
			for opEnd < len(s) && s[opEnd] == '=' {
				opEnd++
			}
		case '>':
			opEnd++
		case '~':
			return span{}, false
		case '\\':
			opEnd += bracket(s, opEnd, '>')
		}
	}
	if found, ok := secretAssigned(s, a, i, opEnd); ok {
		return found, true
	}
	if !a.colon {
		return span{}, false
	}
	if found, ok := curlUser(s, i); ok {
		return found, true
	}
	return secretInRecord(s, i)
}

// secretAtBackslash returns the value of an assignment whose '=' is written \u003d;
// false for none.
func secretAtBackslash(s string, i int) (span, bool) {
	if strings.HasPrefix(s[i:], `\u003d`) || strings.HasPrefix(s[i:], `\u003D`) {
		return secretAssigned(s, assignment{}, i, i+6)
	}
	return span{}, false
}

// secretAssigned returns the secret value of the assignment with the operator
// s[op:opEnd]; false if its value is no secret.
func secretAssigned(s string, a assignment, op, opEnd int) (span, bool) {
	end := op
	for end > 0 && marks[s[end-1]]&markBeforeOperator != 0 { // ?= ||= +=
		end--
	}
	a.nameStart, a.name = nameBefore(s, end)
	a.family = familyBefore(s, a.nameStart, a.name)
	if a.family == famNone && typeName(a.name) {
		// var password string = …, password: string = …
		end = a.nameStart
		for end > 0 && strings.IndexByte(" \t:&*", s[end-1]) >= 0 {
			end--
		}
		a.nameStart, a.name = nameBefore(s, end)
		a.family = familyBefore(s, a.nameStart, a.name)
	}
	a.valueStart = opEnd
	for a.valueStart < len(s) && (s[a.valueStart] == ' ' || s[a.valueStart] == '\t') {
		a.valueStart++
	}
	if strings.HasPrefix(s[a.valueStart:], "** ") { // **Password:** x
		a.valueStart += len("** ")
	}
	if a.family == famNone && a.nameStart > 0 && s[op] == '=' {
		if found, ok := a.parameter(s); ok {
			return found, true
		}
	}
	if a.family == famNone && isValueName(a.name) {
		end := a.valueStart
		if q, ok := quoteAt(s, end); ok {
			end = q.end(s)
		} else if end = bareEnd(s, end, end+maxValue, codeStops); end < len(s) && s[end] == '(' {
			return span{}, false // a call
		}
		if a.name = nameBeside(s, a.nameStart, end); a.name != "" {
			a.family = nameFamily(a.name)
		}
	}
	if a.family == famNone {
		return a.vendorSecret(s)
	}
	a.tight = a.valueStart == opEnd && op > 0 && s[op-1] != ' ' && s[op-1] != '\t'
	if found, ok := a.secret(s); ok {
		return found, true
	}
	return a.vendorSecret(s)
}

// parameter returns the value of an assignment without a telling name: of a literal of
// kubectl create secret, or of a parameter of an address that is long and random; false
// for none.
func (a assignment) parameter(s string) (span, bool) {
	switch s[a.nameStart-1] {
	case '=':
		end := bareEnd(s, a.valueStart, a.valueStart+maxQuoted, settingStops)
		return span{a.valueStart, end, ruleAssigned}, strings.HasSuffix(s[:a.nameStart], "from-literal=") && end-a.valueStart >= 3 && !placeholder(s[a.valueStart:end])
	case '?', '&':
		end := bareEnd(s, a.valueStart, a.valueStart+maxQuoted, codeStops)
		v := s[a.valueStart:min(end, a.valueStart+maxValue)]
		return span{a.valueStart, end, ruleAssigned}, len(v) >= 2*minRandom && mixed(v) && random(v) && !pathLike(v)
	}
	return span{}, false
}

// vendorSecret returns the token in the value that a kind with one of its Names in the
// assignment's name has; false for none.
func (a assignment) vendorSecret(s string) (span, bool) {
	if a.comparison {
		return span{}, false
	}
	i := a.valueStart
	for limit := min(len(s), i+maxQuotes); i < limit && marks[s[i]]&markBeforeToken != 0; {
		i++
	}
	rule, end := vendorToken(a.name, s, i)
	return span{i, end, rule}, end > 0
}

// nameBefore returns the name that ends before end, over white space, quotes and
// the brackets of an index.
func nameBefore(s string, end int) (int, string) {
	limit := max(0, end-16)
	for end > limit && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	for end > limit && marks[s[end-1]]&markBehindName != 0 {
		end--
	}
	start := end
	limit = max(0, end-maxName-1)
	for start > limit && classes[s[start-1]]&classIdent != 0 {
		start--
	}
	for start < end && (s[start] == '-' || s[start] == '.') {
		start++
	}
	return start, s[start:end]
}

// familyBefore is like nameFamily, but also considers the text before the name: the
// backslash of an escape (\ntoken), and the first word of "API key".
func familyBefore(s string, start int, name string) family {
	fam := nameFamily(name)
	if fam == famNone && start > 0 && s[start-1] == '\\' && len(name) > 1 {
		fam = nameFamily(name[1:])
	}
	if fam == famKey && len(name) <= 4 && start > 1 && s[start-1] == ' ' {
		if before, first := nameBefore(s, start-1); len(first) > 2 && start-before < 20 && nameFamily(first+" "+name) == famSecret {
			return famSecret
		}
	}
	return fam
}

// Marks of bytes beside operators, of which the scanner looks at many.
const (
	markOperator       = 1 << iota // before an '=' that assigns nothing: = : ! < > ~
	markBeforeOperator             // ?= |= += &=
	markBeforeToken                // blank, quotes and backslash
	markBehindName                 // quotes, bracket and backslash
	markBeforeUser                 // blanks, quotes, = and :
)

const markQuote = markBeforeToken | markBehindName | markBeforeUser

var marks = [256]byte{
	'=': markOperator | markBeforeUser, ':': markOperator | markBeforeUser, '!': markOperator, '<': markOperator, '>': markOperator, '~': markOperator,
	'?': markBeforeOperator, '|': markBeforeOperator, '+': markBeforeOperator, '&': markBeforeOperator,
	' ': markBeforeToken | markBeforeUser, '\t': markBeforeUser, '\n': markBeforeUser,
	'"': markQuote, '\'': markQuote, '`': markQuote, '\\': markBeforeToken | markBehindName, ']': markBehindName,
}

// oneOf is strings.IndexByte(chars, c) >= 0 for a few chars.
//
//go:noinline
func oneOf(c byte, chars string) bool {
	for i := range len(chars) {
		if chars[i] == c {
			return true
		}
	}
	return false
}

// typeName reports whether name is that of a type, as in "password: string".
func typeName(name string) bool {
	switch name {
	case "string", "str", "String", "text", "char", "Text", "bytes", "byte", "SecretStr", "any":
		return true
	}
	return false
}

// secret returns the part of the value to mask; false for none.
func (a assignment) secret(s string) (span, bool) {
	i := a.valueStart
	if i >= len(s) {
		return span{}, false
	}
	if q, ok := quoteAt(s, i); ok {
		return a.quoted(s, q)
	}
	if a.comparison {
		return span{}, false
	}
	if literal, ok := convertedLiteral(s, i); ok {
		return a.quoted(s, literal)
	}
	return a.bare(s, i)
}

// A quote is an opening quote and the number of backslashes before it.
type quote struct {
	start   int // of the text after it
	char    byte
	escapes int
}

// quoteAt parses an opening quote at i, also after the letter of r"…", b'…', f"…"; false
// if there is none.
func quoteAt(s string, i int) (quote, bool) {
	if i+1 < len(s) && strings.IndexByte("rbfuRBFUN@$", s[i]) >= 0 && strings.IndexByte("\"'`", s[i+1]) >= 0 {
		i++
	}
	j := skipBackslashes(s, i)
	if j >= len(s) || strings.IndexByte("\"'`", s[j]) < 0 {
		return quote{}, false
	}
	q := quote{start: j + 1, char: s[j], escapes: j - i}
	if strings.HasPrefix(s[j:], `"""`) || strings.HasPrefix(s[j:], "'''") {
		q.start = j + 3
	}
	return q, true
}

// end returns the end of the quoted text: at the closing quote, or at the end of
// the line or the text.
func (q quote) end(s string) int {
	limit := min(len(s), q.start+maxQuoted)
	escapes := 0
	for i := q.start; i < limit; i++ {
		switch c := s[i]; {
		case c == '\\':
			escapes++
			continue
		case c == q.char && (escapes <= q.escapes && (q.escapes > 0 || escapes == 0) || q.escapes == 0 && escapes%2 == 0):
			return i - min(escapes, q.escapes)
		case c == '\n' && q.char != '`':
			return i
		}
		escapes = 0
	}
	return limit
}

// closing reports whether the quote closes a string instead of opening one, as in
// "--password=" + value.
func (q quote) closing(s string, end int) bool {
	i := q.start
	for i < end && s[i] == ' ' {
		i++
	}
	if i == end || strings.IndexByte("+,)%.;", s[i]) < 0 {
		return false
	}
	return end == len(s) || s[end] != q.char && s[end] != '\\' || i > q.start && s[i] != ')'
}

// convertedLiteral parses []byte("…") and similar conversions at i; false if there is
// none.
func convertedLiteral(s string, i int) (quote, bool) {
	for _, conversion := range [...]string{"[]byte(", "string(", "bytes(", "String(", "SecretStr(", "Buffer.from(", "b64decode("} {
		if strings.HasPrefix(s[i:], conversion) {
			return quoteAt(s, i+len(conversion))
		}
	}
	return quote{}, false
}

// quoted returns the secret in a quoted value; false for none.
func (a assignment) quoted(s string, q quote) (span, bool) {
	end := q.end(s)
	if end-q.start < a.family.shortest() || q.closing(s, end) {
		return span{}, false
	}
	found := span{q.start, end, a.family.rule()}
	v := s[q.start:min(end, q.start+maxValue)]
	if a.family == famAuthorization {
		return authorizationValue(s, q.start, end)
	}
	return found, secretLiteral(a.family, v, a.comparison) || a.envStyle() && secretSetting(v)
}

// secretLiteral reports whether a literal string is a secret of the family.
func secretLiteral(fam family, v string, comparison bool) bool {
	if placeholder(v) {
		return false
	}
	switch fam {
	case famPassword:
		if comparison && len(v) < 6 {
			return false
		}
		return !sentence(v) && !environmentName(v)
	case famSecret:
		return len(v) >= 8 && !strings.ContainsAny(v, " \t\n(){}") && !wordy(v) && !pathLike(v)
	case famKey:
		return random(v) && !pathLike(v)
	case famAuthorization:
		return len(v) >= 6 && !wordy(v)
	}
	return false
}

// environmentName reports whether v names a variable: DB_PASSWORD.
func environmentName(v string) bool {
	underscore := false
	for i := range len(v) {
		switch c := v[i]; {
		case c == '_':
			underscore = true
		case !isUpper(c) && !isDigit(c):
			return false
		}
	}
	return underscore && nameFamily(v) != famNone
}

// pathLike reports whether v is a path or an address. secretInURL finds secrets in
// addresses.
func pathLike(v string) bool {
	switch v[0] {
	case '/', '.', '~':
		return strings.IndexByte(v, '+') < 0 && strings.IndexByte(v, '=') < 0 && strings.Count(v, "/") >= 1 && !random(v)
	}
	if strings.Trim(v, "0123456789.") == "" && strings.IndexByte(v, '.') > 0 {
		return true // an address, a version, an object identifier
	}
	return strings.Contains(v, "://") || len(v) > 3 && v[1] == ':' && v[2] == '\\'
}

// envStyle reports whether the assignment reads NAME=value, as in a .env file, a
// shell or a container's command line.
func (a assignment) envStyle() bool {
	if !a.tight || a.colon || a.comparison {
		return false
	}
	for i := range len(a.name) {
		if isLower(a.name[i]) {
			return false
		}
	}
	return true
}

// secretSetting reports whether the value of NAME=value counts as a secret even if
// it reads like words.
func secretSetting(v string) bool {
	return len(v) >= 6 && !placeholder(v) && !strings.ContainsAny(v, "()") && !environmentName(v) &&
		!pathLike(v) && !sentence(v) && (strings.IndexByte(v, '.') < 0 || !identifier(v))
}

// bare returns the secret in a value without quotes; false for none.
func (a assignment) bare(s string, i int) (span, bool) {
	if a.family == famAuthorization {
		return authorizationValue(s, i, lineEnd(s, i))
	}
	env := a.envStyle()
	stops := byte(codeStops)
	if env {
		stops = settingStops
	} else if a.family == famPassword && a.tight {
		stops = passwordStops
	}
	end := bareEnd(s, i, i+maxValue, stops)
	v := s[i:end]
	if len(v) < a.family.shortest() {
		return span{}, false
	}
	if env || a.family == famPassword && a.tight {
		// The code around it does not belong to it.
		if stop := strings.IndexAny(v, "([,;)"); stop > 0 && identifier(v[:stop]) {
			if v[stop] == '(' || v[stop] == '[' || !env && (strings.IndexByte(v[:stop], '.') > 0 || placeholder(v[:stop])) {
				return span{}, false // a call, an element, a field
			}
		}
		if len(v) < maxValue {
			if strings.IndexByte(v, '(') < 0 {
				v = strings.TrimRight(v, ")]};:,")
			} else {
				v = strings.TrimRight(v, ",;")
			}
			end = i + len(v)
		}
	}
	if a.colon && strings.EqualFold(a.name, "pass") {
		if !a.tight || !strings.Contains(s[max(0, a.nameStart-10):a.nameStart], "-pass") && (a.nameStart == 0 || s[a.nameStart-1] != '/') {
			return span{}, false // --- PASS: TestName
		}
		a.family = famPassword // -passin pass:…
	}
	if len(v) < a.family.shortest() || placeholder(v) {
		return span{}, false
	}
	after := byte('\n')
	if end < len(s) {
		after = s[end]
	}
	if after == '(' || after == '[' || after == '{' || after == '<' && a.family != famPassword {
		return span{}, false
	}
	if !a.bareSecret(s, v, env, after) {
		return span{}, false
	}
	if len(v) == maxValue {
		end = bareEnd(s, end, len(s), stops)
	}
	return span{i, end, a.family.rule()}, true
}

// bareSecret reports whether a value without quotes is a secret. after is the byte
// behind it.
func (a assignment) bareSecret(s, v string, env bool, after byte) bool {
	name := identifier(v)
	switch a.family {
	case famPassword:
		switch {
		case strings.HasSuffix(s[:a.nameStart], "--"):
			return true // --password=word
		case env:
			return secretSetting(v) || !name && !environmentName(v)
		case name && (a.tight && inConnection(s[:a.nameStart]) || !a.tight && !a.colon && oneOf(after, "\r\n\\\"") && inSection(s[:a.nameStart])):
			return secretSetting(v)
		case name && len(v) >= 8 && !strings.ContainsAny(v, ".:>_") && !wordy(v) && (mixed(v) || a.startsLine(s) || oneOf(after, "\n\"")):
			return true
		case !name:
			return !pathLike(v) && hasAlnum(v)
		case strings.ContainsAny(v, ".:>"):
			return false // a field of something
		case strings.ContainsAny(v, "0123456789"):
			// A variable with a number, or a password? Code ends statements.
			return a.tight || after == '\r' || after == '\n' || after == '&' || after == '\\' ||
				oneOf(after, "\"'") && a.nameStart > 0 && s[a.nameStart-1] == after // -H 'X-Password: …'
		case a.tight && !wordy(v):
			return true
		}
		return (after == '\n' || after == '\r' || after == '\\') && len(v) >= 4 && only(v, classLower) && a.startsLine(s)
	case famSecret:
		if env && secretSetting(v) {
			return true
		}
		if name && strings.ContainsAny(v, ".:>") && !random(v) {
			return false
		}
		return len(v) >= 8 && hasAlnum(v) && !wordy(v) && !pathLike(v)
	case famKey:
		return random(v) && !pathLike(v)
	}
	return false
}

// Sets of bytes that end a value without quotes: in code, for a password after NAME=,
// for all after a NAME= in capitals, for a flag's value, for curl's, for a cookie's.
const (
	codeStops = 1 << iota
	passwordStops
	settingStops
	flagStops
	curlStops
	cookieStops
)

const allStops = codeStops | passwordStops | settingStops | flagStops | curlStops | cookieStops

// stopSets says of each byte in which sets it is.
var stopSets = [256]byte{
	' ': allStops, '\t': allStops, '\r': allStops, '\n': allStops, '"': allStops, '\'': allStops, '`': allStops,
	'<': codeStops | flagStops, '>': codeStops | flagStops, ')': codeStops | flagStops, ']': codeStops | flagStops,
	'(': codeStops, '[': codeStops, '{': codeStops, '}': codeStops,
	',': codeStops | flagStops | cookieStops, ';': codeStops | flagStops | curlStops | cookieStops,
	'&': codeStops | passwordStops | flagStops, '|': codeStops | passwordStops | flagStops | curlStops,
}

// bareEnd returns where a value without quotes that starts at i ends, at limit
// at the latest.
func bareEnd(s string, i, limit int, stops byte) int {
	limit = min(limit, len(s))
	for i < limit && stopSets[s[i]]&stops == 0 {
		if s[i] != '\\' {
			i++
			continue
		}
		end := skipBackslashes(s[:limit], i)
		if end < len(s) && strings.IndexByte("nrt\"'", s[end]) >= 0 {
			break // the escape of text within a string
		}
		i = end
	}
	return i
}

// hasAlnum reports whether v has an ASCII letter or digit, or any other byte beyond
// ASCII.
func hasAlnum(v string) bool {
	return strings.ContainsFunc(v, func(c rune) bool { return c >= 0x80 || isAlnum(byte(c)) })
}

// startsLine reports whether the name is the first on its line, apart from white
// space, a list's dash and a diff's sign.
func (a assignment) startsLine(s string) bool {
	for i := a.nameStart; i > 0; i-- {
		switch s[i-1] {
		case ' ', '\t', '-', '+', '"', '\'':
		case '\n', '\\':
			return true
		case 'n', 'r', 't': // of an escape
			return i > 1 && s[i-2] == '\\'
		default:
			return false
		}
	}
	return true
}

// lineEnd returns where the line of position i ends, at most maxHeader bytes on.
func lineEnd(s string, i int) int {
	line := s[i:min(len(s), i+maxHeader)]
	if n := strings.IndexAny(line, "\r\n"); n >= 0 {
		return i + n
	}
	return i + len(line)
}
