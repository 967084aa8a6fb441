// Package toolcall reads tool calls: what a call of a host's tool did. [Parse] turns
// an event into a [Call]: the kind of tool, the commands of a shell line, which of
// them passed or failed and what their output says, the files that were read or
// changed.
//
// Its nouns: a call is one use of a tool; a command is one program with its arguments
// within a shell line, of a kind (test, build, look, install …); a check is a command
// whose success or failure says something about the work; a verdict is what the output
// of a failure says.
//
// Guarantees: no input makes it panic (fuzzed), and what it does not understand is
// a call that says nothing; the same event gives the same call. Shell lines are parsed
// by the grammar of bash; other lines are split into words. The programs are a table,
// programs.txt.
//
// All text is from strangers: it is bounded, never obeyed, and not yet fit to be
// shown. Nothing is executed or opened.
//
// In the flow it is used by intake, observer/mode, offline and recall, never by the
// hook. It imports the domain and package text.
package toolcall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Tool sorts the tools of the hosts by what they do.
type Tool int

const (
	ToolOther Tool = iota // to-do lists, unknown tools whose input tells nothing
	ToolRead
	ToolSearch
	ToolEdit
	ToolCommand
	ToolAgent
	ToolWeb
	ToolQuestion // a question to the user in a dialog
)

// tools are the names of the hosts' tools, in lower case.
var tools = map[string]Tool{}

// init fills tools.
func init() {
	for tool, names := range map[Tool]string{
		ToolCommand:  "bash shell run_shell_command run_terminal_cmd exec_command local_shell powershell",
		ToolEdit:     "edit multiedit write notebookedit replace write_file edit_file create_file apply_patch str_replace_editor",
		ToolRead:     "read read_file notebookread view readfile",
		ToolSearch:   "grep glob ls search_file_content codebase_search grep_search list_dir",
		ToolAgent:    "agent task",
		ToolQuestion: "askuserquestion",
		ToolWeb:      "webfetch web_fetch websearch web_search google_web_search fetch fetch_url browser",
	} {
		for name := range text.Set(names) {
			tools[name] = tool
		}
	}
}

// Call is what one tool call did. Paths are relative to the worktree with '/', unless
// said otherwise.
type Call struct {
	Tool   Tool
	Failed bool

	// Line is the command line of a shell, or of an unknown tool with such a parameter;
	// Commands are its commands.
	Line     string
	Commands []Command
	// Output is what the commands printed, or the error of a call that failed.
	Output string
	// Checks are the commands whose success or failure is known, in order.
	Checks []Check
	// Verdict is what the output says, read for failures and for checks whose exit
	// status is hidden.
	Verdict Verdict

	// File is the file that a tool for reading or editing was called with, as it was
	// named; Role is what happened to it, "" when the call failed.
	File string
	Role memory.FileRole
	// Path is that file relative to the worktree, "" outside.
	Path string
	// Content is what was read of the file from line FirstLine on.
	Content   string
	FirstLine int
	// Edits are the files in the worktree that were changed.
	Edits []Edit
	// Commits are the commits made, Dependencies the packages added or removed.
	Commits      []Commit
	Dependencies []Dependency
	// Reverts are the commits that git revert took back: their subjects, or how they were
	// named.
	Reverts []string
	// Touched are manifests that a package manager changed in passing. Undone are the
	// files whose changes were thrown away; "." = all.
	Touched, Undone []string
	// Stashed: all changes were put into the stash; Unstashed: they came back.
	Stashed, Unstashed bool

	// Task is what an agent was to do, Answer is its answer.
	Task, Answer string
	// Questions are those that the user has answered.
	Questions []Question
	// URL is the page that was fetched.
	URL string

	event *memory.Event
	in    *input
}

// Check is a command that passed or failed.
type Check struct {
	Command *Command
	Passed  bool
}

// Edit is what a call did to one file. Path and From are relative to the worktree.
type Edit struct {
	Path string
	// Created and Deleted are of the whole file; From is its path before a move.
	Created, Deleted bool
	From             string
	// Whole: Text is the whole new text. Else Hunks are the changes, if they are known.
	Whole bool
	Text  string
	Hunks []Hunk
	// Placed: the host told the lines of the hunks.
	Placed bool

	// before and after are the whole texts that the host told, nil for one that it did
	// not; replaced is what a tool that replaces text was called with.
	before, after *string
	replaced      []replacement
}

