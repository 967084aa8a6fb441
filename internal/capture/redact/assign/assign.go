// Package assign finds the secrets that a name tells: the values of assignments in code,
// configuration, commands, headers and addresses, of options, elements, cells of tables,
// arguments of calls, and what stands a blank behind a word.
//
// Nouns: the family of a name is the kind of secret that it announces, and decides what
// its value must look like. Each function is given a text and the position of the byte at
// which the scanner has stopped.
//
// Place in the flow: called by package secrets, over packages tokens and shapes.
package assign

import (
	"strings"
	"unicode"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// maxQuotes is how many blanks, quotes and backslashes may be before a token.
const maxQuotes = 8

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

// AtOperator returns the secret whose ':' or '=' is at i: an assignment's value, a
// URL's password, curl's -u or a record's; false for none: then the span means nothing, as in all
// functions of this package.
func AtOperator(s string, i int) (shapes.Span, bool) {
	opEnd := i + 1
	next := byte(0)
	if opEnd < len(s) {
		next = s[opEnd]
	}
	a := assignment{}
	if s[i] == ':' {
		a.colon = true
		if next == ':' || i > 0 && s[i-1] == ':' {
			return shapes.Span{}, false
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
		if i > 0 && shapes.OneOf(s[i-1], "=:!<>~") { // the end of != or <=, or of one seen already (:=)
			return shapes.Span{}, false
		}
		switch next {
		case '=':
			a.comparison = true
			opEnd = shapes.SkipTo(s, opEnd, "=")
		case '>':
			opEnd++
		case '~': // a pattern is compared with
			return shapes.Span{}, false
		case '\\': // =\u003e
			opEnd += shapes.Bracket(s, opEnd, '>')
		}
	}
	found, ok := secretAssigned(s, a, i, opEnd)
	if !ok && a.colon {
		if found, ok = curlUser(s, i); !ok {
			return secretInRecord(s, i)
		}
	}
	return found, ok
}

// AtBackslash returns the value of an assignment whose '=' is written \u003d;
// false for none.
func AtBackslash(s string, i int) (shapes.Span, bool) {
	if strings.HasPrefix(s[i:], `\u003d`) || strings.HasPrefix(s[i:], `\u003D`) {
		return secretAssigned(s, assignment{}, i, i+6)
	}
	return shapes.Span{}, false
}

// secretAssigned returns the secret value of the assignment with the operator
// s[op:opEnd]; false if its value is no secret. Of a only comparison and colon are set before; it
// finds the name, or that in another member of the object, and the value itself.
func secretAssigned(s string, a assignment, op, opEnd int) (shapes.Span, bool) {
	a.nameStart, a.name = nameBefore(s, shapes.SkipBack(s, 0, op, "?|+&")) // ?= ||= +=
	a.family = familyBefore(s, a.nameStart, a.name)
	if a.family == famNone && shapes.Listed(" string str String text char Text bytes byte SecretStr any ", a.name) {
		// var password string = …, password: string = …
		a.nameStart, a.name = nameBefore(s, shapes.SkipBack(s, 0, a.nameStart, " \t:&*"))
		a.family = familyBefore(s, a.nameStart, a.name)
	}
	a.valueStart = shapes.SkipTo(s, opEnd, " \t")
	if strings.HasPrefix(s[a.valueStart:], "** ") { // **Password:** x
		a.valueStart += len("** ")
	}
	if a.family == famNone && a.nameStart > 0 && s[op] == '=' {
		if found, ok := a.parameter(s); ok {
			return found, true
		}
	}
	if a.family == famNone && IsValueName(a.name) {
		end := a.valueStart
		if q, ok := shapes.QuoteAt(s, end); ok {
			end = q.End(s)
		} else if end = shapes.BareEnd(s, end, end+shapes.MaxValue, shapes.CodeStops); end < len(s) && s[end] == '(' {
			return shapes.Span{}, false // a call
		}
		if a.name = nameBeside(s, a.nameStart, end); a.name != "" {
			a.family = nameFamily(a.name)
		}
	}
	if a.family != famNone {
		a.tight = a.valueStart == opEnd && op > 0 && s[op-1] != ' ' && s[op-1] != '\t'
		if found, ok := a.secret(s); ok {
			return found, true
		}
	}
	return a.vendorSecret(s)
}

// parameter returns the value of an assignment without a telling name: of a literal of
// kubectl create secret, or of a parameter of an address that is long and random; false
// for none. Something stands before the name: a.nameStart is above 0.
func (a assignment) parameter(s string) (shapes.Span, bool) {
	switch s[a.nameStart-1] {
	case '=': // --from-literal=NAME=VALUE
		end := shapes.BareEnd(s, a.valueStart, a.valueStart+shapes.MaxQuoted, shapes.SettingStops)
		return shapes.NewSpan(a.valueStart, end, tokens.RuleAssigned), strings.HasSuffix(s[:a.nameStart], "from-literal=") && end-a.valueStart >= 3 && !shapes.Placeholder(s[a.valueStart:end])
	case '?', '&':
		end := shapes.BareEnd(s, a.valueStart, a.valueStart+shapes.MaxQuoted, shapes.CodeStops)
		v := s[a.valueStart:min(end, a.valueStart+shapes.MaxValue)]
		return shapes.NewSpan(a.valueStart, end, tokens.RuleAssigned), len(v) >= 2*shapes.MinRandom && shapes.Mixed(v) && shapes.Random(v) && !shapes.PathLike(v)
	}
	return shapes.Span{}, false
}

// vendorSecret returns the token in the value that a kind with one of its Names in the
// assignment's name has; false for none.
func (a assignment) vendorSecret(s string) (shapes.Span, bool) {
	if a.comparison {
		return shapes.Span{}, false
	}
	i := shapes.SkipTo(s[:min(len(s), a.valueStart+maxQuotes)], a.valueStart, " \"'`\\")
	rule, end := tokens.OfVendor(a.name, s, i)
	return shapes.NewSpan(i, end, rule), end > 0
}

// nameBefore returns the start of the name that ends before end, over white space, quotes and
// the brackets of an index, at most 16 bytes of them, and the name, "" for none. Dashes and dots
// before the name do not belong to it. Of a longer name it returns the last shapes.MaxName+1 bytes,
// which have no family.
func nameBefore(s string, end int) (int, string) {
	limit := max(0, end-16)
	end = shapes.SkipBack(s, limit, shapes.SkipBack(s, limit, end, " \t"), "\"'`\\]")
	start := end
	limit = max(0, end-shapes.MaxName-1)
	for start > limit && shapes.In(s[start-1], shapes.Ident) {
		start--
	}
	start = shapes.SkipTo(s[:end], start, "-.")
	return start, s[start:end]
}

// familyBefore is like nameFamily, but also considers the text before the name: the
// backslash of an escape (\ntoken), and the first word of "API key".
func familyBefore(s string, start int, name string) family {
	fam := nameFamily(name)
	if fam == famNone && start > 0 && s[start-1] == '\\' && len(name) > 1 {
		fam = nameFamily(name[1:])
	}
	if fam == famKey && len(name) <= len("keys") && start > 1 && s[start-1] == ' ' {
		if before, first := nameBefore(s, start-1); len(first) > 2 && start-before < 20 && nameFamily(first+" "+name) == famSecret {
			return famSecret
		}
	}
	return fam
}

// secret returns the part of the value to mask; false for none.
func (a assignment) secret(s string) (shapes.Span, bool) {
	i := a.valueStart
	if i >= len(s) {
		return shapes.Span{}, false
	}
	if q, ok := shapes.QuoteAt(s, i); ok {
		return a.quoted(s, q)
	}
	if a.comparison {
		return shapes.Span{}, false
	}
	if literal, ok := shapes.ConvertedLiteral(s, i); ok {
		return a.quoted(s, literal)
	}
	return a.bare(s, i)
}

// quoted returns the secret in a quoted value; false for none.
func (a assignment) quoted(s string, q shapes.Quote) (shapes.Span, bool) {
	end := q.End(s)
	if end-q.Start < a.family.shortest() || q.Closing(s, end) {
		return shapes.Span{}, false
	}
	found := shapes.NewSpan(q.Start, end, a.family.rule())
	v := s[q.Start:min(end, q.Start+shapes.MaxValue)]
	if a.family == famAuthorization {
		return authorizationValue(s, q.Start, end)
	}
	return found, secretLiteral(a.family, v, a.comparison) || a.envStyle() && secretSetting(v)
}

// secretLiteral reports whether a literal string is a secret of the family. comparison: it is
// compared with, as in password == "x"; a password then has at least 6 bytes.
func secretLiteral(fam family, v string, comparison bool) bool {
	if shapes.Placeholder(v) {
		return false
	}
	switch fam {
	case famPassword:
		if comparison && len(v) < 6 {
			return false
		}
		return !shapes.Sentence(v) && !environmentName(v)
	case famSecret:
		return len(v) >= 8 && !strings.ContainsAny(v, " \t\n(){}") && !shapes.Wordy(v) && !shapes.PathLike(v)
	case famKey:
		return shapes.Random(v) && !shapes.PathLike(v)
	case famAuthorization:
		return len(v) >= 6 && !shapes.Wordy(v)
	}
	return false
}

// environmentName reports whether v names a variable: DB_PASSWORD.
func environmentName(v string) bool {
	plain := strings.ReplaceAll(v, "_", "")
	return plain != v && shapes.Only(plain, shapes.UpperDigit) && nameFamily(v) != famNone
}

// envStyle reports whether the assignment reads NAME=value, as in a .env file, a
// shell or a container's command line.
func (a assignment) envStyle() bool {
	return a.tight && !a.colon && !a.comparison && !strings.ContainsFunc(a.name, unicode.IsLower)
}

// secretSetting reports whether the value of NAME=value counts as a secret even if
// it reads like words.
func secretSetting(v string) bool {
	return len(v) >= 6 && !shapes.Placeholder(v) && !strings.ContainsAny(v, "()") && !environmentName(v) &&
		!shapes.PathLike(v) && !shapes.Sentence(v) && (strings.IndexByte(v, '.') < 0 || !shapes.Identifier(v))
}

// bare returns the secret in a value without quotes that begins at i; false for none. Where the
// value ends depends on what the assignment looks like: code, a setting, a password in a command.
func (a assignment) bare(s string, i int) (shapes.Span, bool) {
	if a.family == famAuthorization {
		return authorizationValue(s, i, shapes.LineEnd(s, i))
	}
	env := a.envStyle()
	stops := byte(shapes.CodeStops)
	if env {
		stops = shapes.SettingStops
	} else if a.family == famPassword && a.tight {
		stops = shapes.PasswordStops
	}
	end := shapes.BareEnd(s, i, i+shapes.MaxValue, stops)
	v := s[i:end]
	if len(v) < a.family.shortest() {
		return shapes.Span{}, false
	}
	if env || a.family == famPassword && a.tight {
		// The code around it does not belong to it.
		if stop := strings.IndexAny(v, "([,;)"); stop > 0 && shapes.Identifier(v[:stop]) {
			if v[stop] == '(' || v[stop] == '[' || !env && (strings.IndexByte(v[:stop], '.') > 0 || shapes.Placeholder(v[:stop])) {
				return shapes.Span{}, false // a call, an element, a field
			}
		}
		if len(v) < shapes.MaxValue {
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
			return shapes.Span{}, false // --- PASS: TestName
		}
		a.family = famPassword // -passin pass:…, /pass:…
	}
	after := byte('\n')
	if rest := shapes.SkipTo(s, end, " \t"); rest < len(s) && (rest == end || !shapes.OneOf(s[rest], "#;\r\n")) {
		after = s[end]
	}
	// A bracket behind it makes it the beginning of code, '<' that of a type or a tag.
	ok := len(v) >= a.family.shortest() && !shapes.Placeholder(v) && !shapes.OneOf(after, "([{") && (after != '<' || a.family == famPassword) && a.bareSecret(s, v, env, after)
	if ok && len(v) == shapes.MaxValue {
		end = shapes.BareEnd(s, end, len(s), stops)
	}
	return shapes.NewSpan(i, end, a.family.rule()), ok
}

// bareSecret reports whether a value without quotes is a secret, rather than a variable, a field or
// a word. env: it reads NAME=value; after is the byte behind it, '\n' at the end of s and where
// blanks or a comment end the line.
func (a assignment) bareSecret(s, v string, env bool, after byte) bool {
	name := shapes.Identifier(v)
	switch a.family {
	case famPassword:
		switch {
		case strings.HasSuffix(s[:a.nameStart], "--"):
			return true // --password=word
		case env: // no code: what cannot be the name of a variable is a secret, a path too
			return secretSetting(v) || !name && !environmentName(v)
		case name && secretSetting(v) && (a.tight && inConnection(s[:a.nameStart]) || !a.tight && !a.colon && shapes.OneOf(after, "\r\n\\\"") && inSection(s[:a.nameStart])):
			return true // a word in a connection string or an INI file
		case name && len(v) >= 8 && !strings.ContainsAny(v, ".:>_") && !shapes.Wordy(v) && (shapes.Mixed(v) || a.startsLine(s) || shapes.OneOf(after, "\n\"")):
			return true // Sw0rdfish, but not dbPassword or db_password2; below 8 bytes it may be an abbreviation
		case !name:
			return !shapes.PathLike(v) && shapes.HasAlnum(v)
		case strings.ContainsAny(v, ".:>"):
			return false // a field of something
		case strings.ContainsAny(v, "0123456789"):
			// A variable with a number, or a password? Code ends statements.
			return a.tight || after == '\r' || after == '\n' || after == '&' || after == '\\' ||
				shapes.OneOf(after, "\"'") && a.nameStart > 0 && s[a.nameStart-1] == after // -H 'X-Password: …'
		case a.tight && !shapes.Wordy(v):
			return true // Password=qwrtz
		}
		// A word alone, as in YAML: "password: hunter", but not that of a list or a statement.
		return (after == '\n' || after == '\r' || after == '\\') && len(v) >= 4 && shapes.Only(v, shapes.Lower) && a.startsLine(s)
	case famSecret:
		if env && secretSetting(v) {
			return true
		}
		if name && strings.ContainsAny(v, ".:>") && !shapes.Random(v) {
			return false
		}
		return len(v) >= 8 && shapes.HasAlnum(v) && !shapes.Wordy(v) && !shapes.PathLike(v)
	case famKey:
		return shapes.Random(v) && !shapes.PathLike(v)
	}
	return false
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
