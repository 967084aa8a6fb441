package toolcall

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"claudemem/internal/leaf/text"
)

// Verdict is what the output of something that failed says. All texts are as the
// program printed them, without terminal escapes.
type Verdict struct {
	// Failed: the output has the form of a failure.
	Failed bool
	// Tests are the names of the tests that failed, at most 6; Packages are the Go
	// packages with failing tests.
	Tests, Packages []string
	// File and Line are where it went wrong, relative to the worktree; "" and 0 when
	// the output does not say.
	File string
	Line int
	// Message is the line that says most, without its location, at most 600 bytes.
	Message string
	// Named: Message is the wording of a compiler, a linter or an exception, short
	// enough to name the trouble.
	Named bool
	// Exit is the exit code when the host told it, else 0.
	Exit int
	// Lines are the lines that say what is wrong, the first 4 and the last 4.
	Lines []OutputLine
	// Places are the base names of the files in stack traces, at most 12; Functions
	// are the functions in them, at most 24.
	Places, Functions []string

	family string // of the tool that printed it: a Command's Lang, or tsc
	rank   int    // of Message
	root   string // of the worktree
}

// OutputLine is a line that says what is wrong, with the code that Node prints
// below it, "" if none.
type OutputLine struct{ Text, Code string }

const (
	// maxOutput bounds how much of an output is read, in bytes: a third of it from
	// the beginning, where compilers complain first, the rest from the end, where
	// everything else puts its verdict.
	maxOutput    = 24 << 10
	maxLineBytes = 600
	maxTests     = 6
	maxEndLines  = 4 // of Lines, at each end
	maxPlaces    = 12
	maxFunctions = 24
)

// Ranks of messages. The highest wins, the first of equals.
const (
	rankFailed    = -1 // it failed, and no more is said
	rankGeneric   = 10 // a line with an error word in it
	rankShell     = 30 // the shell or a package manager complains
	rankSummary   = 35 // which test failed, but not why
	rankException = 60
	rankCompile   = 80
	rankAssert    = 90
)

// ParseOutput reads the output of a command. root is the worktree's, "" if unknown; paths below it
// become relative. Of more than maxOutput bytes the middle is left out. A line that says most is
// the Message even if nothing has the form of a failure: Failed tells.
func ParseOutput(output, root string) Verdict {
	v := Verdict{root: strings.TrimRight(slashed(root), "/")}
	if len(output) > maxOutput {
		output = output[:maxOutput/3] + "\n" + output[len(output)-maxOutput*2/3:]
	}
	last := ""
	var rest []string // lines that do not say that anything is wrong, the last few
	scan := lineScanner{rest: output}
	afterFrame := false // the source line below a frame
	for scan.next() {
		line := scan.line
		trimmed := strings.TrimSpace(line)
		if bare := withoutLevel(trimmed); bare != trimmed && (strings.HasPrefix(trimmed, "[e") || strings.Contains(bare, "*** FAILED ***") || strings.HasPrefix(bare, "==> X ")) {
			line, trimmed = bare, bare
		}
		if v.Exit == 0 && last == "" && strings.HasPrefix(trimmed, "Exit code ") { // the host's first line
			v.Exit, _ = strconv.Atoi(strings.TrimSpace(trimmed[len("Exit code "):]))
			continue
		}
		if v.parseFrame(trimmed) {
			afterFrame = strings.HasPrefix(trimmed, "File ")
			last = trimmed
			continue
		}
		if trimmed == "" || afterFrame {
			afterFrame = false
			continue
		}
		if !strings.HasPrefix(trimmed, "exit status ") {
			last = trimmed
		}
		if v.parseLine(line, trimmed, &scan) {
			continue
		}
		text := bareLine(trimmed)
		switch {
		case text == "":
		case errorCode.MatchString(text):
			if n := len(v.Lines); n > 0 {
				v.Lines[n-1].Code = errorCode.FindStringSubmatch(text)[1]
			}
		case !SaysTrouble(text):
			if rest = append(rest, text); len(rest) > maxEndLines {
				rest = rest[1:]
			}
		case !saysNothing().MatchString(text):
			if len(v.Lines) == 2*maxEndLines {
				v.Lines = slices.Delete(v.Lines, maxEndLines, maxEndLines+1)
			}
			v.Lines = append(v.Lines, OutputLine{Text: text})
		}
	}
	for i := len(rest) - 1; i >= 0 && len(v.Lines) == 0; i-- {
		if !saysNothing().MatchString(rest[i]) {
			v.Lines = append(v.Lines, OutputLine{Text: rest[i]})
		}
	}
	if v.rank == 0 && last != "" {
		v.offer(1, "", 0, last)
	}
	return v
}

