package redact

import "strings"

// Secrets that stand a blank behind their name, or are told of in a sentence.

// secretAfterWord returns the secret that stands a blank behind the name that ends at
// end: ENV DB_PASSWORD x, the words of a netrc, of SQL and of a prompt; false for none.
func secretAfterWord(s string, end int) (span, bool) {
	if end < len(s) && s[end] == '(' {
		return secretPassed(s, end)
	}
	if end >= len(s) || s[end] != ' ' && s[end] != '\t' {
		return span{}, false
	}
	valueStart := end + 1
	for valueStart < len(s) && valueStart < end+8 && s[valueStart] == ' ' {
		valueStart++
	}
	if valueStart+2 >= len(s) || oneOf(s[valueStart], "=:") && (s[valueStart+1] == ' ' || s[valueStart+2] == ' ') {
		return span{}, false // an operator
	}
	start, name := nameBefore(s, end)
	fam := familyBefore(s, start, name)
	if fam == famKey || fam == famNone {
		return span{}, false
	}
	before := s[max(0, start-maxBeside):start]
	if fam == famPassword && HasPrefixFold(s[valueStart:], "for ") {
		return promptedSecret(s, valueStart)
	}
	if s[valueStart] == '|' {
		return tableCell(s, valueStart)
	}
	said := strings.HasPrefix(s[valueStart:], "is ") || strings.HasPrefix(s[valueStart:], "is: ")
	switch {
	case said:
		valueStart = skipTo(s, valueStart+len("is"), ": ")
	case isDigit(s[valueStart]) && s[valueStart+1] == ' ': // Cisco: password 0 x
		said, valueStart = true, valueStart+2
	case setsVariable(before):
		if valueStart = behindOptions(s, valueStart); strings.HasPrefix(s[valueStart:], "--") {
			return span{}, false
		}
	}
	if q, ok := quoteAt(s, valueStart); ok {
		stop := q.end(s)
		v := s[q.start:min(stop, q.start+maxValue)]
		if fam == famPassword && (said || inStatement(before)) && !placeholder(v) && len(v) >= 3 ||
			len(v) >= max(fam.shortest(), 4) && secretLiteral(fam, v, false) && (keywordKey(before) || !readable(v) && stop < len(s) && s[stop] != '\n') {
			return span{q.start, stop, fam.rule()}, true
		}
		valueStart = q.start
	}
	stop := bareEnd(s, valueStart, valueStart+maxValue, settingStops)
	v := strings.TrimRight(s[valueStart:stop], ",.;:)")
	stop = valueStart + len(v)
	switch {
	case len(v) < 3 || placeholder(v):
		return span{}, false
	case random(v) && !pathLike(v):
	case setsVariable(before):
		if !secretLiteral(fam, v, false) && !secretSetting(v) {
			return span{}, false
		}
	case fam != famPassword:
		return span{}, false
	case strings.Contains(before, "login ") || strings.Contains(before, "machine "): // netrc
	case endsInOne(before, "passwd/user-password ", "passwd/root-password ", "password "): // preseed
	case !readable(v) && len(v) >= 6 && (stop == len(s) || oneOf(s[stop], "\r\n\"'\\")) && (start == 0 || s[start-1] == '\n' || endsInOne(before, `\`, "\n+", "→", "  ")): // a line of settings
	case said && !readable(v) && !only(v, classDigit) && (len(v) >= 8 || len(v) >= 6 && strings.ContainsAny(v, "0123456789")):
	case said && fam == famPassword:
		return toldAtEnd(s, valueStart)
	default:
		return span{}, false
	}
	return span{valueStart, stop, ruleOfToken(v, fam.rule())}, true
}

// secretPassed returns the literal in the parentheses at i that a setter of a secret is
// given, as in .setPassword("x"), WithToken("x") and .password("x"); false for none.
func secretPassed(s string, i int) (span, bool) {
	q, ok := quoteAt(s, i+1)
	if !ok {
		return span{}, false
	}
	start, name := nameBefore(s, i)
	method := name[strings.LastIndexByte(name, '.')+1:]
	if !HasPrefixFold(method, "set") && !HasPrefixFold(method, "with") && len(method) == len(name) && (start == 0 || s[start-1] != '.') {
		return span{}, false
	}
	fam, end := nameFamily(method), q.end(s)
	v := s[q.start:min(end, q.start+maxValue)]
	return span{q.start, end, fam.rule()}, fam != famNone && end < len(s) && s[end] != '\n' && len(v) >= 6 && secretLiteral(fam, v, false) && !readable(v)
}

// inStatement reports whether a password follows before in a statement of SQL: WITH
// PASSWORD 'x', ALTER ROLE bob LOGIN PASSWORD 'x'.
func inStatement(before string) bool {
	before = strings.ToLower(before[strings.LastIndexByte(before, ';')+1:])
	return endsInOne(before, "with ", "encrypted ") ||
		(strings.Contains(before, "alter ") || strings.Contains(before, "create ")) &&
			(strings.Contains(before, "user ") || strings.Contains(before, "role ") || strings.Contains(before, "login "))
}

// keywordKey reports whether the name behind before is a keyword of Lisp, Clojure or
// Elixir, or a variable that Lisp sets: {:db-password "x"}, (setq token "x").
func keywordKey(before string) bool {
	if !strings.HasSuffix(before, ":") {
		return endsInOne(before, "(setq ", "(setf ", "(def ", "(defvar ", "(defconst ", "(defparameter ")
	}
	return len(before) == 1 || oneOf(before[len(before)-2], " {(\n[,")
}

// setsVariable reports whether a command ends before that takes a variable and its
// value: ENV of a Dockerfile, setenv, set -gx.
func setsVariable(before string) bool {
	return endsInOne(before, "ENV ", "SetEnv ", "setx ", "fastcgi_param ", "--secret ", "secret set ", "setenv ", "set -gx ", "set -x ", "set -Ux ", "config set ", "configure set ") ||
		strings.Contains(before[max(0, len(before)-maxQuotes*4):], "--name ")
}

// toldAtEnd returns the password at the end of the line of i, which says that one was
// generated: password is generated for root@localhost: x; false for none.
func toldAtEnd(s string, i int) (span, bool) {
	found, ok := promptedSecret(s, i)
	v := s[found.start:found.end]
	return found, ok && len(v) >= 8 && !readable(v) && strings.IndexByte(v, '/') < 0
}

// saidBefore returns the word before the words "as the", which end at i: use x as the
// password; false for none, and for a word that reads like one.
func saidBefore(s string, i int) (span, bool) {
	low := max(0, i-maxName)
	head := strings.TrimRight(s[low:i], " ")
	for _, words := range [...]string{" as the", " as your", " as my", " as a", " as"} {
		before, ok := strings.CutSuffix(head, words)
		if !ok {
			continue
		}
		end := low + len(strings.TrimRight(before, " \"'`"))
		start := end
		for start > low && !oneOf(s[start-1], " \n\"'`=") {
			start--
		}
		v := s[start:end]
		return span{start, end, rulePassword}, len(v) >= 8 && !readable(v) && !placeholder(v) && !pathLike(v)
	}
	return span{}, false
}

// skipTo returns the first position from i on whose byte is none of chars.
func skipTo(s string, i int, chars string) int {
	for i < len(s) && oneOf(s[i], chars) {
		i++
	}
	return i
}

// behindOptions returns where the value behind the options at i begins, of a command that
// sets a variable: --type X --value V; i itself if none of them takes the value.
func behindOptions(s string, i int) int {
	for at := i; strings.HasPrefix(s[at:], "--"); {
		end := runEnd(s, at, classWord)
		if endsInOne(s[at:end], "value", "body", "data", "string") {
			return skipTo(s, end, " =\"'\\")
		}
		if at = skipTo(s, end, " ="); at < len(s) && s[at] != '-' {
			at = skipTo(s, runEnd(s, at, classVisible), " ")
		}
	}
	return i
}

// promptedSecret returns what was typed after "for …: ", which ends a question for a
// password; false for none.
func promptedSecret(s string, i int) (span, bool) {
	end, _ := lineBounds(s, i, maxBeside)
	n := strings.Index(s[i:end], ": ")
	if n < 0 {
		n = strings.Index(s[i:end], "= ") // SET PASSWORD FOR user = 'x'
	}
	if n < 0 {
		return span{}, false
	}
	start := skipTo(s[:end], i+n+len(": "), "\"'\\")
	end = start + len(strings.TrimRight(s[start:end], " \t\r\"'`};\\"))
	if v := s[start:end]; len(v) < 3 || strings.IndexByte(v, ' ') >= 0 || placeholder(v) {
		return span{}, false
	}
	return span{start, end, rulePassword}, true
}

// secretAtWord returns the secret behind a word at whose rare pair of letters the scanner
// has stopped: pasSWord, tOKen, kEY, pasSPhrase, ENV, BY; false for none.
func secretAtWord(s string, i int) (span, bool) {
	if i == 0 || i+1 >= len(s) {
		return span{}, false
	}
	switch before := s[i-1] | 0x20; s[i] | 0x20 {
	case 'w':
		if before != 's' {
			break
		}
		if HasPrefixFold(s[i:], "word") {
			if hasSuffixFold(s[:i], " pass") {
				if found, ok := saidBefore(s, i-len(" pass")); ok {
					return found, true
				}
			}
			return secretAfterWord(s, i+4)
		} else if s[i+1]|0x20 == 'd' {
			return secretAfterWord(s, i+2)
		}
	case 'k':
		if before == 'o' && s[i+1]|0x20 == 'e' && i+2 < len(s) && s[i+2]|0x20 == 'n' {
			return secretAfterWord(s, i+3)
		}
	case 'p':
		if before == 's' && s[i+1]|0x20 == 'h' && HasPrefixFold(s[i:], "phrase") {
			return secretAfterWord(s, i+6)
		}
	case 'v':
		if s[i] == 'V' && s[i+1] == ' ' && strings.HasSuffix(s[:i], "EN") && startsWord(s, i-2) {
			return dockerVariable(s, i+2)
		}
	case 'y':
		switch {
		case before == 'e' && i >= 3 && s[i-2]|0x20 == 'k' && (s[i-3] == ' ' || classes[s[i-3]]&classIdent != 0): // "key" alone says too little
			return secretAfterWord(s, i+1)
		case before == 'b' && s[i+1] == ' ' && i > 2 && s[i-2] == ' ' && (hasSuffixFold(s[:i-1], "identified ") || i+2 < len(s) && s[i+2] == '\'' && strings.Contains(strings.ToLower(s[max(0, i-64):i-1]), "identified ")):
			if q, ok := quoteAt(s, i+2); ok {
				end := q.end(s)
				return span{q.start, end, rulePassword}, end-q.start >= 3 && !placeholder(s[q.start:end])
			}
			end := bareEnd(s, i+2, i+maxValue, codeStops)
			return span{i + 2, end, rulePassword}, end-i >= 8 && !readable(s[i+2:end]) && inStatement(s[max(0, i-maxBeside):i])
		}
	}
	return span{}, false
}

// dockerVariable returns the value of the variable at i of an ENV line of a Dockerfile;
// false if it is no secret.
func dockerVariable(s string, i int) (span, bool) {
	end := runEnd(s[:min(len(s), i+maxName)], i, classIdent)
	if end == i || end == len(s) || s[end] != ' ' {
		return span{}, false
	}
	start := end + 1
	for start < len(s) && oneOf(s[start], " \"'\\") {
		start++
	}
	stop := bareEnd(s, start, start+maxQuoted, settingStops)
	name, v := s[i:end], s[start:stop]
	rule := secretNamed(name, v)
	if fam := nameFamily(name); rule == "" && fam != famNone && fam != famKey && secretSetting(v) {
		rule = fam.rule()
	}
	return span{start, stop, rule}, rule != ""
}
