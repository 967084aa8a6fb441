package books

import (
	"cmp"
	"context"
	"math"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// adoptLabel moves the records that are known by the label of a project only to the project,
// if it is the only one with that label.
func (b *bookkeeper) adoptLabel(t *db.Tx, project string) {
	from, err := records.AdoptableLabel(context.Background(), t, project)
	t.Fail(err)
	if from == "" {
		return
	}
	for _, s := range b.sessions {
		if s.project == from {
			s.project, s.saved.project = project, project
		}
	}
	records.MoveImported(t, from, project)
	t.Exec("UPDATE sessions SET project = ?1 WHERE project = ?2", project, from)
	t.Exec("UPDATE OR IGNORE learnings SET project = ?1 WHERE project = ?2", project, from)
}

// repeatedPrompt is the distance in ms within which two prompts of the same text
// and without an id count as one that the host delivered twice.
const repeatedPrompt memory.Millis = 10_000

// bookedSession holds the part of a session that booking an event needs.
type bookedSession struct {
	id memory.SessionID
	sessionState
	eventCount  int
	updatedAt   memory.Millis
	lastEventAt memory.Millis
	// prompts maps the host's prompt ids to numbers, 0 for one that isn't known.
	prompts map[string]int
	// saved is the state that the database has; dirty, that something is to be saved.
	saved sessionState
	dirty bool
}

// sessionState holds the part of a session that the change feed reports, or that its hash is of.
type sessionState struct {
	status      memory.SessionStatus
	project     string
	promptCount int
	startedAt   memory.Millis
	completedAt memory.Millis
}

// session finds the event's session, opening one that isn't known. It returns
// nil for a skipped event that must not make a session known: of an excluded
// project, or of a run of our own.
func (b *bookkeeper) session(t *db.Tx, a *arrival) *bookedSession {
	e := &a.Event
	name := memory.SessionName{Host: e.Host, ID: e.HostSessionID}
	if s, ok := b.sessions[name]; ok {
		b.adopt(s, e)
		return s
	}
	s := &bookedSession{prompts: map[string]int{}}
	if !t.Find(`SELECT id, status, project, prompt_count, event_count, started_at, updated_at, last_event_at, completed_at
		FROM sessions WHERE host = ? AND host_session_id = ?`, []any{string(e.Host), e.HostSessionID},
		&s.id, &s.status, &s.project, &s.promptCount, &s.eventCount, &s.startedAt, &s.updatedAt, &s.lastEventAt, &s.completedAt) {
		if a.SkipReason == memory.SkipExcluded || a.SkipReason == memory.SkipInternal {
			return nil
		}
		s.open(t, a)
		b.adoptLabel(t, e.ProjectPath)
	}
	s.saved = s.sessionState
	b.sessions[name] = s
	b.adopt(s, e)
	return s
}

// adopt sets the project of a session that was opened without one to the event's; a session
// that has one keeps it.
func (b *bookkeeper) adopt(s *bookedSession, e *memory.Event) {
	if s.project == "" && e.ProjectPath != "" {
		s.project = e.ProjectPath
		b.touch(s)
	}
}

// open inserts the session of an event that is the first of it, with the event's project:
// active, or completed if the event is backfilled. It sets the fields that the row has; the
// counts are note's.
func (s *bookedSession) open(t *db.Tx, a *arrival) {
	e := &a.Event
	id := t.ULID(e.OccurredAt)
	s.status, s.project = memory.SessionActive, e.ProjectPath
	if e.Backfill != "" {
		s.status, s.completedAt = memory.SessionCompleted, e.OccurredAt
	}
	s.startedAt = min(e.OccurredAt, a.ReceivedAt)
	s.updatedAt = s.startedAt
	s.id = memory.SessionID(t.Insert(`INSERT INTO sessions (ulid, host, host_session_id, project, label, status, started_at, updated_at, completed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(id), string(e.Host), e.HostSessionID, e.ProjectPath, memory.ProjectLabel(e.ProjectPath), string(s.status),
		int64(s.startedAt), int64(s.updatedAt), int64(s.completedAt)))
}

// save writes the session back. What moves with every event goes without the columns that have
// triggers.
func (s *bookedSession) save(t *db.Tx) {
	s.dirty = false
	if s.saved == s.sessionState {
		t.Exec("UPDATE sessions SET event_count = ?, updated_at = ?, last_event_at = ? WHERE id = ?",
			s.eventCount, int64(s.updatedAt), int64(s.lastEventAt), int64(s.id))
		return
	}
	s.saved = s.sessionState
	t.Exec(`UPDATE sessions SET status = ?, project = ?, label = ?, prompt_count = ?, completed_at = ?,
		event_count = ?, started_at = ?, updated_at = ?, last_event_at = ? WHERE id = ?`,
		string(s.status), s.project, memory.ProjectLabel(s.project), s.promptCount, int64(s.completedAt),
		s.eventCount, int64(s.startedAt), int64(s.updatedAt), int64(s.lastEventAt), int64(s.id))
}

// note updates the session's times, count and status for an event. Only one that counts,
// because it is not skipped, adds to the count or completes the session; a later event
// makes an ended session active again, unless it is backfilled.
func (s *bookedSession) note(e *memory.Event, receivedAt memory.Millis, counts bool) {
	at := e.OccurredAt
	s.startedAt = min(s.startedAt, at)
	// A host whose clock is ahead must not keep its sessions on top for ever.
	s.updatedAt = max(s.updatedAt, min(at, receivedAt))
	if counts && e.Kind != memory.KindSessionEnd {
		s.eventCount++
	}
	if e.Kind == memory.KindSessionEnd {
		// An end that comes late, from the spool, doesn't end what came after it.
		if counts && at >= s.lastEventAt {
			s.status = memory.SessionCompleted
			s.completedAt = at
		}
		return
	}
	switch s.status {
	case memory.SessionCompleted:
		if e.Backfill != "" {
			s.completedAt = max(s.completedAt, at)
		} else if at > s.completedAt {
			s.status, s.completedAt = memory.SessionActive, 0
		}
	case memory.SessionInterrupted, memory.SessionFailed:
		if e.Backfill == "" && at > s.lastEventAt {
			s.status = memory.SessionActive
		}
	}
	s.lastEventAt = max(s.lastEventAt, at)
}

// promptNumber returns the number of the turn that an event belongs to: that of the
// prompt with promptID, which may come after its events (addPrompt then corrects the events
// that wait), else the latest, 0 before the first. The answer is remembered.
func (s *bookedSession) promptNumber(t *db.Tx, promptID string) int {
	if promptID == "" {
		return s.promptCount
	}
	number, asked := s.prompts[promptID]
	if !asked {
		number = int(t.Number("SELECT number FROM prompts WHERE session_id = ? AND prompt_id = ?", int64(s.id), promptID))
		s.prompts[promptID] = number
	}
	return cmp.Or(number, s.promptCount)
}

// repeats returns the number of the prompt that e, which has no id, is a second
// delivery of, 0 when it is none. A backfilled prompt with an id may be one that the hook
// has reported without.
func (s *bookedSession) repeats(t *db.Tx, e *memory.Event) int {
	if e.PromptID != "" && e.Backfill == "" {
		return 0
	}
	n := t.Number(`SELECT number FROM prompts
		WHERE session_id = ?1 AND created_at BETWEEN ?2 AND ?3 AND text = ?4 AND (?5 = '' OR prompt_id = '') LIMIT 1`,
		int64(s.id), int64(e.OccurredAt-repeatedPrompt), int64(e.OccurredAt+repeatedPrompt), e.Prompt, e.PromptID)
	return int(n)
}

// Queries for a second delivery among the events of a session, whose keys are between ?1 and ?2: no index
// of events begins with the session and has all of its events.
const (
	RepeatedStop = `SELECT 1 FROM events WHERE event_key > ?1 AND event_key < ?2 AND session_id = ?3 AND kind = 'stop'
		AND occurred_at BETWEEN ?4 AND ?5 AND substr(event_key, -?6) = ?7 AND (?8 = '' OR prompt_id = '') LIMIT 1`
	RepeatedTool = `SELECT 1 FROM events WHERE event_key > ?1 AND event_key < ?2 AND session_id = ?3 AND kind = 'tool'
		AND occurred_at BETWEEN ?4 AND ?5 AND tool_name = ?6 AND substr(event_key, -length(delivery_id)) = delivery_id LIMIT 1`
)

// repeatsStop reports whether a backfilled stop with this key is one that a hook has reported
// without the prompt's id, or that has none itself: one with the same message within 10 s. What
// follows the last colon of a stop's key is the hash of its message.
func (s *bookedSession) repeatsStop(t *db.Tx, e *memory.Event, key string) bool {
	message := key[strings.LastIndexByte(key, ':'):]
	return s.isThere(t, RepeatedStop, e, key, len(message), message, e.PromptID)
}

// repeatsTool reports whether a backfilled call is one that a hook of Gemini CLI has reported, which gives
// calls no ids: one of the same tool within 10 s that is named by its delivery.
func (s *bookedSession) repeatsTool(t *db.Tx, e *memory.Event, key string) bool {
	return e.Host == memory.HostGemini && s.isThere(t, RepeatedTool, e, key, e.ToolName)
}

// isThere reports whether a query finds an event of the session within 10 s of e. A key begins with the
// kind, the host and the session, none of which has a colon.
func (s *bookedSession) isThere(t *db.Tx, query string, e *memory.Event, key string, more ...any) bool {
	parts := strings.SplitAfterN(key, ":", 4)
	first := strings.Join(parts[:len(parts)-1], "")
	return t.Number(query, append([]any{first, strings.TrimSuffix(first, ":") + ";", int64(s.id),
		int64(e.OccurredAt - repeatedPrompt), int64(e.OccurredAt + repeatedPrompt)}, more...)...) != 0
}

// addPrompt stores a prompt under its number and gives this number to events
// that came before their prompt did, as long as they are not distilled.
func (s *bookedSession) addPrompt(t *db.Tx, e *memory.Event, number int) {
	id := t.ULID(e.OccurredAt)
	newest := t.Number("SELECT max(created_at) FROM prompts WHERE session_id = ?", int64(s.id))
	prompt := memory.Prompt{ULID: id, Session: s.id, Number: number, PromptID: e.PromptID, Text: e.Prompt, Branch: e.Branch, HeadCommit: e.HeadCommit, CreatedAt: e.OccurredAt}
	t.Exec(records.PromptRecord.Insert, records.PromptRecord.Inserted(&prompt)...)
	s.promptCount = number
	// Events without a prompt id belong to the prompt before them, which is this
	// one unless a later prompt is known.
	from := int64(e.OccurredAt)
	if from < newest {
		from = math.MaxInt64
	}
	t.Exec(`UPDATE events SET prompt_number = ?1
		WHERE session_id = ?2 AND outcome IN ('pending', 'processing')
		  AND ((prompt_id <> '' AND prompt_id = ?3) OR (prompt_id = '' AND occurred_at > ?4))`,
		number, int64(s.id), e.PromptID, from)
	if e.PromptID != "" {
		s.prompts[e.PromptID] = number
	}
}
