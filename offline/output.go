package offline

import (
	"strconv"
	"strings"
)

// read recognises one line.
func (f *failure) read(line, trimmed string, scan *lineScanner) {
	indented := line[0] == ' ' || line[0] == '\t'
	switch trimmed[0] {
	case '-':
		if name, ok := strings.CutPrefix(trimmed, "--- FAIL: "); ok {
			f.family = "go"
			name, _, _ = strings.Cut(name, " ")
			f.test(name)
			f.take(rankSummary, "", 0, "test "+name+" fails")
			return
		}
	case 'E':
		if msg, ok := strings.CutPrefix(line, "E   "); ok { // pytest
			f.family = "py"
			f.take(rankAssert, "", 0, strings.TrimSpace(msg))
			return
		}
		if name, ok := strings.CutPrefix(trimmed, "ERROR: "); ok && strings.Contains(name, "(") {
			f.family = "py"
			f.test(before(name, " ("))
			f.seen = true
			return
		}
		if name, ok := strings.CutPrefix(trimmed, "ERROR "); ok && strings.Contains(name, ".py") {
			f.family = "py"
			f.test(before(lastPart(name, "::"), " - "))
			f.seen = true
			return
		}
		if f.expected(trimmed, scan) {
			return
		}
	case 'F':
		if f.readFail(trimmed) {
			return
		}
	case 'n':
		if name, ok := strings.CutPrefix(trimmed, "not ok "); ok { // TAP
			f.family = "js"
			_, name, _ = strings.Cut(name, " ")
			name = strings.TrimPrefix(name, "- ")
			if !strings.Contains(name, "# TODO") && !strings.Contains(name, "# SKIP") {
				f.test(f.local(name))
				f.take(rankSummary, "", 0, "test "+name+" fails")
			}
			return
		}
		if strings.HasPrefix(trimmed, "npm ERR! ") || strings.HasPrefix(trimmed, "npm error ") {
			msg := strings.TrimPrefix(strings.TrimPrefix(trimmed, "npm ERR! "), "npm error ")
			if !strings.HasPrefix(msg, "code ") && !strings.HasPrefix(msg, "errno") && !strings.HasPrefix(msg, "A complete log") {
				f.take(rankShell, "", 0, msg)
			}
			return
		}
	case 'a':
		if strings.HasPrefix(trimmed, "assertion ") && strings.HasSuffix(trimmed, "failed") { // Rust
			f.family = "rs"
			msg := trimmed
			if l := scan.peek(1); strings.HasPrefix(l, "left:") {
				msg += ": " + l + ", " + scan.peek(2)
			}
			f.take(rankAssert, "", 0, msg)
			return
		}
	case 't':
		if rest, ok := strings.CutPrefix(trimmed, "test "); ok && strings.HasSuffix(rest, " ... FAILED") {
			f.family = "rs"
			f.test(strings.TrimSuffix(rest, " ... FAILED"))
			f.take(rankSummary, "", 0, "test "+f.tests[len(f.tests)-1]+" fails")
			return
		}
		if strings.HasPrefix(trimmed, "thread '") && strings.Contains(trimmed, "' panicked at ") {
			f.family = "rs"
			_, at, _ := strings.Cut(trimmed, "' panicked at ")
			file, n, rest := location(strings.TrimSuffix(at, ":"))
			if rest == "" || file == "" {
				rest = scan.peek(1)
			}
			f.take(rankAssert-1, file, n, "panicked: "+strings.Trim(rest, ": ,'"))
			return
		}
	case 'p':
		if msg, ok := strings.CutPrefix(trimmed, "panic: "); ok {
			f.family = "go"
			f.take(rankAssert, "", 0, "panic: "+msg)
			return
		}
	case 'e':
		if f.readRustError(trimmed, scan) {
			return
		}
		if strings.HasPrefix(trimmed, "error: ") && indented { // TAP's YAML
			msg := strings.Trim(trimmed[len("error: "):], "'\"")
			if msg == "|-" || msg == "|" || msg == ">-" {
				msg = strings.TrimSuffix(scan.peek(1), ":")
			}
			if msg != "test failed" { // node says so of a whole file
				f.take(rankAssert-5, "", 0, msg)
			}
			return
		}
		if strings.HasPrefix(trimmed, "exit status ") {
			return
		}
	case 'l':
		if loc, ok := strings.CutPrefix(trimmed, "location: '"); ok && indented { // TAP's YAML
			if file, n, _ := location(strings.TrimSuffix(loc, "'")); file != "" && f.file == "" {
				f.file, f.line = f.path(file), n
			}
			return
		}
	case '#':
		f.readCount(trimmed)
		if rest, ok := strings.CutPrefix(trimmed, "# Error "); ok { // node's own loader errors inside TAP
			if _, msg, ok := strings.Cut(rest, "]: "); ok {
				rest = before(msg, " imported from ")
			}
			f.take(rankException, "", 0, rest)
		}
		return
	case '[':
		if msg, ok := strings.CutPrefix(trimmed, "[ERROR] "); ok { // Maven
			f.family = "java"
			f.readMaven(strings.TrimSpace(msg))
			return
		}
	}
	if f.readMarked(trimmed) || f.readLocated(line, trimmed) || f.readException(line, trimmed) {
		return
	}
	f.readCount(trimmed)
	f.readShell(trimmed)
}

