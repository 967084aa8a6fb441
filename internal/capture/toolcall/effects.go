package toolcall

import (
	"path"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// Commit is a commit that a command made.
type Commit struct {
	Subject string
	Body    string // its first paragraph, without trailers
}

// Dependency is what a package manager's call changed.
type Dependency struct {
	Change  DependencyChange
	Names   []string // with versions as given: jest@29
	Manager string   // npm, go, apt-get …
}

// DependencyChange says what happened to dependencies.
type DependencyChange int

const (
	DependencyAdded DependencyChange = iota
	DependencyRemoved
	DependencyUpdated
	ProgramInstalled // on the system, not in the project
)

// effects adds to the call what a command changed: Edits, Commits, Dependencies, Touched and what
// throwAway notes. In a call that failed commits, dependencies and reverts do not count.
func (c *Call) effects(cmd *Command) {
	for _, target := range cmd.Writes {
		c.editByCommand(cmd, target)
	}
	verb := cmd.Verb()
	switch cmd.Kind {
	case KindCommit:
		if !c.Failed {
			c.Commits = append(c.Commits, cmd.commit(c.Output))
		}
	case KindInstall:
		if d, ok := cmd.dependency(); ok && !c.Failed && (systemManagers[d.Manager] || c.ofProject(cmd)) {
			c.Dependencies = append(c.Dependencies, d)
			if file := manifestOf[cmd.Program()]; file != "" {
				if rel, inside := c.locate(path.Join(cmd.Dir, file)); inside {
					c.Touched = text.Add(c.Touched, rel)
				}
			}
		}
	case KindMove:
		if names := cmd.operands("mv"); len(names) == 2 {
			if strings.HasSuffix(names[1], "/") { // into a directory, under its old name
				names[1] += path.Base(names[0])
			}
			if e := c.editByCommand(cmd, names[1]); e != nil {
				e.Created = true
				e.From, _ = c.locate(cmd.path(names[0]))
			}
		}
	case KindDelete:
		for _, name := range cmd.operands("rm") {
			if !strings.Contains(name, ".") && !cmd.has("-r", "-R", "-rf", "-fr") { // rather a directory, which rm refuses
				continue
			}
			if e := c.editByCommand(cmd, name); e != nil {
				e.Deleted = true
			}
		}
	case KindWrite:
		c.writes(cmd)
	case KindGit:
		c.throwAway(cmd, verb)
	}
}

// throwAway notes the changes that a git command, of which verb is the sub-command, threw away,
// reverted or stashed: Undone ("." for all of the worktree), Reverts, Stashed and Unstashed. A stash
// that the same call brings back is both. `git clean` counts as an Edit that deletes ".".
func (c *Call) throwAway(cmd *Command, verb string) {
	at := cmd.verbIndex()
	names := cmd.arguments(at+1, nil)
	if dash := slices.Index(cmd.Words, "--"); dash > 0 {
		names = cmd.arguments(dash+1, nil)
	}
	switch verb {
	case "revert":
		if !c.Failed {
			c.Reverts = text.Add(c.Reverts, cmd.reverted(c.Output)...)
		}
		return
	case "clean": // what is not tracked
		if !cmd.has("-n", "--dry-run", "-X") {
			c.Edits = append(c.Edits, Edit{Path: ".", Deleted: true})
		}
		return
	case "reset":
		if cmd.has("--hard") {
			c.Undone = []string{"."}
		}
		return
	case "stash":
		switch text.First(names) {
		case "pop", "apply":
			c.Unstashed = true
		case "", "push", "save":
			c.Stashed = true
		}
		return
	case "checkout":
		if !cmd.has("--") { // of branches or of files: a branch has no extension
			names = slices.DeleteFunc(names, func(name string) bool { return !text.HasExtension(name) && name != "." })
		}
		if cmd.has("-b", "-B", "--orphan", "--ours", "--theirs") {
			return
		}
	case "restore":
		if cmd.has("--staged", "-S") && !cmd.has("--worktree", "-W") {
			return
		}
	default:
		return
	}
	for _, name := range names {
		rel := "."
		if name != "." && name != ":/" {
			rel, _ = c.locate(path.Join(cmd.Dir, name))
		}
		c.Undone = append(c.Undone, rel)
	}
}

// reverted returns the commits that `git revert` took back: the subjects that git
// printed, else the revisions of the command; nil for one that ends a revert.
func (c *Command) reverted(output string) []string {
	if c.has("--abort", "--quit", "--skip") {
		return nil
	}
	var subjects []string
	for line := range strings.Lines(output) {
		if _, rest, ok := strings.Cut(line, `] Revert "`); ok && line[0] == '[' {
			subjects = append(subjects, strings.TrimSuffix(strings.TrimSpace(rest), `"`))
		}
	}
	if len(subjects) > 0 {
		return subjects
	}
	return c.arguments(c.verbIndex()+1, revertOptions)
}

// ofProject reports whether a package manager works on the project: it is run within the
// worktree, and it is not the one of another environment (/tmp/venv/bin/pip). One in /usr or /opt
// is the system's, which works where it is run.
func (c *Call) ofProject(cmd *Command) bool {
	if program := slashed(cmd.Words[0]); absolute(program) {
		if _, inside := c.locate(program); !inside && !strings.HasPrefix(program, "/usr/") && !strings.HasPrefix(program, "/opt/") {
			return false
		}
	}
	return c.Inside(cmd)
}

// Inside reports whether a command was run within the worktree.
func (c *Call) Inside(cmd *Command) bool {
	_, inside := c.locate(path.Join(cmd.Dir, "x"))
	return inside
}

// writes adds the files that sed -i, perl -i, tee and cp write to; of those of sed, perl and cp only
// names with an extension count, since other words look like that.
func (c *Call) writes(cmd *Command) {
	switch cmd.Program() {
	case "tee":
		for _, name := range cmd.arguments(1, nil) {
			c.editByCommand(cmd, name)
		}
	case "sed", "gsed", "perl":
		for i, name := range cmd.Words[1:] {
			if i > 0 && text.HasExtension(name) && // the first argument is an option or the script
				!strings.ContainsAny(name, " ;()") {
				c.editByCommand(cmd, name)
			}
		}
	case "cp":
		if n := len(cmd.Words); n > 2 && text.HasExtension(cmd.Words[n-1]) {
			if e := c.editByCommand(cmd, cmd.Words[n-1]); e != nil {
				e.Created = true
			}
		}
	}
}

// operands returns the arguments that are neither options nor the verb.
func (c *Command) operands(verb string) []string {
	return slices.DeleteFunc(c.arguments(1, nil), func(w string) bool { return w == verb })
}

// editByCommand adds an edit of a file that a command wrote to, and returns it; nil
// when the name stands for several files or the file is outside the worktree. The edit has no text.
// The pointer holds until the next edit is added.
func (c *Call) editByCommand(cmd *Command, name string) *Edit {
	if name == "" || strings.ContainsAny(name, "$*{}") || strings.HasPrefix(name, "&") { // &1 is a descriptor
		return nil
	}
	rel, inside := c.locate(cmd.path(name))
	if !inside || rel == "" || strings.HasPrefix(rel, "..") {
		return nil
	}
	c.Edits = append(c.Edits, Edit{Path: rel})
	return &c.Edits[len(c.Edits)-1]
}

// path returns a name that the command has been given as a path from where its call began.
func (cmd *Command) path(name string) string {
	if cmd.Dir == "" {
		return name
	}
	return inDir(cmd.Dir, name)
}

// commit returns subject and body of the commit that `git commit` made: from its
// arguments, else the subject from the line that git printed. Of -F the text is known only if it is
// the command's Stdin. Both are "" if nothing tells.
func (c *Command) commit(output string) Commit {
	var messages []string
	for i := 1; i < len(c.Words); i++ {
		w := c.Words[i]
		switch {
		case w == "-m" || w == "--message" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "m"):
			if i+1 < len(c.Words) {
				i++
				messages = append(messages, c.Words[i])
			}
		case strings.HasPrefix(w, "--message="):
			messages = append(messages, w[len("--message="):])
		case strings.HasPrefix(w, "-m"):
			messages = append(messages, w[2:])
		case w == "-F" || w == "--file":
			messages = append(messages, c.Stdin)
		}
	}
	var made Commit
	if len(messages) > 0 {
		subject, rest, _ := strings.Cut(strings.TrimSpace(messages[0]), "\n")
		made.Subject = subject
		for _, m := range append([]string{rest}, messages[1:]...) {
			if m = strings.TrimSpace(m); m != "" && made.Body == "" && !text.IsTrailer(text.Before(m, "\n")) {
				made.Body = text.Before(m, "\n\n")
			}
		}
	}
	for line := range strings.Lines(output) {
		if made.Subject == "" && strings.HasPrefix(line, "[") { // [main abc1234] subject
			_, made.Subject, _ = strings.Cut(strings.TrimSpace(line), "] ")
		}
	}
	return made
}

