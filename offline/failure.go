package offline

import (
	"strconv"
	"strings"
)

// failure is what a failed command's output says, in so many words.
type failure struct {
	// tests are the names of the tests that failed.
	tests []string
	// packages are the Go packages with failing tests.
	packages []string
	// file and line are where it went wrong, "" and 0 when the output does not say.
	file string
	line int
	// message is the essential line without its location, plain, at most maxErrorLine.
	message string
	// named says that message is a compiler's, a linter's or an exception's own
	// wording, short enough to name the trouble; anything else is just output.
	named bool
	// seen says that the output has the form of a failure at all: it decides when
	// an exit status hides behind a pipe.
	seen bool
	// family is the tool whose form it has: go, vet, py, js, rs, java, tsc …
	family string
	// exit is the exit code when the host told it, else 0.
	exit int

	// root is the prefix that makes paths in the output absolute.
	root string

	rank int
}

const (
	maxErrorLine = 200
	// maxOutput bounds how much of an output is read: the ends, where tools put
	// their verdicts.
	maxOutput    = 24 << 10
	maxTests     = 6
	maxTestName  = 80
	maxLineBytes = 600
)

// parseFailure reads the output of a command. root is the worktree's.
func parseFailure(output, root string) failure {
	f := failure{root: strings.TrimRight(slashed(root), "/")}
	if len(output) > maxOutput {
		output = output[:maxOutput/3] + "\n" + output[len(output)-maxOutput*2/3:]
	}
	last := ""
	scan := lineScanner{rest: output}
	for scan.next() {
		line := scan.line
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		if f.exit == 0 && last == "" && strings.HasPrefix(trimmed, "Exit code ") {
			f.exit, _ = strconv.Atoi(strings.TrimSpace(trimmed[len("Exit code "):]))
			continue
		}
		f.read(line, trimmed, &scan)
		if !strings.HasPrefix(trimmed, "exit status ") {
			last = trimmed
		}
	}
	if f.rank == 0 && last != "" {
		f.take(1, "", 0, last)
	}
	return f
}

// lineScanner walks over lines with a look at what comes next.
type lineScanner struct {
	line, rest string
}

func (s *lineScanner) next() bool {
	if s.rest == "" {
		return false
	}
	s.line, s.rest, _ = strings.Cut(s.rest, "\n")
	if len(s.line) > maxLineBytes {
		s.line = s.line[:maxLineBytes]
	}
	if strings.IndexByte(s.line, 0x1b) >= 0 {
		indent := len(s.line) - len(strings.TrimLeft(s.line, " \t"))
		s.line = s.line[:indent] + plain(s.line)
	}
	return true
}

// peek is the n-th line after the current one, trimmed.
func (s *lineScanner) peek(n int) string {
	rest := s.rest
	line := ""
	for ; n > 0 && rest != ""; n-- {
		line, rest, _ = strings.Cut(rest, "\n")
	}
	if n > 0 {
		return ""
	}
	return strings.TrimSpace(line[:min(len(line), maxLineBytes)])
}

// Ranks of what a line says; the highest wins, the first of equals.
const (
	rankGeneric   = 10 // a line with an error word in it
	rankShell     = 30 // the shell or a package manager complains
	rankSummary   = 35 // which test, but not why
	rankException = 60
	rankCompile   = 80
	rankAssert    = 90
)

// take keeps a line's message when it says more than what was found before.
func (f *failure) take(rank int, file string, line int, message string) {
	if rank > rankGeneric {
		f.seen = true
	}
	if rank <= f.rank {
		return
	}
	message = f.local(shown(message, maxErrorLine))
	if message == "" {
		return
	}
	f.rank, f.message = rank, message
	if file != "" || f.file == "" {
		f.file, f.line = f.path(file), line
	}
	f.named = (rank == rankCompile || rank == rankException || rank == rankShell) && len(message) <= 90
}

func (f *failure) test(name string) {
	f.seen = true
	name = shown(strings.Trim(strings.TrimSpace(name), "'\"`"), maxTestName)
	if name != "" && len(f.tests) < maxTests {
		f.tests = add(f.tests, name)
	}
}

// path makes a path of the output relative to the worktree.
func (f *failure) path(p string) string {
	p = strings.TrimPrefix(strings.TrimPrefix(slashed(p), "file://"), "./")
	if f.root != "" {
		p = strings.TrimPrefix(p, f.root+"/")
	}
	return shown(p, 120)
}

// local takes the worktree's own path out of a message.
func (f *failure) local(message string) string {
	if f.root == "" {
		return message
	}
	return strings.ReplaceAll(strings.ReplaceAll(message, "file://"+f.root+"/", ""), f.root+"/", "")
}

// says is the failure in a few words for a fact: where and what.
func (f *failure) says() string {
	text := f.message
	if f.file != "" && !strings.Contains(text, f.file) {
		at := f.file
		if f.line > 0 {
			at += ":" + strconv.Itoa(f.line)
		}
		text = at + ": " + text
	}
	if len(f.tests) > 0 && !strings.Contains(text, f.tests[0]) {
		text = list(f.tests, 3) + ": " + text
	}
	if text == "" && f.exit != 0 {
		text = "exit code " + strconv.Itoa(f.exit)
	}
	return cut(strings.TrimSuffix(text, ": "), maxErrorLine)
}

// location splits `file:line[:col][:] rest` and `file(line,col): rest`; file is ""
// when s does not begin so.
func location(s string) (file string, line int, rest string) {
	start := 0
	if len(s) > 2 && s[1] == ':' && isLetter(s[0]) { // C:\x.go:3
		start = 2
	}
	for i := start; i < len(s) && i < 260; i++ {
		c := s[i]
		if (c == ':' || c == '(') && i > start && i+1 < len(s) && isDigit(s[i+1]) {
			j := i + 1
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			n, _ := strconv.Atoi(s[i+1 : min(j, i+9)])
			for j < len(s) && (s[j] == ':' || s[j] == ',') && j+1 < len(s) && isDigit(s[j+1]) {
				for j++; j < len(s) && isDigit(s[j]); j++ {
				}
			}
			if c == '(' && j < len(s) && s[j] == ')' {
				j++
			}
			return s[:i], n, strings.TrimSpace(strings.TrimPrefix(s[j:], ":"))
		}
		if c == ' ' || c == '\t' {
			return "", 0, ""
		}
	}
	return "", 0, ""
}

func hasExtension(p string) bool {
	i := strings.LastIndexByte(p, '.')
	return i >= 0 && i < len(p)-1 && len(p)-i <= 8 && isLetter(p[i+1])
}

func before(s, sep string) string {
	b, _, _ := strings.Cut(s, sep)
	return b
}

func lastPart(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
