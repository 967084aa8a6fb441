package care

import (
	"context"
	"errors"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
)

// NumberImport sets the number of an import that has none by its source: that of one that was broken off,
// else a new one; without a source it gets none. With n.End it has ended, and one that has stored nothing
// loses its number: n.Import is 0 then. CodeConflict for one that was undone meanwhile. After an error n is
// as it was.
func (s *Care) NumberImport(ctx context.Context, n *memory.ImportNumber) error {
	if n.Import == 0 && n.Source == "" || n.Import != 0 && !n.End {
		return nil
	}
	id, err := db.InKeeping(ctx, s.DB, "number import", func(t *db.Tx) (id int64, err error) {
		switch {
		case n.End && t.Exec(`DELETE FROM imports WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM imported WHERE import = ?1)
			AND NOT EXISTS (SELECT 1 FROM tombstones WHERE import = ?1)`, n.Import) > 0:
		case n.End:
			db.Importing(t, n.Import)
			db.Importing(t, 0)
			t.Exec("UPDATE imports SET ended_at = ? WHERE id = ?", int64(t.Now()), n.Import)
			id = n.Import
		case !t.Find("SELECT id FROM imports WHERE source = ? AND ended_at = 0 ORDER BY id DESC LIMIT 1", []any{n.Source}, &id):
			id = t.Insert("INSERT INTO imports (source, begun_at) VALUES (?, ?)", n.Source, int64(t.Now()))
		}
		return id, nil
	})
	if err == nil {
		n.Import = id
	}
	return err
}

// selectImports selects the imports with what they have added, and the sessions that they have changed; ?1 is a number, 0 for all.
const selectImports = `SELECT i.id, i.source, strftime('%Y-%m-%dT%H:%M:%fZ', i.begun_at / 1000.0, 'unixepoch'), i.ended_at > 0,
	coalesce(sum(m.kind = 'session'), 0), coalesce(sum(m.kind = 'prompt'), 0), coalesce(sum(m.kind = 'observation'), 0),
	coalesce(sum(m.kind = 'summary'), 0), coalesce(sum(m.kind = 'learning'), 0), count(DISTINCT s.project)
	FROM imports i LEFT JOIN imported m ON m.import = i.id AND (m.before IS NULL OR m.kind = 'session') LEFT JOIN sessions s ON m.kind = 'session' AND s.id = m.id
	WHERE ?1 IN (0, i.id) GROUP BY i.id ORDER BY i.id`

func importFields(e *memory.ImportEntry) []any {
	return []any{&e.ID, &e.Source, &e.At, &e.Ended, &e.Sessions, &e.Prompts, &e.Observations, &e.Summaries, &e.Learnings, &e.Projects}
}

// Imports returns the imports that can be undone, the first one first: the one of a number, none if there
// is no such import, or all for 0.
func (s *Care) Imports(ctx context.Context, id int64) (list []memory.ImportEntry, err error) {
	defer db.Wrap(&err, "list imports")
	return db.All(ctx, s.Reader, importFields, selectImports, id)
}

// Whether a row is as the import left it, by the mark of the row i of imported.
const (
	sameSession     = "i.mark = record_hash(0, r.status, r.started_at, r.updated_at, r.last_event_at, r.completed_at)"
	sameObservation = "i.mark = record_hash(0, r.content_hash, r.pinned, r.times_seen)"
	sameLearning    = "i.mark = record_hash(0, r.category, r.content_key, r.is_active, r.times_seen)"
)

// Rows that the import ?1 has added or changed: i of imported and r of the table.
const (
	importedSessions     = "FROM imported i JOIN sessions r ON r.id = i.id WHERE i.kind = 'session' AND i.import = ?1"
	importedObservations = "FROM imported i JOIN observations r ON r.id = i.id WHERE i.kind = 'observation' AND i.import = ?1"
	importedLearnings    = "FROM imported i JOIN learnings r ON r.id = i.id WHERE i.kind = 'learning' AND i.import = ?1"
)

// giveBack are the statements that give rows back what the import ?1 has changed of them, unless they were
// changed since. A later import that has changed them, too, knows them as they were before this one, and
// takes over a session that both have added to.
var giveBack = []string{
	`UPDATE imported SET before = (SELECT i.before FROM imported i WHERE (i.kind, i.id) = (imported.kind, imported.id) AND i.import = ?1)
		WHERE before IS NOT NULL AND import > ?1
		AND EXISTS (SELECT 1 FROM imported i WHERE (i.kind, i.id) = (imported.kind, imported.id) AND i.import = ?1 AND (i.before IS NOT NULL OR i.kind = 'session'))
		AND import = (SELECT min(n.import) FROM imported n WHERE (n.kind, n.id) = (imported.kind, imported.id) AND n.import > ?1)`,
	`UPDATE observations SET project = before ->> 0, times_seen = before ->> 1, head_commit = before ->> 3,
		superseded_by = iif(superseded_by IS NULL OR superseded_by IN (SELECT id FROM imported WHERE kind = 'observation' AND import = ?1),
			(SELECT o.id FROM observations o WHERE o.id = before ->> 2), superseded_by)
		FROM (SELECT i.id AS changed, i.before ` + importedObservations + " AND i.before IS NOT NULL AND " + sameObservation + `) WHERE id = changed`,
	`UPDATE learnings SET project = before ->> 0, confidence = before ->> 1, times_seen = before ->> 2, is_active = before ->> 3,
		superseded_by = (SELECT l.id FROM learnings l WHERE l.id = before ->> 4), updated_at = before ->> 5, provenance = before ->> 6
		FROM (SELECT i.id AS changed, i.before ` + importedLearnings + " AND i.before IS NOT NULL AND " + sameLearning + `) WHERE id = changed`,
}