// readFail knows the lines that begin with FAIL.
func (f *failure) readFail(s string) bool {
	switch {
	case strings.HasPrefix(s, "FAILED ("): // unittest
		f.family, f.seen = "py", true
		f.take(rankSummary-1, "", 0, s)
	case strings.HasPrefix(s, "FAILED "): // pytest
		f.family = "py"
		name, msg, _ := strings.Cut(s[len("FAILED "):], " - ")
		if file, test, ok := strings.Cut(name, "::"); ok {
			f.test(strings.ReplaceAll(test, "::", "."))
			if f.file == "" {
				f.file = f.path(file)
			}
		}
		if msg != "" {
			f.take(rankAssert-2, "", 0, msg)
		}
	case strings.HasPrefix(s, "FAIL: "): // unittest, shell scripts
		f.test(before(s[len("FAIL: "):], " ("))
		f.take(rankSummary, "", 0, s)
	case strings.HasPrefix(s, "FAIL\t"): // go
		f.family, f.seen = "go", true
		if len(f.packages) < maxTests {
			f.packages = add(f.packages, before(before(strings.TrimSpace(s[len("FAIL"):]), "\t"), " "))
		}
	case strings.HasPrefix(s, "FAIL  "), strings.HasPrefix(s, "FAIL "): // vitest, jest, scripts
		f.seen = true
		rest := strings.TrimSpace(s[len("FAIL "):])
		if i := strings.Index(rest, " > "); i >= 0 {
			f.family = "js"
			f.test(lastPart(rest, " > "))
			return true
		}
		if file := before(rest, " "); strings.Contains(file, ".") && strings.Contains(file, "/") {
			if f.file == "" {
				f.file = f.path(file)
			}
			return true
		}
		if name, why, ok := strings.Cut(rest, ": "); ok {
			f.test(name)
			f.take(rankAssert-10, "", 0, name+": "+why)
		} else {
			f.test(rest)
			f.take(rankSummary, "", 0, s)
		}
	case s == "FAIL", s == "FAILED", strings.HasPrefix(s, "FAILURE:"):
		f.seen = true
	default:
		return false
	}
	return true
}

// expected joins jest's and vitest's pair of lines.
func (f *failure) expected(s string, scan *lineScanner) bool {
	if !strings.HasPrefix(s, "Expected") || !strings.Contains(s, ":") {
		return false
	}
	for n := 1; n <= 2; n++ {
		if got := scan.peek(n); strings.HasPrefix(got, "Received") {
			f.family = "js"
			f.take(rankAssert, "", 0, squeeze(s)+", "+squeeze(uncapital(got)))
			return true
		}
	}
	return false
}

