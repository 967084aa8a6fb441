package books

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/likeness"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// Redo replaces what was recorded without a model of a kept turn by the outcome of a model,
// and deletes the payloads, in one transaction. The batch is UnreadBatch's. CodeConflict,
// with nothing stored, when the turn has other payloads by now, or none: another worker was
// first, events were added, or the user has deleted one of its records.
//
// The records stay the same rows: an observation of the model takes the row of the one that
// it is most like. What the user has edited stays as it is, and keeps the model's from being
// stored beside it. Observations beyond the rows are added. Rows beyond the observations are
// deleted; but one that the user pinned, or that was found out elsewhere too, stays, and one
// that a session was given stays superseded, since somebody may cite its number.
//
// Nothing is booked twice: the events stay processed, symbol changes were counted already
// (those of the outcome are ignored), a learning or observation that the first pass has seen
// again is not seen once more, and the rows of a turn share its tokens.
func (s *Keeper) Redo(ctx context.Context, b memory.Batch, outcome memory.Outcome) error {
	if len(b.Events) == 0 {
		return memory.Errorf(memory.CodeInvalid, "redo turn: no events")
	}
	r := redo{session: b.Session, turn: b.Events[0].PromptNumber, keys: collect.MapPtr(b.Events, func(e *memory.PendingEvent) string { return e.Key })}
	slices.Sort(r.keys)
	return s.WriteKeeping(ctx, "redo turn", func(t *db.Tx) {
		// Worked on in copies: the transaction may be run again.
		t.Fail(r.run(t, memory.Outcome{
			Observations: slices.Clone(outcome.Observations), Summaries: slices.Clone(outcome.Summaries), Learnings: slices.Clone(outcome.Learnings), Foreign: outcome.Foreign,
		}))
	})
}

// redo is the replacement of the records of a turn.
type redo struct {
	session memory.Session
	turn    int
	keys    []string // of its events, sorted
}

// redoneRow is an observation that was made of the turn without a model.
type redoneRow struct {
	memory.Observation
	// made is false for one that was there before. edited, given and again say that the
	// user changed its text, that a session was shown it, and that it was seen again.
	made, edited, given, again bool
	taken                      bool // by an observation of the model
}

// run replaces the turn's records by the outcome's.
func (r *redo) run(t *db.Tx, outcome memory.Outcome) error {
	if err := r.check(t); err != nil {
		return err
	}
	if number := importOf(t, db.Selected[int64](t, "SELECT event_id FROM unread_messages WHERE session_id = ? AND prompt_number = ?", int64(r.session.ID), r.turn)); number != 0 {
		db.Importing(t, number)
		defer db.Importing(t, 0)
	}
	rows := r.rows(t)
	summaries := db.Selected[int64](t, `SELECT record_id FROM unread_records
		WHERE session_id = ? AND prompt_number = ? AND kind = ? AND made = 1 ORDER BY record_id DESC`, int64(r.session.ID), r.turn, unreadSummary)
	learnings := r.learnings(t)
	// First, since the deletion of a row would drop the turn as deleted by the user.
	t.Exec(`UPDATE events SET reason = '' WHERE id IN
		(SELECT event_id FROM unread_messages WHERE session_id = ? AND prompt_number = ?)`, int64(r.session.ID), r.turn)
	t.Exec(deleteUnread, int64(r.session.ID), r.turn)
	r.observations(t, rows, outcome.Observations)
	r.summaries(t, summaries, outcome.Summaries)
	for i := range outcome.Learnings {
		r.learning(t, learnings, &outcome.Learnings[i])
	}
	t.Exec("DELETE FROM foreign_texts WHERE session_id = ? AND prompt_number = ?", int64(r.session.ID), r.turn)
	records.KeepForeign(t, r.session.ID, outcome.Foreign)
	return nil
}

// check returns CodeConflict unless the turn has the payloads that the model was shown and
// the user has hidden none of its records.
func (r *redo) check(t *db.Tx) error {
	keys := db.Selected[string](t, `SELECT e.event_key FROM unread_messages m JOIN events e ON e.id = m.event_id
		WHERE m.session_id = ? AND m.prompt_number = ?`, int64(r.session.ID), r.turn)
	slices.Sort(keys)
	known := t.Number("SELECT count(*) FROM unread_turns u WHERE u.session_id = ?2 AND u.prompt_number = ?3 AND "+redoable, 0, int64(r.session.ID), r.turn)
	if !slices.Equal(keys, r.keys) || known == 0 {
		return memory.Errorf(memory.CodeConflict, "turn %d of session S%d is not as it was read", r.turn, r.session.ID)
	}
	return nil
}

