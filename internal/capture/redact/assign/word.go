package assign

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// Secrets that stand a blank behind their name, or are told of in a sentence. A function that
// returns a span and false has found no secret: the span then means nothing. before is the text in
// front of a name, at most maxBeside bytes of it.

// secretAfterWord returns the secret that stands a blank, or a parenthesis, behind the name that
// ends at end: ENV DB_PASSWORD x, the words of a netrc, of SQL and of a prompt; false for none.
func secretAfterWord(s string, end int) (shapes.Span, bool) {
	if end < len(s) && s[end] == '(' {
		return secretPassed(s, end)
	}
	if end >= len(s) || s[end] != ' ' && s[end] != '\t' {
		return shapes.Span{}, false
	}
	valueStart := shapes.SkipTo(s[:min(len(s), end+8)], end+1, " ")
	if valueStart+2 >= len(s) || shapes.OneOf(s[valueStart], "=:") && (s[valueStart+1] == ' ' || s[valueStart+2] == ' ') {
		return shapes.Span{}, false // an operator
	}
	start, name := nameBefore(s, end)
	fam := familyBefore(s, start, name)
	if fam == famKey || fam == famNone {
		return shapes.Span{}, false
	}
	before := s[max(0, start-maxBeside):start]
	if fam == famPassword && shapes.HasPrefixFold(s[valueStart:], "for ") {
		return promptedSecret(s, valueStart)
	}
	if s[valueStart] == '|' {
		return tableCell(s, valueStart)
	}
	said := strings.HasPrefix(s[valueStart:], "is ") || strings.HasPrefix(s[valueStart:], "is: ")
	switch {
	case said:
		valueStart = shapes.SkipTo(s, valueStart+len("is"), ": ")
	case shapes.IsDigit(s[valueStart]) && s[valueStart+1] == ' ': // Cisco: password 0 x
		said, valueStart = true, valueStart+2
	case setsVariable(before):
		if valueStart = behindOptions(s, valueStart); strings.HasPrefix(s[valueStart:], "--") {
			return shapes.Span{}, false
		}
	}
	if q, ok := shapes.QuoteAt(s, valueStart); ok {
		// Where neither "is", a statement of SQL nor a keyword of Lisp announces it, it must not read
		// like words, and be closed in its line.
		stop := q.End(s)
		v := s[q.Start:min(stop, q.Start+shapes.MaxValue)]
		if fam == famPassword && (said || inStatement(before)) && !shapes.Placeholder(v) && len(v) >= 3 ||
			len(v) >= max(fam.shortest(), 4) && secretLiteral(fam, v, false) && (keywordKey(before) || !shapes.Readable(v) && stop < len(s) && s[stop] != '\n') {
			return shapes.NewSpan(q.Start, stop, fam.rule()), true
		}
		valueStart = q.Start
	}
	stop := shapes.BareEnd(s, valueStart, valueStart+shapes.MaxValue, shapes.SettingStops)
	v := strings.TrimRight(s[valueStart:stop], ",.;:)")
	stop = valueStart + len(v)
	switch { // cases without a body are secrets
	case len(v) < 3 || shapes.Placeholder(v):
		return shapes.Span{}, false
	case shapes.Random(v) && !shapes.PathLike(v):
	case setsVariable(before):
		if !secretLiteral(fam, v, false) && !secretSetting(v) {
			return shapes.Span{}, false
		}
	case fam != famPassword:
		return shapes.Span{}, false
	case strings.Contains(before, "login ") || strings.Contains(before, "machine "): // netrc
	case shapes.EndsInOne(before, "passwd/user-password ", "passwd/root-password ", "password "): // preseed
	case !shapes.Readable(v) && len(v) >= 6 && (stop == len(s) || shapes.OneOf(s[stop], "\r\n\"'\\")) && (start == 0 || s[start-1] == '\n' || shapes.EndsInOne(before, `\`, "\n+", "→", "  ")): // a line of settings
	case said && !shapes.Readable(v) && !shapes.Only(v, shapes.Digit) && (len(v) >= 8 || len(v) >= 6 && strings.ContainsAny(v, "0123456789")):
	case said:
		return toldAtEnd(s, valueStart)
	default:
		return shapes.Span{}, false
	}
	return shapes.NewSpan(valueStart, stop, tokens.RuleOf(v, fam.rule())), true
}

// secretPassed returns the literal in the parentheses at i that a setter of a secret is
// given, as in .setPassword("x"), WithToken("x") and .password("x"); false for none.
func secretPassed(s string, i int) (shapes.Span, bool) {
	q, ok := shapes.QuoteAt(s, i+1)
	if !ok {
		return shapes.Span{}, false
	}
	start, name := nameBefore(s, i)
	method := name[strings.LastIndexByte(name, '.')+1:]
	if !shapes.HasPrefixFold(method, "set") && !shapes.HasPrefixFold(method, "with") && len(method) == len(name) && (start == 0 || s[start-1] != '.') {
		return shapes.Span{}, false
	}
	fam, end := nameFamily(method), q.End(s)
	v := s[q.Start:min(end, q.Start+shapes.MaxValue)]
	return shapes.NewSpan(q.Start, end, fam.rule()), fam != famNone && end < len(s) && s[end] != '\n' && len(v) >= 6 && secretLiteral(fam, v, false) && !shapes.Readable(v)
}

// inStatement reports whether a password follows before in a statement of SQL: WITH
// PASSWORD 'x', ALTER ROLE bob LOGIN PASSWORD 'x'.
func inStatement(before string) bool {
	before = strings.ToLower(before[strings.LastIndexByte(before, ';')+1:])
	return shapes.EndsInOne(before, "with ", "encrypted ") ||
		shapes.HasOne(before, "alter ", "create ") &&
			shapes.HasOne(before, "user ", "role ", "login ")
}

// keywordKey reports whether the name behind before is a keyword of Lisp, Clojure or
// Elixir, or a variable that Lisp sets: {:db-password "x"}, (setq token "x").
func keywordKey(before string) bool {
	if !strings.HasSuffix(before, ":") {
		return shapes.EndsInOne(before, "(setq ", "(setf ", "(def ", "(defvar ", "(defconst ", "(defparameter ")
	}
	return len(before) == 1 || shapes.OneOf(before[len(before)-2], " {(\n[,")
}

// setsVariable reports whether a command ends before that takes a variable and its
// value: ENV of a Dockerfile, setenv, set -gx.
func setsVariable(before string) bool {
	return shapes.EndsInOne(before, "ENV ", "SetEnv ", "setx ", "fastcgi_param ", "--secret ", "secret set ", "setenv ", "set -gx ", "set -x ", "set -Ux ", "config set ", "configure set ") ||
		strings.Contains(before[max(0, len(before)-maxQuotes*4):], "--name ")
}

// toldAtEnd returns the password at the end of the line of i, which says that one was
// generated: password is generated for root@localhost: x; false for none.
func toldAtEnd(s string, i int) (shapes.Span, bool) {
	found, ok := promptedSecret(s, i)
	v := s[found.Start:found.End]
	return found, ok && len(v) >= 8 && !shapes.Readable(v) && strings.IndexByte(v, '/') < 0
}

// saidBefore returns the word before the words "as the", which end at i: use x as the
// password; false for none, and for a word that reads like one.
func saidBefore(s string, i int) (shapes.Span, bool) {
	low := max(0, i-shapes.MaxName)
	head := strings.TrimRight(s[low:i], " ")
	for _, words := range [...]string{" as the", " as your", " as my", " as a", " as"} {
		before, ok := strings.CutSuffix(head, words)
		if !ok {
			continue
		}
		end := low + len(strings.TrimRight(before, " \"'`"))
		start := end
		for start > low && !shapes.OneOf(s[start-1], " \n\"'`=") {
			start--
		}
		v := s[start:end]
		return shapes.NewSpan(start, end, tokens.RulePassword), len(v) >= 8 && !shapes.Readable(v) && !shapes.Placeholder(v) && !shapes.PathLike(v)
	}
	return shapes.Span{}, false
}

// behindOptions returns where the value behind the options at i begins, of a command that
// sets a variable: --type X --value V; i itself if none of them takes the value.
func behindOptions(s string, i int) int {
	for at := i; strings.HasPrefix(s[at:], "--"); {
		end := shapes.RunEnd(s, at, shapes.Word)
		if shapes.EndsInOne(s[at:end], "value", "body", "data", "string") {
			return shapes.SkipTo(s, end, " =\"'\\")
		}
		if at = shapes.SkipTo(s, end, " ="); at < len(s) && s[at] != '-' {
			at = shapes.SkipTo(s, shapes.RunEnd(s, at, shapes.Visible), " ")
		}
	}
	return i
}

// promptedSecret returns what was typed after "for …: ", which begins at i and ends a question for a
// password; false for none, or for more than a word.
func promptedSecret(s string, i int) (shapes.Span, bool) {
	end, _ := shapes.LineBounds(s, i, maxBeside)
	n := strings.Index(s[i:end], ": ")
	if n < 0 {
		if n = strings.Index(s[i:end], "= "); n < 0 { // SET PASSWORD FOR user = 'x'
			return shapes.Span{}, false
		}
	}
	start := shapes.SkipTo(s[:end], i+n+len(": "), "\"'\\")
	end = shapes.SkipBack(s, start, end, " \t\r\"'`};\\")
	v := s[start:end]
	return shapes.NewSpan(start, end, tokens.RulePassword), len(v) >= 3 && strings.IndexByte(v, ' ') < 0 && !shapes.Placeholder(v)
}

// AtWord returns the secret behind a word at whose rare pair of letters the scanner
// has stopped, i being the second of them: pasSWord, tOKen, kEY, pasSPhrase, eNV, BY; false for
// none.
func AtWord(s string, i int) (shapes.Span, bool) {
	if i == 0 || i+1 >= len(s) {
		return shapes.Span{}, false
	}
	word := s[i-1:]
	for _, end := range [...]string{"sword", "swd", "oken", "sphrase"} {
		if !shapes.HasPrefixFold(word, end) {
			continue
		}
		if end == "sword" && shapes.HasSuffixFold(s[:i], " pass") {
			if found, ok := saidBefore(s, i-len(" pass")); ok {
				return found, true
			}
		}
		return secretAfterWord(s, i-1+len(end))
	}
	switch {
	case strings.HasPrefix(word, "NV ") && i > 1 && s[i-2] == 'E' && shapes.StartsWord(s, i-2):
		return dockerVariable(s, i+2)
	case shapes.HasPrefixFold(word, "ey") && i >= 3 && s[i-2]|0x20 == 'k' && (s[i-3] == ' ' || shapes.In(s[i-3], shapes.Ident)): // "key" alone says too little
		return secretAfterWord(s, i+1)
	case shapes.HasPrefixFold(word, "by ") && i > 2 && s[i-2] == ' ' && (shapes.HasSuffixFold(s[:i-1], "identified ") || i+2 < len(s) && s[i+2] == '\'' && strings.Contains(strings.ToLower(s[max(0, i-64):i-1]), "identified ")):
		if q, ok := shapes.QuoteAt(s, i+2); ok {
			end := q.End(s)
			return shapes.NewSpan(q.Start, end, tokens.RulePassword), end-q.Start >= 3 && !shapes.Placeholder(s[q.Start:end])
		}
		end := shapes.BareEnd(s, i+2, i+shapes.MaxValue, shapes.CodeStops)
		return shapes.NewSpan(i+2, end, tokens.RulePassword), end-i >= 8 && !shapes.Readable(s[i+2:end]) && inStatement(s[max(0, i-maxBeside):i])
	}
	return shapes.Span{}, false
}

// dockerVariable returns the value of the variable whose name begins at i, of an ENV line of a
// Dockerfile without "="; false if it is no secret.
func dockerVariable(s string, i int) (shapes.Span, bool) {
	end := shapes.RunEnd(s[:min(len(s), i+shapes.MaxName)], i, shapes.Ident)
	if end == i || end == len(s) || s[end] != ' ' {
		return shapes.Span{}, false
	}
	start := shapes.SkipTo(s, end+1, " \"'\\")
	stop := shapes.BareEnd(s, start, start+shapes.MaxQuoted, shapes.SettingStops)
	name, v := s[i:end], s[start:stop]
	rule := Named(name, v)
	if fam := nameFamily(name); rule == "" && fam != famNone && fam != famKey && secretSetting(v) {
		rule = fam.rule()
	}
	return shapes.NewSpan(start, stop, rule), rule != ""
}
