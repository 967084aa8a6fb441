package toolcall

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// Bounds of a command line. What is beyond them is ignored.
const (
	maxLine     = 66 << 10 // bytes; a tool's input is cut at 64 KB
	maxCommands = 64
	maxNesting  = 3 // of sh -c '…' within sh -c '…'
)

// Command is one simple command of a command line: a program with its arguments.
type Command struct {
	// Words are the program and its arguments without quotes, redirections,
	// assignments and wrappers (sudo, env, timeout, npx, poetry run). Variables and
	// substitutions stand as they were written. Empty: redirections only.
	Words []string
	// Env are the assignments in front of the program, NAME=value.
	Env []string
	// Dir is where `cd` commands before it led, relative to the event's directory; ""
	// is the event's directory itself.
	Dir string
	// Kind says what the command is for, Lang whose tool it is (go, py, js, rs, java,
	// rb, php and so on; "" unknown).
	Kind Kind
	Lang string
	// Targets are the packages, files or scripts that a check works on, Filter is the
	// test that it is limited to.
	Targets []string
	Filter  string
	// Writes are the files that its output goes to.
	Writes []string
	// Stdin is the here-document or here-string that it reads, Reads are the files that its
	// input comes from.
	Stdin string
	Reads []string
	// Hidden: the exit status of the command line says nothing about this command's.
	Hidden bool
	// IfOK: it ran only if the command before it succeeded.
	IfOK bool
	// Inner are the commands of its substitutions, $(…) and <(…).
	Inner []Command
	// Unparsed: it is of a line that is not in the shell's grammar.
	Unparsed bool

	// wrapped: a wrapper was taken off; fetched: it gets the program from a registry.
	wrapped, fetched bool
	// literal are the words whose quotes keep the shell from expanding a pattern: "*Test*".
	literal []string
}

// ParseCommands returns the simple commands of a command line, in the order in
// which they are written. A line that is not in the grammar of bash is split into
// words at blanks and operators.
func ParseCommands(line string) []Command { return parseNested(line, "", 0) }

// parseNested returns the commands of a shell line that stands depth levels inside
// others and begins in directory dir (see Command.Dir). A line that the shell's grammar does not
// fit is split into words.
func parseNested(line, dir string, depth int) []Command {
	line = line[:min(len(line), maxLine)]
	if commands, ok := parseShell(line, dir, depth); ok {
		return commands
	}
	return splitWords(line, dir, depth)
}

// Program returns the program's name without directory and extension, "" for none.
func (c *Command) Program() string {
	if len(c.Words) == 0 {
		return ""
	}
	return baseName(c.Words[0])
}

// Text returns the command as people write it: on one line unless an argument has
// several, without assignments and redirections, quoted where necessary. It is for people to read:
// a shell may read it otherwise, as backquotes become quotes.
func (c *Command) Text() string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		switch {
		case i > 0 && strings.Contains(w, "'") && !strings.ContainsAny(w, "\"`$\\"):
			w = `"` + w + `"`
		case i > 0 && strings.ContainsAny(w, " \t\n\"'|&;<>()$") || w == "" || slices.Contains(c.literal, w):
			w = "'" + w + "'"
		}
		words[i] = w
	}
	return strings.ReplaceAll(strings.Join(words, " "), "`", "'")
}

// has reports whether one of the arguments is one of the options.
func (c *Command) has(options ...string) bool {
	return slices.ContainsFunc(c.Words[min(1, len(c.Words)):], func(w string) bool { return slices.Contains(options, w) })
}

// Verb returns the sub-command of a program such as git, behind its options, "" for none.
func (c *Command) Verb() string {
	if i := c.verbIndex(); i > 0 {
		return c.Words[i]
	}
	return ""
}

// verbIndex returns the index of the first word behind the program that is no option ("test" in
// go -C x test), 0 for none. Only the options of verbOptions are known to have a value.
func (c *Command) verbIndex() int {
	for i := 1; i < len(c.Words); i++ {
		switch w := c.Words[i]; {
		case verbOptions[w]:
			i++
		case strings.HasPrefix(w, "-") || strings.HasPrefix(w, "+"):
		default:
			return i
		}
	}
	return 0
}

// arguments returns the words from index from on that are neither options nor the values of
// those in valued, nil for none. Words behind "--" count like others; an option with "=" has its
// value in it.
func (c *Command) arguments(from int, valued map[string]bool) []string {
	var list []string
	for i := from; i < len(c.Words); i++ {
		switch w := c.Words[i]; {
		case valued[w]:
			i++
		case !strings.HasPrefix(w, "-"):
			list = append(list, w)
		}
	}
	return list
}

// complete fills in kind, language, targets and filter, and takes wrappers off.
func (c *Command) complete() {
	c.unwrap()
	c.classify()
	c.findTargets()
}

// unwrap removes assignments, which become Env, and the programs that only run another one, with
// their options and operands. An option's value that stands apart is taken for the program.
func (c *Command) unwrap() {
	for len(c.Words) > 0 {
		if isAssignment(c.Words[0]) {
			c.Env = append(c.Env, c.Words[0])
			c.Words = c.Words[1:]
			continue
		}
		p, skip := programs()[c.Program()], 1
		switch {
		case p == nil:
			return
		case p.kind == kindWrapper:
		default:
			verb := c.verbIndex()
			if verb == 0 || p.byVerb[c.Words[verb]] != kindWrapper {
				return
			}
			skip = verb + 1
		}
		for skip < len(c.Words) && strings.HasPrefix(c.Words[skip], "-") {
			skip++
			if c.Words[skip-1] == "--" {
				break
			}
		}
		if shows, _ := c.shows(); shows == showsWeb { // npx
			c.fetched = true
		}
		c.wrapped = true
		c.Words = c.Words[min(skip+p.operands, len(c.Words)):] // timeout has one operand, its time
	}
}

// script returns the script of `sh -c script`, of which words are the program and its arguments;
// false for another command.
func script(words []string) (string, bool) {
	if len(words) == 0 || !shells[baseName(words[0])] {
		return "", false
	}
	for i := 1; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		if strings.HasSuffix(words[i], "c") {
			return words[i+1], true
		}
	}
	return "", false
}

// joinDir returns the directory that `cd to` leads to from dir; dir itself where only the shell
// knows it. Nothing is cleaned: "a/.." stays.
func joinDir(dir, to string) string {
	to = strings.TrimSuffix(slashed(to), "/")
	switch {
	case to == "" || to == "." || to == "-" || strings.HasPrefix(to, "$"):
		return dir
	case absolute(to) || strings.HasPrefix(to, "~") || dir == "":
		return to
	}
	return dir + "/" + to
}

// baseName returns the last part of a path, without ".exe" or ".cmd".
func baseName(word string) string {
	word = slashed(word)
	word = word[strings.LastIndexByte(word, '/')+1:]
	return strings.TrimSuffix(strings.TrimSuffix(word, ".exe"), ".cmd")
}

// isAssignment reports whether a word sets a variable, as NAME=value does; an option with a value
// does not.
func isAssignment(w string) bool {
	i := strings.IndexByte(w, '=')
	if i <= 0 || text.IsDigit(w[0]) {
		return false
	}
	return strings.IndexFunc(w, func(r rune) bool { return r >= 0x80 || !text.IsIdent(byte(r)) }) == i
}