// RanksBelow reports whether the message of other says more than that of v.
func (v *Verdict) RanksBelow(other *Verdict) bool { return v.rank < other.rank }

// cameFrom reports whether the output has the form of a command's tool. Of commands that are no
// test only tsc, and what compiles Go, are known by their form.
func (v *Verdict) cameFrom(c *Command) bool {
	switch v.family {
	case "tsc":
		return c.Kind == KindLint && c.Lang == "js"
	case "":
	default:
		return c.Lang == v.family && c.Kind == KindTest
	}
	return strings.HasSuffix(v.File, ".go") && v.rank == rankCompile && c.Lang == "go" && c.Kind != KindTest
}

// offer takes a message, with its place, when its rank is above that of the one before; a rank above
// rankGeneric also says that something failed. file may be "": then an earlier message's place stays.
func (v *Verdict) offer(rank int, file string, line int, message string) {
	v.Failed = v.Failed || rank > rankGeneric
	if rank <= v.rank || strings.IndexFunc(message, unicode.IsGraphic) < 0 {
		return
	}
	message = v.local(strings.TrimSpace(message))
	v.rank, v.Message = rank, message
	if file != "" || v.File == "" {
		v.File, v.Line = v.relative(file), line
	}
	v.Named = (rank == rankCompile || rank == rankException || rank == rankShell) && len(message) <= 90
}

// addTest adds the name of a failed test, up to maxTests, and marks the verdict as
// failed.
func (v *Verdict) addTest(name string) {
	v.Failed = true
	if name = strings.Trim(strings.TrimSpace(name), "'\"`"); len(v.Tests) < maxTests {
		v.Tests = text.Add(v.Tests, name)
	}
}

// relative makes a path of the output relative to the worktree; one outside stays as it is.
func (v *Verdict) relative(p string) string {
	p = strings.TrimPrefix(strings.TrimPrefix(slashed(p), "file://"), "./")
	if v.root != "" {
		p = strings.TrimPrefix(p, v.root+"/")
	}
	return p
}

// local removes the worktree's own path from a message.
func (v *Verdict) local(message string) string {
	if v.root == "" {
		return message
	}
	return strings.ReplaceAll(strings.ReplaceAll(message, "file://"+v.root+"/", ""), v.root+"/", "")
}

// AddPlace adds the base name of a file to the places.
func (v *Verdict) AddPlace(file string) {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if base != "." && base != "/" && len(v.Places) < maxPlaces {
		v.Places = text.Add(v.Places, base)
	}
}

// parseFrame takes file and function from a line of a stack trace, and reports whether the line is
// one and says no more. The line of a Go function is not consumed: the line below it has its file.
func (v *Verdict) parseFrame(line string) bool {
	at := strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "❯ ")
	file := strings.HasPrefix(line, "File \"")
	if at || file || strings.HasSuffix(line, ")") && strings.Contains(line, ".") {
		if f := frameFunction.FindStringSubmatch(line); f != nil && len(v.Functions) < maxFunctions {
			v.Functions = text.Add(v.Functions, strings.Join(f[1:], ""))
		}
	}
	if !at && !file && !strings.Contains(line, " +0x") {
		return false
	}
	m := errorFrame.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	v.AddPlace(strings.Join(m[1:], ""))
	return true
}

