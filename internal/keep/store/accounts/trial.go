package accounts

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

const latestTrial = "SELECT id, share, placebo, moments, secret, started_at, ended_at FROM trials ORDER BY id DESC LIMIT 1"

// counterPlace begins the counter of when a place was switched; its state, the place and the project follow.
const counterPlace = "place:"

// Trial returns the latest trial, the zero value before the first.
func (s *Accounts) Trial(ctx context.Context) (t memory.Trial, err error) {
	defer db.Wrap(&err, "read trial")
	for range db.Select(ctx, s.Reader, &err, latestTrial).Into(&t.ID, &t.Share, &t.Placebo, &t.Moments, &t.Secret, &t.StartedAt, &t.EndedAt) {
	}
	if t.ID != 0 && err == nil {
		t.Places, err = db.Pairs[string, memory.Millis](ctx, s.Reader, "SELECT substr(name, ?2), value FROM counters WHERE substr(name, 1, ?2 - 1) = ?1",
			counterPlace, len(counterPlace)+1)
	}
	return t, err
}

// forkedOf selects the arm of the start of which session ?2 of host ?1 is the fork: it has none of its own, as Claude Code starts a
// fork under the name of the original and names it from its first prompt on. ?3 is when the trial began.
const forkedOf = `SELECT coalesce((SELECT i.arm FROM sessions s JOIN injections i ON i.host = s.host AND i.project = s.project AND i.hook_event = '` + sessionStart + `'
	AND i.source = 'resume' AND i.arm <> '' AND i.created_at BETWEEN ?3 AND s.started_at WHERE s.host = ?1 AND s.host_session_id = ?2 AND NOT EXISTS (SELECT 1 FROM injections o
	WHERE o.host = s.host AND o.host_session_id = s.host_session_id AND o.hook_event = '` + sessionStart + `' AND o.created_at <= s.started_at) ORDER BY i.created_at DESC LIMIT 1), '')`

// TrialOf is Trial for a session, with Lifted and Forked.
func (s *Accounts) TrialOf(ctx context.Context, host memory.Host, session string) (memory.Trial, error) {
	t, err := s.Trial(ctx)
	if err == nil && t.ID != 0 {
		t.Lifted, err = db.Value[bool](ctx, s.Reader, `SELECT EXISTS (SELECT 1 FROM injections WHERE host = ? AND host_session_id = ? AND hook_event = '`+sessionStart+`'
			AND source = '`+memory.SourceNow+`')`, string(host), session)
	}
	if err == nil && t.Runs() {
		t.Forked, err = db.Value[memory.Arm](ctx, s.Reader, forkedOf, string(host), session, int64(t.StartedAt))
	}
	return t, db.Fault("read trial", err)
}

// BeginTrial begins a trial with the shares of begun and a new secret. CodeConflict while one runs.
func (s *Accounts) BeginTrial(ctx context.Context, begun memory.Trial) (memory.Trial, error) {
	return db.InKeeping(ctx, s.DB, "begin trial", func(t *db.Tx) (memory.Trial, error) {
		begun.Secret, begun.StartedAt = make([]byte, 32), t.Now()
		_, _ = rand.Read(begun.Secret) // it never fails
		if t.Number("SELECT EXISTS (SELECT 1 FROM trials WHERE ended_at = 0)") != 0 {
			return memory.Trial{}, memory.Errorf(memory.CodeConflict, "an experiment is running").WithHint("`claude-mem experiment off` ends it")
		}
		begun.ID = t.Insert("INSERT INTO trials (share, placebo, moments, secret, started_at) VALUES (?, ?, ?, ?, ?)", begun.Share, begun.Placebo, begun.Moments, begun.Secret, int64(begun.StartedAt))
		t.Exec("DELETE FROM counters WHERE name GLOB ?", counterPlace+"*")
		return begun, nil
	})
}

// SetPlace stores that a place of a project is in a state from now on, or with project "" the place of all projects.
func (s *Accounts) SetPlace(ctx context.Context, state, place, project string) error {
	return s.WriteKeeping(ctx, "switch place", func(t *db.Tx) {
		for _, other := range []string{memory.PlaceOff, memory.PlaceOn, memory.PlaceKept} {
			t.Exec("DELETE FROM counters WHERE name = ?", counterPlace+memory.PlaceName(other, place, project))
		}
		t.SetCounter(counterPlace+memory.PlaceName(state, place, project), int64(t.Now()))
	})
}

