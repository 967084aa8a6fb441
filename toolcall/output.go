package toolcall

import (
	"regexp"
	"strconv"
	"strings"

	"claudemem/text"
)

// lineRule recognises a line of a test runner. Its groups are called test, file,
// line, package and message.
type lineRule struct {
	// mark is a part of every line that the rule is for: it spares the expression.
	mark    string
	pattern *regexp.Regexp
	family  string
	// rank of the message: the group, or the whole line; 0 = no message.
	rank int
}

// lineRules are tried in order.
var lineRules = []lineRule{
	{"--- FAIL: ", regexp.MustCompile(`^--- FAIL: (?P<test>\S+)`), "go", rankSummary},
	{"FAIL\t", regexp.MustCompile(`^FAIL\t(?P<package>[^\t ]+)`), "go", 0},
	{"panic: ", regexp.MustCompile(`^panic: .+`), "go", rankAssert},
	{"FAILED ", regexp.MustCompile(`^FAILED \(`), "py", rankSummary - 1},                                                     // unittest
	{"FAILED ", regexp.MustCompile(`^FAILED (?P<file>[^ ]*?)::(?P<test>.+?)(?: - (?P<message>.+))?$`), "py", rankAssert - 2}, // pytest
	{"FAILED ", regexp.MustCompile(`^FAILED .+? - (?P<message>.+)$`), "py", rankAssert - 2},
	{"ERROR: ", regexp.MustCompile(`^ERROR: (?P<test>[^(]+?) \(`), "py", 0},
	{"ERROR ", regexp.MustCompile(`^ERROR (?P<test>\S*\.py\S*)(?: - (?P<message>.*))?$`), "py", 0},
	{"FAIL: ", regexp.MustCompile(`^FAIL: (?P<message>(?P<test>[^:(]+): .+)$`), "", rankAssert - 10},
	{"FAIL: ", regexp.MustCompile(`^FAIL: (?P<test>.+?)(?: \(.*)?$`), "", rankSummary}, // unittest, scripts
	{"FAIL ", regexp.MustCompile(`^FAIL +.* > (?P<test>.+)$`), "js", 0},                // vitest
	{"FAIL ", regexp.MustCompile(`^FAIL +(?P<file>[^ ]*/[^ ]*\.[^ ]*|[^ ]*\.[^ ]*/[^ ]*)(?: .*)?$`), "", 0},
	{"FAIL ", regexp.MustCompile(`^FAIL +(?P<message>(?P<test>.+?): .+)$`), "", rankAssert - 10},
	{"FAIL ", regexp.MustCompile(`^FAIL +(?P<test>.+)$`), "", rankSummary},
	{"FAIL", regexp.MustCompile(`^(?:FAIL|FAILED|FAILURE:.*)$`), "", 0},
	{"not ok ", regexp.MustCompile(`^not ok (?:\d+ )?(?:- )?(?P<test>.+)$`), "js", rankSummary}, // TAP
	{" ... FAILED", regexp.MustCompile(`^test (?P<test>.+) \.\.\. FAILED$`), "rs", rankSummary},
	{" FAILED", regexp.MustCompile(`^.+ > (?P<test>.+) FAILED$`), "java", 0}, // Gradle
	{"npm ", regexp.MustCompile(`^npm (?:ERR!|error) (?P<message>.+)$`), "", rankShell},
}

// topic is what a line turned out to be about.
type topic int

const (
	aboutSomething topic = iota
	aboutTest            // it names a test that failed and does not say why
)

// parseLine takes from a line what it says.
func (v *Verdict) parseLine(line, trimmed string, scan *lineScanner) topic {
	if t, ok := v.parseRunner(trimmed, scan); ok {
		return t
	}
	if strings.Contains(trimmed, "FAIL") || strings.HasPrefix(trimmed, "E") || strings.HasPrefix(trimmed, "n") || strings.HasPrefix(trimmed, "p") {
		for i := range lineRules {
			if t, ok := v.apply(&lineRules[i], trimmed); ok {
				return t
			}
		}
	}
	if v.parseMarked(trimmed) {
		return aboutTest
	}
	if maven, ok := strings.CutPrefix(trimmed, "[ERROR] "); ok {
		return v.parseMaven(strings.TrimSpace(maven))
	}
	if v.parsePair(line, trimmed, scan) || v.parseYAML(line, trimmed, scan) {
		return aboutSomething
	}
	if comment, ok := strings.CutPrefix(trimmed, "# "); ok {
		v.parseCount(trimmed)
		if strings.HasPrefix(comment, "Error ") { // Node's own loader errors inside TAP
			if _, message, ok := strings.Cut(comment, "]: "); ok {
				comment = text.Before(message, " imported from ")
			}
			v.offer(rankException, "", 0, strings.TrimPrefix(comment, "Error "))
		}
		return aboutSomething
	}
	if strings.HasPrefix(trimmed, "exit status ") || v.parseLocated(line, trimmed) || v.parseException(line, trimmed) {
		return aboutSomething
	}
	v.parseCount(trimmed)
	v.parseComplaint(trimmed)
	return aboutSomething
}

