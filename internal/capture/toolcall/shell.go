package toolcall

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"claudemem/internal/leaf/text"
)

// parseShell parses a line of bash or zsh, which begins in directory dir, and returns its simple
// commands, at most maxCommands. ok is false when the line is in neither grammar. One too deep in
// others (depth) has no commands.
func parseShell(line, dir string, depth int) (commands []Command, ok bool) {
	if depth > maxNesting {
		return nil, true
	}
	if unclosed(line) > maxUnclosed {
		return nil, false
	}
	defer func() {
		if recover() != nil { // a fault of the parser must not cost the event
			commands, ok = nil, false
		}
	}()
	for _, language := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
		file, err := syntax.NewParser(syntax.Variant(language)).Parse(strings.NewReader(line), "")
		if err == nil {
			w := newWalker(line, dir, depth)
			w.list(file.Stmts, false)
			return w.commands, true
		}
	}
	return nil, false
}

// maxUnclosed is the number of parentheses open at once beyond which a line is not
// parsed: the parser's time grows with their square.
const maxUnclosed = 500

// unclosed returns how many parentheses are open at once, at most; those in quotes count too.
func unclosed(line string) int {
	open, most := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(':
			open++
			most = max(most, open)
		case ')':
			open = max(open-1, 0)
		}
	}
	return most
}

// walker collects the simple commands of a syntax tree.
type walker struct {
	line      string
	dir       string
	depth     int
	calls     int // of functions
	pipefail  bool
	unparsed  bool // the line is not in the grammar
	commands  []Command
	functions map[string]*syntax.Stmt
	exported  []string        // NAME=value, for the commands that follow
	scratch   map[string]bool // variables that name a directory made for a trial
}

func newWalker(line, dir string, depth int) walker {
	return walker{line: line, dir: dir, depth: depth, functions: map[string]*syntax.Stmt{}, scratch: map[string]bool{}}
}

// list walks over statements of which only the last decides the exit status.
func (w *walker) list(statements []*syntax.Stmt, hidden bool) {
	for i, s := range statements {
		w.statement(s, hidden || i+1 < len(statements))
	}
}

// statement adds the commands of s. hidden: the exit status of s does not show in
// that of the line. Both branches of a condition count; the body of a function counts where the
// function is called.
func (w *walker) statement(s *syntax.Stmt, hidden bool) {
	if len(w.commands) >= maxCommands {
		return
	}
	hidden = hidden || s.Background || s.Negated
	dir, from := w.dir, len(w.commands)
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(s, cmd, hidden)
		return
	case *syntax.BinaryCmd:
		w.binary(cmd, hidden)
	case *syntax.Subshell:
		w.list(cmd.Stmts, hidden)
		w.dir = dir // where its "cd" led ends with it
	case *syntax.Block:
		w.list(cmd.Stmts, hidden)
	case *syntax.IfClause:
		for c := cmd; c != nil; c = c.Else {
			w.list(c.Cond, true)
			w.list(c.Then, hidden)
		}
	case *syntax.WhileClause:
		w.list(cmd.Cond, true)
		w.list(cmd.Do, true)
	case *syntax.ForClause:
		if w.list(cmd.Do, true); len(w.commands) > from {
			w.commands[from].Inner = append(w.commands[from].Inner, w.inner(cmd.Loop)...)
		}
	case *syntax.CaseClause:
		for _, item := range cmd.Items {
			w.list(item.Stmts, hidden)
		}
		if len(w.commands) > from {
			w.commands[from].Inner = append(w.commands[from].Inner, w.inner(cmd.Word)...)
		}
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			w.statement(cmd.Stmt, hidden)
		}
	case *syntax.CoprocClause:
		w.statement(cmd.Stmt, true)
	case *syntax.FuncDecl:
		if cmd.Name != nil {
			w.functions[cmd.Name.Value] = cmd.Body
		}
	case *syntax.DeclClause:
		c := Command{Words: []string{cmd.Variant.Value}, Dir: w.dir, Hidden: hidden}
		for _, a := range cmd.Args {
			if a.Value == nil {
				continue
			}
			c.Inner = append(c.Inner, w.inner(a.Value)...)
			if a.Name != nil {
				value := w.assign(a)
				if cmd.Variant.Value == "export" && len(w.exported) < maxExported {
					w.exported = append(w.exported, value)
				}
			}
		}
		w.add(c)
	case *syntax.TestClause:
		w.add(Command{Words: []string{"[["}, Dir: w.dir, Hidden: hidden, Inner: w.inner(cmd)})
	case *syntax.ArithmCmd, *syntax.LetClause:
		if inner := w.inner(cmd); len(inner) > 0 {
			w.add(Command{Words: []string{"[["}, Dir: w.dir, Hidden: hidden, Inner: inner})
		}
	}
	// A redirection of a whole block is its last command's.
	c := Command{Dir: dir, Hidden: true}
	if w.redirections(s, &c); len(c.Writes)+len(c.Reads)+len(c.Inner)+len(c.Stdin) > 0 {
		if len(w.commands) > from {
			last := &w.commands[len(w.commands)-1]
			last.Stdin = cmp.Or(last.Stdin, c.Stdin)
			last.Writes, last.Reads, last.Inner = append(last.Writes, c.Writes...), append(last.Reads, c.Reads...), append(last.Inner, c.Inner...)
			last.complete()
		} else {
			w.add(c)
		}
	}
}

