package records

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// readObservations reads observations r with what they have outside of their rows: their files,
// and which record supersedes them. from and where are what follows FROM and WHERE. The text of
// one that was changed on the disk is withheld.
func readObservations(ctx context.Context, q db.Querier, from, where string, args ...any) ([]memory.Observation, error) {
	list, err := readWithFiles(ctx, q, from, where, args...)
	if err != nil {
		return nil, err
	}
	return list, readSuperseding(ctx, q, collect.Pointers(list))
}

// readWithFiles is readObservations, but SupersededBy is what the row says.
func readWithFiles(ctx context.Context, q db.Querier, from, where string, args ...any) ([]memory.Observation, error) {
	list, _, err := read(ctx, q, ObservationRecord, from, where, args...)
	if err != nil {
		return nil, err
	}
	return list, readFiles(ctx, q, collect.Keep(collect.Pointers(list), func(o *memory.Observation) bool { return !o.Damaged }))
}

// readFiles reads the files of observations, in their order.
func readFiles(ctx context.Context, q db.Querier, observations []*memory.Observation) (err error) {
	if len(observations) == 0 {
		return nil
	}
	ids := collect.Map(observations, func(o *memory.Observation) memory.ObservationID { return o.ID })
	files := make(map[memory.ObservationID][]memory.FileRef, len(ids))
	var id memory.ObservationID
	var f memory.FileRef
	for range db.Select(ctx, q, &err, `SELECT observation_id, path, role, coalesce(file_hash, ''), symbols FROM observation_files
		WHERE observation_id IN (SELECT value FROM json_each(?)) ORDER BY observation_id, position`, db.JSONList(ids)).
		Into(&id, &f.Path, &f.Role, &f.Hash, db.ToList(&f.Symbols)) {
		files[id] = append(files[id], f)
	}
	for _, o := range observations { // one that was asked for twice is there twice
		o.Files = files[o.ID]
	}
	return err
}

// Observation implements api.Store; CodeNotFound when there is none, or
// when it is hidden.
func (s *Records) Observation(ctx context.Context, id memory.ObservationID) (memory.Observation, error) {
	return observationByID(ctx, s.Reader, id)
}

func observationByID(ctx context.Context, q db.Querier, id memory.ObservationID) (memory.Observation, error) {
	return theObservation(ctx, q, NoObservation(id), "r.id = ?", int64(id))
}

// ObservationByULID is Observation by the name that it has on every machine, in
// whatever case that is written.
func (s *Records) ObservationByULID(ctx context.Context, ulid memory.ULID) (memory.Observation, error) {
	missing := memory.Errorf(memory.CodeNotFound, "there is no observation %.26q", ulid)
	return theObservation(ctx, s.Reader, missing, "r.ulid = ?", strings.ToUpper(string(ulid)))
}

// theObservation reads the only observation that a condition selects; the error is
// missing when there is none, or when it is hidden.
func theObservation(ctx context.Context, q db.Querier, missing error, condition string, key any) (memory.Observation, error) {
	found, err := readObservations(ctx, q, "observations r", "r.deleted_at IS NULL AND "+condition, key)
	switch {
	case err != nil:
		return memory.Observation{}, db.Fault("read observation", err)
	case len(found) == 0:
		return memory.Observation{}, missing
	}
	return found[0], nil
}

// ObservationsByIDs returns the observations in the order of ids, without hidden and
// missing ones. A text that was changed on the disk is withheld.
func ObservationsByIDs(ctx context.Context, q db.Querier, ids []memory.ObservationID) ([]memory.Observation, error) {
	return readObservations(ctx, q, rowsWanted, "r.deleted_at IS NULL ORDER BY wanted.key", db.JSONList(ids))
}

// rowsWanted are the observations r of a list of ids.
const rowsWanted = "json_each(?) wanted CROSS JOIN observations r NOT INDEXED ON r.id = wanted.value"

