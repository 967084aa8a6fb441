package hostfiles

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// maxFiles bounds the files of one request that are read.
	maxFiles = 24
	// maxParents bounds the directories above the start directory that are looked at.
	maxParents = 24
	// maxImports is how deep imports may be nested.
	maxImports = 5
)

// Reader reads the files that hosts load by themselves. It is safe for concurrent use
// and keeps what it has read until the file's time or size changes.
type Reader struct {
	clock func() time.Time
	mu    sync.Mutex
	known map[string]*document // by path
}

// New makes a Reader; clock tells the time.
func New(clock func() time.Time) *Reader {
	return &Reader{clock: clock, known: map[string]*document{}}
}

// Load reads the files that the host of the session loads by itself. The function that
// it returns gets a line in parts and gives the name of the file that says them: in one
// statement, or each of them or of their sentences in its own, then the names of those
// files; "" when one of them is not said. It is nil when there are no such files.
func (r *Reader) Load(ctx context.Context, req memory.ContextRequest) func(line ...string) string {
	l := &loading{Reader: r, req: req, seen: map[string]bool{}}
	if l.start = l.startDir(); ctx.Err() == nil {
		switch req.Host {
		case memory.HostClaudeCode:
			l.claudeCode(ctx)
		case memory.HostGemini: // GEMINI.md, or what its settings name instead
		default:
			l.agents(ctx)
		}
	}
	if len(l.files) == 0 {
		return nil
	}
	return l.who
}

// loading is one Load call.
type loading struct {
	*Reader
	req memory.ContextRequest
	// start is the start directory without symbolic links, "" for none.
	start string
	files []named
	seen  map[string]bool // paths
}

// named is a document and the name under which a person knows it.
type named struct {
	*document
	name string
}

// who returns the names of the files that together say a line, given in parts; "" if a part of it is
// said nowhere.
func (l *loading) who(line ...string) string {
	parts := collect.Map(line, parseStatement)
	if name := l.first(slices.Concat(parts...)); name != "" {
		return name
	}
	var names []string
	for i, part := range parts {
		found := l.sentences(part, line[i])
		if found == nil {
			return ""
		}
		names = text.Add(names, found...)
	}
	return strings.Join(names, " and ")
}

