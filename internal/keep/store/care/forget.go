package care

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// rangeTomb returns the key of a range's tombstone.
func rangeTomb(since, until memory.Millis, project string) string {
	if project != "" {
		project = records.TombName(project)
	}
	return fmt.Sprintf("%d:%d:%s", since, until, project)
}

// titlesShown bounds Forgotten.Titles, titleLength their length in characters.
const (
	titlesShown = 20
	titleLength = 100
)

// selection is what a Forgetting selects, as lists of numbers in JSON.
type selection struct {
	// sessions go whole. events are those that become forgotten, payloads those of them that
	// have one.
	sessions, observations, prompts, summaries, learnings, symbols, events string
	report                                                                 memory.Forgotten
}

// Conditions on rows, with the arguments of selectForgotten: ?1 whole sessions, ?2 whether
// there are filters, ?3 project, ?4 and ?5 time, ?6 text in lower case, ?7 the same as JSON
// has it, ?8 a pattern for a mention of the file, ?9 the file, ?10 observations. Conditions such
// as ?10 IS NOT NULL are always true: with them all statements take the same arguments.
const (
	mentionsText = `(?6 = '' OR instr(lower(%[1]s), ?6) OR instr(lower(%[1]s), ?7))`
	mentionsFile = `(?9 = '' OR ' ' || %s || ' ' GLOB ?8)`
	isFile       = `(%[1]s = ?9 OR substr(%[1]s, 1, length(?9) + 1) = ?9 || '/')`
	filtered     = `?2 AND (?3 = '' OR %s = ?3) AND %s BETWEEN ?4 AND ?5 AND ?10 IS NOT NULL`
)

// forgettable has a statement for each kind of rows, which selects their numbers.
var forgettable = struct{ sessions, observations, prompts, summaries, learnings, symbols, payloads, events string }{
	sessions: `SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?1)) OR ?2 AND ?3 <> '' AND project = ?3`,
	observations: `SELECT o.id FROM observations o WHERE o.id IN (SELECT value FROM json_each(?10)) OR o.session_id IN (SELECT value FROM json_each(?1)) OR ` +
		fmt.Sprintf(filtered, "o.project", "o.created_at") + " AND " +
		fmt.Sprintf(mentionsText, `(o.title || ' ' || unpacked(o.subtitle) || ' ' || unpacked(o.narrative) || ' ' || unpacked(o.facts) || ' ' || o.concepts || ' ' ||
			coalesce((SELECT group_concat(f.path, ' ') FROM observation_files f WHERE f.observation_id = o.id), ''))`) +
		` AND (?9 = '' OR EXISTS (SELECT 1 FROM observation_files f WHERE f.observation_id = o.id AND ` + fmt.Sprintf(isFile, "f.path") + `))`,
	prompts: `SELECT id FROM prompts WHERE session_id IN (SELECT value FROM json_each(?1)) OR ` +
		fmt.Sprintf(filtered, "project", "created_at") + " AND " + fmt.Sprintf(mentionsText, "text") + " AND " + fmt.Sprintf(mentionsFile, "text"),
	summaries: `SELECT r.id FROM session_summaries r WHERE r.session_id IN (SELECT value FROM json_each(?1)) OR ` +
		fmt.Sprintf(filtered, "r.project", "r.created_at") + " AND " +
		fmt.Sprintf(mentionsText, `(r.request || ' ' || unpacked(r.investigated) || ' ' || unpacked(r.learned) || ' ' || unpacked(r.completed) || ' ' ||
			unpacked(r.next_steps) || ' ' || unpacked(r.notes) || ' ' ||
			r.files_read || ' ' || r.files_edited)`) +
		` AND (?9 = '' OR EXISTS (SELECT 1 FROM json_each(r.files_read) f WHERE ` + fmt.Sprintf(isFile, "f.value") + `)
			OR EXISTS (SELECT 1 FROM json_each(r.files_edited) f WHERE ` + fmt.Sprintf(isFile, "f.value") + `))`,
	// A learning has the time of an event of the session that it was first learnt in.
	learnings: `SELECT id FROM learnings WHERE created_at IN (SELECT occurred_at FROM events WHERE session_id IN (SELECT value FROM json_each(?1))) OR ` +
		fmt.Sprintf(filtered, "project", "created_at") + " AND " + fmt.Sprintf(mentionsText, "content") + " AND " + fmt.Sprintf(mentionsFile, "content"),
	symbols: `SELECT m.id FROM function_map m JOIN sessions s ON s.id = m.session_id WHERE m.session_id IN (SELECT value FROM json_each(?1)) OR ` +
		fmt.Sprintf(filtered, "s.project", "m.snapshot_at") + " AND " +
		fmt.Sprintf(mentionsText, "(m.qualified_name || ' ' || m.signature || ' ' || m.file_path || ' ' || m.renamed_from)") +
		" AND (?9 = '' OR " + fmt.Sprintf(isFile, "m.file_path") + ")",
	payloads: `SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id
			JOIN (SELECT event_id, payload, files, symbols FROM pending_messages UNION ALL SELECT event_id, payload, files, symbols FROM unread_messages) m ON m.event_id = e.id
		WHERE e.session_id IN (SELECT value FROM json_each(?1)) OR ` +
		fmt.Sprintf(filtered, "s.project", "e.occurred_at") + " AND " +
		fmt.Sprintf(mentionsText, "(m.payload || ' ' || m.files || ' ' || coalesce(m.symbols, ''))") + " AND " + fmt.Sprintf(mentionsFile, "m.payload"),
	// All events of the sessions and of a time; by text or file those above.
	events: `SELECT e.id FROM events e LEFT JOIN sessions s ON s.id = e.session_id
		WHERE e.session_id IN (SELECT value FROM json_each(?1)) OR ?6 = '' AND ?9 = '' AND ` + fmt.Sprintf(filtered, "s.project", "e.occurred_at"),
}

