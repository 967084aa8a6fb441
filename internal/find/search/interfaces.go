package search

import (
	"context"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"
)

// Records reads the records. The store implements it, and fakeMemory in the tests, which search
// without a database.
type Records interface {
	// ProjectOf returns the project that what is done in a path belongs to.
	ProjectOf(ctx context.Context, path string) (string, error)
	// ProjectsNamed returns the root paths of the projects that a root path or a label means.
	ProjectsNamed(ctx context.Context, name string) ([]string, error)
	// RecordsByRefs reads records in the order asked for; those that are gone or
	// hidden are left out. Hits have no score.
	RecordsByRefs(ctx context.Context, refs ...memory.RecordRef) ([]memory.Hit, error)
	// Documents reads records as they are searched, in the order asked for; those that are gone or
	// hidden are left out.
	Documents(ctx context.Context, refs ...memory.RecordRef) ([]memory.Document, error)
	// FilterRecords lists the records that pass the filter, the newest first (or the
	// oldest), from q.Offset, at most q.Limit (0: all).
	FilterRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind, order memory.Order) ([]memory.RecordRef, error)
	// CountRecords counts them.
	CountRecords(ctx context.Context, q memory.Query, kinds []memory.RecordKind) (int, error)
	// Around lists records of all kinds before and after a moment, the oldest first;
	// ref, when its ID is not 0, stands between them and is in neither.
	Around(ctx context.Context, project string, at memory.Millis, ref memory.RecordRef, before, after int) (earlier, later []memory.TimelineItem, err error)
	// Superseding returns, for those of the observations that are superseded and for what
	// supersedes them and is superseded in turn, the one that did it.
	Superseding(ctx context.Context, ids ...memory.ObservationID) (map[memory.ObservationID]memory.ObservationID, error)
	// ObservationsNaming lists for each of the paths the newest observations that have it among
	// their files, at most limit, of all projects and with hidden ones. A path that none has is
	// left out.
	ObservationsNaming(ctx context.Context, paths []string, limit int) (map[string][]memory.ObservationID, error)
	// WorkingFiles lists the files that a session has read and edited, the latest first.
	WorkingFiles(ctx context.Context, session memory.SessionID, limit int) ([]string, error)
	Session(ctx context.Context, id memory.SessionID) (memory.Session, error)
}

// Index ranks records; package index has it.
type Index interface {
	// Rank returns the records that fit the text best.
	Rank(ctx context.Context, r index.Request) (index.Answer, error)
	// Syntax returns the records that match a full-text expression, the best first;
	// CodeInvalid when it is none.
	Syntax(ctx context.Context, expression string, f index.Filter, limit int) (index.Answer, error)
}
