// Package repo tells which project a directory belongs to and what is checked
// out there. It reads the files of .git itself: a subprocess would cost the hook
// more than everything else it does.
//
// Nouns: the project is the main worktree's root of the git repository that
// holds a directory (linked worktrees share it, a submodule is a project of its
// own), else the directory itself; the worktree root is what file paths are
// relative to; branch and HEAD are those of the worktree, not of the project.
//
// Guarantees: nothing here fails. What cannot be read (a broken .git file, a
// symlink loop, a FIFO, a file of absurd size) is treated as if it was not
// there. GIT_DIR and its kin are ignored: they speak of the process that was
// started with them, not of the directory asked about. Roots come back with
// symlinks resolved, so that a directory has one name however it was reached.
//
// Place in the flow: the hook calls Identify for each event; intake calls
// Relative for the paths in it.
package repo