// apply tries one rule.
func (v *Verdict) apply(r *lineRule, line string) (topic, bool) {
	if !strings.Contains(line, r.mark) {
		return aboutSomething, false
	}
	m := r.pattern.FindStringSubmatch(line)
	if m == nil {
		return aboutSomething, false
	}
	group := func(name string) string {
		if i := r.pattern.SubexpIndex(name); i >= 0 {
			return m[i]
		}
		return ""
	}
	test, message := v.local(group("test")), group("message")
	if r.family == "js" && (strings.Contains(test, "# TODO") || strings.Contains(test, "# SKIP")) {
		return aboutTest, true
	}
	if r.rank == rankShell && (strings.HasPrefix(message, "code ") || strings.HasPrefix(message, "errno") || strings.HasPrefix(message, "A complete log")) {
		return aboutSomething, true
	}
	v.Failed = true
	if r.family != "" {
		v.family = r.family
	}
	if test != "" {
		switch r.mark {
		case "FAIL ":
			test = text.AfterLast(test, " > ")
		case "ERROR ":
			test = text.AfterLast(test, "::")
		case "FAILED ":
			test = strings.ReplaceAll(test, "::", ".")
		}
		v.addTest(test)
	}
	if file := group("file"); v.File == "" {
		v.File = v.relative(file)
	}
	if p := group("package"); p != "" && len(v.Packages) < maxTests {
		v.Packages = text.Add(v.Packages, p)
	}
	switch {
	case message != "" && r.rank > 0:
		v.offer(r.rank, "", 0, message)
	case r.rank == rankAssert-2: // pytest did not say why
	case r.family != "" && r.rank == rankSummary:
		v.offer(r.rank, "", 0, "test "+test+" fails")
	case r.rank > 0:
		v.offer(r.rank, "", 0, line)
	}
	if test != "" && message == "" {
		return aboutTest, true
	}
	return aboutSomething, true
}

// parseMarked recognises test runners that mark failures with a sign.
func (v *Verdict) parseMarked(s string) bool {
	if s[0] < 0x80 {
		return false
	}
	for _, mark := range []string{"✕ ", "✗ ", "✘ ", "✖ ", "× ", "❌ ", "● ", "⨯ "} {
		rest, ok := strings.CutPrefix(s, mark)
		if !ok {
			continue
		}
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "Console") || strings.HasPrefix(rest, "failing tests") || mark == "● " && !strings.Contains(rest, " › ") || rest == "" || rest[0] == '|' || strings.Contains(rest, " problem") && text.IsDigit(rest[0]) {
			return true
		}
		if i := strings.LastIndex(rest, " ("); i > 0 && strings.HasSuffix(rest, ")") { // its duration
			rest = rest[:i]
		}
		if mark == "⨯ " { // Pest
			rest = strings.TrimSpace(text.Before(rest, "  "))
		}
		if v.family == "" {
			v.family = "js"
		}
		v.addTest(text.AfterLast(text.AfterLast(rest, " › "), " > "))
		v.offer(rankSummary, "", 0, "test "+rest+" fails")
		return true
	}
	return false
}

