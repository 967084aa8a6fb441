package store

import (
	"context"
	"math"

	"claudemem/internal/memory"
)

const (
	// nearbyNewest and nearbyOfFiles bound the observations that a batch is compared with:
	// the project's newest, and the newest that modified one of its files.
	nearbyNewest  = 60
	nearbyOfFiles = 60
	// nearbyFiles bounds the files of the batch that are looked up.
	nearbyFiles = 200
)

// Nearby sets the Nearby and NearbySymbols of a batch by the files of its events. Pinned
// observations are left out, for nothing supersedes them.
func (s *Store) Nearby(ctx context.Context, b *memory.Batch) (err error) {
	defer wrap(&err, "read nearby observations")
	return readNearby(ctx, s.reader, b, math.MaxInt64)
}

// readNearby is Nearby for the observations that were there at a time.
func readNearby(ctx context.Context, q querier, b *memory.Batch, at memory.Millis) (err error) {
	files := b.Files()
	paths := jsonList(files[:min(len(files), nearbyFiles)])
	b.Nearby, err = readObservations(ctx, q, `observations r NOT INDEXED WHERE r.id IN (
			SELECT id FROM (SELECT o.id FROM observations o INDEXED BY observations_newest
				WHERE o.project = ?1 AND o.created_at <= ?5 AND o.pinned = 0 AND o.deleted_at IS NULL ORDER BY o.created_at DESC, o.id DESC LIMIT ?2)
			UNION
			SELECT id FROM (SELECT f.observation_id AS id FROM json_each(?3) n CROSS JOIN paths p ON p.path = n.value
				CROSS JOIN file_refs f ON f.path_id = p.id WHERE f.modified ORDER BY f.observation_id DESC LIMIT ?4))
			AND r.project = ?1 AND r.created_at <= ?5 AND r.pinned = 0 AND r.deleted_at IS NULL
		ORDER BY r.created_at DESC, r.id DESC`, b.Session.ProjectPath, nearbyNewest, paths, nearbyOfFiles, int64(at))
	if err != nil {
		return err
	}
	b.NearbySymbols = nil
	sessions := map[memory.SessionID]bool{}
	var ids []memory.SessionID
	current := b.Nearby[:0]
	for _, o := range b.Nearby {
		if o.SupersededBy != 0 {
			continue
		}
		current = append(current, o)
		if !sessions[o.Session] {
			sessions[o.Session] = true
			ids = append(ids, o.Session)
		}
	}
	b.Nearby = current
	if len(files) == 0 || len(ids) == 0 {
		return nil
	}
	b.NearbySymbols, err = readSymbolChanges(ctx, q, "", `function_map r INDEXED BY function_map_session
		WHERE r.session_id IN (SELECT value FROM json_each(?)) AND r.file_path IN (SELECT value FROM json_each(?))
			AND r.change_type <> 'unchanged' ORDER BY r.id`, jsonList(ids), paths)
	return err
}
