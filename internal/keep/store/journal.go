package store

import (
	"context"
	"encoding/json"
	"os"

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

// logEvent adds an entry to the event log.
func (t *tx) logEvent(e logEntry) error {
	data, err := encode(e.data)
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO event_log (event_type, session_id, data, duration_ms, tokens_out, created_at) VALUES (?, ?, ?, ?, ?, ?)",
		e.kind, orNull(e.session), data, e.buildMS, e.tokens, int64(e.at))
}

// sessionNumber returns the number of the session that a host names, 0 when there is none.
func (t *tx) sessionNumber(host memory.Host, hostSessionID string) (int64, error) {
	return t.number("SELECT id FROM sessions WHERE host = ? AND host_session_id = ?", string(host), hostSessionID)
}

// RecordInjection books what was given to a session, in injections and in
// event_log. The same injection told twice (session, hook event and time agree)
// is booked once.
func (s *Store) RecordInjection(ctx context.Context, in memory.Injection) error {
	return s.writeKeeping(ctx, "record injection", func(t *tx) error {
		in.At = t.orNow(in.At)
		session, err := t.sessionNumber(in.Host, in.HostSessionID)
		if err != nil {
			return err
		}
		if in.ProjectPath, err = aliased(ctx, t.w.conn, in.ProjectPath); err != nil {
			return err
		}
		observations, layers, skipped := jsonList(in.Observations), jsonList(in.Layers), jsonList(in.Skipped)
		said := ""
		if len(in.Said) > 0 {
			if said, err = encode(in.Said); err != nil {
				return err
			}
		}
		n, err := t.change(`INSERT INTO injections
			(session_id, host, host_session_id, project, hook_event, source, observations, said, sessions, layers, skipped, tokens, budget, build_ms, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			orNull(session), string(in.Host), in.HostSessionID, in.ProjectPath, in.Where, in.Source,
			observations, said, jsonList(in.Sessions), layers, skipped, in.Tokens, in.Budget, in.BuildMS, int64(in.At))
		if err != nil || n == 0 {
			return err
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
		return t.logEvent(entry)
	})
}

// RecordLookup notes that observations were read in full. The session is the one
// that asked; one that is not known, or not named, leaves the row without.
func (s *Store) RecordLookup(ctx context.Context, host memory.Host, hostSessionID string, ids ...memory.ObservationID) error {
	if len(ids) == 0 {
		return nil
	}
	return s.writeKeeping(ctx, "record lookup", func(t *tx) error {
		session, err := t.sessionNumber(host, hostSessionID)
		if err != nil {
			return err
		}
		return t.logEvent(logEntry{kind: eventLookup, session: session, at: t.now(), data: struct {
			Observations []memory.ObservationID `json:"observations"`
		}{ids}})
	})
}

// LastInjection implements recall.Source.
func (s *Store) LastInjection(ctx context.Context, host memory.Host, hostSessionID string) (at memory.Millis, err error) {
	defer wrap(&err, "read last injection")
	return value[memory.Millis](ctx, s.reader, `SELECT coalesce(max(created_at), 0) FROM injections
		WHERE host = ? AND host_session_id = ? AND hook_event = 'SessionStart'`, string(host), hostSessionID)
}

// AddNotice stores a message that the user is shown once. A notice that was shown
// is shown again only if its text has changed, or after ClearNotice.
func (s *Store) AddNotice(ctx context.Context, key, text string) error {
	return s.writeKeeping(ctx, "add notice", func(t *tx) error { return t.addNotice(key, text) })
}

func (t *tx) addNotice(key, text string) error {
	return t.exec(`INSERT INTO notices (key, text, created_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, created_at = excluded.created_at, shown_at = NULL
		WHERE text <> excluded.text`, key, text, int64(t.now()))
}

// ClearNotice drops a notice whose cause has gone.
func (s *Store) ClearNotice(ctx context.Context, key string) error {
	return s.writeKeeping(ctx, "clear notice", func(t *tx) error {
		return t.exec("DELETE FROM notices WHERE key = ?", key)
	})
}

const waitingNotices = "SELECT text FROM notices WHERE shown_at IS NULL ORDER BY created_at, key"

// TakeNotices returns the texts that were not shown yet, the oldest first, and
// marks them as shown.
func (s *Store) TakeNotices(ctx context.Context) ([]string, error) {
	// Asked at every session start and nearly always empty: a look costs no commit.
	if waiting, err := column[string](ctx, s.reader, waitingNotices); err != nil || len(waiting) == 0 {
		return nil, fault("take notices", err)
	}
	return inKeeping(ctx, s, "take notices", func(t *tx) ([]string, error) {
		texts, err := column[string](ctx, t, waitingNotices)
		if err != nil {
			return nil, err
		}
		err = t.exec("UPDATE notices SET shown_at = ? WHERE shown_at IS NULL", int64(t.now()))
		return texts, err
	})
}

// Sizes are the sizes of the memory's files, in bytes.
type Sizes struct {
	Database int64 `json:"database_bytes"`
	// Log is the write-ahead log beside it.
	Log int64 `json:"log_bytes"`
	// Free is the part of the database that holds nothing and will be used again.
	Free int64 `json:"free_bytes"`
}

// Sizes measures the database's files.
func (s *Store) Sizes(ctx context.Context) (sizes Sizes, err error) {
	defer wrap(&err, "measure memory")
	info, err := os.Stat(s.path)
	if err != nil {
		return sizes, memory.Errorf(memory.CodeStorage, "%w", err)
	}
	sizes.Database = info.Size()
	if info, err := os.Stat(s.path + "-wal"); err == nil {
		sizes.Log = info.Size()
	}
	sizes.Free, err = value[int64](ctx, s.reader,
		"SELECT f.freelist_count * p.page_size FROM pragma_freelist_count f, pragma_page_size p")
	return sizes, err
}
