package store

import (
	"context"
	"encoding/json"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// Shown implements recall.Given.
func (s *Store) Shown(ctx context.Context, host memory.Host, hostSessionID string) (memory.Shown, error) {
	var shown memory.Shown
	err := each(ctx, s.reader, func(scan sqlite.Scan) error {
		var list, said string
		var compacted bool
		var at memory.Millis
		if err := scan(&list, &said, &compacted, &at); err != nil {
			return err
		}
		if compacted {
			shown = memory.Shown{CompactedAt: at}
		}
		var ids []memory.ObservationID
		if err := json.Unmarshal([]byte(list), &ids); err != nil {
			return err
		}
		shown.Observations = append(shown.Observations, ids...)
		if said == "" {
			return nil
		}
		var keys map[memory.ObservationID][]uint32
		if err := json.Unmarshal([]byte(said), &keys); err != nil {
			return err
		}
		if shown.Said == nil {
			shown.Said = map[memory.ObservationID][]uint32{}
		}
		for id, more := range keys {
			shown.Said[id] = append(shown.Said[id], more...)
		}
		return nil
	}, `SELECT observations, said, hook_event = 'SessionStart' AND source = 'compact', created_at
		FROM injections WHERE host = ? AND host_session_id = ? ORDER BY created_at, id`, string(host), hostSessionID)
	return shown, fault("list what a session was shown", err)
}
