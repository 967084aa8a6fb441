package care

import (
	"context"
	"slices"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// MergeObservations makes one of observations, or takes that back, and returns which of them are superseded and
// which were pinned. What a merge has superseded is told by the observations themselves: an undo leaves out
// those that Into does not supersede any more.
//
// The codes of its errors: CodeInvalid for fewer than two and for several projects, CodeNotFound for one that is
// not there or hidden, CodeConflict for one that is superseded already, and for an undo of nothing.
func (s *Care) MergeObservations(ctx context.Context, m memory.ObservationMerge) (memory.ObservationMerge, error) {
	return db.InKeeping(ctx, s.DB, "merge observations", func(t *db.Tx) (memory.ObservationMerge, error) {
		if m.Undo {
			return unmerge(t, m)
		}
		wanted := collect.Unique(slices.DeleteFunc(append([]memory.ObservationID{m.Into}, m.IDs...), func(id memory.ObservationID) bool { return id == 0 }))
		if len(wanted) < 2 {
			return m, memory.Errorf(memory.CodeInvalid, "a merge of %s", text.Count(len(wanted), "observation")).WithHint("name two or more that say the same")
		}
		list, done, projects, found := db.JSONList(wanted), memory.ObservationMerge{}, map[string]bool{}, map[memory.ObservationID]bool{}
		var id, by memory.ObservationID
		var project string
		var pinned bool
		for range t.Select(`SELECT id, project, pinned, coalesce(superseded_by, 0) FROM observations WHERE id IN (SELECT value FROM json_each(?1)) AND deleted_at IS NULL
			ORDER BY id = ?2 DESC, provenance IN ('outside', 'mcp', 'web'), pinned DESC, origin = 'user' DESC, times_seen DESC, created_at DESC, id DESC`, list, int64(m.Into)).
			Into(&id, &project, &pinned, &by) {
			if projects[project], found[id] = true, true; by != 0 {
				t.Fail(memory.Errorf(memory.CodeConflict, "observation #%d is superseded by #%d already", id, by).WithHint("leave it out"))
			}
			if done.Into == 0 {
				done.Into = id
			} else {
				done.IDs = append(done.IDs, id)
			}
			if pinned {
				done.Pinned = append(done.Pinned, id)
			}
		}
		if missing := slices.IndexFunc(wanted, func(id memory.ObservationID) bool { return !found[id] }); missing >= 0 {
			return m, records.NoObservation(wanted[missing])
		}
		if len(projects) > 1 {
			return m, memory.Errorf(memory.CodeInvalid, "observations of several projects").WithHint("merge those of each project apart")
		}
		t.Exec(`UPDATE observations SET pinned = ?3, times_seen = (SELECT sum(times_seen) FROM observations WHERE id IN (SELECT value FROM json_each(?1))) WHERE id = ?2`,
			list, int64(done.Into), len(done.Pinned) > 0)
		t.Exec("UPDATE observations SET superseded_by = ?2, pinned = 0 WHERE id IN (SELECT value FROM json_each(?1))", db.JSONList(done.IDs), int64(done.Into))
		return done, nil
	})
}

// unmerge takes a merge back: of its observations those that it still supersedes hold again.
func unmerge(t *db.Tx, m memory.ObservationMerge) (memory.ObservationMerge, error) {
	m.IDs = db.Selected[memory.ObservationID](t, `SELECT id FROM observations WHERE id IN (SELECT value FROM json_each(?1)) AND superseded_by = ?2`, db.JSONList(m.IDs), int64(m.Into))
	if len(m.IDs) == 0 {
		return m, memory.Errorf(memory.CodeConflict, "#%d supersedes none of these observations", m.Into).WithHint("`claude-mem show` tells what an observation is superseded by")
	}
	list, pinned := db.JSONList(m.IDs), db.JSONList(m.Pinned)
	t.Exec(`UPDATE observations SET pinned = id IN (SELECT value FROM json_each(?3)),
		times_seen = max(1, times_seen - (SELECT sum(times_seen) FROM observations WHERE id IN (SELECT value FROM json_each(?1)))) WHERE id = ?2`, list, int64(m.Into), pinned)
	t.Exec(`UPDATE observations SET superseded_by = NULL, pinned = id IN (SELECT value FROM json_each(?2)) WHERE id IN (SELECT value FROM json_each(?1))`, list, pinned)
	return m, nil
}
