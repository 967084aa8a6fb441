package offline

import (
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// step is one tool call, read once.
type step struct {
	toolcall.Call
	event *memory.PendingEvent
	// turn and at are where it stands.
	turn *turn
	at   int
	// changes counts the steps that changed something, up to this one.
	changes int
	// tokens estimates what the step cost in the host.
	tokens int

	path   string // of a read
	source string // a page on the web
	edits  []*edit
	checks []*check
	deps   []string // dependencies that it added or removed, as sentences
	probes bool     // a command that only prints, or an inline script
}

// check is a command that passed or failed.
type check struct {
	*toolcall.Command
	step *step
	// text is the command as it is shown and compared.
	text string
	// at orders checks within the batch.
	at     int
	passed bool
	// failure is what the output says, when it failed.
	failure toolcall.Verdict
	// early: it came before the first edit of the program itself; edits of tests do not
	// count.
	early bool
	// fixedBy is the later check that passed where this one failed, nil for none. last is the last
	// failure of the same thing before it, often this one; resolve sets both.
	fixedBy, last *check
	// replaced: fixedBy is another command that works where this one still fails.
	replaced bool
	// undone: edits caused it that were taken back.
	undone bool
	// without: it failed without what the command that passed before it had.
	without bool
	// trial: it failed on a file that the turn made for a trial and deleted.
	trial bool
	// scratch: it was run outside the project.
	scratch bool
}

// newStep reads an event: what it does not understand is a step that says nothing. episodesOf sets
// turn and at, resolve changes.
func newStep(pe *memory.PendingEvent) *step {
	e := &pe.Event
	s := &step{Call: toolcall.Parse(e), event: pe}
	s.tokens = e.ToolTokens()
	switch s.Tool {
	case toolcall.ToolCommand:
		s.probes = !slices.ContainsFunc(s.Commands, func(c toolcall.Command) bool { return !c.Kind.IsQuiet() && c.Kind != toolcall.KindInline })
	case toolcall.ToolRead:
		if !s.Failed {
			s.path = shown(s.Path, maxPath)
		}
	case toolcall.ToolWeb:
		s.source = pageOf(s.URL)
	}
	var symbols []memory.SymbolChange
	if s.Tool == toolcall.ToolEdit { // else they are of other files, see takeBack
		symbols = pe.Symbols
	}
	for i := range s.Edits {
		x := newEdit(&s.Edits[i], symbols)
		s.edits = append(s.edits, x)
		if x.kind == toolcall.FileManifest && s.Edits[i].Placed {
			s.deps = manifestChanges(x.path, s.Edits[i].Hunks)
		}
	}
	for i := range s.Commits {
		c := &s.Commits[i]
		c.Subject, c.Body = shown(c.Subject, 100), shown(strings.SplitN(c.Body, "\n- ", 2)[0], 160)
	}
	for _, d := range s.Dependencies {
		s.deps = text.Add(s.deps, dependencyFact(d))
	}
	for _, c := range s.Checks {
		k := &check{Command: c.Command, step: s, text: commandText(c.Command), passed: c.Passed, scratch: c.Command.Dir != "" && !s.Inside(c.Command)}
		if !c.Passed {
			k.failure = shownVerdict(s.Verdict)
		}
		s.checks = append(s.checks, k)
	}
	return s
}

// editsOf returns the edits of steps, in their order.
func editsOf(steps []*step) []*edit {
	return collect.Flat(steps, func(s *step) []*edit { return s.edits })
}

// pathsOf returns the paths of edits, each once.
func pathsOf(edits []*edit) []string {
	return text.Add(nil, collect.Map(edits, func(e *edit) string { return e.path })...)
}

// checksOf returns the checks of steps, in their order.
func checksOf(steps []*step) []*check {
	return collect.Flat(steps, func(s *step) []*check { return s.checks })
}

const (
	maxPath      = 300
	maxErrorLine = 200
	maxTestName  = 80
)

// commandText returns a command as it is shown, with the directory when it was run
// elsewhere.
func commandText(c *toolcall.Command) string {
	text := shown(c.Text(), 100)
	if d := c.Dir; d != "" && d[0] != '/' && (len(d) <= 2 || d[1] != ':') {
		text += " (in " + shown(d, 40) + ")"
	}
	return text
}

// shownVerdict returns a verdict whose texts are plain and shortened.
func shownVerdict(v toolcall.Verdict) toolcall.Verdict {
	v.Message, v.File = shown(v.Message, maxErrorLine), shown(v.File, 120)
	v.Tests = text.Add(nil, collect.Map(v.Tests, func(name string) string { return shown(name, maxTestName) })...)
	return v
}

// failureText returns a failure in at most maxErrorLine characters for a fact: where and what; ""
// when nothing is known of it.
func failureText(v *toolcall.Verdict) string {
	text := v.Message
	if v.File != "" && !strings.Contains(text, v.File) {
		at := v.File
		if v.Line > 0 {
			at += ":" + strconv.Itoa(v.Line)
		}
		text = at + ": " + text
	}
	if len(v.Tests) > 0 && !strings.Contains(text, v.Tests[0]) {
		text = list(v.Tests, 3) + ": " + text
	}
	if text == "" && v.Exit != 0 {
		text = "exit code " + strconv.Itoa(v.Exit)
	}
	return cut(strings.TrimSuffix(text, ": "), maxErrorLine)
}

// covers reports whether pass ran all that failed in fail: the same command, or one that includes it.
// It compares commands alone; whether pass passed is for the caller to see.
func covers(pass, fail *check) bool {
	return pass.text == fail.text || toolcall.Covers(pass.Command, fail.Command, &fail.failure)
}

// pageOf returns host and path of an address; a query may hold anything.
func pageOf(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	if i := strings.IndexByte(url, '@'); i >= 0 {
		url = url[i+1:]
	}
	return shown(strings.TrimSuffix(url, "/"), 80)
}
