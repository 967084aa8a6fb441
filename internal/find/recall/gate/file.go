package gate

import "claudemem/internal/memory"

// FileEvidence describes how a record relates to a file that was read.
type FileEvidence struct {
	Type   memory.ObservationType
	Pinned bool
	// Changed: the record's work changed the file.
	Changed bool
	// Work is the number of files that the work changed; minor ones (tests, documents,
	// lock files) count only if this file is minor as well.
	Work int
	// Minor: the file is minor and the work changed files that are not.
	Minor bool
	// Record: the file is a manifest or a document.
	Record bool
	// Titled: the title names the file. Accounts: another sentence names it, other than
	// in a list of edited files.
	Titled, Accounts bool
	// Warns, Reasons and Solves are the record's concepts: a gotcha; a trade-off or a
	// reason; a problem and its solution.
	Warns, Reasons, Solves bool
	// Fixed: a bug was fixed, whatever the record's type: its title or a failure that
	// ended says so.
	Fixed bool
	// Open: the record reports a failure that was not fixed. Overcome: it was fixed
	// later.
	Open, Overcome bool
}

// maxWork is the number of files up to which a fix is about each file that it changed.
// The fixes of the recorded sessions and of the labelled reads change one to three
// files; larger work is about a file only if it names the file.
const maxWork = 3

// File reports whether a record matters to an edit of a file that was just read: a bug
// fixed in it, a decision about it, a trap. Routine changes and descriptions of the
// code do not: the file shows them itself.
func File(e FileEvidence) bool {
	if e.Overcome {
		return false
	}
	about := e.Titled || e.Accounts || e.Changed && !e.Minor && !e.Record && e.Work <= maxWork
	written := e.Changed && e.Work == 1 // what was decided was written down there
	switch {
	case e.Pinned:
		return e.Changed || e.Titled || e.Accounts
	case e.Fixed:
		return e.Changed && about && (!e.Minor || e.Titled)
	case e.Type == memory.TypeDecision:
		return about || written
	case e.Type == memory.TypeDiscovery:
		return about && (e.Warns || (e.Reasons || e.Solves) && (e.Titled || e.Accounts))
	default:
		return e.Warns && about
	}
}
