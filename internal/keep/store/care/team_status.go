package care

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// TeamStatus is what is known here of a memory's team.
type TeamStatus struct {
	Member   string        `json:"member"`
	Address  string        `json:"address"`
	Reader   bool          `json:"reader,omitempty"`
	Policies []TeamPolicy  `json:"policies,omitempty"`
	Muted    []string      `json:"muted,omitempty"`
	SyncedAt memory.Millis `json:"synced_at_epoch,omitempty"`
	Behind   int64         `json:"behind,omitempty"`
	Fault    string        `json:"fault,omitempty"`
	Hint     string        `json:"hint,omitempty"`
	Refused  []string      `json:"refused"`
	TeamCounts
}

// TeamPolicy says what is shared of a project.
type TeamPolicy struct {
	Project   string `json:"project"`
	Summaries bool   `json:"summaries,omitempty"`
}

// TeamCounts says how much a memory shares with its team, and has of it.
type TeamCounts struct {
	Shared int `json:"shared"`
	Edited int `json:"edited"`
	Pulled int `json:"pulled"`
	Unsent int `json:"unsent"`
	// Authors are how many records of each author are here.
	Authors []TeamAuthor `json:"authors"`
	// Leaving are the records of this memory that the team has or is about to get, at most mostLeaving, the last one first.
	Leaving []TeamLeaving `json:"leaving"`
}

// TeamAuthor counts the records of a member that are here. LastAt is when the last one was made.
type TeamAuthor struct {
	Member  string        `json:"member"`
	Records int           `json:"records"`
	LastAt  memory.Millis `json:"last_at_epoch"`
}

// TeamLeaving is a record that this member shares, or has edited.
type TeamLeaving struct {
	// RecordRef names a summary by its session.
	memory.RecordRef
	Title   string `json:"title"`
	Project string `json:"project"`
	// Holders are the members who share it.
	Holders []string `json:"shared_by"`
	// How is the act, one of the ways, "" if that is not known.
	How string `json:"how,omitempty"`
	// At is when that was, 0 if it is not known.
	At memory.Millis `json:"at_epoch,omitempty"`
	// Waits says that the server does not have it as it is.
	Waits bool `json:"waits,omitempty"`
}

// The ways by which a record leaves: an act of the person, a policy of its project, an edit of another's record, or another machine of the person.
const (
	byAct       = "share"
	byPolicy    = "policy"
	byEdit      = "edit"
	byElsewhere = "elsewhere"
)

const mostLeaving = 100

// ofRow is the expression for what a row of team_records has of its record: a column of each kind.
func ofRow(observation, learning, summary string) string {
	return "(CASE r.kind WHEN 'observation' THEN (SELECT " + observation + " FROM observations WHERE id = r.id) WHEN 'learning' THEN (SELECT " + learning +
		" FROM learnings WHERE id = r.id) ELSE (SELECT " + summary + " FROM session_summaries WHERE id = r.id) END)"
}

// CountTeam counts the records of the team.
func CountTeam(ctx context.Context, s *Care) (c TeamCounts, err error) {
	defer db.Wrap(&err, "count the team's records")
	c.Authors, c.Leaving = []TeamAuthor{}, []TeamLeaving{}
	var a TeamAuthor
	for range db.Select(ctx, s.Reader, &err, "SELECT value, count(*), coalesce(max("+ofRow("created_at", "created_at", "created_at")+`), 0) FROM team_records r, json_each(r.holders)
		WHERE pulled AND r.id IS NOT NULL GROUP BY value ORDER BY value`).Into(&a.Member, &a.Records, &a.LastAt) {
		c.Authors = append(c.Authors, a)
	}
	if err != nil {
		return c, err
	}
	var l TeamLeaving
	for range db.Select(ctx, s.Reader, &err, "SELECT iif(kind = 'summary', 'session', kind), "+ofRow("r.id", "r.id", "session_id")+", coalesce("+ofRow("title", "content", "completed")+`, ''), project, holders, coalesce(json_extract(state, '$.how'), ''), coalesce(json_extract(state, '$.at'), 0) at, unsent > 0
		FROM team_records r WHERE act IN ('shared', 'edited') AND r.id IS NOT NULL ORDER BY at DESC, r.id DESC LIMIT ?`, mostLeaving).
		Into(&l.Kind, &l.ID, &l.Title, &l.Project, db.ToList(&l.Holders), &l.How, &l.At, &l.Waits) {
		c.Leaving = append(c.Leaving, l)
	}
	if err != nil {
		return c, err
	}
	for range db.Select(ctx, s.Reader, &err, `SELECT count(*) FILTER (WHERE act = 'shared'), count(*) FILTER (WHERE act = 'edited'), count(*) FILTER (WHERE unsent > 0),
		count(*) FILTER (WHERE pulled AND id IS NOT NULL) FROM team_records`).Into(&c.Shared, &c.Edited, &c.Unsent, &c.Pulled) {
	}
	return c, err
}
