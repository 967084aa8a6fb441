package books

import (
	"context"
	"slices"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// smallClaim is the size of payloads in bytes below which their deletion is a db.Job that is Small.
const smallClaim = 4 << 20

// Confirm implements queue.Storage: in one transaction it stores the outcome's records, books
// the claim's events as processed and deletes their payloads, except those that Unread names,
// which are kept for a model. It fills in what the outcome's records lack
// (session, project, times) and, once it is committed, their ids in place; an
// observation that repeats a stored one gets that one's id. A second Confirm of
// the same claim fails with CodeConflict and stores nothing.
func (s *Keeper) Confirm(ctx context.Context, claim memory.Claim, outcome memory.Outcome) error {
	// Worked on in copies: a failed transaction must leave the caller's records as
	// they were.
	observations := slices.Clone(outcome.Observations)
	summaries := slices.Clone(outcome.Summaries)
	learnings := slices.Clone(outcome.Learnings)
	bytes := 0
	for i := range claim.Events {
		bytes += claim.Events[i].Event.Bytes()
	}
	err := s.Write(ctx, "confirm claim", db.Job{KeepsSessions: true, Small: bytes < smallClaim, Run: func(t *db.Tx) {
		ids := heldEvents(t, &claim)
		if t.Err() != nil {
			return
		}
		number := importOf(t, ids)
		if number != 0 {
			db.Importing(t, number)
		}
		followMerge(t, &claim.Session, observations, learnings)
		markUnread(t, &claim, ids, outcome.Unread)
		finishEvents(t, ids)
		noteFates(t, &claim)
		noteEffort(t, &claim)
		for i := range observations {
			records.AddObservation(t, &claim.Session, &observations[i])
		}
		for i := range summaries {
			records.AddSummary(t, &claim.Session, &summaries[i])
		}
		for i := range learnings {
			records.AddLearning(t, &claim.Session, &learnings[i])
		}
		made := memory.Outcome{Observations: observations, Summaries: summaries, Learnings: learnings}
		noteUnreadRecords(t, &claim, outcome.Unread, &made)
		records.KeepForeign(t, claim.Session.ID, outcome.Foreign)
		records.FoldSymbols(t, &claim.Session, outcome.Symbols)
		if number != 0 {
			db.Importing(t, 0)
		}
	}})
	if err != nil {
		return err
	}
	copy(outcome.Observations, observations)
	copy(outcome.Summaries, summaries)
	copy(outcome.Learnings, learnings)
	return nil
}

// finishEvents books events as processed and deletes their payloads. processed_seq numbers them
// in the order of ids, after all that were confirmed before, without a gap.
func finishEvents(t *db.Tx, ids []int64) {
	t.Count(counterProcessedSeq, len(ids))
	last := t.Number("SELECT value FROM counters WHERE name = 'processed_seq'")
	finished := db.JSONList(ids)
	t.Exec(`UPDATE events SET outcome = 'processed', processed_at = ?1, processed_seq = ?2 + j.key
		FROM json_each(?3) j WHERE events.id = j.value`, int64(t.Now()), last-int64(len(ids))+1, finished)
	t.Exec("DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?))", finished)
}

// followMerge gives the records of a claim the project of their session as it is stored: the
// project may have been merged into another one since the claim.
func followMerge(t *db.Tx, claimed *memory.Session, observations []memory.Observation, learnings []memory.Learning) {
	var project string
	t.Row("SELECT project FROM sessions WHERE id = ?", []any{int64(claimed.ID)}, &project)
	if project == claimed.ProjectPath {
		return
	}
	for i := range observations {
		if observations[i].ProjectPath == claimed.ProjectPath {
			observations[i].ProjectPath = project
		}
	}
	for i := range learnings {
		if learnings[i].ProjectPath == claimed.ProjectPath {
			learnings[i].ProjectPath = project
		}
	}
	claimed.ProjectPath = project
}
