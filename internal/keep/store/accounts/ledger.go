package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Outcomes of a call that only the ledger itself gives.
const (
	callReserved = "reserved"
	// callLost is a call during which the worker died: its cost is unknown.
	callLost = "lost"
)

// Caps are the tokens that may be used, 0 for no cap.
type Caps struct {
	Day     int // of a local day
	Session int
}

// Ledger is the book of the model calls, llm_calls, which keeps the caps. A call
// counts with its reservation until it is charged, and permanently when its cost
// stays unknown. Its methods may be called from any goroutine.
type Ledger struct {
	store *Accounts
	caps  func() Caps

	mu sync.Mutex
	// full holds the caps that were reached, with their limits: a small call that would
	// still fit is not made either, so that a day ends with one change and not with many.
	// A raised cap opens them.
	full map[capKey]memory.CapError
}

// capKey is what a cap is of: a local day, else a session.
type capKey struct {
	day     string
	session memory.SessionID
}

// NewLedger makes the ledger of the calls; caps is asked before each call. It is
// made when the worker starts: calls that are still open are a dead worker's and
// are marked as lost.
func (s *Accounts) NewLedger(ctx context.Context, caps func() Caps) (*Ledger, error) {
	err := s.Exec(ctx, "open ledger", "UPDATE llm_calls SET outcome = ? WHERE outcome = ?", callLost, callReserved)
	return &Ledger{store: s, caps: caps, full: map[capKey]memory.CapError{}}, err
}

// counted is the SQL for the tokens of a row of llm_calls that count against the
// caps. reserved_tokens is 0 once the cost of a call is known.
const counted = "CASE WHEN reserved_tokens > 0 THEN reserved_tokens ELSE tokens_in + tokens_out + tokens_cached END"

