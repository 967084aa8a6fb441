package store

import (
	"context"
	"strings"

	"claudemem"
	"claudemem/sqlite"
)

const observationColumns = `o.id, o.ulid, o.session_id, o.project, o.prompt_number, o.type, o.title, o.subtitle, o.narrative,
	o.facts, o.concepts, o.discovery_tokens, o.content_hash, o.origin, o.agent_id, o.agent_type, o.branch, o.head_commit,
	o.times_seen, o.pinned, o.created_at`

// observationFields returns the destinations of observationColumns.
func observationFields(o *claudemem.Observation) []any {
	return []any{&o.ID, &o.ULID, &o.Session, &o.ProjectPath, &o.PromptNumber, &o.Type, &o.Title, &o.Subtitle, &o.Narrative,
		toList(&o.Facts), toList(&o.Concepts), &o.DiscoveryTokens, &o.ContentHash, &o.Origin, &o.AgentID, &o.AgentType, &o.Branch, &o.HeadCommit,
		&o.TimesSeen, &o.Pinned, &o.CreatedAt}
}

// readObservations runs a query for observationColumns and adds the files.
func readObservations(ctx context.Context, q querier, query string, args ...any) ([]claudemem.Observation, error) {
	found, err := all(ctx, q, observationFields, query, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	ids := make([]claudemem.ObservationID, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	files, err := filesOf(ctx, q, ids)
	for i := range found { // one that was asked for twice is there twice
		found[i].Files = files[found[i].ID]
	}
	return found, err
}

// filesOf reads the files of observations, in their order.
func filesOf(ctx context.Context, q querier, ids []claudemem.ObservationID) (map[claudemem.ObservationID][]claudemem.FileRef, error) {
	files := make(map[claudemem.ObservationID][]claudemem.FileRef, len(ids))
	err := each(ctx, q, func(scan sqlite.Scan) error {
		var id claudemem.ObservationID
		var f claudemem.FileRef
		err := scan(&id, &f.Path, &f.Role, &f.Hash)
		files[id] = append(files[id], f)
		return err
	}, `SELECT observation_id, path, role, coalesce(file_hash, '') FROM observation_files
		WHERE observation_id IN (SELECT value FROM json_each(?)) ORDER BY observation_id, position`, jsonList(ids))
	return files, err
}

// Observation implements httpapi.Records; CodeNotFound when there is none, or
// when it is hidden.
func (s *Store) Observation(ctx context.Context, id claudemem.ObservationID) (claudemem.Observation, error) {
	found, err := s.ObservationsByIDs(ctx, id)
	if err != nil {
		return claudemem.Observation{}, err
	}
	if len(found) == 0 {
		return claudemem.Observation{}, noObservation(id)
	}
	return found[0], nil
}

// ObservationByULID is Observation by the name that it has on every machine, in
// whatever case that is written.
func (s *Store) ObservationByULID(ctx context.Context, ulid claudemem.ULID) (claudemem.Observation, error) {
	found, err := readObservations(ctx, s.reader, "SELECT "+observationColumns+
		` FROM observations o WHERE o.ulid = ? AND o.deleted_at IS NULL`, strings.ToUpper(string(ulid)))
	if err != nil {
		return claudemem.Observation{}, fault("read observation", err)
	}
	if len(found) == 0 {
		return claudemem.Observation{}, claudemem.Errorf(claudemem.CodeNotFound, "there is no observation %.26q", ulid)
	}
	return found[0], nil
}

// ObservationsByIDs returns the observations with the given numbers in the order
// asked for; those that are not there, or hidden, are left out.
func (s *Store) ObservationsByIDs(ctx context.Context, ids ...claudemem.ObservationID) ([]claudemem.Observation, error) {
	found, err := observationsByIDs(ctx, s.reader, ids)
	return found, fault("read observations", err)
}

// observationsByIDs returns the observations in the order of ids, without hidden and
// missing ones.
func observationsByIDs(ctx context.Context, q querier, ids []claudemem.ObservationID) ([]claudemem.Observation, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return readObservations(ctx, q, "SELECT "+observationColumns+` FROM json_each(?) wanted
		CROSS JOIN observations o NOT INDEXED ON o.id = wanted.value WHERE o.deleted_at IS NULL ORDER BY wanted.key`, jsonList(ids))
}

// Observations implements recall.Source and httpapi.Records: pinned ones ahead,
// then the newest first; all when the limit is 0.
func (s *Store) Observations(ctx context.Context, q claudemem.Query) ([]claudemem.Observation, error) {
	found, err := inSnapshot(ctx, s, func(reader querier) ([]claudemem.Observation, error) {
		f, err := resolve(ctx, reader, q, observationsOnly)
		if err != nil {
			return nil, err
		}
		refs, err := list(ctx, reader, &f, pinnedNewest, q.Limit, q.Offset)
		if err != nil {
			return nil, err
		}
		ids := make([]claudemem.ObservationID, len(refs))
		for i, ref := range refs {
			ids[i] = claudemem.ObservationID(ref.ID)
		}
		return observationsByIDs(ctx, reader, ids)
	})
	return found, fault("list observations", err)
}

var observationsOnly = []claudemem.RecordKind{claudemem.RecordObservation}

// CountObservations implements httpapi.Records; limit and offset don't matter.
func (s *Store) CountObservations(ctx context.Context, q claudemem.Query) (int, error) {
	return s.CountRecords(ctx, q, observationsOnly)
}

// turnObservations lists what was stored for the turns from..to, in order.
func turnObservations(ctx context.Context, q querier, session claudemem.SessionID, from, to int) ([]claudemem.Observation, error) {
	return readObservations(ctx, q, "SELECT "+observationColumns+` FROM observations o INDEXED BY observations_turn
		WHERE o.session_id = ? AND o.prompt_number BETWEEN ? AND ? AND o.deleted_at IS NULL
		ORDER BY o.prompt_number, o.id`, int64(session), from, to)
}

// Totals implements recall.Source and httpapi.Records. The project is a root
// path or a label; "" counts everything.
func (s *Store) Totals(ctx context.Context, projectPath string) (claudemem.Totals, error) {
	const what = "count records"
	var t claudemem.Totals
	if projectPath == "" {
		err := s.reader.QueryRowContext(ctx, `SELECT
			(SELECT count(DISTINCT project) FROM sessions WHERE project <> ''),
			(SELECT count(*) FROM sessions),
			(SELECT count(*) FROM prompts),
			(SELECT count(*) FROM observations WHERE pinned IN (0, 1) AND deleted_at IS NULL),
			(SELECT count(*) FROM session_summaries)`).
			Scan(&t.Projects, &t.Sessions, &t.Prompts, &t.Observations, &t.Summaries)
		return t, fault(what, err)
	}
	projects, err := s.projectsNamed(ctx, projectPath)
	if err != nil {
		return t, fault(what, err)
	}
	sessions, named := in("s.project", projects)
	observations, _ := in("o.project", projects)
	err = s.reader.QueryRowContext(ctx, `WITH mine AS MATERIALIZED
			(SELECT s.id, s.project, s.prompt_count FROM sessions s WHERE `+sessions+`)
		SELECT
			(SELECT count(DISTINCT project) FROM mine),
			(SELECT count(*) FROM mine),
			(SELECT coalesce(sum(prompt_count), 0) FROM mine),
			(SELECT count(*) FROM observations o WHERE o.pinned IN (0, 1) AND o.deleted_at IS NULL AND `+observations+`),
			(SELECT count(*) FROM mine JOIN session_summaries m ON m.session_id = mine.id)`, named, named).
		Scan(&t.Projects, &t.Sessions, &t.Prompts, &t.Observations, &t.Summaries)
	return t, fault(what, err)
}
