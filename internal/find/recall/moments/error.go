package moments

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/find/recall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// complaint is the parsed output of a failed call, with weights for finding records of
// the same failure.
type complaint struct {
	// lines are the first and the last lines that say what is wrong.
	lines []complaintLine
	// tests are the names of the tests that failed, without their class or package.
	tests []string
	// functions are the names of functions in stack traces, at most maxFunctions.
	functions []string
	// Verdict has the base names of the files where it failed, as Places.
	toolcall.Verdict
}

// complaintLine is a line of an error. The weight of a word is how well it identifies
// this error: see gate.FailureEvidence.
type complaintLine struct {
	text  string
	words map[string]float64
	// subjects are the words that the line quotes.
	subjects []string
	// absent: the line says that a program or a module is missing.
	absent bool
	// kind are words that many errors have; they tell the sort of error.
	kind []string
}

// maxFunctions bounds the functions of a complaint.
const maxFunctions = 12

// Weights of words in an error line.
const (
	plainWord   = 1
	shapedWord  = 2
	missingName = 3
)

var (
	// runNoise is what a run has of its own: times, addresses, ids.
	runNoise = regexp.MustCompile(`(?i)0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d([.,]\d+)?`)
	// errorLocation is a file and a line at the beginning of a message.
	errorLocation = regexp.MustCompile(`^(?:vet: |error: |--> |in |at )?((?:[A-Za-z]:)?[^\s:()"']*\.[A-Za-z][A-Za-z0-9]{0,7})(?::\d+(?::\d+)?:?|\(\d+(?:,\d+)?\):?)\s*(.*)$`)
	// foreign is what differs from one machine and one time to the next: addresses of
	// the web, versions of modules, names with long numbers.
	foreign = regexp.MustCompile(`https?://\S+|[\w./-]+@v?\d[\w.+-]*|\b\w*\d{5,}\w*\b`)
	// fileOfMessage is a file that a message names in passing, before what it says of it.
	fileOfMessage = regexp.MustCompile(`(^|\s)([\w./\\-]*[\w-]\.[a-z][a-z0-9]{0,4}):(?:\d+:)*(?:\s|$)`)
	// errorClass is the name of an exception ahead of its message.
	errorClass = regexp.MustCompile(`^((?:\w+\.)*\w*[A-Z]\w*): `)
	stamp      = regexp.MustCompile(`^\d{4}[/-]\d\d[/-]\d\d[ T]\d\d:\d\d:\d\d\S* `)
	portOf     = regexp.MustCompile(`(?:\d+\.\d+\.\d+\.\d+|localhost|\[?::1\]?):(\d{2,5})\b`)
	quoted     = regexp.MustCompile("[\"'`“‘]([^\"'`”’]{2,60})[\"'`”’]")
	// missing names what is not there: a program or a module.
	missing = []*regexp.Regexp{
		regexp.MustCompile(`(?i)([\w.+-]+): (?:command )?not found`),
		regexp.MustCompile(`(?i)command not found: ([\w.+-]+)`),
		regexp.MustCompile(`No module named '?"?([\w.]+)`),
		regexp.MustCompile(`(?i)cannot find (?:module|package) ['"]([^'"./][^'"]*)['"]`),
		regexp.MustCompile(`exec: "([\w.+-]+)": executable file not found`),
		regexp.MustCompile(`'([\w.+-]+)' is not recognized as an internal or external command`),
	}
)

// parseComplaint returns the tests, places, functions and weighed lines of an error as a
// host reports it.
func parseComplaint(said string) complaint {
	c := complaint{Verdict: toolcall.ParseOutput(said, "")}
	c.tests = text.Add(nil, collect.Map(c.Tests, testName)...)
	c.functions = collect.Keep(c.Functions, recall.IsShaped)
	c.functions = c.functions[:min(len(c.functions), maxFunctions)]
	for _, line := range c.Lines {
		l := c.line(line.Text)
		l.put(line.Code, shapedWord)
		c.lines = append(c.lines, l)
	}
	return c
}

// testName returns the name of a test without its module, class and brackets, ""
// for a file that could not be loaded.
func testName(t string) string {
	if strings.Contains(t, ".test.") || strings.HasSuffix(t, ".py") {
		return ""
	}
	if i := strings.LastIndex(t, "::"); i >= 0 {
		t = t[i+2:]
	}
	t = strings.TrimSuffix(t, "()")
	if !strings.ContainsAny(t, " /") {
		t = t[strings.LastIndexByte(t, '.')+1:]
	}
	return t
}