var (
	// errorFrame is a line of a stack trace; its groups are the file.
	errorFrame = regexp.MustCompile(`^(?:File "([^"]+)", line \d+.*|(?:at|❯) .*?\(?((?:[A-Za-z]:)?[^\s():]+):\d+(?::\d+)?\)?.*|at [\w$.<>]+\(([\w$.]+):\d+\)|((?:/|[A-Za-z]:\\)\S+\.(?:go|rs)):\d+ \+0x\w+)$`)
	// frameFunction is the function of a frame; Go has it on a line of its own.
	frameFunction = regexp.MustCompile(`(?:^at (?:async )?(?:[\w$<>]+\.)*([\w$]+) ?\(|, in (\w+)$|^(?:\S+/)?[\w-]+\.(?:\(\*?\w+\)\.)?(\w+)\((?:\.\.\.|[^ ]*0x.*|)\)$|^❯ ([\w$]+) )`)
	errorCode     = regexp.MustCompile(`^code: '([A-Z]\w+)',?$`)
	escapes       = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.?`)
	// saysNothing are lines that every run has, or every failure.
	saysNothing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:exit (?:code|status) -?\d+|process exited with.*|fail(?:ed|ure)?|failed \((?:errors|failures).*\)|fail\t.*|fail\s+\S+\s+[\d.]+s|ok\s+.*|pass(?:ed)?|=== .*|--- pass.*|[-=~^_*#. +]+|[ef.sx]+|ran \d+ tests? in .*|tap version.*|subtest: .*|(?:tests|pass|fail|suites|skipped|todo|cancelled|duration_ms) [\d.]+|error: 'test failed'|(?:expected|actual):|\d+\.\.\d+|duration_ms.*|\d+ (?:passed|failed|passing|failing).*|tests?:? .*\d+ (?:passed|failed).*|test (?:suites|files):?.*|snapshots:.*|time:.*|>\s{2,}.*|\$ .*|\+ .*|make(?:\[\d+\])?: .*(?:error \d+|entering|leaving).*|npm (?:err!|error) (?:code|errno|lifecycle|a complete log|path|command|signal).*|error: test failed, to rerun.*|error: could not compile.*|error: process completed.*|note: .*|help: .*|warning: .*|caused by:|compiling .*|downloading .*|collecting .*|installing .*|fetching .*|resolving .*|building .*|running .*|finished .*|for more information.*|traceback \(most recent call last\):|goroutine \d+ .*|created by .*|\.\.\. \d+ more|stack backtrace:|\d+: +0?x?[0-9a-f]* *-? ?\w.*::.*|operator:.*|failuretype:.*|code: .*|name: .*|stack: .*|during handling of the above.*|the above exception.*|\[?info\]?:? .*|.*\d+%.*)$`)
	})
)

// troubleWords are the words of a line that says what is wrong, in lower case.
var troubleWords = []string{
	"error", "exception", "panic", "fatal", "fail", "cannot", "can't", "could", "unable", "not ", "n't ", "no ", "undefined", "unsupported", "denied",
	"refused", "invalid", "unexpected", "missing", "mismatch", "timed out", "timeout", "deadline", "expect", "want", "assert", "conflict", "unknown",
	"unresolved", "deadlock", "must ", "should ", "need", "require", "reset", "reject", "abort", "crash", "killed", "corrupt", "overflow", "duplicate",
	"violat", "locked", "race", "leak", "broken", "already", "unused", "too ", "only ", "limit", "exceed", "reached", "stopped", "died",
}

// SaysTrouble reports whether s says that something is wrong. A list of words
// takes a tenth of the time that a regular expression does.
func SaysTrouble(s string) bool {
	low := strings.ToLower(s)
	return text.ContainsAny(low, troubleWords...)
}

// bareLine removes the marks of TAP's YAML, pytest and Node in front of a line.
func bareLine(line string) string {
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "error: |-"), "E  "))
	return strings.TrimPrefix(line, "# ")
}

// lineScanner walks over lines and can look at those that come next.
type lineScanner struct {
	line, rest string
}

// next moves to the next line, without escape sequences and what a progress line
// overwrote; false at the end.
func (s *lineScanner) next() bool {
	if s.rest == "" {
		return false
	}
	s.line, s.rest, _ = strings.Cut(s.rest, "\n")
	s.line = strings.TrimSuffix(s.line, "\r")
	if i := strings.LastIndexByte(s.line, '\r'); i >= 0 {
		s.line = s.line[i+1:] // the last state of a progress line
	}
	if strings.IndexByte(s.line, 0x1b) >= 0 {
		s.line = escapes.ReplaceAllString(s.line, "")
	}
	if len(s.line) > maxLineBytes {
		s.line = strings.ToValidUTF8(s.line[:maxLineBytes], "")
	}
	return true
}

// peek returns the n-th line after the current one, trimmed, "" beyond the end. Unlike next it
// leaves escape sequences in.
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