// binary walks two statements joined by &&, || or a pipe. The failure of the left one is
// hidden behind || and, without pipefail, in a pipe.
func (w *walker) binary(cmd *syntax.BinaryCmd, hidden bool) {
	switch cmd.Op {
	case syntax.AndStmt:
		w.statement(cmd.X, hidden)
	case syntax.OrStmt:
		w.statement(cmd.X, true)
	default: // a pipe
		w.statement(cmd.X, hidden || !w.pipefail)
	}
	from := len(w.commands)
	w.statement(cmd.Y, hidden)
	if cmd.Op == syntax.AndStmt && from < len(w.commands) {
		w.commands[from].IfOK = true
	}
}

// call adds a simple command, or the commands that it stands for: the body of a function of this
// line (at most maxCommands calls, as functions may call themselves), or the script of sh -c.
func (w *walker) call(s *syntax.Stmt, call *syntax.CallExpr, hidden bool) {
	c := Command{Dir: w.dir, Hidden: hidden, Env: slices.Clone(w.exported)}
	for _, word := range call.Args {
		written := w.text(word)
		if strings.ContainsAny(written, "*?[") && slices.ContainsFunc(word.Parts, isQuoted) {
			c.literal = append(c.literal, written)
		}
		c.Words = append(c.Words, written)
		c.Inner = append(c.Inner, w.inner(word)...)
	}
	for _, a := range call.Assigns {
		if a.Value != nil {
			c.Env = append(c.Env, w.assign(a))
			c.Inner = append(c.Inner, w.inner(a.Value)...)
		}
	}
	w.redirections(s, &c)
	if len(c.Words)+len(c.Writes)+len(c.Reads)+len(c.Inner) == 0 {
		return // assigns only
	}
	if len(c.Words) > 0 {
		if body, ok := w.functions[c.Words[0]]; ok {
			if w.calls++; w.calls <= maxCommands {
				w.statement(body, hidden)
			}
			return
		}
	}
	c.complete()
	if inner, ok := script(c.Words); ok && w.depth < maxNesting {
		dir := w.dir
		for _, x := range parseNested(inner, dir, w.depth+1) {
			x.Hidden = x.Hidden || hidden
			w.append(x)
		}
		w.dir = dir // what the other shell changed is its own
		return
	}
	w.append(c)
}

func (w *walker) add(c Command) {
	c.complete()
	w.append(c)
}