// selectForgotten returns what f selects, and the report of it; nothing is changed. Whole
// sessions are those that f names, and those of its project if it has no times.
func selectForgotten(ctx context.Context, q db.Querier, f *memory.Forgetting) (s selection, err error) {
	lower := text.LowerASCII(f.Text) // as SQLite's lower does
	quoted, _ := db.Encode(lower)    // a string always encodes
	args := []any{db.JSONList(f.Sessions), f.Filters(), f.ProjectPath, int64(f.Since), int64(cmp.Or(f.Until, memory.LatestTime)), lower, quoted[1 : len(quoted)-1],
		"*[^a-zA-Z0-9_.-]" + globEscaper.Replace(f.File) + "[^a-zA-Z0-9_-]*", f.File, db.JSONList(f.Observations)}
	count := func(list *string, n *int, query string, args ...any) {
		if err != nil {
			return
		}
		var ids []int64
		ids, err = db.Column[int64](ctx, q, query, args...)
		*list, *n = db.JSONList(ids), len(ids)
	}
	r := &s.report
	s.sessions = args[0].(string)
	if f.Ranged() && f.ProjectPath != "" && f.Since == 0 && f.Until == 0 {
		count(&s.sessions, &r.Sessions, forgettable.sessions, args[:3]...)
	} else {
		count(&s.sessions, &r.Sessions, "SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", s.sessions)
	}
	args[0] = s.sessions
	count(&s.observations, &r.Observations, forgettable.observations, args...)
	count(&s.prompts, &r.Prompts, forgettable.prompts, args...)
	count(&s.summaries, &r.Summaries, forgettable.summaries, args...)
	count(&s.learnings, &r.Learnings, forgettable.learnings, args...)
	count(&s.symbols, &r.Symbols, forgettable.symbols, args...)
	count(&s.events, &r.Events, forgettable.payloads, args...)
	if err != nil {
		return s, err
	}
	if r.Kept, err = db.Value[int](ctx, q, "SELECT count(*) FROM unread_messages WHERE event_id IN (SELECT value FROM json_each(?))", s.events); err != nil {
		return s, err
	}
	r.Events -= r.Kept
	booked := 0
	payloads := s.events
	count(&s.events, &booked, `SELECT value FROM json_each(?11) UNION `+forgettable.events+`
		UNION SELECT e.id FROM prompts p JOIN events e ON e.session_id = p.session_id AND e.kind = 'prompt' AND e.prompt_number = p.number
			WHERE p.id IN (SELECT value FROM json_each(?12))`, append(args, payloads, s.prompts)...)
	if err == nil {
		err = s.describe(ctx, q, f)
	}
	return s, err
}

