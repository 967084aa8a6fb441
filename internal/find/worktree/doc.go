// Package worktree compares records with a working tree: which files have changed
// since they were recorded, and which records were made on a branch whose work is
// not checked out.
//
// A [Tree] answers for any working tree. A checkout is the tree, branch and commit
// of the session that asks.
//
// # Files
//
// Files are compared by the SHA-256 that intake stored, by the same rules: regular
// files of up to 1 MB inside the worktree, links in it resolved. If the comparison
// is not possible, the state is unknown, never "changed". Where a record has the symbols
// that it is about, its file counts as changed only if the code of one of them did;
// comments and formatting are no code.
//
// # Branches
//
// A record is on another branch in two cases:
//
//   - The commit that was checked out when it was made is not in the history of the
//     checkout.
//   - That commit is in the history, but the record was made on another branch, which
//     still exists and whose next commit is not in the history: the work was
//     committed after it was observed. This does not apply to a record that only
//     read files: the same files are here.
//
// The branch that is named is the record's own if it has commits that the checkout
// lacks, else one that contains the commit, local or remote (the branch may have
// been renamed). A commit that no branch contains was amended, rebased, squashed or
// discarded. Git cannot distinguish these cases; mostly the work is in the checkout,
// so such a record is not reported. A record of a branch that was merged as one
// commit is reported until that branch is deleted.
//
// There is no answer, and no error, without git or a repository, for a shallow clone
// or an unknown commit, and when git takes longer than 300 ms.
//
// # Guarantees
//
// The repository is not trusted: no program that its configuration names is run,
// nothing is fetched or written, and no environment variable points git to another
// repository. Of a record, only commit ids and valid branch names reach git, on its
// standard input. Output and time are bounded. A git that takes too long is killed
// with its process group, and waited for.
//
// Place in the flow: recall calls it while it writes a block or a recollection. The
// hook does not use it.
package worktree
