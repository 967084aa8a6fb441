package upkeep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

const (
	// hiddenFor is how long what Retain has hidden can still come back.
	hiddenFor = 7 * 24 * time.Hour
	// retainedTogether is the number of records that a commit of Retain hides, restores or
	// erases; arrivals wait meanwhile.
	retainedTogether = 50
)

// Retained counts the records that Retain has hidden, brought back and erased.
type Retained struct{ Hidden, Restored, Erased int }

// retained is a kind of records that are hidden at an age. Prompts and summaries move to
// hidden_records as a list of JSON; observations stay, hidden, and have a mark there.
type retained struct {
	kind memory.RecordKind
	// old selects the numbers of up to ?3 records from before ?1, back those of up to ?3 hidden
	// ones from after it. hide, show and erase are statements for a list of numbers; erase is
	// for hidden records.
	old, back         string
	hide, show, erase []string
}

// waitsInSession is a condition on a record r: an event of its session is not processed yet.
const waitsInSession = `EXISTS (SELECT 1 FROM events e INDEXED BY events_queue WHERE e.session_id = r.session_id AND e.outcome IN ('pending', 'processing'))`

// kept returns the columns of a kind in the order of their lists in hidden_records.
func kept(k *records.Kind) []string { return append([]string{"id"}, k.Hashed...) }

// intoList returns the expression that makes the list in content of columns, and fromList those
// that read them from it. JSON has no place for a packed text.
func intoList(k *records.Kind) string {
	values := kept(k)
	for i, c := range values {
		if slices.Contains(k.Packed, c) {
			values[i] = "unpacked(" + c + ")"
		}
	}
	return "json_array(" + strings.Join(values, ", ") + ")"
}

func fromList(k *records.Kind) string {
	values := kept(k)
	for i, c := range values {
		values[i] = fmt.Sprintf("json_extract(content, '$[%d]')", i)
		if slices.Contains(k.Packed, c) {
			values[i] = "packed(" + values[i] + ")"
		}
		if c == "provenance" { // not in older lists
			values[i] = "coalesce(" + values[i] + ", '')"
		}
	}
	return strings.Join(values, ", ")
}

// promptEvents returns the statement that changes the outcome of the events of prompts: the
// event of a prompt that is hidden is a forgotten one. ?1 lists the numbers of the prompts, which
// have to be in their table. The list of three outcomes is the condition of the index.
func promptEvents(from, to string) string {
	return `UPDATE events INDEXED BY events_of_session SET outcome = '` + to + `'
		WHERE outcome IN ('processed', 'skipped', 'forgotten') AND outcome = '` + from + `' AND kind = 'prompt'
		AND session_id IN (SELECT session_id FROM prompts WHERE id IN (SELECT value FROM json_each(?1)))
		AND (session_id, prompt_number) IN (SELECT session_id, number FROM prompts WHERE id IN (SELECT value FROM json_each(?1)))`
}

// moving returns the statements for a kind whose rows move to hidden_records.
func moving(k *records.Kind) retained {
	kind, table, columns, sums := k.Kind, k.Table, kept(k), records.RowSums[k.Kind]
	return retained{
		kind: kind,
		// One whose text was changed on the disk waits until it is repaired or set aside.
		old: "SELECT r.id FROM " + table + " r" + sums.Join + " WHERE r.created_at < ?1 AND ?2 <> '' AND NOT " + waitsInSession +
			" AND (h.damaged_at IS NOT NULL OR coalesce(h.text = " + sums.Text + ", TRUE)) ORDER BY r.created_at LIMIT ?3",
		back: fmt.Sprintf("SELECT id FROM hidden_records WHERE kind = ?2 AND json_extract(content, '$[%d]') >= ?1 LIMIT ?3", slices.Index(columns, "created_at")),
		hide: []string{
			"INSERT INTO hidden_records (kind, id, erase_at, content) SELECT '" + string(kind) + "', id, ?2, " + intoList(k) + " FROM " + table + " WHERE id IN (SELECT value FROM json_each(?1))",
			"DELETE FROM " + table + " WHERE ?2 AND id IN (SELECT value FROM json_each(?1))",
		},
		show: []string{
			// One that was imported meanwhile is there.
			"INSERT OR IGNORE INTO " + table + " (" + strings.Join(columns, ", ") + ") SELECT " + fromList(k) + " FROM hidden_records WHERE kind = '" + string(kind) + "' AND id IN (SELECT value FROM json_each(?1))",
			unmark(kind),
		},
		erase: []string{unmark(kind)},
	}
}

// unmark is a statement that deletes rows of hidden_records.
func unmark(kind memory.RecordKind) string {
	return "DELETE FROM hidden_records WHERE kind = '" + string(kind) + "' AND id IN (SELECT value FROM json_each(?1))"
}

