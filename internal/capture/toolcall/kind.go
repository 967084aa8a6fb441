package toolcall

import (
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// Kind says what a command is for.
type Kind int

const (
	// KindLook lists, prints or searches files and changes nothing.
	KindLook Kind = iota
	// KindMinor changes nothing in the project that is worth a record: curl, mkdir, kill.
	KindMinor
	// The checks: their success or failure says something about the work.
	KindTest
	KindBuild
	KindLint
	KindRun
	KindOther // a program that the table does not have
	// KindInline is a throw-away program on the command line or in /tmp.
	KindInline
	// The kinds that change something.
	KindFormat
	KindInstall
	KindCommit
	KindGit // changes branches, history or the working tree
	KindMove
	KindDelete
	KindWrite
)

var kindNames = []string{"look", "minor", "test", "build", "lint", "run", "other", "inline", "format", "install", "commit", "git", "move", "delete", "write"}

func (k Kind) String() string { return kindNames[k] }

// IsQuiet reports whether a command of the kind leaves the project as it was.
func (k Kind) IsQuiet() bool { return k <= KindMinor }

// IsCheck reports whether the exit status of a command of the kind tells about the work.
func (k Kind) IsCheck() bool { return KindTest <= k && k <= KindOther }

// IsProof reports whether such a command proves a change: a test, a build, a linter.
func (k Kind) IsProof() bool { return KindTest <= k && k <= KindLint }

// classify fills in the command's kind and language: KindMinor without a program, KindWrite for one
// that only looks and whose output goes to a file.
func (c *Command) classify() {
	c.Kind, c.Lang = KindMinor, ""
	if len(c.Words) > 0 {
		c.Kind, c.Lang = c.kind()
	}
	if c.Kind == kindWrapper { // of what is not known
		c.Kind = KindOther
	}
	if c.Kind.IsQuiet() && len(c.Writes) > 0 {
		c.Kind = KindWrite
	}
}

// kind returns the kind of the command, which has a word, by the table of programs, and the
// program's language, "" for none. It may be kindWrapper, of a wrapper whose program is not known.
func (c *Command) kind() (Kind, string) {
	name := c.Program()
	p, known := programs()[name]
	if !known {
		switch {
		case !isProgramName(c.Words[0]):
			return KindMinor, ""
		case strings.Contains(c.Words[0], "/") || strings.HasSuffix(name, ".sh"):
			return scriptKind(c.Words[0]), ""
		}
		return KindOther, ""
	}
	verb := c.verbIndex()
	if (p.lang == "r" || p.lang == "jl") && slices.ContainsFunc(c.Words[1:], runsTests) {
		return KindTest, p.lang
	}
	own := c.Words[1:]
	if p.verbs == verbOfScript && verb > 0 { // what comes after the script are its arguments
		own = c.Words[1 : verb+1]
	}
	for _, r := range p.anyArgument {
		if slices.ContainsFunc(own, r.matches) {
			return r.kind, p.lang
		}
	}
	switch p.verbs {
	case verbOfTable:
		if verb > 0 {
			if kind, ok := p.byVerb[c.Words[verb]]; ok {
				if c.Words[verb] == "branch" && (len(c.arguments(verb+1, nil)) > 0 || c.has("-d", "-D", "-m", "-M", "--delete")) {
					kind = KindMinor // names a branch to make or delete
				}
				return kind, p.lang
			}
		}
	case verbOfScript:
		return c.interpreterKind(verb, p), p.lang
	case verbOfPackage:
		return c.packageKind(name, p), p.lang
	case verbOfTarget:
		return c.targetKind(p), p.lang
	}
	return p.kind, p.lang
}

// interpreterKind classifies python, node, ruby and shells by what they run: verb is the index of
// the script, 0 for none, p the interpreter.
func (c *Command) interpreterKind(verb int, p *program) Kind {
	if module := c.module(); module != nil {
		inner := Command{Words: module}
		if kind, _ := inner.kind(); kind != KindOther && !kind.IsQuiet() {
			return kind
		}
		return KindRun
	}
	if verb == 0 {
		return p.kind // of a program on standard input
	}
	if console := programs()[baseName(c.Words[verb])]; console != nil && c.isConsole() { // php artisan test
		if i := verb + 1; i < len(c.Words) && console.byVerb[c.Words[i]] != 0 { // 0: not in the table, which has none that only looks
			return console.byVerb[c.Words[i]]
		}
		return console.kind
	}
	return scriptKind(c.Words[verb])
}

// module returns the module that an interpreter runs and its arguments, nil for none:
// python -m pytest. What stands behind a script are the script's own arguments.
func (c *Command) module() []string {
	i, verb := slices.Index(c.Words, "-m"), c.verbIndex()
	if i < 1 || i+1 == len(c.Words) || verb > 0 && verb < i && strings.ContainsAny(c.Words[verb], "./") {
		return nil
	}
	return c.Words[i+1:]
}

// isConsole reports whether an interpreter's script is the console of a framework, whose
// first argument says what to do.
func (c *Command) isConsole() bool {
	name := baseName(c.Words[c.verbIndex()])
	return name == "artisan" || name == "manage.py"
}

// runsTests reports whether an argument is code in R or Julia that runs the tests.
func runsTests(code string) bool {
	return text.ContainsAny(code, "devtools::test(", "testthat::test_", "tinytest::", "test_dir(", "test_local(", "Pkg.test(")
}

// packageKind classifies npm, yarn, pnpm and bun (name): a verb of theirs, or a script of
// the project by its name; a script whose name says nothing is KindRun.
func (c *Command) packageKind(name string, p *program) Kind {
	verb := text.First(slices.DeleteFunc(c.arguments(1, packageOptions), func(w string) bool { return w == "" || packageRunners[w] }))
	if kind, ok := p.byVerb[verb]; ok {
		return kind
	}
	switch {
	case verb == "" && (name == "npm" || name == "bun"):
		return KindMinor
	case verb == "":
		return KindInstall // a bare yarn or pnpm
	case name == "bun" && strings.Contains(verb, "."):
		return scriptKind(verb)
	}
	return kindByName(verb, scriptNames, KindRun)
}

// targetKind classifies make and the like by the names of their targets, the last
// part of :app:test. The first target that says something decides, else it is the program's kind.
func (c *Command) targetKind(p *program) Kind {
	for _, w := range c.Words[1:] {
		if strings.HasPrefix(w, "-") || isAssignment(w) {
			continue
		}
		if p.lang == "scala" { // sbt "api/testOnly shop.CartSpec"
			w = text.AfterLast(text.Before(w, " "), "/")
		}
		w = w[strings.LastIndexByte(w, ':')+1:]
		if kind, ok := p.byVerb[w]; ok {
			return kind
		}
		if p.lang == "" { // make and just, whose targets have any name
			if kind := kindByName(w, targetNames, p.kind); kind != p.kind {
				return kind
			}
		}
	}
	return p.kind
}

// scriptKind guesses from its name what a script of the project is for: KindRun if that says
// nothing, KindInline for one in /tmp.
func scriptKind(script string) Kind {
	kind := kindByName(text.LowerASCII(baseName(script)), fileNames, KindRun)
	if kind == KindRun && strings.HasPrefix(slashed(script), "/tmp/") {
		return KindInline
	}
	return kind
}

// nameRule gives a kind to names that contain one of the fragments.
type nameRule struct {
	kind      Kind
	fragments []string
}

// kindByName returns the kind of the first rule with a fragment that name contains (or,
// after "=", is), else otherwise.
func kindByName(name string, rules []nameRule, otherwise Kind) Kind {
	for _, r := range rules {
		for _, f := range r.fragments {
			if strings.Contains(name, f) || f[0] == '=' && name == f[1:] {
				return r.kind
			}
		}
	}
	return otherwise
}

// isProgramName reports whether a word can be a program's name at all.
func isProgramName(w string) bool {
	return w != "" && !text.IsDigit(w[0]) && w[0] != '-' &&
		!strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 || !text.IsIdent(byte(r)) && !strings.ContainsRune("./-+~:\\", r) })
}