// append adds a command, up to maxCommands, and heeds "cd" and "set -o pipefail", which hold for the
// commands behind them.
func (w *walker) append(c Command) {
	switch c.Program() {
	case "set":
		w.pipefail = w.pipefail || strings.Contains(strings.Join(c.Words, " "), "pipefail")
	case "cd", "pushd":
		if len(c.Words) > 1 {
			to := c.Words[len(c.Words)-1]
			if w.isScratch(to) {
				to = scratchDir
			}
			w.dir = joinDir(w.dir, to)
		}
	}
	if len(w.commands) < maxCommands {
		c.Unparsed = c.Unparsed || w.unparsed
		w.commands = append(w.commands, c)
	}
}

// maxExported bounds the variables that a line exports to its later commands.
const maxExported = 16

// scratchDir stands for a directory that a line makes under a name that only the shell
// knows.
const scratchDir = "/tmp"

// assign returns NAME=value of a variable, and notes one that names a directory made for a
// trial.
func (w *walker) assign(a *syntax.Assign) string {
	value := w.text(a.Value)
	if w.isScratch(value) || strings.HasPrefix(value, scratchDir+"/") {
		w.scratch[a.Name.Value] = true
	}
	return a.Name.Value + "=" + value
}

// isScratch reports whether a word that the shell expands begins with a new temporary
// directory: $(mktemp -d), $TMPDIR, or a variable that was set to one.
func (w *walker) isScratch(word string) bool {
	if strings.HasPrefix(word, "$(") || strings.HasPrefix(word, "`") {
		return strings.HasPrefix(strings.TrimLeft(word, "$(` "), "mktemp")
	}
	if !strings.HasPrefix(word, "$") {
		return false
	}
	name := strings.TrimLeft(word, "${")
	end := strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 || !text.IsIdent(byte(r)) })
	if end >= 0 {
		name = name[:end]
	}
	switch name {
	case "TMPDIR", "TEMP", "TMP", "RUNNER_TEMP":
		return true
	}
	return w.scratch[name]
}

// redirections notes in c which files a statement's standard output goes to, devices left out, which
// files and texts it reads, by whichever descriptor, and the commands of substitutions in all these.
// c is completed after that: complete looks at Writes.
func (w *walker) redirections(s *syntax.Stmt, c *Command) {
	for _, r := range s.Redirs {
		word := cmp.Or(r.Hdoc, r.Word)
		c.Inner = append(c.Inner, w.inner(word)...)
		if slices.ContainsFunc(word.Parts, isProcess) {
			continue
		}
		switch target := w.text(word); r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil { // nil: an empty one
				c.Stdin = w.document(word)
			}
		case syntax.WordHdoc:
			c.Stdin = target
		case syntax.RdrIn, syntax.RdrInOut:
			c.Reads = append(c.Reads, target)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
			descriptor := r.Op == syntax.DplOut && (strings.Trim(target, "0123456789-") == "" || target[0] == '$')
			if (r.N == nil || r.N.Value == "1") && target != "" && !descriptor && !isDevice(target) {
				c.Writes = append(c.Writes, target)
			}
		}
	}
}

// isProcess reports whether a part of a word stands for the input or output of a process: >(tee log).
func isProcess(part syntax.WordPart) bool {
	_, ok := part.(*syntax.ProcSubst)
	return ok
}

// text returns a word without its quotes; what the shell would put in its place
// stays as it is written, but for $(cat <<EOF…), which is the here-document.
func (w *walker) text(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		w.part(&b, part, false)
	}
	return b.String()
}

// isQuoted reports whether a part of a word stands in quotes.
func isQuoted(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// part writes a part of a word to b as the program gets it; what the shell would compute
// is written as it stands in the line.
func (w *walker) part(b *strings.Builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		unescape(b, p.Value, quoted)
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, x := range p.Parts {
			w.part(b, x, true)
		}
	case *syntax.CmdSubst:
		if doc := hereDocument(p); doc != nil {
			b.WriteString(strings.TrimSuffix(w.document(doc), "\n"))
		} else {
			b.WriteString(w.source(p))
		}
	default:
		b.WriteString(w.source(p))
	}
}