// globEscaper makes a text a pattern for GLOB that matches only itself.
var globEscaper = strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]")

// selectedWords selects what other files that have a record are found by: its ULID and the
// beginnings of its texts. ?1 to ?6 are as for selectedNames.
const selectedWords = `SELECT ulid FROM observations WHERE id IN (SELECT value FROM json_each(?2))
	UNION SELECT substr(title, 1, 60) FROM observations WHERE id IN (SELECT value FROM json_each(?2))
	UNION SELECT substr(unpacked(narrative), 1, 60) FROM observations WHERE id IN (SELECT value FROM json_each(?2))
	UNION SELECT ulid FROM prompts WHERE id IN (SELECT value FROM json_each(?3))
	UNION SELECT substr(text, 1, 60) FROM prompts WHERE id IN (SELECT value FROM json_each(?3))
	UNION SELECT ulid FROM session_summaries WHERE id IN (SELECT value FROM json_each(?4))
	UNION SELECT substr(request, 1, 60) FROM session_summaries WHERE id IN (SELECT value FROM json_each(?4))
	UNION SELECT ulid FROM learnings WHERE id IN (SELECT value FROM json_each(?5))
	UNION SELECT substr(content, 1, 60) FROM learnings WHERE id IN (SELECT value FROM json_each(?5))
	UNION SELECT ulid FROM function_map WHERE id IN (SELECT value FROM json_each(?6)) AND ?1 IS NOT NULL`

// shortestText bounds the texts of records that other files are searched for, in bytes: shorter
// ones are no sign of the record.
const shortestText = 16

// describe fills in the titles, projects and names of the report.
func (s *selection) describe(ctx context.Context, q db.Querier, f *memory.Forgetting) (err error) {
	r := &s.report
	if r.Titles, err = db.Column[string](ctx, q, `SELECT substr(line, 1, ?6) FROM (
		SELECT 'S' || id || ' ' || title AS line FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT '#' || id || ' ' || title FROM observations WHERE id IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT 'learning ' || id || ' ' || content FROM learnings WHERE id IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 'prompt ' || number || ' of S' || session_id || ' ' || text FROM prompts WHERE id IN (SELECT value FROM json_each(?4))
		UNION ALL SELECT 'summary of S' || session_id || ' ' || request FROM session_summaries WHERE id IN (SELECT value FROM json_each(?5))) LIMIT ?7`,
		s.sessions, s.observations, s.learnings, s.prompts, s.summaries, titleLength, titlesShown); err != nil {
		return err
	}
	if r.Projects, err = db.Column[string](ctx, q, `SELECT project FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		OR id IN (SELECT session_id FROM events WHERE id IN (SELECT value FROM json_each(?6)))
		UNION SELECT project FROM observations WHERE id IN (SELECT value FROM json_each(?2))
		UNION SELECT project FROM prompts WHERE id IN (SELECT value FROM json_each(?3))
		UNION SELECT project FROM session_summaries WHERE id IN (SELECT value FROM json_each(?4))
		UNION SELECT project FROM learnings WHERE id IN (SELECT value FROM json_each(?5))`,
		s.sessions, s.observations, s.prompts, s.summaries, s.learnings, s.events); err != nil {
		return err
	}
	if r.Texts, err = db.Column[string](ctx, q, selectedWords, s.sessions, s.observations, s.prompts, s.summaries, s.learnings, s.symbols); err != nil {
		return err
	}
	r.Texts = slices.DeleteFunc(r.Texts, func(text string) bool { return len(strings.TrimSpace(text)) < shortestText })
	r.Names, err = db.Column[string](ctx, q, "SELECT host_session_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", s.sessions)
	if f.Text != "" {
		r.Names = append(r.Names, f.Text)
	}
	if f.Ranged() && f.ProjectPath != "" && f.Since == 0 && f.Until == 0 {
		r.Names = append(r.Names, f.ProjectPath)
	}
	return err
}

