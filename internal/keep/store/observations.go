package store

import (
	"context"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// readObservations reads observations r with their files; from is what follows FROM.
func readObservations(ctx context.Context, q querier, from string, args ...any) ([]memory.Observation, error) {
	found, err := all(ctx, q, observationRecord.fields, "SELECT "+observationRecord.read+" FROM "+from, args...)
	if err != nil {
		return nil, err
	}
	wanted := make([]*memory.Observation, len(found))
	for i := range found {
		wanted[i] = &found[i]
	}
	return found, readRest(ctx, q, wanted)
}

// readOutside reads what observations have outside of their rows: their files, and which
// record supersedes them.
func readOutside(ctx context.Context, q querier, observations []*memory.Observation) error {
	if err := readFiles(ctx, q, observations); err != nil {
		return err
	}
	return readSuperseding(ctx, q, observations)
}

// readRest is readOutside, and looks whether the observations are as they were written.
func readRest(ctx context.Context, q querier, observations []*memory.Observation) error {
	if err := readOutside(ctx, q, observations); err != nil {
		return err
	}
	return withhold(ctx, q, memory.RecordObservation, observations,
		func(o *memory.Observation) int64 { return int64(o.ID) }, (*memory.Observation).Withhold)
}

// readFiles reads the files of observations, in their order.
func readFiles(ctx context.Context, q querier, observations []*memory.Observation) error {
	if len(observations) == 0 {
		return nil
	}
	ids := make([]memory.ObservationID, len(observations))
	for i, o := range observations {
		ids[i] = o.ID
	}
	files := make(map[memory.ObservationID][]memory.FileRef, len(ids))
	err := each(ctx, q, func(scan sqlite.Scan) error {
		var id memory.ObservationID
		var f memory.FileRef
		err := scan(&id, &f.Path, &f.Role, &f.Hash, toList(&f.Symbols))
		files[id] = append(files[id], f)
		return err
	}, `SELECT observation_id, path, role, coalesce(file_hash, ''), symbols FROM observation_files
		WHERE observation_id IN (SELECT value FROM json_each(?)) ORDER BY observation_id, position`, jsonList(ids))
	for _, o := range observations { // one that was asked for twice is there twice
		o.Files = files[o.ID]
	}
	return err
}

// Observation implements api.Store; CodeNotFound when there is none, or
// when it is hidden.
func (s *Store) Observation(ctx context.Context, id memory.ObservationID) (memory.Observation, error) {
	return observationByID(ctx, s.reader, id)
}

func observationByID(ctx context.Context, q querier, id memory.ObservationID) (memory.Observation, error) {
	return theObservation(ctx, q, noObservation(id), "r.id = ?", int64(id))
}

// ObservationByULID is Observation by the name that it has on every machine, in
// whatever case that is written.
func (s *Store) ObservationByULID(ctx context.Context, ulid memory.ULID) (memory.Observation, error) {
	missing := memory.Errorf(memory.CodeNotFound, "there is no observation %.26q", ulid)
	return theObservation(ctx, s.reader, missing, "r.ulid = ?", strings.ToUpper(string(ulid)))
}

// theObservation reads the only observation that a condition selects; the error is
// missing when there is none, or when it is hidden.
func theObservation(ctx context.Context, q querier, missing error, condition string, key any) (memory.Observation, error) {
	found, err := readObservations(ctx, q, "observations r WHERE r.deleted_at IS NULL AND "+condition, key)
	switch {
	case err != nil:
		return memory.Observation{}, fault("read observation", err)
	case len(found) == 0:
		return memory.Observation{}, missing
	}
	return found[0], nil
}

// ObservationsByIDs returns the observations with the given numbers in the order
// asked for; those that are not there, or hidden, are left out.
func (s *Store) ObservationsByIDs(ctx context.Context, ids ...memory.ObservationID) (found []memory.Observation, err error) {
	defer wrap(&err, "read observations")
	return observationsByIDs(ctx, s.reader, ids)
}

// observationsByIDs returns the observations in the order of ids, without hidden and
// missing ones.
func observationsByIDs(ctx context.Context, q querier, ids []memory.ObservationID) ([]memory.Observation, error) {
	return readObservations(ctx, q, `json_each(?) wanted CROSS JOIN observations r NOT INDEXED ON r.id = wanted.value
		WHERE r.deleted_at IS NULL ORDER BY wanted.key`, jsonList(ids))
}

// Observations implements recall.Source and api.Store: pinned ones ahead,
// then the newest first; all when the limit is 0.
func (s *Store) Observations(ctx context.Context, q memory.Query) ([]memory.Observation, error) {
	return inSnapshot(ctx, s, "list observations", func(reader querier) ([]memory.Observation, error) {
		f, err := resolveFilter(ctx, reader, q, observationsOnly)
		if err != nil {
			return nil, err
		}
		refs, err := list(ctx, reader, &f, pinnedNewest, q.Limit, q.Offset)
		if err != nil {
			return nil, err
		}
		ids := make([]memory.ObservationID, len(refs))
		for i, ref := range refs {
			ids[i] = memory.ObservationID(ref.ID)
		}
		return observationsByIDs(ctx, reader, ids)
	})
}

var observationsOnly = []memory.RecordKind{memory.RecordObservation}

// CountObservations implements api.Store; limit and offset don't matter.
func (s *Store) CountObservations(ctx context.Context, q memory.Query) (int, error) {
	return s.CountRecords(ctx, q, observationsOnly)
}

// Totals implements recall.Source and api.Store. The project is a root
// path or a label; "" counts everything. The counts are kept until something changes.
func (s *Store) Totals(ctx context.Context, projectPath string) (memory.Totals, error) {
	return countOnce(ctx, s, &s.totals, "count records", projectPath, func(reader querier, _ int64) (memory.Totals, error) {
		return totals(ctx, reader, projectPath)
	})
}

func totals(ctx context.Context, reader querier, projectPath string) (t memory.Totals, err error) {
	query, args := `SELECT
		(SELECT count(DISTINCT project) FROM sessions WHERE project <> ''),
		(SELECT count(*) FROM sessions),
		(SELECT count(*) FROM prompts),
		(SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL),
		(SELECT count(*) FROM session_summaries)`, []any(nil)
	if projectPath != "" {
		projects, err := projectsNamed(ctx, reader, projectPath)
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