// document returns the text of a here-document as it is written.
func (w *walker) document(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(w.source(part))
		}
	}
	return b.String()
}

// hereDocument returns the here-document of $(cat <<EOF…), nil for anything else, also for
// $(cat <FILE).
func hereDocument(p *syntax.CmdSubst) *syntax.Word {
	if len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) != 1 {
		return nil
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "cat" {
		return nil
	}
	return p.Stmts[0].Redirs[0].Hdoc
}

// unescape removes the backslashes that the shell removes: all outside double
// quotes, inside them those before \, ", $ and `.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			next := byte('\n')
			if i+1 < len(s) {
				next = s[i+1]
			}
			switch {
			case next == '\n':
				i++
				continue
			case !quoted || strings.IndexByte("\\\"$`", next) >= 0:
				i++
			}
		}
		b.WriteByte(s[i])
	}
}

// source returns the text of a node in the line.
func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.line) {
		return ""
	}
	return w.line[from:to]
}

// inner returns the commands of the substitutions in a word, or another node without
// statements of its own. Where they are too deep or too many, one Unparsed command stands for the
// rest, so that a caller knows that something is missing.
func (w *walker) inner(node syntax.Node) []Command {
	var all []Command
	syntax.Walk(node, func(n syntax.Node) bool {
		var statements []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			statements = n.Stmts
		case *syntax.ProcSubst:
			statements = n.Stmts
		default:
			return true
		}
		if w.depth < maxNesting {
			sub := newWalker(w.line, w.dir, w.depth+1)
			sub.list(statements, true)
			all = append(all, sub.commands...)
		} else {
			all = append(all, Command{Unparsed: true})
		}
		return false
	})
	if len(all) > maxCommands {
		all = append(all[:maxCommands], Command{Unparsed: true})
	}
	return all
}

// splitWords splits a line that is not in the grammar at blanks and operators.
// Operators in quotes split too. It ends at a here-document, whose end is not known. Its commands
// are Unparsed. A command before a pipe is Hidden, and all before "||", ";" or "&" are.
func splitWords(line, dir string, depth int) []Command {
	w := walker{line: line, dir: dir, depth: depth, unparsed: true}
	var operators []string // behind each command
	c := Command{Dir: dir}
	toFile := false
	line, _, _ = strings.Cut(line, "<<")
	for _, field := range strings.Fields(spaced.Replace(line) + " ;") {
		switch field {
		case "&&", "||", "|", "&", ";":
			if len(c.Words) > 0 || len(c.Writes) > 0 {
				w.add(c)
				operators = append(operators, field)
			}
			c, toFile = Command{Dir: w.dir, IfOK: field == "&&"}, false
			continue
		case ">", ">>":
			toFile = true
			continue
		}
		word := strings.Trim(field, `"'`)
		switch {
		case toFile:
			if toFile = false; !isDevice(word) {
				c.Writes = append(c.Writes, word)
			}
		case len(c.Words) > 0 || !keywords[word]:
			c.Words = append(c.Words, word)
		}
	}
	hidden := false
	for i := len(w.commands) - 1; i >= 0; i-- {
		last := i+1 == len(w.commands)
		hidden = !last && (hidden || operators[i] != "&&" && operators[i] != "|")
		w.commands[i].Hidden = hidden || !last && operators[i] == "|"
	}
	return w.commands
}

// spaced puts blanks around the operators of a line and removes what joins streams;
// a line ends as if with ";".
var spaced = strings.NewReplacer("2>&1", " ", "2>/dev/null", " ", "2>nul", " ", "&>", " > ", "&&", " && ", "||", " || ", "|", " | ", ";", " ; ", "\n", " ; ", "&", " & ",
	"(", " ; ", ")", " ; ", ">>", " >> ", ">", " > ", "<", " ")