// WouldForget returns what Forget would erase, but for prompts and summaries that are
// hidden for their age.
func (s *Care) WouldForget(ctx context.Context, f memory.Forgetting) (memory.Forgotten, error) {
	return db.InSnapshot(ctx, s.DB, "look what would be forgotten", func(q db.Querier) (memory.Forgotten, error) {
		selected, err := selectForgotten(ctx, q, &f)
		return selected.report, err
	})
}

// Forget erases what f selects from all tables in one transaction: records, payloads, and sessions
// that go whole. If f selects nothing, and no project or time that could get events later, nothing
// is written and note is not called. The rows of events stay, as forgotten, and tombstones keep
// what was erased from coming back. Scrub then takes the bytes from the file. Nothing else may use
// the store meanwhile: one transaction may take seconds. note keeps the erasure outside of the
// database, before the commit: if that fails, nothing is erased.
func (s *Care) Forget(ctx context.Context, f memory.Forgetting, note func(*Erasure) error) (memory.Forgotten, error) {
	defer records.DropNearby(s.records)
	return db.InJob(ctx, s.DB, "forget", db.Job{}, func(t *db.Tx) (memory.Forgotten, error) {
		upkeep.ShowHidden(t)
		selected, err := selectForgotten(ctx, t.Conn, &f)
		if err != nil || selected.report.Empty() && !f.Ranged() {
			return selected.report, err
		}
		e := erasureOf(t, &f, &selected)
		if t.Err() == nil { // what is noted must be whole
			t.Fail(note(&e))
		}
		bury(t, e.Tombs, &e)
		forget(t, &f, &selected)
		return selected.report, nil
	})
}

