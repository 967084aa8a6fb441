package gate

import "claudemem"

// FileEvidence is what speaks for telling of a record when its file was read.
type FileEvidence struct {
	Type   claudemem.ObservationType
	Pinned bool
	// Changed says that the record's work changed the file.
	Changed bool
	// Work is how many files that work changed in all; when this file is not a minor
	// one, the minor ones (tests, documents, lock files) are not counted.
	Work int
	// Minor says that the file is a minor one and the work changed others as well.
	Minor bool
	// Record says that the file is a manifest or a document.
	Record bool
	// Titled says that the title names the file, Accounts that a sentence elsewhere
	// does that is more than a list of what was edited.
	Titled, Accounts bool
	// Warns, Reasons and Solves are what it says of itself: a gotcha; a trade-off or
	// why something is as it is; a problem and its solution.
	Warns, Reasons, Solves bool
	// Open says that it tells of a failure that nobody overcame, Overcome that this
	// was fixed since.
	Open, Overcome bool
}

// maxWork is how many files a fix may have changed and still be about each of
// them. The fixes of the recorded sessions and of the labelled reads change one to
// three; a work on more is about none in particular, unless it says so.
const maxWork = 3

// File decides whether whoever read a file must know of a record before he edits
// it: a bug that was fixed in it, a decision about it, a trap. Routine changes and
// how things work are not told; the file says that itself.
func File(e FileEvidence) bool {
	if e.Overcome {
		return false
	}
	about := e.Titled || e.Accounts || e.Changed && !e.Minor && !e.Record && e.Work <= maxWork
	written := e.Changed && e.Work == 1 // what was decided was written down there
	switch {
	case e.Pinned:
		return e.Changed || e.Titled || e.Accounts
	case e.Type == claudemem.TypeBugfix:
		return e.Changed && about && (!e.Minor || e.Titled)
	case e.Type == claudemem.TypeDecision:
		return about || written
	case e.Type == claudemem.TypeDiscovery:
		return about && (e.Warns || (e.Reasons || e.Solves) && (e.Titled || e.Accounts))
	default:
		return e.Warns && about
	}
}
