package repo

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// Identity is where an event happened.
type Identity struct {
	// Project is the main worktree's root, else the directory.
	Project string
	// WorktreeRoot is the root of the worktree that holds the current directory.
	WorktreeRoot string
	// Branch is the branch's short name; "" when HEAD is detached or unknown.
	Branch string
	// HeadCommit is the commit in hex; "" before the first commit or when unknown.
	HeadCommit string
}

// A worktree is a checked-out tree with the git directory that belongs to it.
type worktree struct {
	root   string // the directory that holds .git
	gitDir string
	head   string // content of gitDir/HEAD, trimmed
}

// Identify returns project, worktree, branch and HEAD. projectDir is the directory
// in which the host was started, cwd its current one; if one is empty, the other
// stands for it. Outside a repository the project is projectDir, the worktree root
// is projectDir if that holds cwd, else cwd, and branch and commit are empty. The worktree is that
// of cwd, the project that of projectDir: they differ in a host that has changed to another
// repository. Paths are absolute with links resolved; without any directory all is "".
func Identify(projectDir, cwd string) Identity {
	projectDir, cwd = cmp.Or(projectDir, cwd), cmp.Or(cwd, projectDir)
	if projectDir == "" {
		return Identity{}
	}
	projectDir, cwd = absolute(projectDir), absolute(cwd)

	home, found := findWorktree(projectDir, worktree{})
	here, foundHere := home, found
	if cwd != projectDir {
		here, foundHere = findWorktree(cwd, home)
	}
	sameTree := here.root == home.root
	home.root = Resolve(home.root)
	if sameTree {
		here.root = home.root
	} else {
		here.root = Resolve(here.root)
	}

	var id Identity
	if found {
		id.Project = mainRoot(home)
	} else {
		id.Project = Resolve(projectDir)
	}
	if foundHere {
		id.WorktreeRoot = here.root
		id.Branch, id.HeadCommit = here.checkedOut()
		return id
	}
	id.WorktreeRoot = Resolve(cwd)
	if _, ok := below(filepath.ToSlash(id.Project), filepath.ToSlash(id.WorktreeRoot), false); ok {
		id.WorktreeRoot = id.Project
	}
	return id
}

// absolute cleans path and makes it absolute where that is possible; a Windows path stays as it is,
// cleaned, on another system.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && !windowsPath(path) {
		return abs
	}
	return filepath.Clean(path)
}

// Resolve resolves symlinks; "" and paths that do not exist, or cannot be resolved, are returned as
// they are.
func Resolve(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// findWorktree walks up from dir, an absolute path, to the first directory with a usable .git.
// Like git, it skips one that is no git directory (empty, damaged, pruned). known is a
// worktree found before, which is not examined again; the zero value is none.
func findWorktree(dir string, known worktree) (worktree, bool) {
	for {
		if dir == known.root {
			return known, true
		}
		if w, ok := worktreeAt(dir); ok {
			return w, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return worktree{}, false
		}
		dir = parent
	}
}

// worktreeAt returns the worktree whose root is dir; false if dir has no .git, or one whose HEAD
// names neither a ref nor a commit. It does not look above dir.
func worktreeAt(dir string) (worktree, bool) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return worktree{}, false
	}
	gitDir := dotGit
	if !info.IsDir() {
		// A linked worktree or a submodule: the file names the git directory.
		target, ok := strings.CutPrefix(readSmall(dotGit), "gitdir:")
		if target = strings.TrimSpace(target); !ok || target == "" {
			return worktree{}, false
		}
		gitDir = inDir(dir, target)
	}
	head := readSmall(filepath.Join(gitDir, "HEAD"))
	if _, _, ok := parseHead(head); !ok {
		return worktree{}, false
	}
	return worktree{root: dir, gitDir: gitDir, head: head}, true
}

// mainRoot returns the main worktree's root for w, whose root is resolved: its own unless w is a
// linked worktree. That of a bare repository is the repository's directory.
func mainRoot(w worktree) string {
	common, linked := w.commonDir()
	if !linked {
		return w.root
	}
	common = Resolve(common)
	// .bare is where people put a bare repository whose worktrees lie beside it.
	if name := filepath.Base(common); name == ".git" || name == ".bare" {
		return filepath.Dir(common)
	}
	// A submodule's git directory lies in its parent's and names its worktree.
	if tree := coreWorktree(readLimited(filepath.Join(common, "config"), maxConfig)); tree != "" {
		return Resolve(inDir(common, tree))
	}
	// A bare repository has no main worktree; its own directory is what its
	// linked worktrees share.
	return common
}

// commonDir returns the git directory that w's refs are in, and whether w is a
// linked worktree.
func (w worktree) commonDir() (string, bool) {
	if filepath.Base(w.gitDir) == ".git" {
		return w.gitDir, false // only linked worktrees have the file
	}
	common := readSmall(filepath.Join(w.gitDir, "commondir"))
	if common == "" {
		return w.gitDir, false
	}
	return inDir(w.gitDir, common), true
}

// CommonDir returns the git directory that holds the refs of the worktree at root, ""
// when root is none.
func CommonDir(root string) string {
	w, ok := worktreeAt(root)
	if !ok {
		return ""
	}
	dir, _ := w.commonDir()
	return dir
}

// inDir resolves a path that a file of git names relative to dir.
func inDir(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