// Observations implements block.Source and api.Store: pinned ones ahead,
// then the newest first; all when the limit is 0.
func (s *Records) Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	return db.InSnapshot(ctx, s.DB, "list observations", func(reader db.Querier) ([]memory.Observation, error) {
		f, err := s.resolveFilter(ctx, reader, q, observationsOnly)
		if err != nil {
			return nil, err
		}
		refs, err := list(ctx, reader, &f, pinnedNewest, q.Limit, q.Offset)
		if err != nil {
			return nil, err
		}
		return ObservationsByIDs(ctx, reader, collect.Map(refs, func(ref memory.RecordRef) memory.ObservationID { return memory.ObservationID(ref.ID) }))
	})
}

var observationsOnly = []memory.RecordKind{memory.RecordObservation}

// Totals implements block.Source and api.Store. The project is a root
// path or a label; "" counts everything. The counts are kept until something changes.
func (s *Records) Totals(ctx context.Context, projectPath string) (memory.Totals, error) {
	return CountOnce(ctx, s.DB, &s.totals, "count records", projectPath, func(reader db.Querier, _ int64) (memory.Totals, error) {
		return totals(ctx, reader, projectPath)
	})
}

// totals counts anew what Totals keeps. The conditions on pinned, always true, let an index apply. A
// project's prompts are those that its sessions have counted.
func totals(ctx context.Context, reader db.Querier, projectPath string) (t memory.Totals, err error) {
	query, args := `SELECT
		(SELECT count(*) FROM (`+allProjects+`)),
		(SELECT count(*) FROM sessions),
		(SELECT count(*) FROM prompts),
		(SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL),
		(SELECT count(*) FROM session_summaries)`, []any(nil)
	if projectPath != "" {
		projects, err := ProjectsNamed(ctx, reader, projectPath)
		if err != nil {
			return t, err
		}
		mine, named := in("project", projects)
		query, args = `WITH mine AS MATERIALIZED
				(SELECT id, project, prompt_count FROM sessions WHERE `+mine+`)
			SELECT
				(SELECT count(DISTINCT project) FROM mine),
				(SELECT count(*) FROM mine),
				(SELECT coalesce(sum(prompt_count), 0) FROM mine),
				(SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL AND `+mine+`),
				(SELECT count(*) FROM mine JOIN session_summaries m ON m.session_id = mine.id)`, []any{named, named}
	}
	err = reader.QueryRowContext(ctx, query, args...).Scan(&t.Projects, &t.Sessions, &t.Prompts, &t.Observations, &t.Summaries)
	return t, err
}

const (
	// nearbyNewest and nearbyOfFiles bound the observations that a batch is compared with:
	// the project's newest, and the newest that modified one of its files. They stand in the
	// statement: see db.SQLLimit.
	nearbyNewest  = "60"
	nearbyOfFiles = "60"
	// nearbyFiles bounds the files of the batch that are looked up.
	nearbyFiles = 200
)

// version names an observation as it is now: its hashes change with its row and its files.
type version struct {
	id         memory.ObservationID
	text, rest int64 // of record_hashes
}

// mostKnown bounds the observations that knownVersions keeps: those near the batches of a few projects.
const mostKnown = 1000

// knownVersions keeps the observations near batches: the next batch has mostly the same. The zero
// value has none yet.
type knownVersions struct {
	mu   sync.Mutex
	read map[version]memory.Observation
}

// observations returns the observations in the order of wanted.
func (k *knownVersions) observations(ctx context.Context, q db.Querier, wanted []version) ([]memory.Observation, error) {
	list := make([]memory.Observation, len(wanted))
	var unknown []memory.ObservationID
	k.mu.Lock()
	for i, v := range wanted {
		if list[i] = k.read[v]; list[i].ID == 0 {
			unknown = append(unknown, v.id)
		}
	}
	k.mu.Unlock()
	if len(unknown) > 0 {
		read, err := readWithFiles(ctx, q, rowsWanted, "true ORDER BY wanted.key", db.JSONList(unknown))
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		if k.read == nil || len(k.read)+len(read) > mostKnown {
			k.read = map[version]memory.Observation{}
		}
		for i, v := range wanted {
			if list[i].ID != 0 || len(read) == 0 {
				continue
			}
			if list[i], read = read[0], read[1:]; !list[i].Damaged {
				k.read[v] = list[i]
			}
		}
		k.mu.Unlock()
	}
	return list, readSuperseding(ctx, q, collect.Pointers(list))
}

