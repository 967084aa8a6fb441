package recall

import (
	"context"

	"claudemem"
)

// Source is the memory that a context block is built from; the worker and the
// read-only fall-back each have one.
type Source interface {
	// SessionByHost finds a session by the host's name for it; CodeNotFound when there is none.
	SessionByHost(ctx context.Context, host claudemem.Host, hostSessionID string) (claudemem.Session, error)
	// RecentSessions lists a project's sessions, the most recently updated first;
	// sessions in which nothing was said or done yet are left out.
	RecentSessions(ctx context.Context, projectPath string, limit int) ([]claudemem.SessionDigest, error)
	// RecentSymbols lists what the last sessions of a project that changed a function or
	// type changed, the latest first. The session except is left out unless it is 0.
	RecentSymbols(ctx context.Context, project string, except claudemem.SessionID, sessions int) ([]claudemem.SymbolChange, error)
	// SessionSummaries lists a session's summaries, the newest first.
	SessionSummaries(ctx context.Context, session claudemem.SessionID, limit int) ([]claudemem.Summary, error)
	// Observations lists by filter, the newest first, pinned ones ahead.
	Observations(ctx context.Context, q claudemem.Query) ([]claudemem.Observation, error)
	// Undistilled returns what waits in a session's queue, without claiming it.
	Undistilled(ctx context.Context, session claudemem.SessionID) (claudemem.Batch, error)
	// LastInjection returns when a session was last given something at SessionStart, 0 if never.
	LastInjection(ctx context.Context, host claudemem.Host, hostSessionID string) (claudemem.Millis, error)
	// Totals counts a project's records.
	Totals(ctx context.Context, projectPath string) (claudemem.Totals, error)
	// Learnings lists what is known of a project, the highest confidence first.
	Learnings(ctx context.Context, q claudemem.LearningQuery) ([]claudemem.Learning, error)
}

// Finder searches for records that are about a text, the best first.
type Finder interface {
	Related(ctx context.Context, r claudemem.RelatedRequest) ([]claudemem.Related, error)
}

// WorkTree compares records with the files and the history at hand.
type WorkTree interface {
	// Compare compares each of files below root with what was recorded of it; the
	// states are in the order of files.
	Compare(ctx context.Context, root string, files []claudemem.FileRef) ([]claudemem.FileState, error)
	// Unmerged returns the branch of each observation whose work is not in
	// c.HeadCommit. Observations that git cannot decide on, or not in time, are left out.
	Unmerged(ctx context.Context, c claudemem.Checkout, observations []claudemem.Observation) (map[claudemem.ObservationID]string, error)
}

// HostFiles finds out what a host loads by itself.
type HostFiles interface {
	// Load reads the files that the host of the session loads by itself. The function that
	// it returns names the file that says a line, given in parts: in one statement or each
	// in its own; "" for none. It is nil when there are no files.
	Load(ctx context.Context, r claudemem.ContextRequest) func(line ...string) string
}

// Given reads what sessions were given already.
type Given interface {
	Shown(ctx context.Context, host claudemem.Host, hostSessionID string) (claudemem.Shown, error)
}

// Distiller makes a summary on the spot of a session whose turns still wait in the queue.
type Distiller interface {
	Distil(ctx context.Context, batch claudemem.Batch) (claudemem.Outcome, error)
}