// forget erases a selection from all tables, and f's text from what was noted besides. Prompts and
// summaries that are hidden for their age have to be back in theirs (upkeep.ShowHidden).
func forget(t *db.Tx, f *memory.Forgetting, s *selection) {
	for from, list := range map[string]string{"observations": s.observations, "prompts": s.prompts, "session_summaries": s.summaries, "function_map": s.symbols, "events": s.events} {
		records.EraseWords(t, "SELECT session_id FROM "+from+" WHERE id", list)
	}
	records.EraseWords(t, "SELECT id FROM sessions WHERE id", s.sessions)
	for _, step := range []struct{ query, list string }{
		// Those of no record may be of a turn that is forgotten before it is stored.
		{"UPDATE given_lines SET words = '', why = '' WHERE learning_id IN (SELECT value FROM json_each(?)) OR session_id + observation_id + learning_id = 0", s.learnings},
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, number FROM prompts WHERE id IN (SELECT value FROM json_each(?)))", s.prompts},
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM session_summaries WHERE id IN (SELECT value FROM json_each(?)))", s.summaries},
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM observations WHERE id IN (SELECT value FROM json_each(?)))", s.observations},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM events WHERE id IN (SELECT value FROM json_each(?)))", s.events},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM session_summaries WHERE id IN (SELECT value FROM json_each(?)))", s.summaries},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM observations WHERE id IN (SELECT value FROM json_each(?)))", s.observations},
		{"DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?))", s.events},
		{"UPDATE events SET outcome = 'forgotten', reason = '' WHERE id IN (SELECT value FROM json_each(?)) AND outcome <> 'skipped'", s.events},
		{"DELETE FROM prompts WHERE id IN (SELECT value FROM json_each(?))", s.prompts},
		{"DELETE FROM session_summaries WHERE id IN (SELECT value FROM json_each(?))", s.summaries},
		{"DELETE FROM learnings WHERE id IN (SELECT value FROM json_each(?))", s.learnings},
		{"DELETE FROM function_map WHERE id IN (SELECT value FROM json_each(?))", s.symbols},
		{forgetSaid, s.observations},
		{`UPDATE imports SET source = '' WHERE EXISTS (SELECT 1 FROM sessions WHERE id IN (SELECT value FROM json_each(?)) AND (instr(source, host_session_id)
			OR project <> '' AND (instr(source, project) OR instr(source, replace(project, '/', '-')))))`, s.sessions},
	} {
		t.Exec(step.query, step.list)
	}
	for kind, list := range map[string]string{"observation": s.observations, "prompt": s.prompts, "summary": s.summaries, "learning": s.learnings, "symbol": s.symbols, "session": s.sessions} {
		t.Exec("UPDATE shared_records INDEXED BY shared_records_row SET state = '' WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", kind, list) // earlier texts
		t.Exec("UPDATE team_records INDEXED BY team_records_row SET state = '{}' WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", kind, list)
	}
	ids := db.Selected[memory.ObservationID](t, "SELECT value FROM json_each(?)", s.observations)
	records.DeleteObservations(t, ids)
	forgetText(t, f.Text)
	if f.Ranged() && f.Since == 0 && f.Until == 0 {
		t.Exec("DELETE FROM project_aliases WHERE ?1 IN (path, project)", f.ProjectPath)
		t.Exec("DELETE FROM counters WHERE name GLOB 'place:*' AND instr(name, ':' || ?1)", f.ProjectPath)
	}
	forgetSessions(t, s.sessions)
}

// forgetSaid takes observations out of what is noted of the sentences that sessions were told.
const forgetSaid = `UPDATE injections
	SET said = (SELECT json_group_object(key, json(value)) FROM json_each(said) WHERE CAST(key AS INTEGER) NOT IN (SELECT value FROM json_each(?1)))
	WHERE json_valid(said) AND EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(said) THEN said END) WHERE CAST(key AS INTEGER) IN (SELECT value FROM json_each(?1)))`

// forgetText takes a text, in any case of its ASCII letters, out of the rows that tell what
// claude-mem itself did: a row of notices or event_log with it goes whole.
func forgetText(t *db.Tx, forgotten string) {
	if forgotten == "" {
		return
	}
	t.ExecAll([]string{
		"UPDATE sessions SET title = '' WHERE instr(lower(title), ?)",
		"UPDATE llm_calls SET error = '' WHERE instr(lower(error), ?)",
		"UPDATE pending_messages SET last_error = '' WHERE instr(lower(last_error), ?)",
		"DELETE FROM notices WHERE instr(lower(text), ?)",
		"DELETE FROM event_log WHERE instr(lower(data), ?)",
		"UPDATE given_lines SET words = '', why = '' WHERE instr(lower(words || ' ' || why), ?)",
		"UPDATE imports SET source = '' WHERE instr(lower(source), ?)",
	}, text.LowerASCII(forgotten))
}

// forgetSessions deletes sessions whose records are gone, and what was noted about them.
func forgetSessions(t *db.Tx, list string) {
	t.ExecAll([]string{
		"DELETE FROM notices WHERE EXISTS (SELECT 1 FROM sessions WHERE id IN (SELECT value FROM json_each(?)) AND project <> '' AND (instr(notices.key, project) OR instr(notices.text, project)))",
		"DELETE FROM injections WHERE session_id IN (SELECT value FROM json_each(?))",
		"DELETE FROM injections WHERE (host, host_session_id) IN (SELECT host, host_session_id FROM sessions WHERE id IN (SELECT value FROM json_each(?)))",
		"DELETE FROM event_log WHERE session_id IN (SELECT value FROM json_each(?))",
		"UPDATE llm_calls SET session_id = NULL, error = '' WHERE session_id IN (SELECT value FROM json_each(?))",
		"UPDATE events SET session_id = NULL WHERE session_id IN (SELECT value FROM json_each(?))",
		"DELETE FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
	}, list)
}