// parsePair recognises messages that go on in the lines below: pytest's E, the
// expectations of jest, the assertions, panics and errors of Rust.
func (v *Verdict) parsePair(line, s string, scan *lineScanner) bool {
	switch {
	case strings.HasPrefix(line, "E   "): // pytest
		v.family = "py"
		v.offer(rankAssert, "", 0, line[len("E   "):])
		return true
	case strings.HasPrefix(s, "Expected") && strings.Contains(s, ":"):
		for n := 1; n <= 2; n++ {
			got := scan.peek(n)
			if strings.HasPrefix(got, "Received") {
				v.family = "js"
			} else if !strings.HasPrefix(got, "Actual:") {
				continue
			}
			v.offer(rankAssert, "", 0, text.Line(s)+", "+text.Line(got))
			return true
		}
	case strings.HasPrefix(s, "expected: "): // RSpec, Hspec
		if got := scan.peek(1); strings.HasPrefix(got, "got: ") || strings.HasPrefix(got, "but got: ") {
			v.offer(rankAssert, "", 0, s+", "+got)
			return true
		}
	case strings.HasPrefix(s, "assertion ") && strings.HasSuffix(s, "failed"):
		v.family = "rs"
		if left := scan.peek(1); strings.HasPrefix(left, "left:") {
			s += ": " + left + ", " + scan.peek(2)
		}
		v.offer(rankAssert, "", 0, s)
		return true
	case strings.HasPrefix(s, "thread '") && strings.Contains(s, "' panicked at "):
		v.family = "rs"
		_, at, _ := strings.Cut(s, "' panicked at ")
		file, n, rest := location(strings.TrimSuffix(at, ":"))
		if rest == "" || file == "" {
			rest = scan.peek(1)
		}
		v.offer(rankAssert-1, file, n, "panicked: "+strings.Trim(rest, ": ,'"))
		return true
	case strings.HasPrefix(s, "error[") || strings.HasPrefix(s, "error: "):
		if at, ok := strings.CutPrefix(scan.peek(1), "--> "); ok {
			v.family = "rs"
			file, n, _ := location(at)
			v.offer(rankCompile, file, n, s)
			return true
		}
		if strings.HasPrefix(s, "error[") {
			v.offer(rankCompile, "", 0, s)
			return true
		}
	}
	return false
}

// parseYAML recognises the details that TAP gives of a failure.
func (v *Verdict) parseYAML(line, s string, scan *lineScanner) bool {
	if line[0] != ' ' && line[0] != '\t' {
		return false
	}
	if message, ok := strings.CutPrefix(s, "error: "); ok {
		message = strings.Trim(message, "'\"")
		if message == "|-" || message == "|" || message == ">-" {
			message = strings.TrimSuffix(scan.peek(1), ":")
		}
		if message != "test failed" { // Node says so of a whole file
			v.offer(rankAssert-5, "", 0, message)
		}
		return true
	}
	if at, ok := strings.CutPrefix(s, "location: '"); ok {
		if file, n, _ := location(strings.TrimSuffix(at, "'")); file != "" && v.File == "" {
			v.File, v.Line = v.relative(file), n
		}
		return true
	}
	return false
}

// parseMaven reads a line of Maven's behind "[ERROR] ": a compiler's error, a failed
// test or another message.
func (v *Verdict) parseMaven(s string) topic {
	v.family, v.Failed = "java", true
	if file, rest, ok := strings.Cut(s, ":["); ok && strings.HasSuffix(file, ".java") {
		n, _ := strconv.Atoi(text.Before(rest, ","))
		_, message, _ := strings.Cut(rest, "] ")
		v.offer(rankCompile, file, n, message)
		return aboutSomething
	}
	name, message, ok := strings.Cut(s, ":")
	if ok && strings.Contains(name, "Test") && strings.Contains(name, ".") && !strings.ContainsAny(name, " /") {
		v.addTest(name)
		_, message, _ = strings.Cut(message, " ")
		v.offer(rankAssert, "", 0, message)
		return aboutTest
	}
	v.offer(rankShell, "", 0, s)
	return aboutSomething
}

// parseLocated recognises `file:line:col: message` and its relatives.
func (v *Verdict) parseLocated(line, s string) bool {
	if strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "File \"") { // a frame, not a message
		return false
	}
	file, n, rest := location(strings.TrimPrefix(s, "vet: "))
	if file == "" || rest == "" || !text.HasExtension(file) {
		return false
	}
	rest = strings.TrimLeft(rest, ":- ")
	low := text.LowerASCII(rest)
	switch {
	case strings.HasSuffix(file, "_test.go") && (line[0] == ' ' || line[0] == '\t'):
		v.family = "go"
		v.offer(rankAssert-1, file, n, rest)
	case strings.Contains(rest, "error TS") || strings.HasPrefix(rest, "TS"):
		v.family = "tsc"
		v.offer(rankCompile, file, n, strings.TrimPrefix(rest, "error "))
	case strings.HasSuffix(file, ".go"):
		v.offer(rankCompile, file, n, rest)
	case strings.HasPrefix(low, "warning") || strings.HasPrefix(low, "note") || strings.HasPrefix(low, "info"):
	case strings.HasPrefix(low, "error") || strings.HasPrefix(low, "fatal error"):
		v.offer(rankCompile, file, n, strings.TrimSpace(strings.TrimPrefix(rest[len(text.Before(rest, ":")):], ":")))
	case strings.Contains(rest, " "):
		v.offer(rankException-20, file, n, rest)
	}
	return true
}

