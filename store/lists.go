package store

import (
	"context"
	"math"
	"strings"

	"claudemem"
)

// said is a condition on sessions s: that something was said or done in it.
const said = "(s.event_count > 0 OR EXISTS (SELECT 1 FROM observations o WHERE o.session_id = s.id))"

// RecentSessions implements recall.Source. The project is a root path or a label.
// What was written by hand outside of any session is none of them.
func (s *Store) RecentSessions(ctx context.Context, projectPath string, limit int) ([]claudemem.SessionDigest, error) {
	return s.digests(ctx, "list recent sessions", claudemem.Query{Project: projectPath, Limit: limit}, "NOT "+handwritten)
}

// Sessions lists the sessions in which something was said or done, the most
// recently updated first, and those with what was written by hand. Of the query,
// the project, the session, the times (of the last update), the limit (0: all)
// and the offset count.
func (s *Store) Sessions(ctx context.Context, q claudemem.Query) ([]claudemem.SessionDigest, error) {
	return s.digests(ctx, "list sessions", q, "1")
}

// CountSessions counts what Sessions lists without a limit.
func (s *Store) CountSessions(ctx context.Context, q claudemem.Query) (int, error) {
	const what = "count sessions"
	where, args, err := sessionFilter(ctx, s.reader, q)
	if err != nil {
		return 0, fault(what, err)
	}
	n, err := value[int](ctx, s.reader, "SELECT count(*) FROM sessions s WHERE "+where, args...)
	return n, fault(what, err)
}

// sessionFilter returns the SQL condition of a query on sessions s, with its arguments.
// Sessions without events and observations never pass.
func sessionFilter(ctx context.Context, reader querier, q claudemem.Query) (string, []any, error) {
	conditions, args := []string{said}, []any{}
	if q.Project != "" {
		projects, err := projectsNamed(ctx, reader, q.Project)
		if err != nil {
			return "", nil, err
		}
		condition, value := in("s.project", projects)
		conditions, args = append(conditions, condition), append(args, value)
	}
	for _, c := range []struct {
		condition string
		value     int64
	}{{"s.id = ?", int64(q.Session)}, {"s.updated_at >= ?", int64(q.Since)}, {"s.updated_at <= ?", int64(q.Until)}} {
		if c.value != 0 {
			conditions, args = append(conditions, c.condition), append(args, c.value)
		}
	}
	return strings.Join(conditions, " AND "), args, nil
}

// digests lists sessions with what is shown of them. Which ones are on the page is
// found first: the rest, looked up for each, is for these alone.
func (s *Store) digests(ctx context.Context, what string, q claudemem.Query, condition string) ([]claudemem.SessionDigest, error) {
	digests, err := inSnapshot(ctx, s, func(reader querier) ([]claudemem.SessionDigest, error) {
		where, args, err := sessionFilter(ctx, reader, q)
		if err != nil {
			return nil, err
		}
		limit := q.Limit
		if limit <= 0 {
			limit = math.MaxInt32
		}
		digests, err := readDigests(ctx, reader, "SELECT s.id FROM sessions s WHERE "+where+" AND "+condition+
			" ORDER BY s.updated_at DESC, s.id DESC LIMIT ? OFFSET ?", append(args, limit, max(q.Offset, 0))...)
		if err != nil {
			return nil, err
		}
		for i := range digests {
			summaries, _, err := readSummaries(ctx, reader, newestSummary, int64(digests[i].Session.ID), 1)
			if err != nil {
				return nil, err
			}
			if len(summaries) > 0 {
				digests[i].Summary = &summaries[0]
			}
		}
		return digests, nil
	})
	return digests, fault(what, err)
}

// newestSummary is readSummaries' condition for a session's summaries, the newest
// first, up to a limit.
const newestSummary = "session_id = ? ORDER BY prompt_number DESC, id DESC LIMIT ?"

// readDigests returns the sessions whose numbers the SQL in ids gives, the most recently
// updated first.
func readDigests(ctx context.Context, q querier, ids string, args ...any) ([]claudemem.SessionDigest, error) {
	return all(ctx, q, func(d *claudemem.SessionDigest) []any {
		return append(sessionFields(&d.Session), &d.LastPrompt, &d.Observations, &d.Undistilled)
	}, "SELECT "+sessionColumns+`,
		coalesce((SELECT p.text FROM prompts p WHERE p.session_id = s.id ORDER BY p.number DESC LIMIT 1), ''),
		(SELECT count(*) FROM observations o WHERE o.session_id = s.id AND o.deleted_at IS NULL),
		(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('pending', 'processing'))
		FROM sessions s WHERE s.id IN (`+ids+") ORDER BY s.updated_at DESC, s.id DESC", args...)
}

// Projects lists what there are memories of, the most recently used first.
func (s *Store) Projects(ctx context.Context) ([]claudemem.ProjectDigest, error) {
	const what = "list projects"
	projects, err := all(ctx, s.reader, func(p *claudemem.ProjectDigest) []any {
		return []any{&p.ProjectPath, &p.Label, &p.Sessions, &p.LastAt, &p.Observations}
	}, `SELECT s.project, s.label, count(*), max(s.updated_at),
			(SELECT count(*) FROM observations o WHERE o.project = s.project AND o.pinned IN (0, 1) AND o.deleted_at IS NULL)
		FROM sessions s WHERE s.project <> '' AND `+said+`
		GROUP BY s.project ORDER BY max(s.updated_at) DESC, s.project`)
	return projects, fault(what, err)
}

// projectsNamed resolves what people write for a project: its root path, else
// its label, which several may share. None is known: the name itself, of which
// there are no records.
func (s *Store) projectsNamed(ctx context.Context, name string) ([]string, error) {
	return projectsNamed(ctx, s.reader, name)
}

// projectsNamed returns the paths of the projects that name means: the project with this
// path, else those with this label, else name itself; none for "".
func projectsNamed(ctx context.Context, q querier, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	known, err := value[bool](ctx, q, "SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?)", name)
	if err != nil {
		return nil, err
	}
	if known {
		return []string{name}, nil
	}
	projects, err := column[string](ctx, q, "SELECT DISTINCT project FROM sessions WHERE label = ? ORDER BY project", name)
	if err == nil && len(projects) == 0 {
		projects = []string{name}
	}
	return projects, err
}
