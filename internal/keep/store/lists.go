package store

import (
	"context"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// said is the condition that session s has an event or an observation.
const said = "(s.event_count > 0 OR EXISTS (SELECT 1 FROM observations o WHERE o.session_id = s.id))"

// RecentSessions implements recall.Source. The project is a root path or a label.
// What was written by hand outside of any session is none of them.
func (s *Store) RecentSessions(ctx context.Context, projectPath string, limit int) ([]memory.SessionDigest, error) {
	return s.digests(ctx, "list recent sessions", memory.Query{Project: projectPath, Limit: limit}, "NOT "+handwritten, recentTurns)
}

// Sessions lists the sessions in which something was said or done, the most
// recently updated first, and those with what was written by hand. Of the query,
// the project, the session, the times (of the last update), the limit (0: all)
// and the offset count.
func (s *Store) Sessions(ctx context.Context, q memory.Query) ([]memory.SessionDigest, error) {
	return s.digests(ctx, "list sessions", q, "1", 1)
}

// CountSessions counts what Sessions lists without a limit.
func (s *Store) CountSessions(ctx context.Context, q memory.Query) (n int, err error) {
	defer wrap(&err, "count sessions")
	c, err := sessionFilter(ctx, s.reader, q)
	if err != nil {
		return 0, err
	}
	return value[int](ctx, s.reader, "SELECT count(*) FROM sessions s WHERE "+c.text(), c.args...)
}

// sessionFilter returns the conditions of a query on sessions s. Sessions without
// events and observations never pass.
func sessionFilter(ctx context.Context, reader querier, q memory.Query) (c conditions, err error) {
	c.and(said)
	if q.Project != "" {
		projects, err := projectsNamed(ctx, reader, q.Project)
		if err != nil {
			return c, err
		}
		c.and(in("s.project", projects))
	}
	if q.Session != 0 {
		c.and("s.id = ?", int64(q.Session))
	}
	c.between("s.updated_at", q.Since, q.Until)
	return c, nil
}

// recentTurns is how many of a session's summaries are read for its line in the block.
const recentTurns = 6

// digests returns the sessions that pass q and an SQL condition, the most recently
// updated first, with as many of their newest summaries. The page's sessions are selected first, so that the rest is looked up
// for these alone.
func (s *Store) digests(ctx context.Context, what string, q memory.Query, condition string, turns int) ([]memory.SessionDigest, error) {
	return inSnapshot(ctx, s, what, func(reader querier) ([]memory.SessionDigest, error) {
		c, err := sessionFilter(ctx, reader, q)
		if err != nil {
			return nil, err
		}
		c.and(condition)
		digests, err := all(ctx, reader, func(d *memory.SessionDigest) []any {
			return append(sessionRecord.fields(&d.Session), &d.LastPrompt, &d.Observations, &d.Undistilled)
		}, "SELECT "+sessionRecord.read+`,
			coalesce((SELECT p.text FROM prompts p WHERE p.session_id = s.id ORDER BY p.number DESC LIMIT 1), ''),
			(SELECT count(*) FROM observations o WHERE o.session_id = s.id AND o.deleted_at IS NULL),
			(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('pending', 'processing'))
			FROM sessions s WHERE s.id IN (SELECT s.id FROM sessions s WHERE `+c.text()+` ORDER BY s.updated_at DESC, s.id DESC LIMIT ? OFFSET ?)
			ORDER BY s.updated_at DESC, s.id DESC`, append(c.args, sqlLimit(q.Limit), max(q.Offset, 0))...)
		for i := range digests {
			summaries, err := newestSummaries(ctx, reader, digests[i].Session.ID, turns)
			if err != nil {
				return nil, err
			}
			if len(summaries) > 0 {
				digests[i].Summary = &summaries[0]
			}
			if turns > 1 {
				digests[i].Turns = summaries
			}
		}
		return digests, err
	})
}

// Projects returns all projects that have sessions with content, the most recently used
// first. The observations of brief ones are not counted, which takes most of the time.
func (s *Store) Projects(ctx context.Context, brief bool) (projects []memory.ProjectDigest, err error) {
	defer wrap(&err, "list projects")
	count := "(SELECT count(*) FROM observations o WHERE o.project = s.project AND o.pinned IN (0, 1) AND o.deleted_at IS NULL)"
	if brief {
		count = "0"
	}
	return all(ctx, s.reader, func(p *memory.ProjectDigest) []any {
		return []any{&p.ProjectPath, &p.Label, &p.Sessions, &p.LastAt, &p.Observations}
	}, `SELECT s.project, s.label, count(*), max(s.updated_at), `+count+`
		FROM sessions s WHERE s.project <> '' AND `+said+`
		GROUP BY s.project ORDER BY max(s.updated_at) DESC, s.project`)
}

// ProjectsNamed implements search.Records: the root paths of the projects that a
// root path or a label means. A name that none has is returned as it is: there
// are no records of it.
func (s *Store) ProjectsNamed(ctx context.Context, name string) (projects []string, err error) {
	defer wrap(&err, "find project")
	return projectsNamed(sqlite.Brief(ctx), s.reader, name)
}

// projectsNamed returns the paths of the projects that name means: the project with this
// path or alias, and the label whose records wait for it; else those with this label, else name
// itself; none for "".
func projectsNamed(ctx context.Context, q querier, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	name, err := aliased(ctx, q, name)
	if err != nil {
		return nil, err
	}
	waiting, err := adoptableLabel(ctx, q, name)
	if err != nil {
		return nil, err
	}
	if waiting != "" {
		return []string{name, waiting}, nil
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
