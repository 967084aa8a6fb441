package accounts

import (
	"context"
	"encoding/json"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// The types of event_log's rows.
const (
	// eventContextInject: a session was given a context block. Its data has the
	// layers, those left out, tokens, budget and build_ms.
	eventContextInject = "hook.context_inject"
	// eventRecallInject: a session was given a few lines at a prompt, a file or a
	// failure. Its data has where, source, observations, tokens and build_ms.
	eventRecallInject = "hook.recall_inject"
	// eventLookup: observations were read in full. Its data has observations.
	eventLookup = "lookup"
)

// sessionStart is the hook event that carries context blocks; others carry recollections.
const sessionStart = "SessionStart"

// logEntry is a row of event_log: what claude-mem itself did, for statistics.
type logEntry struct {
	kind    string
	session int64 // 0 for none
	// data is any value that encodes as a JSON object.
	data    any
	buildMS float64
	tokens  int
	at      memory.Millis
}

// logEvent adds an entry to the event log. The rows of lookups come from it, by a trigger.
func logEvent(t *db.Tx, e logEntry) {
	data, err := db.Encode(e.data)
	t.Fail(err)
	t.Exec("INSERT INTO event_log (event_type, session_id, data, duration_ms, tokens_out, created_at) VALUES (?, ?, ?, ?, ?, ?)",
		e.kind, db.OrNull(e.session), data, e.buildMS, e.tokens, int64(e.at))
}

// sessionNumber returns the number of the session that a host names, 0 when there is none.
func sessionNumber(t *db.Tx, host memory.Host, hostSessionID string) int64 {
	return t.Number("SELECT id FROM sessions WHERE host = ? AND host_session_id = ?", string(host), hostSessionID)
}

// RecordInjection books what was given to a session, in injections and in
// event_log. The same injection told twice (session, hook event and time agree)
// is booked once.
func (s *Accounts) RecordInjection(ctx context.Context, in memory.Injection) error {
	return s.WriteKeeping(ctx, "record injection", func(t *db.Tx) {
		in.At = t.OrNow(in.At)
		session := sessionNumber(t, in.Host, in.HostSessionID)
		var err error
		in.ProjectPath, err = records.Aliased(ctx, t.Conn, in.ProjectPath)
		t.Fail(err)
		observations, layers, skipped := db.JSONList(in.Observations), db.JSONList(in.Layers), db.JSONList(in.Skipped)
		said := ""
		if len(in.Said) > 0 {
			said, err = db.Encode(in.Said)
			t.Fail(err)
		}
		n := t.Exec(`INSERT INTO injections
			(session_id, host, host_session_id, project, hook_event, source, observations, said, sessions, layers, skipped, tokens, budget, build_ms, created_at, arm, held)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			db.OrNull(session), string(in.Host), in.HostSessionID, in.ProjectPath, in.Where, in.Source,
			observations, said, db.JSONList(in.Sessions), layers, skipped, in.Tokens, in.Budget, in.BuildMS, int64(in.At), string(in.Arm), in.Held)
		if n == 0 {
			return
		}
		addLines(t, t.Number("SELECT last_insert_rowid()"), in.Lines)
		if in.Arm == memory.ArmHeld {
			return
		}
		entry := logEntry{
			kind: eventRecallInject, session: session, at: in.At, buildMS: in.BuildMS, tokens: in.Tokens,
			data: struct {
				Where        string          `json:"where"`
				Source       string          `json:"source"`
				Observations json.RawMessage `json:"observations"`
				Tokens       int             `json:"tokens"`
				BuildMS      float64         `json:"build_ms"`
			}{in.Where, in.Source, json.RawMessage(observations), in.Tokens, in.BuildMS},
		}
		if in.Where == sessionStart {
			entry.kind = eventContextInject
			entry.data = struct {
				Layers  json.RawMessage `json:"layers"`
				Skipped json.RawMessage `json:"skipped"`
				Tokens  int             `json:"tokens"`
				Budget  int             `json:"budget"`
				BuildMS float64         `json:"build_ms"`
			}{json.RawMessage(layers), json.RawMessage(skipped), in.Tokens, in.Budget, in.BuildMS}
		}
		logEvent(t, entry)
	})
}

// RecordLookup notes that observations were read in full. The session is the one
// that asked; one that is not known, or not named, leaves the row without.
func (s *Accounts) RecordLookup(ctx context.Context, host memory.Host, hostSessionID string, ids ...memory.ObservationID) error {
	if len(ids) == 0 {
		return nil
	}
	return s.WriteKeeping(ctx, "record lookup", func(t *db.Tx) {
		session := sessionNumber(t, host, hostSessionID)
		logEvent(t, logEntry{kind: eventLookup, session: session, at: t.Now(), data: struct {
			Observations []memory.ObservationID `json:"observations"`
		}{ids}})
	})
}

// LastInjection implements block.Source: when the session was last given a context block, 0 for
// never.
func (s *Accounts) LastInjection(ctx context.Context, host memory.Host, hostSessionID string) (at memory.Millis, err error) {
	defer db.Wrap(&err, "read last injection")
	return db.Value[memory.Millis](ctx, s.Reader, `SELECT coalesce(max(created_at), 0) FROM injections
		WHERE host = ? AND host_session_id = ? AND hook_event = 'SessionStart'`, string(host), hostSessionID)
}

// AddNotice stores a message that the user is shown once. A notice that was shown
// is shown again only if its text has changed, or after ClearNotice.
func (s *Accounts) AddNotice(ctx context.Context, key, text string) error {
	return s.WriteKeeping(ctx, "add notice", func(t *db.Tx) {
		addNotice(t, key, text)
	})
}

func addNotice(t *db.Tx, key, text string) {
	t.Exec(`INSERT INTO notices (key, text, created_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, created_at = excluded.created_at, shown_at = NULL
		WHERE text <> excluded.text`, key, text, int64(t.Now()))
}

// ClearNotice drops a notice whose cause has gone.
func (s *Accounts) ClearNotice(ctx context.Context, key string) error {
	return s.Exec(ctx, "clear notice", "DELETE FROM notices WHERE key = ?", key)
}

const waitingNotices = "SELECT text FROM notices WHERE shown_at IS NULL ORDER BY created_at, key"

// TakeNotices returns the texts that were not shown yet, the oldest first, and
// marks them as shown: each text is returned to one caller only.
func (s *Accounts) TakeNotices(ctx context.Context) ([]string, error) {
	// Asked at every session start and nearly always empty: a look costs no commit.
	if waiting, err := db.Column[string](ctx, s.Reader, waitingNotices); err != nil || len(waiting) == 0 {
		return nil, db.Fault("take notices", err)
	}
	return db.InKeeping(ctx, s.DB, "take notices", func(t *db.Tx) ([]string, error) {
		texts := db.Selected[string](t, waitingNotices)
		t.Exec("UPDATE notices SET shown_at = ? WHERE shown_at IS NULL", int64(t.Now()))
		return texts, nil
	})
}

// Shown implements moments.Given: the observations and sentences that the session was given since
// its last compaction, when that was, 0 for never, and the verdicts on records. An observation may
// be in it repeatedly.
func (s *Accounts) Shown(ctx context.Context, host memory.Host, hostSessionID string) (shown memory.Shown, err error) {
	defer db.Wrap(&err, "list what a session was shown")
	var list, said string
	var compacted bool
	var at memory.Millis
	for range db.Select(ctx, s.Reader, &err, `SELECT observations, said, hook_event = 'SessionStart' AND source = 'compact', created_at
		FROM injections WHERE host = ? AND host_session_id = ? ORDER BY created_at, id`, string(host), hostSessionID).
		Into(&list, &said, &compacted, &at) {
		if compacted {
			shown = memory.Shown{CompactedAt: at}
		}
		var ids []memory.ObservationID
		if err := json.Unmarshal([]byte(list), &ids); err != nil {
			return shown, err
		}
		shown.Observations = append(shown.Observations, ids...)
		if said == "" {
			continue
		}
		var keys map[memory.ObservationID][]uint32
		if err := json.Unmarshal([]byte(said), &keys); err != nil {
			return shown, err
		}
		if shown.Said == nil {
			shown.Said = map[memory.ObservationID][]uint32{}
		}
		for id, more := range keys {
			shown.Said[id] = append(shown.Said[id], more...)
		}
	}
	if err == nil {
		shown.Judged, err = judgedIn(ctx, s.Reader)
	}
	return shown, err
}

const (
	// counterLost counts the events that were lost, counterUntold and counterUntoldFrom those
	// that the user was not told of, and since when. counterLosses begins the counter of how
	// many losses of a record were booked.
	counterLost       = "lost"
	counterUntold     = "lost_untold"
	counterUntoldFrom = "lost_untold_from"
	counterLosses     = "lost:"
)

// NoticeLost is the key of the notice of lost events.
const NoticeLost = "lost_events"

// BookLosses books the losses of a record that were not booked before, and adds a notice
// whose text is made of how many events the user was not told of, and since when. It does
// not count events that were stored after all: the worker was too slow for the hook. It
// returns how many it counted.
func (s *Accounts) BookLosses(ctx context.Context, r memory.LossRecord, text func(count int, from memory.Millis) string) (lost int, err error) {
	booked, err := db.Value[int64](ctx, s.Reader, "SELECT coalesce((SELECT value FROM counters WHERE name = ?), 0)", counterLosses+r.ID)
	if err != nil || booked >= r.Count { // asked at every session start: a look costs no commit
		return 0, db.Fault("book losses", err)
	}
	return db.InKeeping(ctx, s.DB, "book losses", func(t *db.Tx) (int, error) { return bookLosses(t, r, text), nil })
}

// StoredAfterAll counts how many of the last n losses of a record were stored after all: those
// whose delivery is in the books. A record knows the deliveries of its latest losses only.
func (s *Accounts) StoredAfterAll(ctx context.Context, r memory.LossRecord, n int64) (int64, error) {
	stored, err := db.Value[int64](ctx, s.Reader, countStored, lastDeliveries(r, n))
	return stored, db.Fault("count stored events", err)
}

const countStored = "SELECT count(*) FROM events WHERE delivery_id IN (SELECT value FROM json_each(?))"

// lastDeliveries returns the deliveries of a record's last n losses, as far as it knows them, as a
// JSON list.
func lastDeliveries(r memory.LossRecord, n int64) string {
	return db.JSONList(r.Deliveries[max(0, int64(len(r.Deliveries))-n):])
}

// bookLosses is BookLosses in its transaction, which looks again at what was booked before. While
// a notice of losses was not shown, its count and time go on; a new one begins at r.First. It
// returns how many losses it counted.
func bookLosses(t *db.Tx, r memory.LossRecord, text func(int, memory.Millis) string) int {
	var booked, untold, told int64
	var from memory.Millis
	t.Row(`SELECT coalesce((SELECT value FROM counters WHERE name = ?1), 0), coalesce((SELECT value FROM counters WHERE name = ?2), 0),
		coalesce((SELECT value FROM counters WHERE name = ?3), 0), (SELECT count(*) FROM notices WHERE key = ?4 AND shown_at IS NULL) = 0`,
		[]any{counterLosses + r.ID, counterUntold, counterUntoldFrom, NoticeLost}, &booked, &untold, &from, &told)
	lost := r.Count - booked
	if lost <= 0 {
		return 0
	}
	lost -= t.Number(countStored, lastDeliveries(r, lost))
	t.SetCounter(counterLosses+r.ID, r.Count)
	if lost == 0 {
		return 0
	}
	if told == 1 {
		untold, from = 0, r.First
	}
	untold, from = untold+lost, min(from, r.First)
	t.Count(counterLost, int(lost))
	t.SetCounter(counterUntold, untold)
	t.SetCounter(counterUntoldFrom, int64(from))
	// A notice that was shown may have had the same text.
	t.Exec("DELETE FROM notices WHERE key = ?", NoticeLost)
	addNotice(t, NoticeLost, text(int(untold), from))
	return int(lost)
}
