package redact

import "strings"

// maxCall is how far the argument of a call is from the call's parenthesis, in bytes.
const maxCall = 160

// minPassed is the length of the shortest literal that is masked because of the call that
// it is an argument of, in bytes.
const minPassed = 8

// credentialCalls are parts of the names of functions that are given credentials as
// arguments, in small letters.
const credentialCalls = " auth cred login connect signin sign hmac pdo password secret jwt encrypt decrypt "

// secretInCall returns the literal behind the ',' at i, which is an argument of a call
// whose name says that it takes credentials: SetBasicAuth("bob", "x"), jwt.sign(data,
// 'x'), auth=("bob", "x"); false for none, and for a literal that reads like words.
func secretInCall(s string, i int) (span, bool) {
	j := i + 1
	for j < len(s) && j < i+8 && (s[j] == ' ' || s[j] == '\n') {
		j++
	}
	q, ok := quoteAt(s, j)
	if !ok {
		return span{}, false
	}
	end := q.end(s)
	if end-q.start < minPassed || end-q.start > maxValue || end+1+q.escapes >= len(s) || !oneOf(s[end+1+q.escapes], ",)") {
		return span{}, false
	}
	v := s[q.start:end]
	if strings.IndexByte(v, ' ') >= 0 || strings.IndexByte(v, '/') >= 0 || strings.IndexByte(v, '@') >= 0 || readable(v) || placeholder(v) || pathLike(v) {
		return span{}, false
	}
	depth := 0
	for k := i - 1; k > 0 && k > i-maxCall; k-- {
		switch s[k] {
		case ')', ']', '}':
			depth++
		case '[', '{':
			depth--
		case ';':
			if s[k+1] <= ' ' {
				return span{}, false
			}
		case '(':
			if depth--; depth < 0 {
				return span{q.start, end, rulePassword}, callsForCredentials(s[max(0, k-maxName):k])
			}
		}
		if depth < 0 {
			break
		}
	}
	return span{}, false
}

// callsForCredentials reports whether the name of a function at the end of before has one
// of credentialCalls.
func callsForCredentials(before string) bool {
	before = strings.TrimRight(before, " =")
	start := len(before)
	for start > 0 && (classes[before[start-1]]&classIdent != 0 || oneOf(before[start-1], ":->")) {
		start--
	}
	name := strings.ToLower(before[start:])
	for list := credentialCalls[1:]; list != ""; {
		var part string
		if part, list, _ = strings.Cut(list, " "); strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// maxRecord is the length of a record of fields with colons, in bytes.
const maxRecord = 256

// secretInRecord returns the password of user:password@host without a scheme, of
// address@host:password, of a line of a .pgpass and of "user:password" in quotes, whose
// ':' is at i; false for none, and for what reads like words.
func secretInRecord(s string, i int) (span, bool) {
	if i == 0 || i+minPassed > len(s) || !isAlnum(s[i-1]) || classes[s[i+1]]&classVisible == 0 || oneOf(s[i+1], ":/\"'`[{(<$%") {
		return span{}, false
	}
	end := bareEnd(s, i+1, i+maxValue, curlStops)
	if end-i < minPassed+1 {
		return span{}, false
	}
	start := i
	for start > 0 && i-start < maxRecord && classes[s[start-1]]&classVisible != 0 && !oneOf(s[start-1], "\"'`=(),;<>\\") {
		start--
	}
	before, v := s[start:i], strings.TrimRight(s[i+1:end], ",.)")
	quoted := start > 0 && end < len(s) && oneOf(s[start-1], "\"'") && oneOf(s[end], "\"'\\")
	at := strings.IndexByte(v, '@')
	switch {
	case at > 3 && at+2 < len(v) && identifier(before) && isLetter(v[at+1]) && !strings.HasPrefix(v[at+1:], "sha"):
		v = v[:at]
	case strings.IndexByte(before, '@') > 0 && strings.IndexByte(before, '.') > 0:
	case strings.Count(before, ":") == 3 && portField(before):
	case mixed(v) && isAlnum(s[start]) && strings.Contains(s[max(0, start-maxCall):start], "chpasswd"):
	case quoted && !number(before) && len(v) >= 14 && only(v, classAlnum) && mixed(v) && only(before, classAlnum):
	default:
		return span{}, false
	}
	if len(v) < 6 || readable(v) || only(v, classDigit) || strings.IndexByte(v, '/') >= 0 || reference(v) {
		return span{}, false
	}
	return span{i + 1, i + 1 + len(v), rulePassword}, true
}

// portField reports whether the second of the fields of a record is a port or a star.
func portField(record string) bool {
	_, rest, _ := strings.Cut(record, ":")
	port, _, _ := strings.Cut(rest, ":")
	return port == "*" || number(port)
}

// tableCell returns the cell of a table in Markdown or a terminal whose ' |' is at i,
// behind the name of a secret; false for none.
func tableCell(s string, i int) (span, bool) {
	for i < len(s) && oneOf(s[i], " |`*") {
		i++
	}
	end := bareEnd(s, i, i+maxValue, settingStops)
	v := s[i:end]
	if end == len(s) || s[end] != ' ' && s[end] != '`' || len(v) < 6 || readable(v) || placeholder(v) || strings.IndexByte(v, '(') >= 0 {
		return span{}, false
	}
	return span{i, end, rulePassword}, true
}

// nextElement returns the text of the element behind the closing tag that ends at i, if
// the text before the tag, label, names a secret, as in the cells of a table in HTML and
// the pairs of a property list; false for none.
func nextElement(s string, label string, i int) (span, bool) {
	if len(label) > maxName || nameFamily(label) < famSecret {
		return span{}, false
	}
	for limit := min(len(s), i+maxName); i < limit; {
		switch {
		case s[i] == '<':
			n := strings.IndexByte(s[i:limit], '>')
			if n < 0 {
				return span{}, false
			}
			i += n + 1
		case oneOf(s[i], "\n\\"): // perhaps with a mark at the beginning of the next line
			n := strings.IndexByte(s[i:limit], '<')
			if n < 0 {
				return span{}, false
			}
			i += n
		case oneOf(s[i], " \t\r"):
			i++
		default:
			end := i
			for end < len(s) && end < i+maxElement && s[end] != '<' && s[end] != '\n' {
				end++
			}
			v := s[i:end]
			if end == len(s) || s[end] != '<' || len(v) < 6 || wordy(v) && !mixed(v) || secretNamed(label, v) == "" {
				return span{}, false
			}
			return span{i, end, secretNamed(label, v)}, true
		}
	}
	return span{}, false
}