// DropNearby drops the observations that are kept for the next batches: some were erased.
func DropNearby(s *Records) {
	s.nearby.mu.Lock()
	defer s.nearby.mu.Unlock()
	s.nearby.read = nil
}

// readNearby sets the Nearby and NearbySymbols of a batch by the files of its events, of the
// observations that were there at a time. Pinned ones are left out, for nothing supersedes them.
func (s *Records) readNearby(ctx context.Context, q db.Querier, b *memory.Batch, at memory.Millis) (err error) {
	files := b.Files()
	paths := db.JSONList(files[:min(len(files), nearbyFiles)])
	var nearby []version
	var v version
	for range db.Select(ctx, q, &err, `SELECT r.id, ifnull(h.text, 0), ifnull(h.rest, 0) FROM observations r NOT INDEXED
			LEFT JOIN record_hashes h ON h.kind = 'observation' AND h.id = r.id WHERE r.id IN (
			SELECT id FROM (SELECT o.id FROM observations o INDEXED BY observations_newest
				WHERE o.project = ?1 AND o.created_at <= ?3 AND o.pinned = 0 AND o.deleted_at IS NULL ORDER BY o.created_at DESC, o.id DESC LIMIT `+nearbyNewest+`)
			UNION
			SELECT id FROM (SELECT f.observation_id AS id FROM json_each(?2) n CROSS JOIN paths p ON p.path = n.value
				CROSS JOIN file_refs f ON f.path_id = p.id WHERE f.modified ORDER BY f.observation_id DESC LIMIT `+nearbyOfFiles+`))
			AND r.project = ?1 AND r.created_at <= ?3 AND r.pinned = 0 AND r.deleted_at IS NULL
		ORDER BY r.created_at DESC, r.id DESC`, b.Session.ProjectPath, paths, int64(at)).Into(&v.id, &v.text, &v.rest) {
		nearby = append(nearby, v)
	}
	if err == nil {
		b.Nearby, err = s.nearby.observations(ctx, q, nearby)
	}
	if err != nil {
		return err
	}
	b.Nearby = slices.DeleteFunc(b.Nearby, func(o memory.Observation) bool { return o.SupersededBy != 0 })
	b.NearbySymbols = nil
	ids := collect.Set(collect.Map(b.Nearby, func(o memory.Observation) memory.SessionID { return o.Session }))
	if len(files) == 0 || len(ids) == 0 {
		return nil
	}
	b.NearbySymbols, err = readSymbolChanges(ctx, q, "", `function_map r INDEXED BY function_map_session
		WHERE r.session_id IN (SELECT value FROM json_each(?)) AND r.file_path IN (SELECT value FROM json_each(?))
			AND r.change_type <> 'unchanged' ORDER BY r.id`, db.JSONList(slices.Collect(maps.Keys(ids))), paths)
	return err
}