// Hunk is a piece of a unified patch as hosts report it. Lines begin with ' ', '-' or '+'.
type Hunk struct {
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// ParseInput returns what a tool was called for: Tool, Failed, Line, Commands, File,
// Role, Path, Task and URL. It does not look at the response. The call keeps e, a tool event, which
// must not change before its methods are called. Of a patch of several files File is the first.
func ParseInput(e *memory.Event) Call {
	in := &input{}
	_ = json.Unmarshal(e.ToolInput, in) // a field of a wrong type leaves the others filled
	c := Call{Tool: tools[text.LowerASCII(e.ToolName)], Failed: e.Failed(), event: e, in: in}
	if c.Tool == ToolEdit && in.command() == "view" { // of str_replace_editor
		c.Tool = ToolRead
	}
	if in.lacks(c.Tool) {
		c.understand()
		in = c.in
	}
	switch c.Tool {
	case ToolCommand, ToolOther:
		c.Line = in.command()
		c.Commands = ParseCommands(c.Line)
	case ToolRead, ToolEdit:
		c.File = in.file()
		if files := parsePatch(in.command()); len(files) > 0 {
			c.File = files[0].Path
		}
		if rel, inside := c.locate(c.File); inside {
			c.Path = rel
		}
		if !c.Failed {
			c.Role = memory.FileModified
			if c.Tool == ToolRead {
				c.Role = memory.FileRead
			}
		}
	case ToolAgent:
		c.Task = cmp.Or(in.Description, in.Prompt)
	case ToolWeb:
		c.URL = in.URL
	}
	return c
}

// Parse returns what a tool call did. What it does not understand it leaves out. Of a call that
// failed only a command line's effects are read. Like ParseInput it keeps e.
func Parse(e *memory.Event) Call {
	c := ParseInput(e)
	out := c.response()
	switch {
	case c.Tool == ToolCommand:
		c.run(&out)
	case c.Failed:
	case c.Tool == ToolQuestion:
		c.Questions = questions(e.ToolInput, e.ToolResponse)
	case c.Tool == ToolRead && c.Path != "":
		c.Content, c.FirstLine = out.File.Content, max(out.File.StartLine, 1)
	case c.Tool == ToolEdit && c.Path != "" && c.File != c.in.file(): // named by a patch
		c.Edits = c.patchEdits(parsePatch(c.in.command()))
	case c.Tool == ToolEdit && c.Path != "":
		c.Edits = []Edit{edit(c.Path, c.in, &out)}
	case c.Tool == ToolAgent && out.Status != "async_launched":
		c.Answer = cmp.Or(textOf(out.Content), out.Last, out.Output)
	}
	return c
}

// response decodes what the tool answered.
func (c *Call) response() (out response) {
	if bytes.HasPrefix(bytes.TrimLeft(c.event.ToolResponse, " \n\t\r"), []byte("{")) {
		_ = json.Unmarshal(c.event.ToolResponse, &out)
	} else {
		out.Output = textOf(c.event.ToolResponse)
	}
	return out
}

// Result returns how the call of ParseInput went, "" for one that the user stopped. Only of a command line
// with a test, build or linter it reads the response, into Output, Checks and Verdict.
func (c *Call) Result() (result memory.Result) {
	switch {
	case c.Failed && !c.event.Interrupted:
		return memory.ResultFailed
	case c.Tool != ToolCommand || !slices.ContainsFunc(c.Commands, func(cmd Command) bool { return cmd.Kind.IsProof() }):
		return ""
	}
	if out := c.response(); c.listen(&out) {
		c.judge()
	}
	for _, check := range c.Checks {
		if !check.Passed {
			return memory.ResultFailed
		}
		if check.Command.Kind.IsProof() {
			result = memory.ResultPassed
		}
	}
	return result
}

// locate makes a path of the event relative to its worktree.
func (c *Call) locate(p string) (rel string, inside bool) {
	return Relative(p, c.event.Cwd, c.event.WorktreeRoot, c.event.ProjectPath)
}

// run reads what came of a command line: Output, Checks, Verdict and what the commands changed. Of
// an interrupted one only Output is known; of one that failed without a known check nothing counts
// as changed.
func (c *Call) run(out *response) {
	if !c.listen(out) {
		return
	}
	c.judge()
	if c.Failed && len(c.Checks) == 0 {
		return
	}
	for i := range c.Commands {
		c.effects(&c.Commands[i])
	}
}

// listen fills in Output. It returns false if the user stopped the call.
func (c *Call) listen(out *response) bool {
	c.Output = out.Stdout
	for _, more := range []string{out.Stderr, out.Output} {
		if more != "" {
			c.Output += "\n" + more
		}
	}
	if c.Failed {
		c.Output = c.event.ToolError
	}
	return !c.event.Interrupted && !out.Interrupted
}

// judge adds to c.Checks those whose outcome is known, and parses the output of a
// failure into c.Verdict. At most one check has failed: that which the output fits, else
// the only one that can have. Checks before it passed if the line joins them by &&; other
// outcomes stay unknown. Of a check whose status the shell hides ("test | tail", "test;
// other") nothing but its own output tells whether it failed or passed.
func (c *Call) judge() {
	last := -1
	hidden := map[Kind]int{}
	for i := range c.Commands {
		if cmd := &c.Commands[i]; cmd.Kind.IsCheck() {
			last = i
			if cmd.Hidden {
				hidden[cmd.Kind]++
			}
		}
	}
	if last < 0 {
		return
	}
	if c.Failed || hidden[KindTest]+hidden[KindBuild]+hidden[KindLint] > 0 {
		c.Verdict = ParseOutput(c.Output, c.event.WorktreeRoot)
	}
	culprit := -1
	if c.Failed || c.Verdict.Failed {
		var known bool
		if culprit, known = c.culprit(last); c.Failed && !known {
			return // one of several: the output does not say which
		}
		// Without a failing status only a hidden one can have failed, and only the
		// output of a test, build or linter proves it: a program may print errors.
		if cmd := &c.Commands[culprit]; !c.Failed && (!cmd.Hidden || !cmd.Kind.IsProof() || !c.saidToFail(cmd)) {
			culprit = -1
		}
	}
	for i := range c.Commands {
		cmd := &c.Commands[i]
		switch {
		case !cmd.Kind.IsCheck():
		case i == culprit:
			c.Checks = append(c.Checks, Check{Command: cmd})
		case culprit >= 0 && (i > culprit || !c.Commands[culprit].IfOK): // unknown
		// A hidden one passed if it is the only one of its kind, and the output is that of a success.
		case !cmd.Hidden, hidden[cmd.Kind] == 1 && cmd.saidToPass(c.Output) && len(c.Verdict.Tests) == 0 && c.Verdict.rank < rankException:
			c.Checks = append(c.Checks, Check{Command: cmd, Passed: true})
		}
	}
}

// saidToFail reports whether the output of a check whose status is hidden says that it
// failed. The Verdict says so already; only a Go test needs more, as what it logs looks like what
// a compiler complains of.
func (c *Call) saidToFail(cmd *Command) bool {
	return cmd.Lang != "go" || cmd.Kind != KindTest || len(c.Verdict.Tests) > 0 || text.ContainsAny(c.Output, "FAIL", "panic: ", "\nDONE ") || strings.HasPrefix(c.Output, "DONE ")
}

// culprit returns the index of the check that failed: that which the output of the failure
// fits, else the last, which is the index of the last check. known is false when another one can
// have failed as well.
func (c *Call) culprit(last int) (i int, known bool) {
	others := 0
	for i := range c.Commands {
		cmd := &c.Commands[i]
		switch {
		case !cmd.Kind.IsCheck():
		case c.Verdict.cameFrom(cmd):
			return i, true
		case cmd.Hidden || i == last:
		case cmd.saidToPass(c.Output):
			others = 0 // those before it are behind it in the chain
		default:
			others++
		}
	}
	return last, others == 0 || c.Commands[last].named(c.Output)
}

// named reports whether an output names the command's program, as shells, make and
// package managers do when it fails.
func (c *Command) named(output string) bool {
	name := c.Program()
	output = "\n" + output[:min(len(output), maxOutput)]
	return strings.Contains(output, "\n"+name+":") || strings.Contains(output, " "+name+": ")
}

var (
	// saysPassed is what test runners print at the end of a success, saysBuilt what
	// builds and linters do.
	saysPassed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?im)^ok\s+\S+\s|^PASS\b|\b[1-9]\d* (?:passed|passing|pass)\b|\bpass(?:ed)?[: ] ?[1-9]|test result: ok|^OK(?: \(.*)?$|\b0 (?:fail|failed|failures|failing)\b|^# fail:? +0|\b[1-9]\d* tests? passed|all (?:\d+ )?tests? (?:passed|successful)|\d+% tests passed, 0 tests failed|^\[  PASSED  \] [1-9]|^Passed! |\b[1-9]\d* tests? pass\.|^\[ FAIL 0 \||^\s*Testing \S+ tests passed$|^Test suite \S+: PASS|^(?:\[INFO\] )?BUILD SUCCESS|Tests run: [1-9]\d*, Failures: 0, Errors: 0\b|^Result: PASS|^\s*congratulations :\)`)
	})
	saysBuilt = regexp.MustCompile(`(?im)BUILD SUCCESS|^\s*Finished |all checks passed|no issues found|no offenses detected|no problems|\b0 (?:errors|problems|issues)\b|\bbuilt in \d|compiled successfully`)
)

// saidToPass reports whether an output has the form of the command's success; false for a command
// that is no test, build or linter.
func (c *Command) saidToPass(output string) bool {
	return c.Kind == KindTest && saysPassed().MatchString(output) || (c.Kind == KindBuild || c.Kind == KindLint) && saysBuilt.MatchString(output)
}

// OnlyLooks reports whether all commands of the call list, print or search files.
func (c *Call) OnlyLooks() bool { return len(c.Commands) > 0 && onlyLook(c.Commands) }

// onlyLook reports whether all commands, and those within them, only look at something.
func onlyLook(commands []Command) bool {
	return !slices.ContainsFunc(commands, func(c Command) bool { return c.Kind != KindLook || c.Stdin != "" || !onlyLook(c.Inner) })
}
