package accounts

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

const latestTrial = "SELECT id, share, placebo, secret, started_at, ended_at FROM trials ORDER BY id DESC LIMIT 1"

// Trial returns the latest trial, the zero value before the first.
func (s *Accounts) Trial(ctx context.Context) (t memory.Trial, err error) {
	defer db.Wrap(&err, "read trial")
	for range db.Select(ctx, s.Reader, &err, latestTrial).Into(&t.ID, &t.Share, &t.Placebo, &t.Secret, &t.StartedAt, &t.EndedAt) {
	}
	return t, err
}

// BeginTrial begins a trial with shares in percent and a new secret. CodeConflict while one runs.
func (s *Accounts) BeginTrial(ctx context.Context, share, placebo int) (memory.Trial, error) {
	return db.InKeeping(ctx, s.DB, "begin trial", func(t *db.Tx) (memory.Trial, error) {
		begun := memory.Trial{Share: share, Placebo: placebo, Secret: make([]byte, 32), StartedAt: t.Now()}
		_, _ = rand.Read(begun.Secret) // it never fails
		if t.Number("SELECT EXISTS (SELECT 1 FROM trials WHERE ended_at = 0)") != 0 {
			return memory.Trial{}, memory.Errorf(memory.CodeConflict, "an experiment is running").WithHint("`claude-mem experiment off` ends it")
		}
		begun.ID = t.Insert("INSERT INTO trials (share, placebo, secret, started_at) VALUES (?, ?, ?, ?)", share, placebo, begun.Secret, int64(begun.StartedAt))
		return begun, nil
	})
}

// EndTrial ends the trial that runs, if one does: from now on every session is given the memory.
func (s *Accounts) EndTrial(ctx context.Context) error {
	return s.WriteKeeping(ctx, "end trial", func(t *db.Tx) error {
		t.Exec("UPDATE trials SET ended_at = ? WHERE ended_at = 0", int64(t.Now()))
		return nil
	})
}

// TrialSession is what a session shows of the memory's effect.
type TrialSession struct {
	Project string
	// Arm is that of its first start while a trial ran; "" if none did.
	Arm memory.Arm
	// Calls are its tool calls, Prompts its prompts in order.
	Calls   int
	Prompts []string
	// Exposed: it has looked records up by itself.
	Exposed bool
	// Ended is false while it may go on.
	Ended bool
}

// TrialSessions returns the sessions that began from one time on and before another, in the order in
// which they ended. One without an event since idle has ended; one without a prompt is none.
func (s *Accounts) TrialSessions(ctx context.Context, from, to, idle memory.Millis) (list []TrialSession, err error) {
	defer db.Wrap(&err, "list sessions of a trial")
	var one TrialSession
	var prompts string
	for range db.Select(ctx, s.Reader, &err, `SELECT s.project,
			coalesce((SELECT arm FROM injections i WHERE i.host = s.host AND i.host_session_id = s.host_session_id AND i.arm <> '' ORDER BY i.created_at LIMIT 1), ''),
			(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten') AND e.kind = 'tool'),
			(SELECT json_group_array(text) FROM (SELECT substr(text, 1, 400) AS text FROM prompts p WHERE p.session_id = s.id ORDER BY p.number)),
			EXISTS (SELECT 1 FROM event_log l WHERE l.session_id = s.id AND l.event_type = 'lookup'),
			s.status <> 'active' OR s.last_event_at < ?3
		FROM sessions s WHERE s.started_at >= ?1 AND s.started_at < ?2 AND s.prompt_count > 0 ORDER BY s.last_event_at, s.id`, int64(from), int64(to), int64(idle)).
		Into(&one.Project, &one.Arm, &one.Calls, &prompts, &one.Exposed, &one.Ended) {
		one.Prompts = nil
		if err := json.Unmarshal([]byte(prompts), &one.Prompts); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, err
}