// rows returns the observations that were made of the turn, or repeated by it, with what became
// of them, in the order of their numbers; without those that were hidden or deleted since.
func (r *redo) rows(t *db.Tx) []*redoneRow {
	noted := map[memory.ObservationID]*redoneRow{}
	var ids []memory.ObservationID
	hashes := map[memory.ObservationID]string{}
	var row redoneRow
	var hash string
	for range t.Select("SELECT record_id, made, content FROM unread_records WHERE session_id = ? AND prompt_number = ? AND kind = ? ORDER BY record_id",
		int64(r.session.ID), r.turn, unreadObservation).Into(&row.ID, &row.made, &hash) {
		noted[row.ID], hashes[row.ID], ids = new(row), hash, append(ids, row.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	stored, err := records.ObservationsByIDs(context.Background(), t.Conn, ids)
	t.Fail(err)
	rows := make([]*redoneRow, len(stored))
	for i := range stored {
		row := noted[stored[i].ID]
		row.Observation = stored[i]
		row.edited = row.ContentHash != hashes[row.ID]
		row.again = row.TimesSeen > 1
		rows[i] = row
	}
	for _, id := range db.Selected[memory.ObservationID](t, `SELECT DISTINCT g.value FROM injections i, json_each(i.observations) g
		WHERE g.value IN (SELECT value FROM json_each(?1))
		UNION SELECT observation_id FROM lookups WHERE observation_id IN (SELECT value FROM json_each(?1))`, db.JSONList(ids)) {
		noted[id].given = true
	}
	return rows
}

// observations stores the observations of the model in the rows that pairRows gives them, or
// beside them, and removes the rows that are left over.
func (r *redo) observations(t *db.Tx, rows []*redoneRow, found []memory.Observation) {
	for i := range found {
		o := &found[i]
		o.Session, o.ProjectPath, o.PromptNumber = r.session.ID, cmp.Or(o.ProjectPath, r.session.ProjectPath), r.turn
		o.Origin, o.CreatedAt = cmp.Or(o.Origin, memory.OriginObserver), t.OrNow(o.CreatedAt)
		o.ContentHash = records.ContentHash(o)
	}
	shareTokens(rows, found)
	places := pairRows(rows, found)
	for i, row := range places {
		o := &found[i]
		switch {
		case row == nil:
			records.AddObservation(t, &r.session, o)
		case row.edited, !row.made:
			o.ID = row.ID // it says what the user wants, or was counted as seen again
		default:
			rewrite(t, row, o)
		}
	}
	r.removeRest(t, rows, found)
}

// removeRest removes the rows of the turn for which the model had no observation, as Redo says:
// one that a session was given stays, superseded by the first of the model's if there is one.
func (r *redo) removeRest(t *db.Tx, rows []*redoneRow, found []memory.Observation) {
	for _, row := range rows {
		switch {
		case row.taken, !row.made, row.edited, row.Pinned, row.again:
		case row.given && len(found) > 0:
			t.Exec(`UPDATE observations SET superseded_by = ?1 WHERE id = ?2 AND superseded_by IS NULL
				AND (SELECT superseded_by FROM observations WHERE id = ?1) IS NULL`, int64(found[0].ID), int64(row.ID))
		case row.given:
		default:
			records.DeleteObservations(t, []memory.ObservationID{row.ID})
		}
	}
}

// shareTokens takes the tokens of the rows that will stay as they are off those of the
// model's observations: together they are the turn's.
func shareTokens(rows []*redoneRow, found []memory.Observation) {
	stay := 0
	for _, row := range rows {
		if row.made && row.edited {
			stay += row.DiscoveryTokens
		}
	}
	for i := range found {
		off := min(stay, found[i].DiscoveryTokens)
		found[i].DiscoveryTokens -= off
		stay -= off
	}
}

// pairRows returns for each observation of the model the row that it is most like, at most
// one each; nil for one that gets a new row. Rows that may be rewritten take what is left
// over, in order.
func pairRows(rows []*redoneRow, found []memory.Observation) []*redoneRow {
	places := make([]*redoneRow, len(found))
	type pair struct{ row, found, score int }
	var pairs []pair
	for i, row := range rows {
		for j := range found {
			if score := kinship(&row.Observation, &found[j]); score > 0 {
				pairs = append(pairs, pair{i, j, score})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.score - a.score })
	for _, p := range pairs {
		if places[p.found] == nil && !rows[p.row].taken {
			places[p.found], rows[p.row].taken = rows[p.row], true
		}
	}
	for j := range found {
		if i := slices.IndexFunc(rows, func(row *redoneRow) bool { return !row.taken && row.made && !row.edited }); places[j] == nil && i >= 0 {
			places[j], rows[i].taken = rows[i], true
		}
	}
	return places
}

// kinship returns how much two observations of a turn seem to tell of the same, 0 for no
// sign of it: the files and the words of their titles that both have.
func kinship(a, b *memory.Observation) int {
	score := 2 * text.SharedSorted(paths(a.Files), paths(b.Files))
	score += text.SharedSorted(titleWords(a.Title), titleWords(b.Title))
	if score > 0 && a.Type == b.Type {
		score++
	}
	return score
}

// paths returns the paths of files, sorted, each once.
func paths(files []memory.FileRef) []string {
	list := collect.Map(files, func(f memory.FileRef) string { return f.Path })
	slices.Sort(list)
	return slices.Compact(list)
}

// titleWords returns the words of a title that carry meaning, sorted, each once.
func titleWords(title string) []string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return lang.Is(w, "said-empty") })
	slices.Sort(words)
	return slices.Compact(words)
}

