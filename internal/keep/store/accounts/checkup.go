package accounts

import (
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Activity holds the times of the newest and oldest events, hosts and calls, for doctor.
type Activity struct {
	Hosts []HostActivity
	// NewestReceived is the latest time at which one of the newest events was
	// received. It is not the newest event's when the clock was set back since.
	NewestReceived memory.Millis
	// OldestPending is the arrival time of the event that has waited longest, 0 for none.
	OldestPending memory.Millis
	// Stuck counts events whose claim is old.
	Stuck int
	// LastCalls are the newest model calls that ended, one a provider.
	LastCalls []LastCall
}

// HostActivity holds the time of a host's newest event. Sessions that an import added count only if
// a hook was heard of them since.
type HostActivity struct {
	Host     memory.Host
	Sessions int
	LastAt   memory.Millis
	// HeardAt is the time of the newest call of any hook of the host, a session start
	// included: when a session was last touched, by the time of an event, or a block was
	// shown, by this machine's clock.
	HeardAt memory.Millis
}

// LastCall holds the outcome of a provider's newest call, and how many of its newest
// calls were answered with text that could not be used.
type LastCall struct {
	Provider, Outcome string
	// At is when the call began.
	At memory.Millis
	// Answered counts the newest answers, at most 20, Unusable those among them that
	// held none of the elements that were asked for.
	Answered, Unusable int
}

// newestAnswers is how many answers of a provider are judged.
const newestAnswers = 20

const (
	// newestEvents is the number of events that are compared, for clocks that were set back.
	newestEvents = 1000
	// newestCalls is among how many calls the newest of each provider is looked for.
	newestCalls = 1000
)

// Activity returns the times of the newest received and the oldest pending event, the
// last event of each host, the providers' last calls, and the number of stuck claims:
// those made before stuckBefore. The events, hosts and calls are read one after the other, not
// at one moment.
func (s *Accounts) Activity(ctx context.Context, stuckBefore memory.Millis) (a Activity, err error) {
	defer db.Wrap(&err, "read activity")
	// The list of both outcomes is the condition of the index events_queue, which SQLite takes
	// only if a query repeats it.
	err = s.Reader.QueryRowContext(ctx, `SELECT
		(SELECT coalesce(max(received_at), 0) FROM (SELECT received_at FROM events ORDER BY id DESC LIMIT ?1)),
		(SELECT coalesce(min(received_at), 0) FROM events WHERE outcome IN ('pending', 'processing') AND outcome = 'pending'),
		(SELECT count(*) FROM events e JOIN pending_messages m ON m.event_id = e.id
			WHERE e.outcome = 'processing' AND e.outcome IN ('pending', 'processing') AND m.claimed_at < ?2)`,
		newestEvents, int64(stuckBefore)).Scan(&a.NewestReceived, &a.OldestPending, &a.Stuck)
	if err != nil {
		return a, err
	}
	a.Hosts, err = db.All(ctx, s.Reader, func(h *HostActivity) []any { return []any{&h.Host, &h.Sessions, &h.LastAt, &h.HeardAt} },
		`SELECT host, count(*), max(last_event_at), max(max(updated_at),
			coalesce((SELECT max(i.created_at) FROM injections i WHERE i.host = sessions.host), 0))
		FROM sessions WHERE id NOT IN (SELECT id FROM imported WHERE kind = 'session' AND before IS NULL)
			OR EXISTS (SELECT 1 FROM events e WHERE e.session_id = sessions.id AND e.id NOT IN (SELECT id FROM imported WHERE kind = 'event'))
		GROUP BY host HAVING max(last_event_at) > 0 ORDER BY 3 DESC`)
	if err != nil {
		return a, err
	}
	// The other columns are those of the row that has the maximum (https://www.sqlite.org/quirks.html#aggregate_queries_can_contain_non_aggregate_result_columns_that_are_not_in_the_group_by_clause).
	a.LastCalls, err = db.All(ctx, s.Reader, func(c *LastCall) []any { return []any{&c.Provider, &c.Outcome, &c.At, new(int64)} }, `SELECT provider, outcome, started_at, max(id)
		FROM (SELECT * FROM llm_calls ORDER BY id DESC LIMIT ?) WHERE outcome <> ? GROUP BY provider ORDER BY provider`, newestCalls, callReserved)
	for i := range a.LastCalls {
		if err != nil {
			return a, err
		}
		c := &a.LastCalls[i]
		err = s.Reader.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE outcome = ?3) FROM (
			SELECT outcome FROM (SELECT * FROM llm_calls ORDER BY id DESC LIMIT ?1)
			WHERE provider = ?2 AND outcome IN ('ok', ?3) ORDER BY id DESC LIMIT ?4)`,
			newestCalls, c.Provider, memory.CallUnusable, newestAnswers).Scan(&c.Answered, &c.Unusable)
	}
	return a, err
}