// EndTrial ends the trial that runs, if one does: from now on every session is given the memory.
func (s *Accounts) EndTrial(ctx context.Context) error {
	return s.Exec(ctx, "end trial", "UPDATE trials SET ended_at = ? WHERE ended_at = 0", int64(s.Now()))
}

// NoteTokens notes the tokens that a session's transcript tells, if the session is of a trial.
func (s *Accounts) NoteTokens(ctx context.Context, session memory.SessionID, tokens int) error {
	return s.WriteKeeping(ctx, "note tokens of a session", func(t *db.Tx) {
		t.Exec("UPDATE event_log SET tokens_out = ? WHERE id = ?", tokens, records.TrialRow(t, session))
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
	// Failed counts the calls that are known to have failed. PassedIn is the prompt, from 1, in which a check passed first,
	// EditedAfter how long after its start a file was edited first, by a tool that is known to edit; 0 for never.
	Failed, PassedIn int
	EditedAfter      time.Duration
	// Reread, Repeated and Reverted count what it did over again (books.Confirm), Tokens are those that its transcript tells;
	// each is -1 if not known.
	Reread, Repeated, Reverted, Tokens int
	// Exposed: it has looked records up by itself, or a person had it given its block.
	Exposed bool
	// Ended is false while it may go on.
	Ended bool
}

// TrialSessions returns the sessions that began from one time on and before another, in the order in
// which they ended. One without an event since idle has ended; one without a prompt is none.
func (s *Accounts) TrialSessions(ctx context.Context, from, to, idle memory.Millis) (list []TrialSession, err error) {
	defer db.Wrap(&err, "list sessions of a trial")
	var one TrialSession
	var prompts, tools string
	for range db.Select(ctx, s.Reader, &err, `SELECT s.project,
			coalesce((SELECT arm FROM injections i WHERE i.host = s.host AND i.host_session_id = s.host_session_id AND i.arm <> '' AND i.hook_event = '`+sessionStart+`' ORDER BY i.created_at LIMIT 1), ''),
			(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten') AND e.kind = 'tool'),
			(SELECT count(*) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten') AND e.result = 'failed'),
			(SELECT coalesce(min(e.prompt_number), 0) FROM events e WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten') AND e.result = 'passed'),
			(SELECT json_group_object(tool_name, after) FROM (SELECT e.tool_name, min(e.occurred_at) - s.started_at AS after FROM events e
				WHERE e.session_id = s.id AND e.outcome IN ('processed', 'skipped', 'forgotten') AND e.kind = 'tool' GROUP BY e.tool_name)),
			(SELECT json_group_array(text) FROM (SELECT substr(text, 1, 400) AS text FROM prompts p WHERE p.session_id = s.id ORDER BY p.number)),
			EXISTS (SELECT 1 FROM event_log l WHERE l.session_id = s.id AND l.event_type = 'lookup')
				OR EXISTS (SELECT 1 FROM injections i WHERE i.host = s.host AND i.host_session_id = s.host_session_id AND i.source = 'now'),
			s.status <> 'active' OR s.last_event_at < ?3, coalesce(`+records.OfTrial("data")+` ->> 'reread', -1), coalesce(`+records.OfTrial("data")+` ->> 'repeated', -1),
			coalesce(`+records.OfTrial("data")+` ->> 'reverted', -1), coalesce(nullif(`+records.OfTrial("tokens_out")+`, 0), -1)
		FROM sessions s WHERE s.started_at >= ?1 AND s.started_at < ?2 AND s.prompt_count > 0 ORDER BY s.last_event_at, s.id`, int64(from), int64(to), int64(idle)).
		Into(&one.Project, &one.Arm, &one.Calls, &one.Failed, &one.PassedIn, &tools, &prompts, &one.Exposed, &one.Ended,
			&one.Reread, &one.Repeated, &one.Reverted, &one.Tokens) {
		one.Prompts, one.EditedAfter = nil, 0
		first := map[string]int64{} // in milliseconds after the start, by tool
		if err := errors.Join(json.Unmarshal([]byte(prompts), &one.Prompts), json.Unmarshal([]byte(tools), &first)); err != nil {
			return nil, err
		}
		for name, after := range first {
			edits := toolcall.ParseInput(&memory.Event{Kind: memory.KindTool, ToolName: name}).Tool == toolcall.ToolEdit
			if after := time.Duration(after) * time.Millisecond; edits && (one.EditedAfter == 0 || after < one.EditedAfter) {
				one.EditedAfter = after
			}
		}
		list = append(list, one)
	}
	return list, err
}