// parseException recognises exceptions of Python, JavaScript and Java, and the
// rows of eslint: `  10:5  error  'x' is not defined  no-undef`.
func (v *Verdict) parseException(line, s string) bool {
	name, message, ok := strings.Cut(s, ": ")
	if !ok {
		name, message = strings.TrimSuffix(s, ":"), ""
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Uncaught "), "Caused by: ")
	if _, thread, ok := strings.Cut(name, "Exception in thread \"main\" "); ok {
		name = thread
	}
	name, _, _ = strings.Cut(name, " [") // TypeError [ERR_INVALID_ARG_TYPE]
	last := text.AfterLast(name, ".")
	if len(name) <= 80 && !strings.ContainsAny(name, " \t/(") && last != "" && last[0] >= 'A' && last[0] <= 'Z' &&
		(strings.HasSuffix(last, "Error") || strings.HasSuffix(last, "Exception") || last == "KeyboardInterrupt") &&
		(message != "" || last != "Error") {
		rank := rankException
		if last == "AssertionError" || last == "AssertionFailedError" {
			rank = rankAssert - 3
			if message == "" {
				message = "assertion failed"
			}
		}
		if strings.Count(name, ".") > 1 {
			name = last // without the packages of Java
		}
		v.offer(rank, "", 0, strings.TrimSuffix(name+": "+message, ": "))
		return true
	}
	if line[0] == ' ' && text.IsDigit(s[0]) {
		fields := strings.Fields(s)
		if len(fields) > 3 && fields[1] == "error" && strings.Contains(fields[0], ":") {
			v.family = "js"
			n, _ := strconv.Atoi(text.Before(fields[0], ":"))
			v.offer(rankCompile, "", n, strings.Join(fields[2:], " "))
			return true
		}
	}
	return false
}

// failCount is a count of failures that is not 0.
var failCount = regexp.MustCompile(`(?i)(?:^|[^\d])0*[1-9]\d* fail`)

// parseCount recognises lines that count failures.
func (v *Verdict) parseCount(s string) {
	low := text.LowerASCII(s)
	if count, ok := strings.CutPrefix(low, "# fail "); ok {
		v.Failed = v.Failed || strings.TrimSpace(count) != "0"
		return
	}
	if strings.Contains(low, " fail") && text.ContainsAny(low, "pass", "test", " in ", " runs, ", " examples, ", "success") && failCount.MatchString(low) {
		v.Failed = true
		v.offer(rankGeneric+1, "", 0, s)
	}
}

// parseComplaint recognises the complaints of shells, make and programs in general.
func (v *Verdict) parseComplaint(s string) {
	if v.rank > rankShell {
		return
	}
	low := text.LowerASCII(s)
	switch {
	case text.ContainsAny(low, "command not found", "is not recognized as") || strings.HasSuffix(low, ": not found"):
		if i := strings.LastIndex(low, "command not found"); i > 0 {
			s = text.AfterLast(strings.TrimRight(s[:i], ": "), ": ") + ": command not found"
		}
		v.offer(rankShell, "", 0, s)
	case strings.HasPrefix(low, "fatal:") || strings.HasPrefix(low, "error:") || strings.HasPrefix(low, "fatal error"):
		v.offer(rankShell-1, "", 0, s)
	case strings.HasPrefix(low, "make:") || strings.HasPrefix(low, "make["):
		v.offer(rankGeneric-1, "", 0, s)
	case text.ContainsAny(low, "no such file or directory", "permission denied", "cannot find module", "connection refused"):
		v.offer(rankShell-2, "", 0, s)
	case text.ContainsAny(low, "error", "failed", "exception", "cannot ") && !text.ContainsAny(low, "0 error", "0 failed", "no error"):
		v.offer(rankGeneric, "", 0, s)
	}
}

// location splits `file:line[:col][:] rest` and `file(line,col): rest`; file is ""
// when s does not begin so.
func location(s string) (file string, line int, rest string) {
	m := locationPattern.FindStringSubmatch(s)
	if m == nil {
		return "", 0, ""
	}
	line, _ = strconv.Atoi(m[2][:min(len(m[2]), 8)])
	return m[1], line, strings.TrimSpace(strings.TrimPrefix(m[3], ":"))
}

var locationPattern = regexp.MustCompile(`^((?:[A-Za-z]:)?\S+?)[:(](\d+)(?:[:,]\d+)*\)?(.*)$`)