// tombsOf returns the keys of the tombstones of a selection by kind. now bounds a range without
// an end.
func tombsOf(t *db.Tx, f *memory.Forgetting, s *selection, now memory.Millis) map[string][]string {
	tombs := map[string][]string{}
	tombs[records.TombRecord] = db.Selected[string](t, `SELECT ulid FROM observations WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT ulid FROM prompts WHERE id IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT ulid FROM session_summaries WHERE id IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT ulid FROM learnings WHERE id IN (SELECT value FROM json_each(?4))
		UNION ALL SELECT ulid FROM function_map WHERE id IN (SELECT value FROM json_each(?5))`, s.observations, s.prompts, s.summaries, s.learnings, s.symbols)
	tombs[records.TombContent] = db.Selected[string](t, "SELECT DISTINCT lower(hex("+records.OfContent+")) FROM observations WHERE id IN (SELECT value FROM json_each(?)) AND content_hash <> ''", s.observations)
	var host memory.Host
	var id string
	for range t.Select("SELECT host, host_session_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", s.sessions).Into(&host, &id) {
		tombs[records.TombSession] = append(tombs[records.TombSession], records.SessionTomb(host, id))
	}
	switch {
	case !f.Ranged():
	case f.Since == 0 && f.Until == 0:
		tombs[records.TombProject] = []string{records.TombName(f.ProjectPath)}
	default:
		tombs[records.TombRange] = []string{rangeTomb(f.Since, cmp.Or(f.Until, now), f.ProjectPath)}
	}
	return tombs
}

// bury writes tombstones, in place of older ones, and that of the erasure. Sessions whose prompts have
// some, and are not deleted yet, lose their titles.
func bury(t *db.Tx, tombs map[string][]string, e *Erasure) {
	t.Exec("UPDATE sessions SET title = '' WHERE id IN (SELECT session_id FROM prompts WHERE ulid IN (SELECT value FROM json_each(?)))", db.JSONList(tombs[records.TombRecord]))
	const insert = "INSERT OR REPLACE INTO tombstones (kind, key, created_at) SELECT ?1, value, ?3 FROM json_each(?2)"
	for kind, keys := range tombs {
		t.Exec(insert, kind, db.JSONList(keys), int64(e.At))
	}
	t.Exec(insert, records.TombErasure, db.JSONList([]memory.ULID{e.ID}), int64(e.At))
}

// TombstoneText says in words what a tombstone that covers more than a session keeps away.
func TombstoneText(t *memory.Tombstone) string {
	until, what := t.CreatedAt, "one project"
	if t.Kind == records.TombRange {
		r, err := records.ParseRange(t.Key)
		if err != nil {
			return "an unreadable range"
		}
		if r.Project == "" {
			what = "all projects"
		}
		what += " from " + r.Since.Time().UTC().Format(time.DateOnly)
		until = r.Until
	}
	return "everything of " + what + " until " + min(until, memory.LatestTime).Time().UTC().Format(time.DateOnly)
}

// Scrub rewrites the database and empties its log, so that nothing deleted is left in the
// bytes of either. Nothing else may use the store meanwhile; it takes as much free space as the
// database has. CodeConflict as Checkpoint says: then the database is rewritten, but the log stays.
func (s *Care) Scrub(ctx context.Context) error {
	if err := s.Write(ctx, "vacuum", db.Job{Bare: true, Run: func(t *db.Tx) {
		_, err := t.Conn.ExecContext(context.Background(), "VACUUM")
		t.Fail(err)
	}}); err != nil {
		return err
	}
	return s.Checkpoint(ctx)
}