// UndoImport takes back what an import has added, what was distilled from it, and what it has changed, in
// one transaction. Observations and learnings that a person or a later session has changed or confirmed
// since are kept and returned by their titles. It leaves no tombstones, and frees the keys of the events,
// which stay in the books: the same import works again, but for what was forgotten since. A dry run
// changes nothing. CodeNotFound without such an import; what u has after another error means nothing.
func (s *Care) UndoImport(ctx context.Context, id int64, dryRun bool) (u memory.ImportUndone, err error) {
	defer records.DropNearby(s.records)
	dry := errors.New("dry run")
	err = s.Write(ctx, "undo import", db.Job{Run: func(t *db.Tx) {
		u = memory.ImportUndone{Kept: []string{}}
		if id < 1 || !t.Find(selectImports, []any{id}, importFields(&u.ImportEntry)...) {
			t.Fail(memory.Errorf(memory.CodeNotFound, "there is no import %d", max(id, 0)).WithHint("`claude-mem import --list` shows the numbers"))
			return
		}
		undoImport(t, &u)
		if dryRun {
			t.Fail(dry)
		}
	}})
	if errors.Is(err, dry) {
		err = nil
	}
	return u, err
}

// undoImport undoes the import u.ID, takes what is kept off the counts of u, and lists it there.
func undoImport(t *db.Tx, u *memory.ImportUndone) {
	rows := func(query string) string { return db.JSONList(db.Selected[int64](t, query, u.ID)) }
	added := func(kind string) string {
		return rows("SELECT id FROM imported WHERE kind = '" + kind + "' AND import = ?1 AND before IS NULL")
	}
	upkeep.ShowHidden(t)
	observations := db.Selected[string](t, "SELECT '#' || r.id || ' ' || r.title "+importedObservations+" AND i.before IS NULL AND NOT "+sameObservation, u.ID)
	learnings := db.Selected[string](t, "SELECT 'learning ' || r.id || ' ' || r.content "+importedLearnings+" AND i.before IS NULL AND NOT "+sameLearning, u.ID)
	u.Observations, u.Learnings, u.Kept = u.Observations-len(observations), u.Learnings-len(learnings), append(append(u.Kept, observations...), learnings...)
	restored := rows("SELECT i.id " + importedSessions + " AND i.before IS NOT NULL AND " + sameSession)
	gone := selection{
		sessions: "[]", prompts: added("prompt"), summaries: added("summary"), symbols: added("symbol"), events: added("event"),
		observations: rows("SELECT i.id " + importedObservations + " AND i.before IS NULL AND " + sameObservation),
		learnings:    rows("SELECT i.id " + importedLearnings + " AND i.before IS NULL AND " + sameLearning),
	}
	known := rows("SELECT i.id FROM imported i JOIN events e ON e.id = i.id WHERE i.kind = 'event' AND i.import = ?1 AND e.outcome <> 'forgotten'")
	t.ExecAll(giveBack, u.ID)
	forget(t, &memory.Forgetting{}, &gone)
	t.ExecAll([]string{
		`UPDATE sessions SET event_count = max(0, event_count - n) FROM (SELECT session_id, count(*) AS n FROM events
			WHERE id IN (SELECT value FROM json_each(?)) AND outcome <> 'skipped' AND kind <> 'session_end' GROUP BY session_id) WHERE session_id = sessions.id`,
		"UPDATE events SET outcome = 'forgotten', session_id = NULL WHERE id IN (SELECT value FROM json_each(?))",
	}, gone.events)
	t.Exec("UPDATE events SET reason = 'undone', event_key = 'undone:' || id, delivery_id = NULL WHERE id IN (SELECT value FROM json_each(?))", known)
	t.Exec(`UPDATE sessions SET (project, label, status, started_at, updated_at, last_event_at, completed_at) =
		(SELECT before ->> 0, before ->> 1, before ->> 2, before ->> 3, before ->> 4, before ->> 5, before ->> 6
			FROM imported i WHERE i.kind = 'session' AND i.id = sessions.id AND i.import = ?1)
		WHERE id IN (SELECT value FROM json_each(?2))`, u.ID, restored)
	t.Exec(`UPDATE sessions SET prompt_count = max(coalesce((SELECT max(number) FROM prompts p WHERE p.session_id = sessions.id), 0),
		coalesce((SELECT max(prompt_number) FROM events e WHERE e.session_id = sessions.id AND e.outcome = 'forgotten' AND e.kind = 'prompt'), 0))
		WHERE id IN (SELECT id FROM imported WHERE kind = 'session' AND import = ?)`, u.ID)
	forgetSessions(t, rows(`SELECT id FROM imported WHERE kind = 'session' AND import = ?1 AND before IS NULL AND id NOT IN (SELECT session_id FROM prompts
		UNION SELECT session_id FROM observations UNION SELECT session_id FROM session_summaries UNION SELECT session_id FROM function_map
		UNION SELECT session_id FROM events WHERE session_id IS NOT NULL)`))
	t.ExecAll([]string{"DELETE FROM tombstones WHERE import = ?", "DELETE FROM imported WHERE import = ?", "DELETE FROM imports WHERE id = ?"}, u.ID)
}