// sentences returns the name of the file that says a part of a line, or those of the files
// that say its sentences; nil when one of them is not said.
func (l *loading) sentences(whole statement, part string) (names []string) {
	if name := l.first(whole); name != "" {
		return []string{name}
	}
	split := sentences(part)
	if len(split) < 2 {
		return nil
	}
	for _, sentence := range split {
		name := l.first(parseStatement(sentence))
		if name == "" {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// first returns the name of the first file that says a statement, "" for none.
func (l *loading) first(s statement) string {
	for _, f := range l.files {
		if f.says(s) {
			return f.name
		}
	}
	return ""
}

// startDir returns the start directory, without symbolic links, if it is one of the project's, else "".
func (l *loading) startDir() string {
	if !filepath.IsAbs(l.req.StartDir) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(l.req.StartDir)
	if err != nil {
		return ""
	}
	if !within(dir, l.req.ProjectPath) && !within(dir, l.req.Checkout.Root) || !openfile.IsDir(dir) {
		return ""
	}
	return dir
}

// within reports whether dir is root or below it.
func within(dir, root string) bool {
	if root == "" {
		return false
	}
	rest, ok := strings.CutPrefix(dir, strings.TrimRight(root, `/\`))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}

// add reads a file, by an absolute and clean path, and then what it imports from below root, as the
// host does: without asking it loads only imports from below the start directory
// (docs/host-files.md). By its path an import is below root; links are followed. root "" follows no
// imports. It does nothing for a file that was added before or cannot be read, and none beyond
// maxFiles; of a file that was first met at maxImports the imports are not read.
func (l *loading) add(ctx context.Context, path, name, root string, depth int) {
	if l.seen[path] || len(l.files) == maxFiles || ctx.Err() != nil {
		return
	}
	l.seen[path] = true
	d := l.document(path)
	if d == nil {
		return
	}
	l.files = append(l.files, named{d, name})
	if root == "" || depth == maxImports {
		return
	}
	for _, target := range d.imports {
		to := filepath.FromSlash(target)
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if to = filepath.Clean(to); within(to, root) && isText(to) {
			l.add(ctx, to, l.nameOf(to), root, depth+1)
		}
	}
}

// isText reports whether an import of that name is read.
func isText(path string) bool {
	return slices.Contains([]string{".md", ".markdown", ".txt"}, strings.ToLower(filepath.Ext(path)))
}

// nameOf returns a file's path relative to the worktree: "docs/rules.md", "../CLAUDE.md".
func (l *loading) nameOf(path string) string {
	if rel, err := filepath.Rel(cmp.Or(l.req.Checkout.Root, l.req.ProjectPath), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(path)
}

// above returns the start directory and those above it up to top, the highest first;
// top "" is the file system's root.
func (l *loading) above(top string) []string {
	var dirs []string
	for dir := l.start; dir != "" && len(dirs) < maxParents; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == top || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	return dirs
}

const (
	claudeFile = "CLAUDE.md"
	agentsFile = "AGENTS.md"
	memoryName = "MEMORY.md"
)

// isMemory reports whether a path is that of Claude Code's memory index.
func isMemory(path string) bool { return filepath.Base(path) == memoryName }

// claudeCode reads what Claude Code loads: the user's CLAUDE.md, those of the start
// directory and above, with what they import, and its memory of the project. It loads
// AGENTS.md only where a CLAUDE.md imports it.
func (l *loading) claudeCode(ctx context.Context) {
	config := l.configDir()
	instructions, mem := l.switchedOn(config)
	if instructions {
		if config != "" {
			l.add(ctx, filepath.Join(config, claudeFile), "the user's CLAUDE.md", "", 0)
		}
		for _, dir := range l.above("") {
			names := []string{claudeFile, filepath.Join(".claude", claudeFile), "CLAUDE.local.md"}
			if l.isOtherTree(dir) {
				names = names[2:]
			}
			for _, name := range names {
				path := filepath.Join(dir, name)
				l.add(ctx, path, l.nameOf(path), l.start, 0)
			}
		}
	}
	if mem && config != "" {
		l.add(ctx, claudedir.MemoryFile(config, l.req.ProjectPath), memoryName, "", 0)
	}
}

// isOtherTree reports whether a directory above the start directory is of the main
// worktree while the session is in one that lies inside of it.
func (l *loading) isOtherTree(dir string) bool {
	main, tree := l.req.ProjectPath, l.req.Checkout.Root
	return tree != main && within(tree, main) && within(dir, main) && !within(dir, tree)
}

// configDir returns the host's configuration directory, "" unless it is one of this user.
func (l *loading) configDir() string {
	dir := l.req.ConfigDir
	if !filepath.IsAbs(dir) {
		return ""
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || !isOwn(info) {
		return ""
	}
	return dir
}

// switchedOn reports whether Claude Code loads all instruction files, and the memory from
// where it is by default, as far as the settings of the user and the project tell.
func (l *loading) switchedOn(config string) (instructions, mem bool) {
	var paths []string
	if config != "" {
		paths = append(paths, filepath.Join(config, "settings.json"))
	}
	if l.start != "" {
		paths = append(paths, filepath.Join(l.start, ".claude", "settings.json"), filepath.Join(l.start, ".claude", "settings.local.json"))
	}
	instructions, mem = l.start != "" || config != "", true
	for _, path := range paths {
		d := l.document(path)
		if d == nil {
			continue
		}
		if len(d.switches.ClaudeMdExcludes) > 0 {
			instructions = false
		}
		if on := d.switches.AutoMemoryEnabled; on != nil && !*on || d.switches.AutoMemoryDirectory != "" {
			mem = false
		}
	}
	return instructions, mem
}

// agents reads the AGENTS.md files from the worktree's root down to the start directory:
// what other agents load by convention.
func (l *loading) agents(ctx context.Context) {
	top := l.start
	if within(l.start, l.req.Checkout.Root) {
		top = l.req.Checkout.Root
	}
	for _, dir := range l.above(top) {
		path := filepath.Join(dir, agentsFile)
		l.add(ctx, path, l.nameOf(path), "", 0)
	}
}
