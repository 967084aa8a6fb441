package records

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

const (
	// FateTouched, FateCured and FateCited are the types of rows of event_log with the lines that were answered in their
	// session after they were given; CounterFatesFrom counts no events, but has the time from which on they are noted.
	FateTouched      = "given.touched"
	FateCured        = "given.cured"
	FateCited        = "given.cited"
	CounterFatesFrom = "fates_from"
)

// LinesWithFate returns the numbers of the lines of which a fate was noted in a session. The rows have its times.
func LinesWithFate(ctx context.Context, q db.QueryOnly, session memory.SessionID, fate string) (map[int64]bool, error) {
	lines, err := db.Column[int64](ctx, q, `SELECT l.value FROM sessions s CROSS JOIN event_log e INDEXED BY event_log_type
		ON e.event_type = ?1 AND e.created_at BETWEEN s.started_at AND s.updated_at AND e.session_id = s.id, json_each(e.data, '$.lines') l WHERE s.id = ?2`, fate, int64(session))
	return collect.Set(lines), err
}

// EventTrial is the type of the one row of event_log that a session of a trial has: with what it did over again in data
// (books.Confirm), and in tokens_out the tokens that its transcript tells, 0 for not known.
const EventTrial = "trial.session"

// OfTrial selects a column of the row EventTrial of session s.
func OfTrial(column string) string {
	return "(SELECT e." + column + " FROM event_log e INDEXED BY event_log_type WHERE e.event_type = '" + EventTrial + `'
		AND e.created_at BETWEEN s.started_at AND s.updated_at AND e.session_id = s.id)`
}

// TrialRow returns the number of the row EventTrial of a session, 0 for one whose start no trial has assigned. It makes the row.
func TrialRow(t *db.Tx, session memory.SessionID) int64 {
	t.Exec("INSERT INTO event_log (event_type, session_id, created_at) SELECT ?2, s.id, s.updated_at FROM sessions s WHERE s.id = ?1 AND "+OfTrial("id")+` IS NULL
		AND EXISTS (SELECT 1 FROM injections i WHERE i.host = s.host AND i.host_session_id = s.host_session_id AND i.hook_event = 'SessionStart' AND i.arm <> '')`,
		int64(session), EventTrial)
	return t.Number("SELECT coalesce(max("+OfTrial("id")+"), 0) FROM sessions s WHERE s.id = ?", int64(session))
}

const (
	// wordsKept is the most bytes of words and reasons of what sessions were given, WordsEvery after how many
	// injections they are counted. An injection has 30 KB at most, as a host takes no more, so that there are
	// never more than 5 MB.
	wordsKept  = 5<<20 - WordsEvery*30<<10
	WordsEvery = 16
)

// TrimWords erases the words of what sessions were given before a time, 0 for none, and the oldest of
// those that are too many. Which records they were of stays.
func TrimWords(t *db.Tx, before memory.Millis) {
	t.Exec(`UPDATE given_lines SET words = '', why = '' WHERE words <> '' AND (injection_id IN (SELECT id FROM injections WHERE created_at < ?1)
		OR id <= (SELECT id FROM (SELECT id, sum(octet_length(words) + octet_length(why)) OVER (ORDER BY id DESC) AS size FROM given_lines WHERE words <> '')
			WHERE size > ?2 ORDER BY id DESC LIMIT 1))`, int64(before), wordsKept)
}

// EraseWords erases the words of the lines of the sessions that a query selects with a list of numbers:
// a session's line may say what any of its records says.
func EraseWords(t *db.Tx, sessions, list string) {
	t.Exec("UPDATE given_lines SET words = '', why = '' WHERE session_id IN ("+sessions+" IN (SELECT value FROM json_each(?)))", list)
}
