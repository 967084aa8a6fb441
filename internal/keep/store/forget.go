package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// The kinds of tombstones, beside "record" with the ULID of a record as key, "content" with
// the hash of an observation, and "event" with the key of an event. tombErasure is there once
// for each Forget, with the ID of its Erasure. The others refuse events that come later: of a session or project from
// before the tombstone, of a range (SINCE:UNTIL:PROJECT, "" for all projects) those of that
// time. Names of sessions and projects are hashed: they were to be forgotten.
const (
	tombErasure = "erasure"
	tombRecord  = "record"
	tombContent = "content"
	tombSession = "session"
	tombProject = "project"
	tombRange   = "range"
)

// tombName returns the name of a session or project in the key of a tombstone.
func tombName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// sessionTomb returns the key of a session's tombstone.
func sessionTomb(host memory.Host, hostSessionID string) string {
	return tombName(string(host) + ":" + hostSessionID)
}

// rangeTomb returns the key of a range's tombstone.
func rangeTomb(since, until memory.Millis, project string) string {
	if project != "" {
		project = tombName(project)
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
// has it, ?8 a pattern for a mention of the file, ?9 the file, ?10 observations.
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
	learnings: `SELECT id FROM learnings WHERE ?1 IS NOT NULL AND ` +
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

// selectForgotten returns what f selects.
func selectForgotten(ctx context.Context, q querier, f *memory.Forgetting) (s selection, err error) {
	until := f.Until
	if until == 0 {
		until = memory.LatestTime
	}
	text := asciiLower(f.Text)
	escaped, _ := encode(text) // a string always encodes
	args := []any{jsonList(f.Sessions), f.Filters(), f.ProjectPath, int64(f.Since), int64(until), text, strings.Trim(escaped, `"`),
		"*[^a-zA-Z0-9_.-]" + globEscaper.Replace(f.File) + "[^a-zA-Z0-9_-]*", f.File, jsonList(f.Observations)}
	count := func(list *string, n *int, query string, args ...any) {
		if err != nil {
			return
		}
		var ids []int64
		ids, err = column[int64](ctx, q, query, args...)
		*list, *n = jsonList(ids), len(ids)
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
	if r.Kept, err = value[int](ctx, q, "SELECT count(*) FROM unread_messages WHERE event_id IN (SELECT value FROM json_each(?))", s.events); err != nil {
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

// asciiLower is SQLite's lower.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

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
func (s *selection) describe(ctx context.Context, q querier, f *memory.Forgetting) (err error) {
	r := &s.report
	if r.Titles, err = column[string](ctx, q, `SELECT substr(line, 1, ?6) FROM (
		SELECT 'S' || id || ' ' || title AS line FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT '#' || id || ' ' || title FROM observations WHERE id IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT 'learning ' || id || ' ' || content FROM learnings WHERE id IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 'prompt ' || number || ' of S' || session_id || ' ' || text FROM prompts WHERE id IN (SELECT value FROM json_each(?4))
		UNION ALL SELECT 'summary of S' || session_id || ' ' || request FROM session_summaries WHERE id IN (SELECT value FROM json_each(?5))) LIMIT ?7`,
		s.sessions, s.observations, s.learnings, s.prompts, s.summaries, titleLength, titlesShown); err != nil {
		return err
	}
	if r.Projects, err = column[string](ctx, q, `SELECT project FROM sessions WHERE id IN (SELECT value FROM json_each(?1))
		OR id IN (SELECT session_id FROM events WHERE id IN (SELECT value FROM json_each(?6)))
		UNION SELECT project FROM observations WHERE id IN (SELECT value FROM json_each(?2))
		UNION SELECT project FROM prompts WHERE id IN (SELECT value FROM json_each(?3))
		UNION SELECT project FROM session_summaries WHERE id IN (SELECT value FROM json_each(?4))
		UNION SELECT project FROM learnings WHERE id IN (SELECT value FROM json_each(?5))`,
		s.sessions, s.observations, s.prompts, s.summaries, s.learnings, s.events); err != nil {
		return err
	}
	if r.Texts, err = column[string](ctx, q, selectedWords, s.sessions, s.observations, s.prompts, s.summaries, s.learnings, s.symbols); err != nil {
		return err
	}
	r.Texts = slices.DeleteFunc(r.Texts, func(text string) bool { return len(strings.TrimSpace(text)) < shortestText })
	r.Names, err = column[string](ctx, q, "SELECT host_session_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", s.sessions)
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
func (s *Store) WouldForget(ctx context.Context, f memory.Forgetting) (memory.Forgotten, error) {
	return inSnapshot(ctx, s, "look what would be forgotten", func(q querier) (memory.Forgotten, error) {
		selected, err := selectForgotten(ctx, q, &f)
		return selected.report, err
	})
}

// Forget erases what f selects from all tables in one transaction: records, payloads, and
// sessions that go whole. The rows of events stay, as forgotten, and tombstones keep what
// was erased from coming back. Scrub then takes the bytes from the file. Nothing else may
// use the store meanwhile: one transaction may take seconds. note keeps the erasure outside of
// the database, before the commit: if that fails, nothing is erased.
func (s *Store) Forget(ctx context.Context, f memory.Forgetting, note func(*Erasure) error) (memory.Forgotten, error) {
	return inJob(ctx, s, "forget", job{}, func(t *tx) (memory.Forgotten, error) {
		if err := t.showHidden(); err != nil {
			return memory.Forgotten{}, err
		}
		selected, err := selectForgotten(ctx, t.w.conn, &f)
		if err != nil || selected.report.Empty() && !f.Ranged() {
			return selected.report, err
		}
		e, err := t.erasureOf(&f, &selected)
		if err == nil {
			err = note(&e)
		}
		if err == nil {
			err = t.bury(e.Tombs, &e)
		}
		if err == nil {
			err = t.forget(&f, &selected)
		}
		return selected.report, err
	})
}

// forget erases a selection.
func (t *tx) forget(f *memory.Forgetting, s *selection) error {
	for _, step := range []struct{ query, list string }{
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, number FROM prompts WHERE id IN (SELECT value FROM json_each(?)))", s.prompts},
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM session_summaries WHERE id IN (SELECT value FROM json_each(?)))", s.summaries},
		{"DELETE FROM unread_turns WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM observations WHERE id IN (SELECT value FROM json_each(?)))", s.observations},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM events WHERE id IN (SELECT value FROM json_each(?)))", s.events},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM session_summaries WHERE id IN (SELECT value FROM json_each(?)))", s.summaries},
		{"DELETE FROM foreign_texts WHERE (session_id, prompt_number) IN (SELECT session_id, prompt_number FROM observations WHERE id IN (SELECT value FROM json_each(?)))", s.observations},
		{"DELETE FROM pending_messages WHERE event_id IN (SELECT value FROM json_each(?))", s.events},
		{"UPDATE events SET outcome = 'forgotten', reason = '' WHERE id IN (SELECT value FROM json_each(?)) AND outcome <> 'skipped'", s.events},
		{"UPDATE sessions SET title = '' WHERE id IN (SELECT session_id FROM prompts WHERE id IN (SELECT value FROM json_each(?)))", s.prompts},
		{"DELETE FROM prompts WHERE id IN (SELECT value FROM json_each(?))", s.prompts},
		{"DELETE FROM session_summaries WHERE id IN (SELECT value FROM json_each(?))", s.summaries},
		{"DELETE FROM learnings WHERE id IN (SELECT value FROM json_each(?))", s.learnings},
		{"DELETE FROM function_map WHERE id IN (SELECT value FROM json_each(?))", s.symbols},
		{forgetSaid, s.observations},
	} {
		if err := t.exec(step.query, step.list); err != nil {
			return err
		}
	}
	ids, err := column[memory.ObservationID](context.Background(), t, "SELECT value FROM json_each(?)", s.observations)
	if err != nil {
		return err
	}
	if _, err := t.deleteObservations(ids); err != nil {
		return err
	}
	if err := t.forgetText(f.Text); err != nil {
		return err
	}
	if f.Ranged() && f.Since == 0 && f.Until == 0 {
		if err := t.exec("DELETE FROM project_aliases WHERE ?1 IN (path, project)", f.ProjectPath); err != nil {
			return err
		}
	}
	return t.forgetSessions(s.sessions)
}

// forgetSaid takes observations out of what is noted of the sentences that sessions were told.
const forgetSaid = `UPDATE injections
	SET said = (SELECT json_group_object(key, json(value)) FROM json_each(said) WHERE CAST(key AS INTEGER) NOT IN (SELECT value FROM json_each(?1)))
	WHERE json_valid(said) AND EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(said) THEN said END) WHERE CAST(key AS INTEGER) IN (SELECT value FROM json_each(?1)))`

// forgetText takes a text out of the rows that tell what claude-mem itself did.
func (t *tx) forgetText(text string) error {
	if text == "" {
		return nil
	}
	return t.execAll([]string{
		"UPDATE sessions SET title = '' WHERE instr(lower(title), ?)",
		"UPDATE llm_calls SET error = '' WHERE instr(lower(error), ?)",
		"UPDATE pending_messages SET last_error = '' WHERE instr(lower(last_error), ?)",
		"DELETE FROM notices WHERE instr(lower(text), ?)",
		"DELETE FROM event_log WHERE instr(lower(data), ?)",
	}, asciiLower(text))
}

// forgetSessions deletes sessions whose records are gone, and what was noted about them.
func (t *tx) forgetSessions(list string) error {
	return t.execAll([]string{
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
func (t *tx) tombsOf(f *memory.Forgetting, s *selection, now memory.Millis) (tombs map[string][]string, err error) {
	ctx := context.Background()
	tombs = map[string][]string{}
	if tombs[tombRecord], err = column[string](ctx, t, `SELECT ulid FROM observations WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT ulid FROM prompts WHERE id IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT ulid FROM session_summaries WHERE id IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT ulid FROM learnings WHERE id IN (SELECT value FROM json_each(?4))
		UNION ALL SELECT ulid FROM function_map WHERE id IN (SELECT value FROM json_each(?5))`, s.observations, s.prompts, s.summaries, s.learnings, s.symbols); err != nil {
		return tombs, err
	}
	if tombs[tombContent], err = column[string](ctx, t, "SELECT lower(hex(content_hash)) FROM observations WHERE id IN (SELECT value FROM json_each(?)) AND content_hash <> ''", s.observations); err != nil {
		return tombs, err
	}
	err = each(ctx, t, func(scan sqlite.Scan) error {
		var host memory.Host
		var id string
		err := scan(&host, &id)
		tombs[tombSession] = append(tombs[tombSession], sessionTomb(host, id))
		return err
	}, "SELECT host, host_session_id FROM sessions WHERE id IN (SELECT value FROM json_each(?))", s.sessions)
	switch {
	case !f.Ranged():
	case f.Since == 0 && f.Until == 0:
		tombs[tombProject] = []string{tombName(f.ProjectPath)}
	default:
		until := f.Until
		if until == 0 {
			until = now
		}
		tombs[tombRange] = []string{rangeTomb(f.Since, until, f.ProjectPath)}
	}
	return tombs, err
}

// bury writes tombstones, in place of older ones, and that of the erasure.
func (t *tx) bury(tombs map[string][]string, e *Erasure) error {
	const insert = "INSERT OR REPLACE INTO tombstones (kind, key, created_at) SELECT ?1, value, ?3 FROM json_each(?2)"
	for kind, keys := range tombs {
		if err := t.exec(insert, kind, jsonList(keys), int64(e.At)); err != nil {
			return err
		}
	}
	return t.exec(insert, tombErasure, jsonList([]memory.ULID{e.ID}), int64(e.At))
}

// graveyard is what the bookkeeper knows of the tombstones that refuse events.
type graveyard struct {
	any    bool // there are tombstones at all
	ranges []buriedRange
}

// buriedRange is a time from which a project's events are refused, all projects' with "".
type buriedRange struct {
	since, until memory.Millis
	project      string // its tombName
}

// parseRange reads the key of a range's tombstone.
func parseRange(key string) (r buriedRange, err error) {
	since, rest, _ := strings.Cut(key, ":")
	until, project, _ := strings.Cut(rest, ":")
	r.project = project
	_, err = fmt.Sscan(since+" "+until, &r.since, &r.until)
	return r, err
}

// TombstoneText says in words what a tombstone that covers more than a session keeps away.
func TombstoneText(t *memory.Tombstone) string {
	until, what := t.CreatedAt, "one project"
	if t.Kind == tombRange {
		r, err := parseRange(t.Key)
		if err != nil {
			return "an unreadable range"
		}
		if r.project == "" {
			what = "all projects"
		}
		what += " from " + r.since.Time().UTC().Format(time.DateOnly)
		until = r.until
	}
	return "everything of " + what + " until " + min(until, memory.LatestTime).Time().UTC().Format(time.DateOnly)
}

// readGraveyard reads the tombstones of ranges.
func (t *tx) readGraveyard() (g graveyard, err error) {
	n, err := t.number("SELECT EXISTS (SELECT 1 FROM tombstones)")
	if g.any = n != 0; err != nil || !g.any {
		return g, err
	}
	keys, err := column[string](context.Background(), t, "SELECT key FROM tombstones WHERE kind = 'range'")
	for _, key := range keys {
		r, err := parseRange(key)
		if err != nil {
			return g, err
		}
		g.ranges = append(g.ranges, r)
	}
	return g, err
}

// buried reports whether the user has forgotten an event, its session at that time, or its
// project or range.
func (g *graveyard) buried(t *tx, a *arrival) (bool, error) {
	if !g.any {
		return false, nil
	}
	e := &a.Event
	if g.inRange(e.ProjectPath, e.OccurredAt) {
		return true, nil
	}
	n, err := t.number(`SELECT EXISTS (SELECT 1 FROM tombstones WHERE kind = 'event' AND key = ?1)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'session' AND key = ?2 AND created_at >= ?4)
		OR EXISTS (SELECT 1 FROM tombstones WHERE kind = 'project' AND key = ?3 AND created_at >= ?4)`,
		a.Key, sessionTomb(e.Host, e.HostSessionID), tombName(e.ProjectPath), int64(e.OccurredAt))
	return n != 0, err
}

// inRange reports whether the user has forgotten a range with a time of a project.
func (g *graveyard) inRange(project string, at memory.Millis) bool {
	return slices.ContainsFunc(g.ranges, func(r buriedRange) bool {
		return (r.project == "" || r.project == tombName(project)) && at >= r.since && at <= r.until
	})
}

// Scrub rewrites the database and empties its log, so that nothing deleted is left in the
// bytes of either. Nothing else may use the store meanwhile; it takes as much free space.
func (s *Store) Scrub(ctx context.Context) error {
	if err := s.write(ctx, "vacuum", job{bare: true, run: func(t *tx) error {
		_, err := t.w.conn.ExecContext(context.Background(), "VACUUM")
		return err
	}}); err != nil {
		return err
	}
	return s.Checkpoint(ctx)
}
