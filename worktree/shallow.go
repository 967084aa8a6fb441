package worktree

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPointer bounds the files of one line that lead to a git directory, in bytes.
const maxPointer = 4 << 10

// shallow reports whether the history of a worktree's repository was cut off.
func shallow(root string) bool {
	dir := filepath.Join(root, ".git")
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if !info.IsDir() { // a linked worktree or a submodule
		target, _ := strings.CutPrefix(pointer(dir), "gitdir:")
		dir = below(root, strings.TrimSpace(target))
	}
	if common := pointer(filepath.Join(dir, "commondir")); common != "" {
		dir = below(dir, common)
	}
	info, err = os.Stat(filepath.Join(dir, "shallow"))
	return err == nil && info.Size() > 0
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
