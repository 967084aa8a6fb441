package books

import (
	"context"
	"regexp"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// answer is what an event did that may answer a line which the session was given: it touched a file, a
// test, build or linter passed, or the agent named a record.
type answer struct {
	At      memory.Millis `json:"at"`
	Path    string        `json:"path,omitempty"`
	Edited  bool          `json:"edited,omitempty"`
	Command string        `json:"command,omitempty"`
	Cited   string        `json:"cited,omitempty"`
}

// fates selects the lines of each fate: of those that session ?1 of host ?2 was given those that an answer of
// ?3 came after. A file was read before the line about it, in the same turn, and before a failure, so that only
// an edit counts; a command is more than a word.
var fates = map[string]string{
	records.FateTouched: givenBefore + ` JOIN observation_files f ON f.observation_id = g.observation_id
		JOIN a ON a.path = f.path AND a.at >= i.created_at AND (a.edited OR i.hook_event = 'SessionStart' OR i.source NOT IN ('file', 'failure'))` + toSession,
	records.FateCured: givenBefore + ` JOIN observations o ON o.id = g.observation_id AND o.deleted_at IS NULL JOIN a ON a.at >= i.created_at AND instr(a.command, ' ')
		AND instr(o.title || unpacked(o.subtitle) || unpacked(o.narrative) || unpacked(o.facts), '` + "`' || a.command || '`" + `')` + toSession + " AND i.source = 'failure' AND i.hook_event <> 'SessionStart'",
	records.FateCited: givenBefore + " JOIN a ON a.cited = g.observation_id AND a.at >= i.created_at" + toSession,
}

// citation matches the number of an observation, as lines have it ("#12"), or of an issue.
var citation = regexp.MustCompile(`(?:^|[\s(\[,;"'])#([1-9][0-9]{0,9})\b`)

// cited returns what names the records that the agent named in its closing message or in a command, which may be the message of
// a commit.
func cited(at memory.Millis, said string) []answer {
	return collect.Map(citation.FindAllStringSubmatch(said, -1), func(m []string) answer { return answer{At: at, Cited: m[1]} })
}

const (
	givenBefore = `WITH a AS MATERIALIZED (SELECT value ->> 'at' AS at, value ->> 'path' AS path, value ->> 'edited' AS edited, value ->> 'command' AS command, CAST(value ->> 'cited' AS INTEGER) AS cited FROM json_each(?3))
		SELECT DISTINCT g.id FROM injections i JOIN given_lines g ON g.injection_id = i.id AND g.observation_id <> 0`
	toSession = " WHERE i.host_session_id = ?1 AND i.host = ?2"
)

// noteFates notes which of the lines that the session was given the events of a claim came after and answered:
// they touched a file of the line's record, or a command that the record of a failure names passed.
func noteFates(t *db.Tx, claim *memory.Claim) {
	s := &claim.Session
	t.Exec("INSERT OR IGNORE INTO counters (name, value) VALUES (?, ?)", records.CounterFatesFrom, int64(t.Now()))
	if t.Number("SELECT EXISTS (SELECT 1 FROM injections WHERE host_session_id = ? AND host = ?)", s.HostSessionID, string(s.Host)) == 0 {
		return
	}
	var answers []answer
	for i := range claim.Events {
		e := &claim.Events[i]
		at := e.Event.OccurredAt
		answers = append(answers, collect.Map(e.Files, func(f memory.FileRef) answer {
			return answer{At: at, Path: f.Path, Edited: f.Role == memory.FileModified}
		})...)
		if answers = append(answers, cited(at, e.Event.LastAssistantMessage)...); e.Event.Kind != memory.KindTool {
			continue
		}
		call := toolcall.ParseInput(&e.Event)
		answers = append(answers, cited(at, call.Line)...)
		if call.Result() == memory.ResultPassed {
			answers = append(answers, collect.MapPtr(call.Commands, func(c *toolcall.Command) answer { return answer{At: at, Command: c.Text()} })...)
		}
	}
	for fate, lines := range fates {
		known, err := records.LinesWithFate(context.Background(), t, s.ID, fate)
		t.Fail(err)
		found := collect.Keep(db.Selected[int64](t, lines, s.HostSessionID, string(s.Host), db.JSONList(answers)), func(line int64) bool { return !known[line] })
		if len(found) > 0 {
			t.Exec("INSERT INTO event_log (event_type, session_id, data, created_at) SELECT ?1, id, json_object('lines', json(?3)), updated_at FROM sessions WHERE id = ?2",
				fate, int64(s.ID), db.JSONList(found))
		}
	}
}