// ObservationsOfFile implements moments.History: the observations of a project that
// have this path in either Unicode form, pinned ones ahead, then the newest, at most limit of
// each. Of those that are not pinned the ones stored last are read, so that of a
// file with a long history an old session that was imported late may stand for a
// newer one. In place of a superseded observation stands the one that holds now, whatever
// its files.
func (s *Records) ObservationsOfFile(ctx context.Context, projectPath, path string, limit int) ([]memory.Observation, error) {
	return db.InSnapshot(ctx, s.DB, "list observations of a file", func(reader db.Querier) ([]memory.Observation, error) {
		projectPath, err := KnownAs(ctx, reader, projectPath)
		if err != nil {
			return nil, err
		}
		composed, decomposed := norm.NFC.String(path), norm.NFD.String(path)
		pinned, err := db.Column[memory.ObservationID](ctx, reader, `SELECT o.id FROM observations o INDEXED BY observations_newest
			WHERE o.project = ?1 AND o.pinned = 1 AND o.deleted_at IS NULL
				AND EXISTS (SELECT 1 FROM file_refs f WHERE f.path_id IN (SELECT id FROM paths WHERE path IN (?2, ?4, ?5)) AND f.observation_id = o.id)
			ORDER BY o.created_at DESC, o.id DESC LIMIT +?3`, projectPath, path, limit, composed, decomposed)
		if err != nil {
			return nil, err
		}
		newest, err := db.Column[memory.ObservationID](ctx, reader, `SELECT DISTINCT f.observation_id FROM file_refs f INDEXED BY file_refs_path
			CROSS JOIN observations o NOT INDEXED ON o.id = f.observation_id
			WHERE f.path_id IN (SELECT id FROM paths WHERE path IN (?2, ?4, ?5)) AND o.project = ?1 AND o.pinned = 0 AND o.deleted_at IS NULL
			ORDER BY f.observation_id DESC LIMIT +?3`, projectPath, path, limit, composed, decomposed)
		if err != nil {
			return nil, err
		}
		found, err := readObservations(ctx, reader, "observations r NOT INDEXED",
			"r.id IN (SELECT value FROM json_each(?)) ORDER BY r.pinned DESC, r.created_at DESC, r.id DESC", db.JSONList(append(pinned, newest...)))
		if err != nil {
			return nil, err
		}
		return current(ctx, reader, found)
	})
}

// ObservationsNaming implements search.Records: for each of the paths the newest observations
// that have it among their files, at most limit, of all projects and with hidden ones: the
// caller's index knows which of them count, and one statement that reads nothing but an index
// takes a tenth of the time.
func (s *Records) ObservationsNaming(ctx context.Context, paths []string, limit int) (_ map[string][]memory.ObservationID, err error) {
	defer db.Wrap(&err, "list observations by files")
	of := map[string][]memory.ObservationID{}
	var path, list string
	for range db.Select(ctx, s.Reader, &err, `SELECT value, (SELECT json_group_array(observation_id) FROM (SELECT observation_id FROM file_refs
		WHERE path_id = (SELECT id FROM paths WHERE path = p.value) ORDER BY observation_id DESC LIMIT +?2)) FROM json_each(?1) p`, db.JSONList(paths), limit).Into(&path, &list) {
		var ids []memory.ObservationID
		if err := json.Unmarshal([]byte(list), &ids); err != nil {
			return of, err
		}
		if ids = slices.Compact(ids); len(ids) > 0 { // read and modified
			of[path] = ids
		}
	}
	return of, err
}

// WorkingFiles implements search.Records: the files of a session's latest observations, of at
// most limit, those of the last first, each once, at most limit; and all its observations.
func (s *Records) WorkingFiles(ctx context.Context, session memory.SessionID, limit int) (files []string, own []memory.ObservationID, err error) {
	files, err = db.Column[string](ctx, s.Reader, `SELECT p.path FROM (SELECT id FROM observations WHERE session_id = ? AND deleted_at IS NULL ORDER BY created_at DESC LIMIT +?) o
		CROSS JOIN file_refs f ON f.observation_id = o.id CROSS JOIN paths p ON p.id = f.path_id
		GROUP BY f.path_id ORDER BY max(o.id) DESC, p.path LIMIT +?`, session, limit, limit)
	if err == nil && len(files) > 0 {
		own, err = db.Column[memory.ObservationID](ctx, s.Reader, "SELECT id FROM observations WHERE session_id = ?", session)
	}
	return files, own, db.Fault("list the files of a session", err)
}