// readMarked knows test runners that mark failures with a sign.
func (f *failure) readMarked(s string) bool {
	for _, mark := range []string{"✕ ", "✗ ", "✘ ", "✖ ", "× ", "❌ ", "● "} {
		rest, ok := strings.CutPrefix(s, mark)
		if !ok {
			continue
		}
		rest = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, "Console") || strings.HasPrefix(rest, "failing tests") || mark == "● " && !strings.Contains(rest, " › ") || strings.Contains(rest, " problem") && isDigit(rest[0]) {
			return true
		}
		if i := strings.LastIndex(rest, " ("); i > 0 && strings.HasSuffix(rest, ")") { // its duration
			rest = rest[:i]
		}
		f.family = "js"
		f.test(lastPart(lastPart(rest, " › "), " > "))
		f.take(rankSummary, "", 0, "test "+rest+" fails")
		return true
	}
	if strings.HasSuffix(s, " FAILED") && strings.Contains(s, " > ") { // Gradle
		f.family = "java"
		f.test(lastPart(strings.TrimSuffix(s, " FAILED"), " > "))
		return true
	}
	return false
}

// readRustError knows rustc's two-line form.
func (f *failure) readRustError(s string, scan *lineScanner) bool {
	if !strings.HasPrefix(s, "error[") && !strings.HasPrefix(s, "error: ") {
		return false
	}
	at, ok := strings.CutPrefix(scan.peek(1), "--> ")
	if !ok {
		if strings.HasPrefix(s, "error[") {
			f.take(rankCompile, "", 0, s)
			return true
		}
		return false
	}
	f.family = "rs"
	file, n, _ := location(at)
	f.take(rankCompile, file, n, s)
	return true
}

func (f *failure) readMaven(s string) {
	f.seen = true
	if file, rest, ok := strings.Cut(s, ":["); ok && strings.HasSuffix(file, ".java") {
		n, _ := strconv.Atoi(before(rest, ","))
		_, msg, _ := strings.Cut(rest, "] ")
		f.take(rankCompile, file, n, msg)
		return
	}
	name, msg, ok := strings.Cut(s, ":")
	if ok && strings.Contains(name, "Test") && strings.Contains(name, ".") && !strings.ContainsAny(name, " /") {
		f.test(name)
		_, msg, _ = strings.Cut(msg, " ")
		f.take(rankAssert, "", 0, msg)
		return
	}
	f.take(rankShell, "", 0, s)
}

// readLocated knows `file:line:col: message` and its relatives.
func (f *failure) readLocated(line, s string) bool {
	if strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "File \"") { // a frame, not a message
		return false
	}
	s = strings.TrimPrefix(s, "vet: ")
	file, n, rest := location(s)
	if file == "" || rest == "" || !hasExtension(file) {
		return false
	}
	rest = strings.TrimLeft(rest, ":- ")
	low := lower(rest)
	switch {
	case strings.HasSuffix(file, "_test.go") && (line[0] == ' ' || line[0] == '\t'):
		f.family = "go"
		f.take(rankAssert-1, file, n, rest)
	case strings.Contains(rest, "error TS") || strings.HasPrefix(rest, "TS"):
		f.family = "tsc"
		f.take(rankCompile, file, n, strings.TrimPrefix(rest, "error "))
	case strings.HasSuffix(file, ".go"):
		f.take(rankCompile, file, n, rest)
	case strings.HasPrefix(low, "warning") || strings.HasPrefix(low, "note") || strings.HasPrefix(low, "info"):
		return true
	case strings.HasPrefix(low, "error") || strings.HasPrefix(low, "fatal error"):
		f.take(rankCompile, file, n, strings.TrimSpace(strings.TrimPrefix(rest[len(before(rest, ":")):], ":")))
	case strings.Contains(rest, " "):
		f.take(rankException-20, file, n, rest)
	}
	return true
}