// retainedKinds are the kinds that get old. What is pinned does not. Conditions on ?2 alone are
// always true: all statements of a step take the same arguments. 253402300799999 is
// memory.LatestTime, and $[2] the session in the list of a prompt (kept).
var retainedKinds = func() []retained {
	prompts := moving(&records.PromptRecord.Kind)
	prompts.hide = append([]string{promptEvents("processed", "forgotten") + " AND ?2"}, prompts.hide...)
	prompts.show = append(prompts.show, promptEvents("forgotten", "processed"))
	prompts.erase = append([]string{`UPDATE sessions SET title = '' WHERE title <> '' AND id IN (SELECT json_extract(content, '$[2]') FROM hidden_records
		WHERE kind = 'prompt' AND id IN (SELECT value FROM json_each(?1))) AND NOT EXISTS (SELECT 1 FROM prompts p WHERE p.session_id = sessions.id)`}, prompts.erase...)
	return []retained{
		{
			kind: memory.RecordObservation,
			old: `SELECT id FROM observations o WHERE pinned = 0 AND deleted_at IS NULL AND created_at < ?1 AND ?2 <> ''
				AND NOT EXISTS (SELECT 1 FROM hidden_records h WHERE h.kind = 'observation' AND h.id = o.id) ORDER BY created_at LIMIT ?3`,
			back: "SELECT h.id FROM hidden_records h JOIN observations o ON o.id = h.id WHERE h.kind = ?2 AND (o.created_at >= ?1 OR o.pinned = 1) LIMIT ?3",
			hide: []string{
				"INSERT INTO hidden_records (kind, id, erase_at, content) SELECT 'observation', value, ?2, '' FROM json_each(?1)",
				"UPDATE observations SET deleted_at = 253402300799999 WHERE ?2 AND id IN (SELECT value FROM json_each(?1))",
			},
			show: []string{"UPDATE observations SET deleted_at = NULL WHERE deleted_at = 253402300799999 AND id IN (SELECT value FROM json_each(?1))", unmark(memory.RecordObservation)},
		},
		prompts,
		moving(&records.SummaryRecord.Kind),
	}
}()

// Retain hides the observations that are not pinned, the prompts and the summaries that are
// older than age, and erases what it has hidden for a week; with a greater age, or 0 for any,
// what is hidden and not erased yet comes back. An observation that somebody has brought back
// by hand stays. Ages are judged by agingTime. It works in small commits; an error leaves
// what was done before it.
func (s *Upkeep) Retain(ctx context.Context, age time.Duration) (r Retained, err error) {
	const what = "retain"
	now, err := db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (memory.Millis, error) { return agingTime(t), nil })
	if err != nil {
		return r, err
	}
	from := memory.Millis(0)
	if age > 0 {
		from = now.Add(-age)
	}
	for i := range retainedKinds {
		k := &retainedKinds[i]
		for _, step := range []struct {
			count *int
			rows  string
			from  memory.Millis
			do    func(*db.Tx, string)
		}{
			{&r.Restored, k.back, from, func(t *db.Tx, ids string) { t.ExecAll(k.show, ids) }},
			{&r.Hidden, k.old, from, func(t *db.Tx, ids string) { t.ExecAll(k.hide, ids, int64(now.Add(hiddenFor))) }},
			{&r.Erased, "SELECT id FROM hidden_records WHERE kind = ?2 AND erase_at <= ?1 LIMIT ?3", now, k.eraseHidden},
		} {
			n, err := s.retainStep(ctx, what, step.rows, step.from, k.kind, step.do)
			*step.count += n
			if err != nil {
				return r, err
			}
		}
	}
	if r.Erased > 0 {
		records.DropNearby(s.records)
	}
	return r, nil
}

// retainStep calls do with the records that rows selects, a commit for up to 50 of them, and
// returns how many there were. What do is done to must not be selected again.
func (s *Upkeep) retainStep(ctx context.Context, what, rows string, from memory.Millis, kind memory.RecordKind, do func(*db.Tx, string)) (done int, err error) {
	for {
		ids, err := db.Column[int64](ctx, s.Reader, rows, int64(from), string(kind), retainedTogether)
		if err != nil || len(ids) == 0 {
			return done, db.Fault(what, err)
		}
		if err := s.WriteKeeping(ctx, what, func(t *db.Tx) {
			do(t, db.JSONList(ids))
		}); err != nil {
			return done, err
		}
		done += len(ids)
	}
}

// eraseHidden erases hidden records. An observation that was brought back by hand stays, and its
// mark too, for ever: so Retain does not hide it again.
func (k *retained) eraseHidden(t *db.Tx, ids string) {
	if k.kind == memory.RecordObservation {
		records.DeleteObservations(t, db.Selected[memory.ObservationID](t,
			"SELECT id FROM observations WHERE deleted_at IS NOT NULL AND id IN (SELECT value FROM json_each(?))", ids))
		t.Exec(`DELETE FROM hidden_records WHERE kind = 'observation' AND id IN (SELECT value FROM json_each(?1))
			AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.id = hidden_records.id)`, ids)
		t.Exec("UPDATE hidden_records SET erase_at = ? WHERE kind = 'observation' AND id IN (SELECT value FROM json_each(?))", int64(memory.LatestTime), ids)
		return
	}
	t.ExecAll(k.erase, ids)
}

// ShowHidden brings back all prompts and summaries that Retain has hidden.
func ShowHidden(t *db.Tx) {
	for i := range retainedKinds {
		k := &retainedKinds[i]
		if k.kind == memory.RecordObservation {
			continue
		}
		t.ExecAll(k.show, db.JSONList(db.Selected[int64](t, "SELECT id FROM hidden_records WHERE kind = ?", string(k.kind))))
	}
}
