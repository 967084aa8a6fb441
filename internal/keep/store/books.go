package store

import (
	"context"
	"fmt"

	"claudemem/internal/memory"
)

// Books implements queue.Storage. What was received is read from the numbers
// that events get as they come and not by counting outcomes, so that
// [memory.Books.Balanced] proves something.
func (s *Store) Books(ctx context.Context) (memory.Books, error) {
	// One statement sees one moment; each part has an index that covers it.
	n, err := pairs[string, int](ctx, s.reader, `
		SELECT outcome, count(*) FROM events WHERE outcome IN ('pending', 'processing') GROUP BY outcome
		UNION ALL SELECT outcome, count(*) FROM events WHERE outcome IN ('processed', 'skipped', 'forgotten') GROUP BY outcome
		UNION ALL SELECT 'failed', count(*) FROM events WHERE outcome = 'failed'
		UNION ALL SELECT 'received', coalesce(max(id), 0) FROM events
		UNION ALL SELECT 'duplicates', coalesce(sum(value), 0) FROM counters WHERE name = 'duplicates'
		UNION ALL SELECT 'lost', coalesce(sum(value), 0) FROM counters WHERE name = 'lost'`)
	return memory.Books{
		Received: n["received"], Duplicates: n["duplicates"], Pending: n["pending"], Processing: n["processing"],
		Processed: n["processed"], Skipped: n["skipped"], Failed: n["failed"], Forgotten: n["forgotten"], Lost: n["lost"],
	}, fault("read books", err)
}

// Audit checks what must always hold of the books and returns a sentence for
// each thing that doesn't; none is the good answer.
func (s *Store) Audit(ctx context.Context) ([]string, error) {
	checks := []struct{ query, finding string }{
		{`SELECT coalesce(max(id), 0) - count(*) FROM events`,
			"%d events were received and are not in the books"},
		{`SELECT count(*) FROM events e WHERE outcome IN ('pending', 'processing', 'failed')
			AND NOT EXISTS (SELECT 1 FROM pending_messages m WHERE m.event_id = e.id)`,
			"%d events wait without a payload"},
		{`SELECT count(*) FROM pending_messages m JOIN events e ON e.id = m.event_id
			WHERE e.outcome NOT IN ('pending', 'processing', 'failed')`,
			"%d payloads are left of events that are done"},
		{`SELECT count(*) FROM pending_messages m JOIN events e ON e.id = m.event_id
			WHERE (e.outcome = 'processing') <> (m.claimer IS NOT NULL)`,
			"%d events are claimed by nobody, or free and claimed"},
		{`SELECT count(*) FROM events WHERE (processed_seq IS NOT NULL) AND outcome NOT IN ('processed', 'forgotten')`,
			"%d events were confirmed and are not processed"},
		{`SELECT count(*) FROM unread_messages m JOIN events e ON e.id = m.event_id
			WHERE e.outcome <> 'processed' OR substr(e.reason, 1, 8) <> 'unread: '`,
			"%d payloads are kept of events that a model has read, or that are not done"},
		{`SELECT count(*) FROM sessions s WHERE prompt_count <> max(
			coalesce((SELECT max(number) FROM prompts p WHERE p.session_id = s.id), 0),
			coalesce((SELECT max(prompt_number) FROM events e WHERE e.session_id = s.id AND e.outcome = 'forgotten' AND e.kind = 'prompt'), 0))`,
			"%d sessions count their prompts wrongly"},
	}
	return inSnapshot(ctx, s, "audit books", func(q querier) (findings []string, err error) {
		for _, c := range checks {
			n, err := value[int](ctx, q, c.query)
			if err != nil {
				return nil, err
			}
			if n != 0 {
				findings = append(findings, fmt.Sprintf(c.finding, n))
			}
		}
		return findings, nil
	})
}
