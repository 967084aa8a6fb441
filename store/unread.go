package store

import (
	"context"
	"encoding/json"

	"claudemem"
)

// unreadMark begins the reason of a processed event that its session's model has not read.
const unreadMark = "unread: "

// Unread counts the processed events whose records were made without the model that was
// chosen for them, for one reason. At is when the last of them was processed.
type Unread struct {
	Reason claudemem.UnreadReason `json:"reason"`
	Events int                    `json:"events"`
	At     claudemem.Millis       `json:"at"`
}

// Unread returns the counts of the events that no model has read although one was chosen,
// processed since a time, the most frequent reason first.
func (s *Store) Unread(ctx context.Context, since claudemem.Millis) (found []Unread, err error) {
	defer wrap(&err, "count unread events")
	return all(ctx, s.reader, func(u *Unread) []any { return []any{&u.Reason, &u.Events, &u.At} },
		`SELECT substr(reason, ?1), count(*), max(processed_at) FROM events
		WHERE outcome = 'processed' AND reason >= ?2 AND reason < ?2 || char(1114111) AND processed_at >= ?3
		GROUP BY reason ORDER BY 2 DESC, 1`, len(unreadMark)+1, unreadMark, int64(since))
}

// markUnread stores why no model has read these events; the keys are theirs.
func (t *tx) markUnread(unread map[string]claudemem.UnreadReason) error {
	if len(unread) == 0 {
		return nil
	}
	reasons, err := json.Marshal(unread)
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE events SET reason = ? || j.value FROM json_each(?) j
		WHERE events.event_key = j.key AND events.outcome = 'processed'`, unreadMark, string(reasons))
	return err
}
