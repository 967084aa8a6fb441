// Package repo determines the project of a directory and the branch and commit
// checked out there. It reads the files of .git: running git would cost the hook
// more than all its other work.
//
// Nouns: the project is the main worktree's root of the git repository that
// holds a directory (linked worktrees share it, a submodule is a project of its
// own), else the directory itself; the worktree root is what file paths are
// relative to; branch and HEAD are those of the worktree, not of the project.
//
// Guarantees: no function fails. Unreadable files (a broken .git file, a symlink
// loop, a FIFO, a huge file) count as missing. GIT_DIR and similar variables are
// ignored: they hold for the process that has them, not for the directory in
// question. Roots have their symlinks resolved, so a directory has one name.
//
// Place in the flow: the hook calls Identify for each event; intake calls
// Relative for the paths in it.
package repo
