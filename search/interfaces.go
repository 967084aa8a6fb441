package search

import (
	"context"

	"claudemem"
	"claudemem/index"
)

// Records reads the records; the store implements it.
type Records interface {
	// ProjectOf returns the project that what is done in a path belongs to.
	ProjectOf(ctx context.Context, path string) (string, error)
	// ProjectsNamed returns the root paths of the projects that a root path or a label means.
	ProjectsNamed(ctx context.Context, name string) ([]string, error)
	// RecordsByRefs reads records in the order asked for; those that are gone or
	// hidden are left out. Hits have no score.
	RecordsByRefs(ctx context.Context, refs ...claudemem.RecordRef) ([]claudemem.Hit, error)
	// Documents reads records as they are searched, in the order asked for; those that are gone or
	// hidden are left out.
	Documents(ctx context.Context, refs ...claudemem.RecordRef) ([]claudemem.Document, error)
	// FilterRecords lists the records that pass the filter, the newest first (or the
	// oldest), from q.Offset, at most q.Limit (0: all).
	FilterRecords(ctx context.Context, q claudemem.Query, kinds []claudemem.RecordKind, order claudemem.Order) ([]claudemem.RecordRef, error)
	// CountRecords counts them.
	CountRecords(ctx context.Context, q claudemem.Query, kinds []claudemem.RecordKind) (int, error)
	// Around lists records of all kinds before and after a moment, the oldest first;
	// ref, when its ID is not 0, stands between them and is in neither.
	Around(ctx context.Context, project string, at claudemem.Millis, ref claudemem.RecordRef, before, after int) (earlier, later []claudemem.TimelineItem, err error)
	// Superseding returns, for those of the observations that are superseded and for what
	// supersedes them and is superseded in turn, the one that did it.
	Superseding(ctx context.Context, ids ...claudemem.ObservationID) (map[claudemem.ObservationID]claudemem.ObservationID, error)
	// ObservationsNaming lists for each of the paths the newest observations that have it among
	// their files, at most limit, of all projects and with hidden ones. A path that none has is
	// left out.
	ObservationsNaming(ctx context.Context, paths []string, limit int) (map[string][]claudemem.ObservationID, error)
	// WorkingFiles lists the files that a session has read and edited, the latest first.
	WorkingFiles(ctx context.Context, session claudemem.SessionID, limit int) ([]string, error)
	Session(ctx context.Context, id claudemem.SessionID) (claudemem.Session, error)
}

// Index ranks records; package index has it.
type Index interface {
	// Rank returns the records that fit the text best.
	Rank(ctx context.Context, r index.Request) (index.Answer, error)
	// Syntax returns the records that match a full-text expression, the best first;
	// CodeInvalid when it is none.
	Syntax(ctx context.Context, expression string, f index.Filter, limit int) (index.Answer, error)
}
