package block

import (
	"context"

	"claudemem/internal/memory"
)

// Source is the memory that a context block is built from; the worker and the
// read-only fall-back each have one. The store implements it, and fakeMemory in the tests,
// which fails and waits as it is told.
type Source interface {
	// SessionByHost finds a session by the host's name for it; CodeNotFound when there is none.
	SessionByHost(ctx context.Context, host memory.Host, hostSessionID string) (memory.Session, error)
	// RecentSessions lists a project's sessions, the most recently updated first;
	// sessions in which nothing was said or done yet are left out.
	RecentSessions(ctx context.Context, projectPath string, limit int) ([]memory.SessionDigest, error)
	// RecentSymbols lists what the last sessions of a project that changed a function or
	// type changed, the latest first. The session except is left out unless it is 0.
	RecentSymbols(ctx context.Context, project string, except memory.SessionID, sessions int) ([]memory.SymbolChange, error)
	// SessionSummaries lists a session's summaries, the newest first.
	SessionSummaries(ctx context.Context, session memory.SessionID, limit int) ([]memory.Summary, error)
	// Observations lists by filter, the newest first, pinned ones ahead.
	Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error)
	// Undistilled returns a function that returns what waits in a session's queue, without
	// claiming it. Its calls, which may be at the same time, share what they read.
	Undistilled() func(ctx context.Context, session memory.SessionID) (memory.Batch, error)
	// LastInjection returns when a session was last given something at SessionStart, 0 if never.
	LastInjection(ctx context.Context, host memory.Host, hostSessionID string) (memory.Millis, error)
	// Totals counts a project's records.
	Totals(ctx context.Context, projectPath string) (memory.Totals, error)
	// Learnings lists what is known of a project, the highest confidence first.
	Learnings(ctx context.Context, q memory.LearningQuery) ([]memory.Learning, error)
}

// HostFiles finds out what a host loads by itself.
type HostFiles interface {
	// Load reads the files that the host of the session loads by itself. The function that
	// it returns names the file that says a line, given in parts: in one statement or each
	// in its own; "" for none. It is nil when there are no files.
	Load(ctx context.Context, r memory.ContextRequest) func(line ...string) string
}

// Distiller makes a summary on the spot of a session whose turns still wait in the queue.
type Distiller interface {
	Distil(ctx context.Context, batch memory.Batch) (memory.Outcome, error)
}
