package worktree

import (
	"os"
	"path/filepath"
)

// shallow reports whether a repository is a shallow clone: its history ends early.
func shallow(common string) bool {
	info, err := os.Stat(filepath.Join(common, "shallow"))
	return err == nil && info.Size() > 0
}

// refState is the time and size of the files that change when a branch is moved,
// made or deleted: the list of packed refs, the directory of branches, and the
// branch's own files, local and remote.
type refState [4]struct {
	written int64 // nanoseconds
	size    int64
}

// stateOf returns the state of a branch, "" for none. The name is one that
// branchName accepts.
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