// Reserve checks the caps and commits a row for a call that is about to be made,
// in one transaction, and returns its number, by which Charge finds it. When the call does not
// fit below a cap nothing is written and the error is a [*memory.CapError]. A redo, which can
// wait, fits below half of the day's cap only.
func (l *Ledger) Reserve(ctx context.Context, r memory.ModelReservation) (int64, error) {
	const what = "reserve model call"
	caps := l.caps()
	if r.Redo {
		caps.Day = (caps.Day + 1) / 2
	}
	from, to := dayOf(r.At)
	day := r.At.Format(time.DateOnly)
	wanted := max(r.Input, 0) + max(r.Output, 0)
	if err := l.known(day, r.Session, caps, wanted); err != nil {
		return 0, fmt.Errorf(what+": %w", err)
	}
	var id int64
	var full memory.CapError // of the cap that is in the way, if refused
	refused, final := false, false
	err := l.store.WriteKeeping(ctx, what, func(t *db.Tx) {
		refused, final = false, false
		check := func(which memory.TokenCap, limit int, where string, args ...any) {
			if limit <= 0 || refused {
				return
			}
			var used, open int
			t.Row("SELECT coalesce(sum("+counted+"), 0), coalesce(sum(reserved_tokens) FILTER (WHERE outcome = 'reserved'), 0) FROM llm_calls WHERE "+where,
				args, &used, &open)
			if used+wanted > limit {
				refused, full = true, memory.CapError{Which: which, Limit: limit, Used: used, Wanted: wanted}
				// What stands only in the way of an open reservation may pass yet.
				final = used-open+wanted > limit && !r.Redo
			}
		}
		check(memory.CapDay, caps.Day, "started_at >= ? AND started_at < ?", int64(from), int64(to))
		check(memory.CapSession, caps.Session, "session_id = ?", int64(r.Session))
		if refused {
			return // nothing to commit
		}
		id = t.Insert(`INSERT INTO llm_calls (session_id, provider, model, kind, reserved_tokens, outcome, started_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			db.OrNull(r.Session), r.Provider, r.Model, r.Kind, wanted, callReserved,
			r.At.UnixMilli())
	})
	if err != nil {
		return 0, err
	}
	if refused {
		if final {
			l.remember(day, r.Session, full)
		}
		return 0, fmt.Errorf(what+": %w", &full)
	}
	return id, nil
}

// known returns the error of a cap that was reached before and was not raised since, nil
// without one.
func (l *Ledger) known(day string, session memory.SessionID, caps Caps, wanted int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range []struct {
		key   capKey
		limit int
	}{{capKey{day: day}, caps.Day}, {capKey{session: session}, caps.Session}} {
		if e, ok := l.full[c.key]; ok && c.limit > 0 && c.limit <= e.Limit {
			e.Limit, e.Wanted = c.limit, wanted
			return &e
		}
	}
	return nil
}

// rememberedCaps bounds the caps that are remembered. One that is forgotten is looked up
// again.
const rememberedCaps = 1000

// remember keeps a cap that was reached, of a day or of a session, so that later
// reservations are refused without a query.
func (l *Ledger) remember(day string, session memory.SessionID, e memory.CapError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.full) >= rememberedCaps {
		clear(l.full)
	}
	key := capKey{session: session}
	if e.Which == memory.CapDay {
		key = capKey{day: day}
	}
	l.full[key] = e
}

// Charge replaces a reservation by the cost of the call, and adds that to its
// session. If the usage is not m.Known the reservation goes on counting against the caps. A call
// is charged once, also one that a restart has marked as lost: CodeConflict.
func (l *Ledger) Charge(ctx context.Context, id int64, m memory.ModelCharge) error {
	return l.store.WriteKeeping(ctx, "charge model call", func(t *db.Tx) {
		note := ""
		if m.Estimated {
			note = "usage is estimated"
		}
		u := m.Usage
		n := t.Exec(`UPDATE llm_calls SET
				outcome = ?1, model = CASE WHEN ?2 = '' THEN model ELSE ?2 END,
				tokens_in = ?3, tokens_out = ?4, tokens_cached = ?5, cost_usd = ?6, error = ?7, duration_ms = ?8,
				reserved_tokens = CASE WHEN ?9 THEN 0 ELSE reserved_tokens END
			WHERE id = ?10 AND outcome = 'reserved'`,
			m.Outcome, m.Model, max(u.Input, 0), max(u.Output, 0), max(u.Cached, 0), m.USD, note, m.Duration.Milliseconds(), m.Known, id)
		if n == 0 {
			t.Fail(memory.Errorf(memory.CodeConflict, "model call %d is not open", id))
		}
		t.Exec(`UPDATE sessions SET tokens_in = tokens_in + ?1, tokens_out = tokens_out + ?2
			WHERE id = (SELECT session_id FROM llm_calls WHERE id = ?3)`, max(u.Input, 0)+max(u.Cached, 0), max(u.Output, 0), id)
	})
}

// dayOf returns the bounds of a time's local day.
func dayOf(at time.Time) (from, to memory.Millis) {
	y, m, d := at.Date()
	return memory.MillisOf(time.Date(y, m, d, 0, 0, 0, 0, at.Location())),
		memory.MillisOf(time.Date(y, m, d+1, 0, 0, 0, 0, at.Location()))
}

// SetRun stores the name of a session's run, "" for none, so that a provider that
// keeps conversations can take it up again after a restart.
func (s *Accounts) SetRun(ctx context.Context, session memory.SessionID, run string) error {
	return s.Exec(ctx, "set observer run", "UPDATE sessions SET memory_session_id = ?1 WHERE id = ?2 AND memory_session_id <> ?1", run, int64(session))
}

// RunTokens returns the size of a session's run in tokens: those that its newest
// answered call read and wrote; 0 without one.
func (s *Accounts) RunTokens(ctx context.Context, session memory.SessionID) (int, error) {
	n, err := db.Value[int](ctx, s.Reader, `SELECT tokens_in + tokens_out + tokens_cached FROM llm_calls
		WHERE session_id = ? AND outcome = 'ok' ORDER BY started_at DESC, id DESC LIMIT 1`, int64(session))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, db.Fault("read observer run", err)
}
