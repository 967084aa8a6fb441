package records

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// said is the condition that session s has an event or an observation.
const said = "(s.event_count > 0 OR EXISTS (SELECT 1 FROM observations o WHERE o.session_id = s.id))"

// RecentSessions implements block.Source: the sessions last worked in, the latest first, with
// up to 6 of their newest summaries as Turns. The project is a root path or a label.
// What was written by hand outside of any session is none of them.
func (s *Records) RecentSessions(ctx context.Context, projectPath string, limit int) ([]memory.SessionDigest, error) {
	return s.digests(ctx, "list recent sessions", memory.Query{Project: projectPath, Limit: limit}, "NOT "+handwritten, recentTurns)
}

// Sessions lists the sessions in which something was said or done, the most
// recently updated first, and those with what was written by hand. Of the query,
// the project, the session, the times (of the last update), the limit (0: all)
// and the offset count.
func (s *Records) Sessions(ctx context.Context, q memory.Query) ([]memory.SessionDigest, error) {
	return s.digests(ctx, "list sessions", q, "1", 1)
}

// CountSessions counts what Sessions lists without a limit.
func (s *Records) CountSessions(ctx context.Context, q memory.Query) (n int, err error) {
	defer db.Wrap(&err, "count sessions")
	c, err := sessionFilter(ctx, s.Reader, q)
	if err != nil {
		return 0, err
	}
	return db.Value[int](ctx, s.Reader, "SELECT count(*) FROM sessions s WHERE "+c.text(), c.args...)
}

// sessionFilter returns the conditions of a query on sessions s. Sessions without
// events and observations never pass.
func sessionFilter(ctx context.Context, reader db.Querier, q memory.Query) (c conditions, err error) {
	c.and(said)
	if q.Project != "" {
		projects, err := ProjectsNamed(ctx, reader, q.Project)
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

// digests returns the sessions that pass q and an SQL condition, the most recently updated first,
// with as many of their newest summaries. The page's sessions are selected first, so that the rest
// is looked up for these alone.
func (s *Records) digests(ctx context.Context, what string, q memory.Query, condition string, turns int) ([]memory.SessionDigest, error) {
	return db.InSnapshot(ctx, s.DB, what, func(reader db.Querier) ([]memory.SessionDigest, error) {
		c, err := sessionFilter(ctx, reader, q)
		if err != nil {
			return nil, err
		}
		c.and(condition)
		digests, err := db.All(ctx, reader, func(d *memory.SessionDigest) []any {
			return append(SessionRecord.fields(&d.Session), &d.LastPrompt, &d.Observations, &d.Undistilled)
		}, "SELECT "+SessionRecord.read+`,
			coalesce((SELECT p.text FROM prompts p WHERE p.session_id = s.id ORDER BY p.number DESC LIMIT 1), ''),
			(SELECT count(*) FROM observations o WHERE o.session_id = s.id AND o.deleted_at IS NULL),
			(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('pending', 'processing'))
			FROM sessions s WHERE s.id IN (SELECT s.id FROM sessions s WHERE `+c.text()+` ORDER BY s.updated_at DESC, s.id DESC LIMIT ? OFFSET ?)
			ORDER BY s.updated_at DESC, s.id DESC`, append(c.args, db.SQLLimit(q.Limit), max(q.Offset, 0))...)
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
