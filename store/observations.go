package store

import (
	"context"
	"encoding/json"
	"strings"

	"claudemem"
)

const observationColumns = `o.id, o.ulid, o.session_id, o.project, o.prompt_number, o.type, o.title, o.subtitle, o.narrative,
	o.facts, o.concepts, o.discovery_tokens, o.content_hash, o.origin, o.agent_id, o.agent_type, o.branch, o.head_commit,
	o.times_seen, o.pinned, o.created_at`

// readObservations runs a query for observationColumns and adds the files.
func readObservations(ctx context.Context, q querier, query string, args ...any) ([]claudemem.Observation, error) {
	var found []claudemem.Observation
	err := each(ctx, q, func(scan scanFunc) error {
		var o claudemem.Observation
		var facts, concepts string
		if err := scan(&o.ID, &o.ULID, &o.Session, &o.ProjectPath, &o.PromptNumber, &o.Type, &o.Title, &o.Subtitle, &o.Narrative,
			&facts, &concepts, &o.DiscoveryTokens, &o.ContentHash, &o.Origin, &o.AgentID, &o.AgentType, &o.Branch, &o.HeadCommit,
			&o.TimesSeen, &o.Pinned, &o.CreatedAt); err != nil {
			return err
		}
		o.Facts, o.Concepts = decodeList(facts), decodeList(concepts)
		found = append(found, o)
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return found, addFiles(ctx, q, found)
}

func addFiles(ctx context.Context, q querier, observations []claudemem.Observation) error {
	if len(observations) == 0 {
		return nil
	}
	ids := make([]int64, len(observations))
	for i := range observations {
		ids[i] = int64(observations[i].ID)
	}
	files := make(map[claudemem.ObservationID][]claudemem.FileRef, len(observations))
	err := each(ctx, q, func(scan scanFunc) error {
		var id claudemem.ObservationID
		var f claudemem.FileRef
		if err := scan(&id, &f.Path, &f.Role, &f.Hash); err != nil {
			return err
		}
		files[id] = append(files[id], f)
		return nil
	}, `SELECT observation_id, path, role, coalesce(file_hash, '') FROM observation_files
		WHERE observation_id IN (SELECT value FROM json_each(?)) ORDER BY observation_id, position`, numbers(ids))
	for i := range observations { // one that was asked for twice is there twice
		observations[i].Files = files[observations[i].ID]
	}
	return err
}

// numbers encodes ids for json_each, which keeps the statement constant.
func numbers(ids []int64) string {
	b, _ := json.Marshal(ids) // integers always encode
	return string(b)
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
	asked := make([]int64, len(ids))
	for i, id := range ids {
		asked[i] = int64(id)
	}
	found, err := observationsByIDs(ctx, s.reader, asked)
	return found, fault("read observations", err)
}

func observationsByIDs(ctx context.Context, q querier, ids []int64) ([]claudemem.Observation, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return readObservations(ctx, q, "SELECT "+observationColumns+` FROM json_each(?) wanted
		CROSS JOIN observations o NOT INDEXED ON o.id = wanted.value WHERE o.deleted_at IS NULL ORDER BY wanted.key`, numbers(ids))
}

// Observations implements recall.Source and httpapi.Records: pinned ones ahead,
// then the newest first; all when the limit is 0.
func (s *Store) Observations(ctx context.Context, q claudemem.Query) ([]claudemem.Observation, error) {
	var found []claudemem.Observation
	err := s.snapshot(ctx, func(reader querier) error {
		f, err := resolve(ctx, reader, q, observationsOnly)
		if err != nil {
			return err
		}
		refs, err := list(ctx, reader, &f, pinnedNewest, q.Limit, q.Offset)
		if err != nil {
			return err
		}
		ids := make([]int64, len(refs))
		for i, ref := range refs {
			ids[i] = ref.ID
		}
		found, err = observationsByIDs(ctx, reader, ids)
		return err
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
	mine, mineArgs := projectFilter("s", projects)
	ours, oursArgs := projectFilter("o", projects)
	err = s.reader.QueryRowContext(ctx, `WITH mine AS MATERIALIZED
			(SELECT s.id, s.project, s.prompt_count FROM sessions s WHERE `+mine+`)
		SELECT
			(SELECT count(DISTINCT project) FROM mine),
			(SELECT count(*) FROM mine),
			(SELECT coalesce(sum(prompt_count), 0) FROM mine),
			(SELECT count(*) FROM observations o WHERE o.pinned IN (0, 1) AND o.deleted_at IS NULL AND `+ours+`),
			(SELECT count(*) FROM mine JOIN session_summaries m ON m.session_id = mine.id)`, append(mineArgs, oursArgs...)...).
		Scan(&t.Projects, &t.Sessions, &t.Prompts, &t.Observations, &t.Summaries)
	return t, fault(what, err)
}
