package records

import (
	"context"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// maxSuperseded bounds the records that one record supersedes: a revert takes back a piece
// of work, which is a record or two.
const maxSuperseded = 8

// SupersedeEarlier marks the earlier records that o reverses. Only records of its project
// that are older than it are marked, and none that is pinned or that a person wrote down:
// no observer overrules a person. One that is superseded already stays with the record
// that did it, and none that o was superseded by is: there are no cycles.
func SupersedeEarlier(t *db.Tx, o *memory.Observation) {
	earlier := o.Supersedes[:min(len(o.Supersedes), maxSuperseded)]
	if len(earlier) == 0 {
		return
	}
	t.Exec(`UPDATE observations SET superseded_by = ?1
		WHERE id IN (SELECT value FROM json_each(?2)) AND id <> ?1 AND superseded_by IS NULL
			AND project = ?3 AND created_at <= ?4 AND pinned = 0 AND origin <> 'user'
			AND id NOT IN (WITH RECURSIVE chain (by) AS (
				SELECT superseded_by FROM observations WHERE id = ?1 AND superseded_by IS NOT NULL
				UNION SELECT n.superseded_by FROM chain JOIN observations n ON n.id = chain.by WHERE n.superseded_by IS NOT NULL)
				SELECT by FROM chain)`,
		int64(o.ID), db.JSONList(earlier), o.ProjectPath, int64(o.CreatedAt))
}

// tellSuperseded appends the records that an observation supersedes to the change feed:
// they are current while it is hidden.
func tellSuperseded(t *db.Tx, by int64) {
	t.Exec("INSERT INTO changes (kind, id, operation) SELECT 'observation', id, 'update' FROM observations WHERE superseded_by = ?", by)
}

// relinkSuperseded links the records that the observations of a list supersede, which are
// about to be deleted, to the records that supersede these in turn.
func relinkSuperseded(t *db.Tx, gone string) {
	for {
		// The next one may be about to go, too. Links have no cycles, so this ends.
		n := t.Exec(`UPDATE observations SET superseded_by = (SELECT n.superseded_by FROM observations n WHERE n.id = observations.superseded_by)
			WHERE superseded_by IN (SELECT value FROM json_each(?1)) AND id NOT IN (SELECT value FROM json_each(?1))`, gone)
		if n == 0 {
			return
		}
	}
}

// Superseding implements search.Records: for those of the observations that are superseded,
// and for what supersedes them and is superseded in turn, the record that did it.
func (s *Records) Superseding(ctx context.Context, ids ...memory.ObservationID) (map[memory.ObservationID]memory.ObservationID, error) {
	const what = "read superseded observations"
	ctx = sqlite.Brief(ctx)
	return db.InSnapshot(ctx, s.DB, what, func(q db.Querier) (map[memory.ObservationID]memory.ObservationID, error) {
		return superseding(ctx, q, ids)
	})
}

// supersededLink is an observation with the one that supersedes it.
type supersededLink struct {
	by memory.ObservationID
	// hidden says that by is hidden, so that it supersedes nothing.
	hidden bool
}

// superseding returns what Superseding does. Where a record that supersedes another is
// hidden, the next one that is not takes its place; one of another project does not count.
func superseding(ctx context.Context, q db.Querier, ids []memory.ObservationID) (_ map[memory.ObservationID]memory.ObservationID, err error) {
	links := map[memory.ObservationID]supersededLink{}
	var id memory.ObservationID
	var link supersededLink
	for range db.Select(ctx, q, &err, `WITH RECURSIVE linked (id, by, hidden) AS (
			SELECT r.id, n.id, n.deleted_at IS NOT NULL FROM json_each(?) j CROSS JOIN observations r NOT INDEXED ON r.id = j.value
				CROSS JOIN observations n ON n.id = r.superseded_by AND n.project = r.project
			UNION
			SELECT r.id, n.id, n.deleted_at IS NOT NULL FROM linked CROSS JOIN observations r ON r.id = linked.by
				CROSS JOIN observations n ON n.id = r.superseded_by AND n.project = r.project)
		SELECT id, by, hidden FROM linked`, db.JSONList(ids)).Into(&id, &link.by, &link.hidden) {
		links[id] = link
	}
	if err != nil {
		return nil, err
	}
	by := make(map[memory.ObservationID]memory.ObservationID, len(links))
	for id, link := range links {
		for range links { // bounded, should a damaged file hold a cycle
			if !link.hidden {
				break
			}
			next, ok := links[link.by]
			if !ok {
				break
			}
			link = next
		}
		if !link.hidden && link.by != id {
			by[id] = link.by
		}
	}
	return by, nil
}

// supersedingOf is superseding for those of the observations whose rows say that they are
// superseded; nil if there are none.
func supersedingOf(ctx context.Context, q db.Querier, observations []*memory.Observation) (map[memory.ObservationID]memory.ObservationID, error) {
	marked := collect.Pick(observations, func(o *memory.Observation) (memory.ObservationID, bool) { return o.ID, o.SupersededBy != 0 })
	if len(marked) == 0 {
		return nil, nil
	}
	return superseding(ctx, q, marked)
}

// readSuperseding corrects the SupersededBy of observations, which hold what their rows
// have: a record that is hidden supersedes nothing.
func readSuperseding(ctx context.Context, q db.Querier, observations []*memory.Observation) error {
	by, err := supersedingOf(ctx, q, observations)
	if err != nil || by == nil {
		return err
	}
	for _, o := range observations {
		o.SupersededBy = by[o.ID]
	}
	return nil
}

// current returns the observations, each of which is there once, with the record that holds now in
// place of each that is superseded, every record once, in order.
func current(ctx context.Context, q db.Querier, observations []memory.Observation) ([]memory.Observation, error) {
	by, err := supersedingOf(ctx, q, collect.Pointers(observations))
	if err != nil || by == nil {
		return observations, err
	}
	return ObservationsByIDs(ctx, q, collect.Unique(collect.MapPtr(observations, func(o *memory.Observation) memory.ObservationID { return memory.Current(by, o.ID) })))
}
