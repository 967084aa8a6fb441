package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// sessionWhere returns the session s that a condition selects; sql.ErrNoRows when there is none.
func sessionWhere(ctx context.Context, q db.Querier, condition string, args ...any) (memory.Session, error) {
	var s memory.Session
	err := q.QueryRowContext(ctx, "SELECT "+SessionRecord.read+" FROM sessions s WHERE "+condition, args...).Scan(SessionRecord.fields(&s)...)
	return s, err
}

// SessionColumns are the columns of a session s, SessionFields their destinations.
func SessionColumns() string                { return SessionRecord.read }
func SessionFields(s *memory.Session) []any { return SessionRecord.fields(s) }

// SessionByID reads a session; sql.ErrNoRows when there is none.
func SessionByID(ctx context.Context, q db.Querier, id memory.SessionID) (memory.Session, error) {
	return sessionWhere(ctx, q, "s.id = ?", int64(id))
}

// Session returns a session by its number, with its title (Entitle); CodeNotFound when there is none.
func (s *Records) Session(ctx context.Context, id memory.SessionID) (session memory.Session, err error) {
	defer db.Wrap(&err, "read session")
	if session, err = SessionByID(ctx, s.Reader, id); err == nil {
		err = Entitle(ctx, s.Reader, &session)
	}
	return session, err
}

// SessionByHost implements block.Source: the session that a host knows by this id; CodeNotFound
// when there is none.
func (s *Records) SessionByHost(ctx context.Context, host memory.Host, hostSessionID string) (session memory.Session, err error) {
	defer db.Wrap(&err, "read session")
	return sessionWhere(ctx, s.Reader, "s.host = ? AND s.host_session_id = ?", string(host), hostSessionID)
}

// OpenSession returns the host of the open session with an id that its host gave
// it, the one last worked in where several hosts have it; "" when there is none.
func (s *Records) OpenSession(ctx context.Context, hostSessionID string) (memory.Host, error) {
	host, err := db.Value[memory.Host](ctx, s.Reader, `SELECT host FROM sessions
		WHERE status = 'active' AND host_session_id = ? ORDER BY updated_at DESC, id DESC LIMIT 1`, hostSessionID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return host, db.Fault("find open session", err)
}

// ReadBatch reads into b what its events are distilled with: the prompts and the stored
// observations of their turns (Prompts, Earlier), and those nearby that were created up to a
// time (Nearby, NearbySymbols). Without events it reads nothing.
func (s *Records) ReadBatch(ctx context.Context, q db.Querier, b *memory.Batch, at memory.Millis) error {
	if len(b.Events) == 0 {
		return nil
	}
	from, to := b.Events[0].PromptNumber, b.Events[0].PromptNumber
	for i := range b.Events {
		from, to = min(from, b.Events[i].PromptNumber), max(to, b.Events[i].PromptNumber)
	}
	if err := readTurns(ctx, q, b, from, to); err != nil {
		return err
	}
	return s.readNearby(ctx, q, b, at)
}

// readTurns reads the prompts with numbers from..to and the observations that were
// stored for them into b.
func readTurns(ctx context.Context, q db.Querier, b *memory.Batch, from, to int) (err error) {
	b.Prompts, _, err = read(ctx, q, PromptRecord, "prompts r", "r.session_id = ? AND r.number BETWEEN ? AND ? ORDER BY r.number", int64(b.Session.ID), from, to)
	if err != nil {
		return err
	}
	b.Earlier, err = readObservations(ctx, q, "observations r INDEXED BY observations_turn",
		"r.session_id = ? AND r.prompt_number BETWEEN ? AND ? AND r.deleted_at IS NULL ORDER BY r.prompt_number, r.id", int64(b.Session.ID), from, to)
	return err
}

// SessionSummaries implements block.Source: the newest first; all of them when limit is 0.
func (s *Records) SessionSummaries(ctx context.Context, session memory.SessionID, limit int) (summaries []memory.Summary, err error) {
	defer db.Wrap(&err, "list summaries")
	return newestSummaries(ctx, s.Reader, session, limit, false)
}

// newestSummaries reads a session's summaries, the newest first. holding leaves out turns all of
// whose observations the session itself has superseded, or are of another project.
func newestSummaries(ctx context.Context, q db.Querier, session memory.SessionID, limit int, holding bool) ([]memory.Summary, error) {
	summaries, _, err := read(ctx, q, SummaryRecord, "session_summaries r", `r.session_id = ? AND NOT (? AND EXISTS (SELECT 1 FROM observations o INDEXED BY observations_turn
			LEFT JOIN observations n ON n.id = o.superseded_by AND n.session_id = o.session_id
			WHERE o.session_id = r.session_id AND o.prompt_number = r.prompt_number AND o.deleted_at IS NULL
			GROUP BY o.prompt_number HAVING count(iif(o.project = r.project, n.id, 0)) = count(*)))
		ORDER BY r.prompt_number DESC, r.id DESC LIMIT +?`, int64(session), holding, db.SQLLimit(limit))
	return summaries, err
}

// TouchSession moves a known session's updated_at to now, as when a host resumes
// it, and reports whether it is known. It opens nothing: a forked session comes
// with the id of the one it was forked from.
func (s *Records) TouchSession(ctx context.Context, host memory.Host, hostSessionID string) (known bool, err error) {
	return db.InJob(ctx, s.DB, "touch session", db.Job{}, func(t *db.Tx) (bool, error) {
		n := t.Exec("UPDATE sessions SET updated_at = max(updated_at, ?) WHERE host = ? AND host_session_id = ?",
			int64(t.Now()), string(host), hostSessionID)
		return n > 0, nil
	})
}

// lastSession is the name for the newest session.
const lastSession = "last"

// maxSessionName bounds what is looked for, in bytes: hosts' names have 36, and
// what is longer is no name of anything.
const maxSessionName = 512

// SessionNamed finds a session by what people call it: its number (12, S12), the host's
// name for it or the beginning of that, its ULID, or "last", the newest conversation of
// the project (root or label; "" for all). The other names are looked for in all
// projects. CodeNotFound when there is none, CodeInvalid when there are several or the
// name is empty or too long.
func (s *Records) SessionNamed(ctx context.Context, name, project string) (memory.Session, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return memory.Session{}, memory.Errorf(memory.CodeInvalid, "no session is named").WithHint(sessionNames)
	case len(name) > maxSessionName:
		return memory.Session{}, memory.Errorf(memory.CodeInvalid, "the name of a session has at most %d bytes", maxSessionName).WithHint(sessionNames)
	case strings.EqualFold(name, lastSession):
		recent, err := s.RecentSessions(ctx, project, 1)
		if err != nil {
			return memory.Session{}, err
		}
		if len(recent) == 0 {
			return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session yet").
				WithHint("`claude-mem sessions --all` lists those of all projects")
		}
		return recent[0].Session, nil
	}
	found, err := db.InSnapshot(ctx, s.DB, "find session", func(q db.Querier) ([]memory.SessionID, error) { return sessionsNamed(ctx, q, name) })
	if err != nil {
		return memory.Session{}, err
	}
	switch len(found) {
	case 0:
		return memory.Session{}, memory.Errorf(memory.CodeNotFound, "there is no session %.40q", name).
			WithHint("`claude-mem sessions --all` lists them; one in an excluded project is not recorded")
	case 1:
		return s.Session(ctx, found[0])
	}
	names := collect.Map(found[:min(len(found), namedShown)], func(id memory.SessionID) string { return fmt.Sprintf("S%d", id) })
	if len(found) > namedShown {
		names = append(names, "…")
	}
	return memory.Session{}, memory.Errorf(memory.CodeInvalid, "%.40q names several sessions", name).
		WithHint("they are " + strings.Join(names, ", ") + ": add characters, or take the number")
}

