package store

import (
	"context"
	"encoding/json"
	"slices"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// ObservationsNaming implements search.Records: for each of the paths the newest observations
// that have it among their files, at most limit, of all projects and with hidden ones: the
// caller's index knows which of them count, and one statement that reads nothing but an index
// takes a tenth of the time.
func (s *Store) ObservationsNaming(ctx context.Context, paths []string, limit int) (map[string][]memory.ObservationID, error) {
	of := map[string][]memory.ObservationID{}
	err := each(ctx, s.reader, func(scan sqlite.Scan) error {
		var path, list string
		if err := scan(&path, &list); err != nil {
			return err
		}
		var ids []memory.ObservationID
		err := json.Unmarshal([]byte(list), &ids)
		if ids = slices.Compact(ids); len(ids) > 0 { // read and modified
			of[path] = ids
		}
		return err
	}, `SELECT value, (SELECT json_group_array(observation_id) FROM (SELECT observation_id FROM file_refs
		WHERE path_id = (SELECT id FROM paths WHERE path = p.value) ORDER BY observation_id DESC LIMIT ?2)) FROM json_each(?1) p`, jsonList(paths), limit)
	return of, fault("list observations by files", err)
}

// WorkingFiles implements search.Records: the files of a session's latest observations, of at
// most limit, those of the last first, each once, at most limit.
func (s *Store) WorkingFiles(ctx context.Context, session memory.SessionID, limit int) ([]string, error) {
	files, err := column[string](ctx, s.reader, `SELECT p.path FROM (SELECT id FROM observations WHERE session_id = ? AND deleted_at IS NULL ORDER BY created_at DESC LIMIT ?) o
		CROSS JOIN file_refs f ON f.observation_id = o.id CROSS JOIN paths p ON p.id = f.path_id
		GROUP BY f.path_id ORDER BY max(o.id) DESC, p.path LIMIT ?`, session, limit, limit)
	return files, fault("list the files of a session", err)
}
