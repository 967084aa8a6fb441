package repo

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/glob"

	"golang.org/x/text/unicode/norm"
)

// Relative returns how a path is stored: inside the worktree relative to its
// root, outside absolute, both clean and with '/'. A relative path is taken
// from cwd. The worktree's own root is ".". A path that only symlinks bring
// into the worktree (a temporary directory reached by its other name) counts as
// inside. Windows paths are understood on every system, and compared without
// regard to case. "" stays ""; without a worktree root each path is absolute, or stays relative if
// cwd is "" too.
func Relative(worktreeRoot, cwd, file string) string {
	if file == "" {
		return ""
	}
	windows := windowsPath(file) || windowsPath(worktreeRoot) && !strings.HasPrefix(file, "/")
	if windows {
		worktreeRoot, cwd, file = slashed(worktreeRoot), slashed(cwd), slashed(file)
	}
	if !IsAbsolute(file) {
		file = cmp.Or(cwd, worktreeRoot) + "/" + file
	}
	file = clean(file)
	if worktreeRoot == "" {
		return file
	}
	root := clean(worktreeRoot)
	if rest, ok := Within(root, file); ok {
		return rest
	}
	realRoot := filepath.ToSlash(Resolve(filepath.FromSlash(root)))
	realFile := filepath.ToSlash(glob.ResolveLinks(filepath.FromSlash(file)))
	if rest, ok := below(realRoot, realFile, windows); ok {
		return rest
	}
	return file
}

// Within returns an absolute path relative to a directory, "." for that itself, by their texts alone; false
// if it lies elsewhere. Windows regards no letter case, and macOS no Unicode form: it lists directories
// in decomposed letters, where agents write composed ones.
func Within(root, file string) (rel string, ok bool) {
	windows := windowsPath(root) || windowsPath(file) || strings.HasPrefix(root, "//")
	if windows {
		root, file = slashed(root), slashed(file)
	}
	root, file = clean(root), clean(file)
	if rel, ok = below(root, file, windows); !ok {
		rel, ok = below(norm.NFC.String(root), norm.NFC.String(file), windows)
	}
	return rel, ok
}

// agentWorktrees are the directories of a project in which Claude Code and Gemini CLI make worktrees.
var agentWorktrees = []string{"/.claude/worktrees/", "/.gemini/worktrees/"}

// AgentWorktree returns the root of the worktree that an agent has made and in which dir lies, and the
// project that it is of, by its path; "" for none.
func AgentWorktree(dir string) (root, project string) {
	for _, worktrees := range agentWorktrees {
		if i := strings.Index(slashed(dir), worktrees); i >= 0 {
			end := i + len(worktrees)
			name, _, _ := strings.Cut(slashed(dir)[end:], "/")
			return dir[:end+len(name)], dir[:i]
		}
	}
	return "", ""
}

// Gone returns the project and the worktree of a session that began in start, which is not on this
// machine, and works in cwd: start, or the project whose worktree it was, of Windows as of Unix.
func Gone(start, cwd string) Identity {
	if windowsPath(start) { // as Windows itself writes it
		start = strings.ToUpper(start[:1]) + strings.ReplaceAll(start[1:], "/", `\`)
	}
	id := Identity{Project: start, WorktreeRoot: cwd}
	if !IsAbsolute(Relative(start, start, cwd)) {
		id.WorktreeRoot = start
	}
	if root, project := AgentWorktree(start); root != "" {
		id.Project, id.WorktreeRoot = project, root
	}
	return id
}

// Tree is a project's working trees with a working directory, their links followed. It keeps where
// links lead to: for the time of one look at a project, by one goroutine.
type Tree struct {
	roots []string
	cwd   string            // "" if it cannot be judged
	real  map[string]string // by path
}

// NewTree returns the tree of the roots, of which "" are ignored, for paths that are relative
// to cwd; with a cwd that is not absolute here, Find judges no relative path. A path that lies in
// several roots is in the first of them.
func NewTree(cwd string, roots ...string) *Tree {
	t := &Tree{real: map[string]string{}}
	for _, root := range roots {
		if root = Resolve(root); root != "" && !slices.Contains(t.roots, root) {
			t.roots = append(t.roots, root)
		}
	}
	if filepath.IsAbs(cwd) {
		t.cwd = glob.ResolveLinks(filepath.Clean(cwd))
	}
	return t
}

// Find returns a path without links, and the root that it lies in with the path relative to
// that ("." for the root itself), "" for none. "" is the working directory. A path that cannot be
// judged is "": one of another system, in the home of another user, or a relative one without a
// working directory. The file need not be there.
func (t *Tree) Find(file string) (real, root, rel string) {
	switch {
	case file == "~" || strings.HasPrefix(file, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", ""
		}
		file = home + file[1:]
	case strings.HasPrefix(file, "~"):
		return "", "", ""
	}
	if !filepath.IsAbs(file) {
		if IsAbsolute(file) || t.cwd == "" {
			return "", "", ""
		}
		file = t.cwd + string(filepath.Separator) + file
	}
	// Not cleaned first: link/.. is the directory above the link's target.
	if real = t.real[file]; real == "" {
		var err error
		if real, err = filepath.EvalSymlinks(file); err != nil {
			real = glob.ResolveLinks(filepath.Clean(file))
		}
		t.real[file] = real
	}
	for _, root := range t.roots {
		if rel, ok := below(filepath.ToSlash(root), filepath.ToSlash(real), windowsPath(root)); ok {
			return real, root, rel
		}
	}
	return real, "", ""
}

// Enters reports whether a directory on the way from root to the file at the relative path
// rest, or that file, has an entry of a name: ".git" is that of another repository. root itself
// does not count; rest has '/'.
func Enters(root, rest, name string) bool {
	dir := root
	for _, part := range strings.Split(rest, "/") {
		if dir = filepath.Join(dir, part); dir == root {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// clean is path.Clean that keeps the two slashes of a Windows share.
func clean(p string) string {
	if strings.HasPrefix(p, "//") {
		return "/" + path.Clean(p)
	}
	return path.Clean(p)
}

// below returns the path of file relative to root, "." for root itself. It is false when
// file lies elsewhere or root is empty. Both have "/" as separator and are compared as
// text, with foldCase in any letter case.
func below(root, file string, foldCase bool) (string, bool) {
	if len(file) < len(root) || root == "" {
		return "", false
	}
	head := file[:len(root)]
	if head != root && (!foldCase || !strings.EqualFold(head, root)) {
		return "", false
	}
	rest := file[len(root):]
	switch {
	case rest == "":
		return ".", true
	case strings.HasSuffix(root, "/"):
		return rest, true
	case rest[0] == '/':
		return rest[1:], true
	}
	return "", false
}

// IsAbsolute reports whether p is an absolute path of any system.
func IsAbsolute(p string) bool { return strings.HasPrefix(p, "/") || windowsPath(p) }

// windowsPath reports whether p is absolute the Windows way: C:\x, C:/x or \\host\share.
func windowsPath(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		(p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }
