package toolcall

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"claudemem/internal/leaf/text"
)

// parseLine takes from a line what it says, and reports whether that is the name of a test that
// failed, without a reason. trimmed is line without the blanks around it, and not empty; the
// indentation tells some forms. Rules of the runners come first. Each form offers its message with
// a rank (offer): the highest rank is kept, and one above rankGeneric means failure. A form that is
// less sure offers a rank below that of its class (rankAssert-5). family is the tool's, by which
// the check that failed is found.
func (v *Verdict) parseLine(line, trimmed string, scan *lineScanner) (onlyNames bool) {
	onlyNames, ok := v.parseRule(trimmed, scan)
	switch {
	case ok, v.parseYAML(line, trimmed, scan):
	case strings.HasPrefix(trimmed, "# "):
		v.parseCount(trimmed)
	case strings.HasPrefix(trimmed, "exit status "), v.parseLocated(line, trimmed), v.parseException(trimmed):
	default:
		v.parseCount(trimmed)
		v.parseComplaint(trimmed)
	}
	return onlyNames
}

// parseYAML recognises the details that TAP gives of a failure, in an indented line; s is the line
// trimmed.
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

// parseLocated recognises `file:line:col: message` and its relatives, also a warning, from which it
// takes nothing; s is the line trimmed. The file must have an extension.
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

// parseException recognises exceptions of Python, JavaScript and Java.
func (v *Verdict) parseException(s string) bool {
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
		(message != "" || last != "Error") { // "Error" alone is a heading
		rank := rankException
		if last == "AssertionError" || last == "AssertionFailedError" {
			rank = rankAssert - 3
			message = cmp.Or(message, "assertion failed")
		}
		if strings.Count(name, ".") > 1 {
			name = last // without the packages of Java
		}
		v.offer(rank, "", 0, strings.TrimSuffix(name+": "+message, ": "))
		return true
	}
	return false
}

var (
	// failCount is a count of failures that is not 0, failLine a line that has no more.
	failCount = regexp.MustCompile(`(?i)(?:^|[^\d])0*[1-9]\d* fail|\bfail(?:ed|ures?)?[: ]+0*[1-9]`)
	failLine  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[1-9]\d* (?:tests? |uncaught |unhandled )?(?:fail|failed|failing|failures?|exceptions?|rejections?)|[#ℹ] (?:fail|error|xpass|cancelled):? +[1-9]\d*|(?:fail(?:ed|ures?)?|(?:type )?errors): +[1-9]\d*|(?:type )?errors {2,}[1-9]\d* errors?|(?:timeout|unexpected pass): {4,}[1-9]\d*|.*\b(?:passed|failures?|tests?|assertions?)\b.*, (?:[1-9]\d* (?:errors?|invalid)\b|errors: [1-9]).*|(?:[\w-]+ |done linting! )?found (?:\d+ warnings? and )?[1-9]\d* (?:errors?|problems?|violations?)(?:[.,]| and | in |$).*|[1-9]\d* (?:errors?|issues?|problems?) found\.?(?: .*)?|a total of [1-9]\d* errors? .*|[1-9]\d* errors?, \d+ warnings?.*|[1-9]\d* issues?:?|=+ [1-9]\d* errors? in .*|.*\b[1-9]\d* offen[cs]es? detected.*|(?:[1-9]\d* files? would be|would) reformat.*|\[warn\] code style issues .*|.*\bcoverage\b.*(?:not met|not meet|not reached|below the expected|less than fail-under).*|(?:\[info\] )?build fail(?:ed|ure)\b.*|test run summary: failed!.*|errors!|elifecycle\b.*|failed: +\S+#\S+|\D{0,4}[1-9]\d*/\d+ failed|.*\([1-9]\d* failed\).*|.*\.{3,}failed|make(?:\[\d+\])?: \*\*\* .*\berror [1-9]\d*|.*\b(?:command|script|recipe|task)\b.*\b(?:failed|exited)\b.*(?:code |\()[1-9]\d*\)?\.?)$`)
	})
)

// parseCount recognises lines that count failures: such a count says that something failed.
func (v *Verdict) parseCount(s string) {
	low := text.LowerASCII(s)
	if count, ok := strings.CutPrefix(low, "# fail "); ok {
		v.Failed = v.Failed || strings.TrimSpace(count) != "0"
		return
	}
	if text.ContainsAny(low, "fail", "error", "issue", "xpass", "problem", "pass: ", "timeout: ", "cancelled", "reject", "invalid", "exception", "offen", "violation", "coverage", "reformat", "elifecycle", "exited") && failLine().MatchString(low) ||
		strings.Contains(low, " fail") && text.ContainsAny(low, "pass", "test", " in ", " runs, ", " examples, ", "success") && failCount.MatchString(low) {
		v.Failed = true
		v.offer(rankGeneric+1, "", 0, s)
	}
}

// parseComplaint recognises the complaints of shells, make and programs in general. It does not look
// once there is a better message.
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
// when s does not begin so. A line number has at most 8 digits.
func location(s string) (file string, line int, rest string) {
	m := locationPattern.FindStringSubmatch(s)
	if m == nil {
		return "", 0, ""
	}
	line, _ = strconv.Atoi(m[2][:min(len(m[2]), 8)])
	return m[1], line, strings.TrimSpace(strings.TrimPrefix(m[3], ":"))
}

var locationPattern = regexp.MustCompile(`^((?:[A-Za-z]:)?\S+?)[:(](\d+)(?:[:,]\d+)*\)?(.*)$`)
