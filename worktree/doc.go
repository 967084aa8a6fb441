// Package worktree compares what was recorded with the files and the history
// that are at hand: which files are not what they were, and which records were
// made on a branch whose work is not checked out.
//
// Nouns: a [Tree] answers for any working tree; a checkout is the tree, branch
// and commit of whoever asks.
//
// # Files
//
// A file is compared by the SHA-256 that intake took of it, by the same rules:
// up to 1 MB, regular, inside the worktree whatever links lie in it. What cannot
// be known is unknown, never "changed".
//
// # Branches
//
// A record is on another branch when the commit that was checked out when it was
// made is not part of the history of what is checked out now; or when it is, but
// the record was made on another branch that still exists, and the commit that
// followed there is not: the work was committed after it was observed. A record
// that only read files tells of what is here as well, so the second does not hold
// for it.
//
// The branch that is named is the record's own while that has work that is not
// here. Else it is one that contains the commit, local or remote, as after the
// branch was renamed. A commit that no branch contains any more was amended,
// rebased, squashed or thrown away; git cannot tell which, and nothing is said:
// the first three are everyday and their work is here. So a record of a branch
// that was merged as one commit stays labelled until that branch is deleted.
//
// No git, no repository, a shallow one, an unknown commit, a git that takes
// longer than 300 ms: nothing is said, and that is no error.
//
// # What it guarantees
//
// The repository is not trusted: nothing that its configuration names is run,
// nothing is fetched, nothing is written, no variable of the environment leads
// git elsewhere, and of what was recorded only commit ids and names that can be
// branches reach git, on its standard input. Output and time are bounded; a git
// that is late is killed with what it started, and waited for.
//
// Place in the flow: recall asks it while it writes a block or a recollection.
// The hook has no part in it.
package worktree
