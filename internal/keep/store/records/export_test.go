package records

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Hide marks an observation as deleted.
func (s *Records) Hide(id int64) error {
	return s.Write(context.Background(), "hide", db.Job{Run: func(t *db.Tx) {
		t.Exec("UPDATE observations SET deleted_at = 1 WHERE id = ?", id)
	}})
}

// PagePlan and CountPlan explain how a filter's page and its count are answered;
// rare says whether few observations have the files.
func (s *Records) PagePlan(q memory.Query, kinds []memory.RecordKind, o Order, rare bool) (string, error) {
	return s.filterPlan(q, kinds, o, rare, func(sources []source) (string, []any) { return pageQuery(sources, o, 20, 0) })
}

func (s *Records) CountPlan(q memory.Query, kinds []memory.RecordKind) (string, error) {
	return s.filterPlan(q, kinds, newest, true, countQuery)
}

// FilterWide is FilterRecords that takes every file for one that is everywhere.
func (s *Records) FilterWide(ctx context.Context, q memory.Query, kinds []memory.RecordKind) ([]memory.RecordRef, error) {
	f, err := s.resolveFilter(ctx, s.Reader, q, kinds)
	if err != nil {
		return nil, err
	}
	sources, err := f.sources(ctx, s.Reader, newest, filesNone)
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit == 0 {
		limit = 1 << 30
	}
	return page(ctx, s.Reader, sources, newest, limit, q.Offset)
}

// AroundPlan explains both sides of a timeline.
func (s *Records) AroundPlan(project string, ref memory.RecordRef) (string, error) {
	plans := ""
	for _, o := range []Order{newest, oldest} {
		plan, err := s.filterPlan(memory.Query{Project: project}, nil, newest, true, func(sources []source) (string, []any) {
			return pageQuery(beyond(sources, o, 1, ref), o, 10, 0)
		})
		if err != nil {
			return "", err
		}
		plans += plan
	}
	return plans, nil
}

// Order and its values are the orders of lists.
type Order = order

const (
	Newest       = newest
	Oldest       = oldest
	PinnedNewest = pinnedNewest
)

func (s *Records) filterPlan(q memory.Query, kinds []memory.RecordKind, o Order, rare bool, build func([]source) (string, []any)) (string, error) {
	ctx := context.Background()
	f, err := s.resolveFilter(ctx, s.Reader, q, kinds)
	if err != nil {
		return "", err
	}
	how := filesNone
	if rare {
		how = filesWhenRare
	}
	sources, err := f.sources(ctx, s.Reader, o, how)
	if err != nil {
		return "", err
	}
	query, args := build(sources)
	return s.Plan(query, args...)
}

// Plan explains how a query is answered.
func (s *Records) Plan(query string, args ...any) (string, error) {
	rows, err := s.Reader.Query("EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	plan := ""
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", err
		}
		plan += detail + "\n"
	}
	return plan, rows.Err()
}
