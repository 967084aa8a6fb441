package repo

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Relative returns how a path is stored: inside the worktree relative to its
// root, outside absolute, both clean and with '/'. A relative path is taken
// from cwd. The worktree's own root is ".". A path that only symlinks bring
// into the worktree (a temporary directory reached by its other name) counts as
// inside. Windows paths are understood on every system, and compared without
// regard to case.
func Relative(worktreeRoot, cwd, file string) string {
	if file == "" {
		return ""
	}
	windows := windowsPath(file) || windowsPath(worktreeRoot) && !strings.HasPrefix(file, "/")
	if windows {
		worktreeRoot, cwd, file = slashed(worktreeRoot), slashed(cwd), slashed(file)
	}
	if !IsAbsolute(file) {
		base := cwd
		if base == "" {
			base = worktreeRoot
		}
		file = base + "/" + file
	}
	file = clean(file)
	if worktreeRoot == "" {
		return file
	}
	root := clean(worktreeRoot)
	if rest, ok := below(root, file, windows); ok {
		return rest
	}
	realRoot := filepath.ToSlash(resolve(filepath.FromSlash(root)))
	realFile := filepath.ToSlash(resolveExisting(filepath.FromSlash(file)))
	if rest, ok := below(realRoot, realFile, windows); ok {
		return rest
	}
	return file
}

// Tree is a project's working trees with a working directory, their links followed.
type Tree struct {
	roots []string
	cwd   string // "" if it cannot be judged
	// cwdHolds: the working directory belongs to the project.
	cwdHolds bool
}

// NewTree returns the tree of the roots, of which "" are ignored, for paths that are relative
// to cwd.
func NewTree(cwd string, roots ...string) *Tree {
	t := &Tree{}
	for _, root := range roots {
		if root = resolve(root); root != "" && !slices.Contains(t.roots, root) {
			t.roots = append(t.roots, root)
		}
	}
	if filepath.IsAbs(cwd) {
		t.cwd = resolveExisting(filepath.Clean(cwd))
		t.cwdHolds = t.holds(t.cwd)
	}
	return t
}

// Holds reports whether a path lies in one of the roots once its links are followed, and in
// no other repository within that root; "" is the working directory. A path that cannot be
// judged is in none: one of another system, or in the home of another user.
func (t *Tree) Holds(file string) bool {
	switch {
	case file == "~" || strings.HasPrefix(file, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		file = home + file[1:]
	case strings.HasPrefix(file, "~"):
		return false
	}
	if !filepath.IsAbs(file) {
		if IsAbsolute(file) || t.cwd == "" {
			return false
		}
		if parts := strings.Split(strings.TrimPrefix(filepath.ToSlash(file), "./"), "/"); !slices.Contains(parts, "..") {
			if _, err := os.Lstat(filepath.Join(t.cwd, parts[0])); err != nil || parts[0] == "" {
				return t.cwdHolds // there is no link on the way
			}
		}
		file = t.cwd + string(filepath.Separator) + file
	}
	// Not cleaned first: link/.. is the directory above the link's target.
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return t.holds(real)
	}
	return t.holds(resolveExisting(filepath.Clean(file)))
}

// holds is Holds for an absolute path without links.
func (t *Tree) holds(file string) bool {
	for _, root := range t.roots {
		if rest, ok := below(filepath.ToSlash(root), filepath.ToSlash(file), windowsPath(root)); ok {
			return !entersRepository(root, rest)
		}
	}
	return false
}

// entersRepository reports whether a directory on the way from root to the file at the
// relative path rest is the root of another repository.
func entersRepository(root, rest string) bool {
	dir := root
	for _, part := range strings.Split(rest, "/") {
		if dir = filepath.Join(dir, part); dir == root {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
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

// resolveExisting follows the symlinks of the part of file that exists: a file
// that was just deleted still has a directory.
func resolveExisting(file string) string {
	for dir, rest := file, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return file
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
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
