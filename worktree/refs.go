package worktree

import (
	"os"
	"path/filepath"
)

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
