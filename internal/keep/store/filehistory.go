package store

import (
	"context"

	"claudemem/internal/memory"
)

// ObservationsOfFile implements recall.History: the observations of a project that
// have exactly this path, pinned ones ahead, then the newest, at most limit of
// each. Of those that are not pinned the ones stored last are read, so that of a
// file with a long history an old session that was imported late may stand for a
// newer one. In place of a superseded observation stands the one that holds now, whatever
// its files.
func (s *Store) ObservationsOfFile(ctx context.Context, projectPath, path string, limit int) ([]memory.Observation, error) {
	return inSnapshot(ctx, s, "list observations of a file", func(reader querier) ([]memory.Observation, error) {
		projectPath, err := aliased(ctx, reader, projectPath)
		if err != nil {
			return nil, err
		}
		pinned, err := column[memory.ObservationID](ctx, reader, `SELECT o.id FROM observations o INDEXED BY observations_newest
			WHERE o.project = ?1 AND o.pinned = 1 AND o.deleted_at IS NULL
				AND EXISTS (SELECT 1 FROM file_refs f WHERE f.path_id = (SELECT id FROM paths WHERE path = ?2) AND f.observation_id = o.id)
			ORDER BY o.created_at DESC, o.id DESC LIMIT ?3`, projectPath, path, limit)
		if err != nil {
			return nil, err
		}
		newest, err := column[memory.ObservationID](ctx, reader, `SELECT DISTINCT f.observation_id FROM file_refs f INDEXED BY file_refs_path
			CROSS JOIN observations o NOT INDEXED ON o.id = f.observation_id
			WHERE f.path_id = (SELECT id FROM paths WHERE path = ?2) AND o.project = ?1 AND o.pinned = 0 AND o.deleted_at IS NULL
			ORDER BY f.observation_id DESC LIMIT ?3`, projectPath, path, limit)
		if err != nil {
			return nil, err
		}
		found, err := readObservations(ctx, reader, `observations r NOT INDEXED WHERE r.id IN (SELECT value FROM json_each(?))
			ORDER BY r.pinned DESC, r.created_at DESC, r.id DESC`, jsonList(append(pinned, newest...)))
		if err != nil {
			return nil, err
		}
		return current(ctx, reader, found)
	})
}