// rewriteObservation ends what the rest of the turn supersedes.
var rewriteObservation = records.ObservationRecord.Update + `, superseded_by = CASE WHEN superseded_by NOT IN
	(SELECT id FROM observations WHERE session_id = ? AND prompt_number = ?) THEN superseded_by END WHERE id = ?`

// rewrite puts what an observation says into a row, which keeps its number, name, time and
// pin. An observation that another row of the session has already is that row: it is not
// counted again, and the row keeps its text.
func rewrite(t *db.Tx, row *redoneRow, o *memory.Observation) {
	other := t.Number("SELECT id FROM observations WHERE session_id = ? AND content_hash = ? AND id <> ?", int64(o.Session), db.HashArg(o.ContentHash), int64(row.ID))
	if other != 0 {
		o.ID, row.taken = memory.ObservationID(other), false // the row is left to removeRest
		return
	}
	o.ID, o.ULID = row.ID, row.ULID
	t.Exec(rewriteObservation, append(records.ObservationRecord.Rewritten(o), int64(o.Session), o.PromptNumber, int64(o.ID))...)
	before := records.PathsOf(t, db.JSONList([]memory.ObservationID{o.ID}))
	t.Exec("DELETE FROM file_refs WHERE observation_id = ?", int64(o.ID))
	records.AddFiles(t, o)
	records.DropPaths(t, before)
	records.SupersedeEarlier(t, o)
}

// summaries stores the model's summary of the turn in the row of the newest one that was
// made without a model; the others said less of the same.
func (r *redo) summaries(t *db.Tx, rows []int64, found []memory.Summary) {
	if len(found) == 0 {
		return
	}
	m := &found[len(found)-1]
	if len(rows) == 0 {
		records.AddSummary(t, &r.session, m)
		return
	}
	m.Origin = cmp.Or(m.Origin, memory.OriginObserver)
	n := t.Exec(records.SummaryRecord.Update+" WHERE id = ?", append(records.SummaryRecord.Rewritten(m), rows[0])...)
	if n == 0 {
		records.AddSummary(t, &r.session, m)
		return
	}
	for _, id := range rows[1:] {
		t.Exec("DELETE FROM session_summaries WHERE id = ?", id)
	}
}

// redoneLearning is a learning that the turn has made or confirmed without a model.
type redoneLearning struct {
	id        int64
	statement likeness.Statement
	category  string
	// free says that its wording is the first pass's own: made by it, and neither edited,
	// retired nor seen again.
	free bool
}

// otherWords is the share of common words from which a learning of the model is taken for
// one of the first pass in other words: both were read in the same turn.
const otherWords = 0.5

// learnings returns the learnings that the turn has made or confirmed and that still are there.
func (r *redo) learnings(t *db.Tx) []*redoneLearning {
	var list []*redoneLearning
	var l redoneLearning
	var content, noted string
	var made, active bool
	var seen int
	for range t.Select(`SELECT l.id, l.category, l.content, l.times_seen, l.is_active, r.made, r.content
		FROM unread_records r JOIN learnings l ON l.id = r.record_id
		WHERE r.session_id = ? AND r.prompt_number = ? AND r.kind = ? ORDER BY l.id`, int64(r.session.ID), r.turn, unreadLearning).
		Into(&l.id, &l.category, &content, &seen, &active, &made, &noted) {
		l.statement = likeness.ParseStatement(content)
		l.free = made && active && seen == 1 && l.statement.Key == noted
		list = append(list, new(l))
	}
	return list
}

// learning stores a learning of the model. One that the first pass has booked is not booked
// again; one that the first pass has put in other words gets the model's wording.
func (r *redo) learning(t *db.Tx, known []*redoneLearning, l *memory.Learning) {
	said := likeness.ParseStatement(l.Content)
	for _, k := range known {
		if k.statement.Same(said) {
			return
		}
	}
	for _, k := range known {
		if !k.free || l.Provenance == memory.FromAgent || k.statement.Denied != said.Denied || k.statement.Common(said) < otherWords {
			continue
		}
		k.free = false
		other := t.Number("SELECT id FROM learnings WHERE project = (SELECT project FROM learnings WHERE id = ?1) AND content_key = ?2 AND id <> ?1", k.id, said.Key)
		if other != 0 {
			return
		}
		t.Exec("UPDATE learnings SET category = ?, content = ?, content_key = ?, confidence = max(confidence, ?), provenance = ?, updated_at = ? WHERE id = ?",
			l.Category, l.Content, said.Key, max(0, min(1, l.Confidence)), string(l.Provenance), int64(t.Now()), k.id)
		return
	}
	records.AddLearning(t, &r.session, l)
}