const (
	sessionNames = "a session is 12, S12, the host's name for it or the beginning of that, its ULID, or last"
	// namedShown bounds the sessions listed for an ambiguous name.
	namedShown = 5
)

// sessionsNamed tries the ways to name a session, the exact ones first; more than
// namedShown+1 are not looked for.
func sessionsNamed(ctx context.Context, q db.Querier, name string) ([]memory.SessionID, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(name, "S"), "s")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
		if found, err := sessionIDs(ctx, q, "id = ?", n); err != nil || len(found) > 0 {
			return found, err
		}
	}
	for _, way := range []struct{ condition, value string }{
		{"ulid = ?", strings.ToUpper(name)},
		{"host_session_id = ?", name},
		// Whatever characters it has, none of them means anything but itself.
		{"instr(host_session_id, ?) = 1", name},
	} {
		if found, err := sessionIDs(ctx, q, way.condition, way.value); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

func sessionIDs(ctx context.Context, q db.Querier, condition string, value any) ([]memory.SessionID, error) {
	return db.Column[memory.SessionID](ctx, q, "SELECT id FROM sessions WHERE "+condition+" ORDER BY id DESC LIMIT +?", value, namedShown+1)
}

// said is the condition that session s has an event or an observation.
const said = "(s.event_count > 0 OR EXISTS (SELECT 1 FROM observations o WHERE o.session_id = s.id))"

// RecentSessions implements block.Source: the sessions last worked in, the latest first, with up to
// 6 of their newest summaries as Turns, but of turns that the session itself took back. The project
// is a root path or a label. What was written by hand outside of any session is none of them.
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
// with as many of their newest summaries as turns says: 1 is for Summary alone, more for Turns, too,
// and then without what the session took back. The page's sessions are selected first, so that the
// rest is looked up for these alone.
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
			FROM sessions s WHERE s.id IN (SELECT s.id FROM sessions s WHERE `+c.text()+` ORDER BY s.updated_at DESC, s.id DESC LIMIT +? OFFSET +?)
			ORDER BY s.updated_at DESC, s.id DESC`, append(c.args, db.SQLLimit(q.Limit), max(q.Offset, 0))...)
		for i := range digests {
			if err := Entitle(ctx, reader, &digests[i].Session); err != nil {
				return nil, err
			}
			summaries, err := newestSummaries(ctx, reader, digests[i].Session.ID, turns, turns > 1)
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