// readException knows exceptions of Python, JavaScript and Java, and eslint's rows.
func (f *failure) readException(line, s string) bool {
	name, msg, ok := strings.Cut(s, ": ")
	if !ok {
		name, msg = strings.TrimSuffix(s, ":"), ""
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "Uncaught "), "Caused by: ")
	if _, thread, ok := strings.Cut(name, "Exception in thread \"main\" "); ok {
		name = thread
	}
	name, _, _ = strings.Cut(name, " [") // TypeError [ERR_INVALID_ARG_TYPE]
	last := lastPart(name, ".")
	if len(name) <= 80 && !strings.ContainsAny(name, " \t/(") && last != "" && last[0] >= 'A' && last[0] <= 'Z' &&
		(strings.HasSuffix(last, "Error") || strings.HasSuffix(last, "Exception") || last == "KeyboardInterrupt") &&
		(msg != "" || last != "Error") {
		rank := rankException
		if last == "AssertionError" || last == "AssertionFailedError" {
			rank = rankAssert - 3
			if msg == "" {
				msg = "assertion failed"
			}
		}
		if strings.Count(name, ".") > 1 {
			name = last // Java's packages
		}
		f.take(rank, "", 0, strings.TrimSuffix(name+": "+msg, ": "))
		return true
	}
	// eslint: `  10:5  error  'x' is not defined  no-undef`
	if line[0] == ' ' && isDigit(s[0]) {
		fields := strings.Fields(s)
		if len(fields) > 3 && fields[1] == "error" && strings.Contains(fields[0], ":") {
			f.family = "js"
			n, _ := strconv.Atoi(before(fields[0], ":"))
			f.take(rankCompile, "", n, strings.Join(fields[2:], " "))
			return true
		}
	}
	return false
}

// readCount knows the lines that count failures.
func (f *failure) readCount(s string) {
	low := lower(s)
	if strings.HasPrefix(low, "# fail ") && strings.TrimSpace(low[len("# fail "):]) != "0" {
		f.seen = true
		return
	}
	for from := 0; ; {
		i := strings.Index(low[from:], " fail")
		if i < 0 {
			return
		}
		i += from
		start := i
		for start > 0 && isDigit(low[start-1]) {
			start--
		}
		if start < i && low[start:i] != "0" && (strings.Contains(low, "pass") || strings.Contains(low, "test") || strings.Contains(low, " in ")) {
			f.seen = true
			f.take(rankGeneric+1, "", 0, s)
			return
		}
		from = i + 1
	}
}

// readShell knows what shells, make and programs in general complain with.
func (f *failure) readShell(s string) {
	if f.rank > rankShell {
		return
	}
	low := lower(s)
	switch {
	case strings.Contains(low, "command not found") || strings.HasSuffix(low, ": not found") || strings.Contains(low, "is not recognized as"):
		msg := s
		if i := strings.LastIndex(low, "command not found"); i > 0 {
			msg = lastPart(strings.TrimRight(s[:i], ": "), ": ") + ": command not found"
		}
		f.take(rankShell, "", 0, msg)
	case strings.HasPrefix(low, "fatal:") || strings.HasPrefix(low, "error:") || strings.HasPrefix(low, "fatal error"):
		f.take(rankShell-1, "", 0, s)
	case strings.HasPrefix(low, "make:") || strings.HasPrefix(low, "make["):
		f.take(rankGeneric-1, "", 0, s)
	case strings.Contains(low, "no such file or directory") || strings.Contains(low, "permission denied") || strings.Contains(low, "cannot find module") || strings.Contains(low, "connection refused"):
		f.take(rankShell-2, "", 0, s)
	case strings.Contains(low, "error") || strings.Contains(low, "failed") || strings.Contains(low, "exception") || strings.Contains(low, "cannot "):
		if !strings.Contains(low, "0 error") && !strings.Contains(low, "0 failed") && !strings.Contains(low, "no error") {
			f.take(rankGeneric, "", 0, s)
		}
	}
}