var (
	// manifestOf names the file in which a package manager keeps what was asked of it.
	manifestOf = map[string]string{
		"npm": "package.json", "yarn": "package.json", "pnpm": "package.json", "bun": "package.json", "go": "go.mod", "cargo": "Cargo.toml",
		"poetry": "pyproject.toml", "uv": "pyproject.toml", "pdm": "pyproject.toml", "composer": "composer.json", "bundle": "Gemfile",
	}
	dependencyVerbs = map[string]DependencyChange{
		"remove": DependencyRemoved, "uninstall": DependencyRemoved, "rm": DependencyRemoved, "un": DependencyRemoved,
		"get": DependencyAdded, "install": DependencyAdded, "i": DependencyAdded, "add": DependencyAdded, "require": DependencyAdded,
		"update": DependencyUpdated, "upgrade": DependencyUpdated, "up": DependencyUpdated,
	}
	systemManagers = text.Set("apt apt-get brew dnf yum apk pacman choco winget")
	// revertOptions of git take a value that is no revision.
	revertOptions     = text.Set("-m --mainline -X --strategy --strategy-option")
	dependencyOptions = text.Set("-r --requirement -e --prefix -C --index-url -i") // with a value that is no dependency
)

// dependency returns what c, which must be a package manager's command, added, updated
// or removed. It is false for a call that only installs what a manifest declares, or names only
// paths and addresses. What a system's package manager adds is a program.
func (c *Command) dependency() (Dependency, bool) {
	d := Dependency{Manager: c.Program()}
	verb := ""
	start := 1
	if strings.HasPrefix(d.Manager, "py") { // python -m pip
		if start = slices.Index(c.Words, "pip") + 1; start == 0 {
			return d, false
		}
	}
	for i := start; i < len(c.Words); i++ {
		w := c.Words[i]
		switch {
		case dependencyOptions[w] && (w != "-i" || d.Manager != "npm"):
			i++
		case strings.HasPrefix(w, "-"):
		case verb == "" || d.Manager == "uv" && verb == "pip":
			verb = w
		case w == "." || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "/") || strings.HasPrefix(w, "http"):
		default:
			d.Names = append(d.Names, w)
		}
	}
	change, ok := dependencyVerbs[verb]
	if !ok || len(d.Names) == 0 {
		return d, false
	}
	d.Change = change
	switch {
	case change == DependencyAdded && systemManagers[d.Manager]:
		d.Change = ProgramInstalled
	case change == DependencyAdded && d.Manager == "go" && strings.HasSuffix(d.Names[0], "@none"):
		d.Change = DependencyRemoved
		d.Names[0] = strings.TrimSuffix(d.Names[0], "@none")
	}
	return d, true
}
