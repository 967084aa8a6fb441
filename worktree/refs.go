package worktree

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPointer bounds the files of one line that lead to a git directory, in bytes.
const maxPointer = 4 << 10

// commonDir returns the directory of a worktree's repository that holds its refs, ""
// for none. It is used only to see whether a cached answer still holds.
func commonDir(root string) string {
	dir := filepath.Join(root, ".git")
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if !info.IsDir() { // a linked worktree or a submodule
		target, ok := strings.CutPrefix(pointer(dir), "gitdir:")
		if !ok {
			return ""
		}
		dir = below(root, strings.TrimSpace(target))
	}
	if common := pointer(filepath.Join(dir, "commondir")); common != "" {
		dir = below(dir, common)
	}
	return dir
}

// shallow reports whether the history of a repository was cut off.
func shallow(common string) bool {
	info, err := os.Stat(filepath.Join(common, "shallow"))
	return err == nil && info.Size() > 0
}

// refState tells by times and sizes of files whether a branch was moved, made or
// deleted: of its own files, of the list of packed refs, and of the directory of
// branches, where most others are.
type refState [4]struct {
	written int64 // nanoseconds
	size    int64
}

// stateOf looks at a branch, "" for none; the name is one that branchName accepts.
func stateOf(common, branch string) refState {
	var s refState
	names := []string{"packed-refs", "refs/heads"}
	if branch != "" {
		names = append(names, "refs/heads/"+branch, "refs/remotes/origin/"+branch)
	}
	for i, name := range names {
		if info, err := os.Stat(filepath.Join(common, filepath.FromSlash(name))); err == nil {
			s[i].written, s[i].size = info.ModTime().UnixNano(), info.Size()
		}
	}
	return s
}

func below(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// pointer reads a file of one line, "" when it is none.
func pointer(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	content, err := io.ReadAll(io.LimitReader(f, maxPointer))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