// line returns a line of an error with its words weighed; files that it names in passing
// are added to c's places.
func (c *complaint) line(text string) complaintLine {
	text = stamp.ReplaceAllString(text, "")
	l := complaintLine{text: text, words: map[string]float64{}}
	if m := errorLocation.FindStringSubmatch(text); m != nil {
		c.AddPlace(m[1])
		text = m[2]
	}
	if !lang.Has(text, "about-file") {
		for _, m := range fileOfMessage.FindAllStringSubmatch(text, 4) {
			c.AddPlace(m[2])
		}
		text = fileOfMessage.ReplaceAllString(text, " ")
	}
	if i := strings.Index(text, ". "); i > 0 && i+2 < len(text) && text[i+2] >= 'A' && text[i+2] <= 'Z' {
		text = text[:i] // the first sentence says it, the rest is advice
	}
	for _, pattern := range missing {
		if m := pattern.FindStringSubmatch(text); m != nil {
			l.subjects, l.absent = append(l.subjects, l.put(m[1], missingName)...), true
		}
	}
	for _, m := range portOf.FindAllStringSubmatch(text, 4) {
		l.words[m[1]] = shapedWord
		l.subjects = append(l.subjects, m[1])
	}
	text = foreign.ReplaceAllString(runNoise.ReplaceAllString(text, " "), " ")
	for _, m := range quoted.FindAllStringSubmatch(text, 8) {
		if !strings.ContainsAny(m[1], " /\\") {
			l.subjects = append(l.subjects, l.put(m[1], shapedWord)...)
		}
	}
	for _, field := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’()[]{}<>,;|=", r)
	}) {
		if strings.HasPrefix(field, "/") && !lang.Has(text, "about-file") {
			continue // where it happened to be
		}
		if strings.Contains(field, "/") { // of a path only the name; the rest differs from machine to machine
			field = path.Base(strings.TrimRight(field, ":/."))
		}
		weight := float64(plainWord)
		if recall.IsShaped(strings.TrimRight(field, ".:!?")) {
			weight = shapedWord
		}
		l.put(field, weight)
	}
	return l.withoutClass()
}

// put adds the words of a part of the line with a weight and returns them, without the
// words that any error may have.
func (l *complaintLine) put(text string, weight float64) (own []string) {
	for _, w := range errorWords(text) {
		if weight == missingName || !commonWords()[w] {
			l.words[w] = max(l.words[w], weight)
			own = append(own, w)
		} else if len(w) > 3 {
			l.kind = append(l.kind, w)
		}
	}
	return own
}

// withoutClass leaves out the class of an exception where its message says enough:
// each driver has a name of its own for what the server says.
func (l complaintLine) withoutClass() complaintLine {
	m := errorClass.FindStringSubmatch(l.text)
	if m == nil {
		return l
	}
	class := errorWords(m[1])
	rest := 0.0
	for w, weight := range l.words {
		if !slices.Contains(class, w) {
			rest += weight
		}
	}
	if rest >= 3 { // as much as makes an error of its own: gate.Failure
		for _, w := range class {
			delete(l.words, w)
		}
	}
	return l
}

// errorWords are the words of a text as errors and records are compared: lower
// case, parts of what is joined by dots and dashes, without numbers, what looks like an address,
// and the -s of a plural. Some may be there twice.
func errorWords(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if w = strings.Trim(w, "_"); len(w) < 2 || recall.IsMeasure(w) || isHex(w) {
			continue
		}
		if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		words = append(words, w)
	}
	return words
}

// isHex reports whether w looks like a hash: at least seven lower-case hexadecimal
// digits, one of them a decimal digit.
func isHex(w string) bool {
	return len(w) >= 7 && strings.ContainsAny(w, "0123456789") && strings.Trim(w, "0123456789abcdef") == ""
}

// commonWords are words of errors in general and frequent words of English, as errorWords has
// them. A record that shares only these with an error is no match.
var commonWords = sync.OnceValue(func() map[string]bool {
	return collect.Set(collect.Flat(lang.Phrases("error-word"), func(w string) []string { return append(errorWords(w), w) }))
})
