package store

import (
	"cmp"
	"context"

	"claudemem/internal/memory"
)

// MergeProjects makes the records of a project those of another one, in one transaction; the
// change feed tells of each record. A learning that says what one of the other project says
// becomes one with it. DryRun counts and changes nothing.
//
// CodeInvalid for a project into itself and for a label that several projects share;
// CodeNotFound for a project without records. Into may be a directory without records yet.
func (s *Store) MergeProjects(ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
	const what = "merge projects"
	from, err := s.oneProject(ctx, m.From)
	into, err2 := s.oneProject(ctx, m.Into)
	if err := cmp.Or(err, err2); err != nil {
		return memory.ProjectMerged{}, fault(what, err)
	}
	if from == into {
		return memory.ProjectMerged{}, fault(what, memory.Errorf(memory.CodeInvalid, "both are the project %.200q", from))
	}
	count := func(q querier) (memory.ProjectMerged, error) { return countMerge(ctx, q, from, into) }
	if m.DryRun {
		return inSnapshot(ctx, s, what, count)
	}
	return inJob(ctx, s, what, job{}, func(t *tx) (memory.ProjectMerged, error) {
		merged, err := count(t.w.conn)
		if err != nil {
			return merged, err
		}
		merged.Merged, merged.Aliased = true, m.Alias
		return merged, t.mergeProjects(from, into, m.Alias)
	})
}

// countMerge counts the records of from; CodeNotFound if there are none.
func countMerge(ctx context.Context, q querier, from, into string) (memory.ProjectMerged, error) {
	m := memory.ProjectMerged{From: from, Into: into}
	for _, count := range []struct {
		n     *int
		query string
	}{
		{&m.Sessions, "SELECT count(*) FROM sessions WHERE project = ?1"},
		{&m.Prompts, "SELECT count(*) FROM prompts WHERE project = ?1"},
		{&m.Summaries, "SELECT count(*) FROM session_summaries WHERE project = ?1"},
		{&m.Observations, "SELECT count(*) FROM observations WHERE project = ?1"},
		{&m.Learnings, "SELECT count(*) FROM learnings WHERE project = ?1"},
		{&m.Symbols, "SELECT count(*) FROM function_map WHERE project = ?1"},
	} {
		var err error
		if *count.n, err = value[int](ctx, q, count.query, from); err != nil {
			return m, err
		}
	}
	combined, err := value[int](ctx, q, "SELECT count(*) FROM learnings WHERE project = ? AND content_key IN (SELECT content_key FROM learnings WHERE project = ?)", from, into)
	m.Combined = combined
	if err == nil && m.Empty() {
		err = memory.Errorf(memory.CodeNotFound, "there are no records of %.200q", from).WithHint("`claude-mem projects` lists the projects")
	}
	return m, err
}

// mergeProjects moves the records of a project.
func (t *tx) mergeProjects(from, into string, alias bool) error {
	// What is written by hand next finds the session for that by its name.
	there, err := t.number("SELECT EXISTS (SELECT 1 FROM sessions WHERE host = 'raw' AND host_session_id = ?)", manualPrefix+into)
	if err != nil {
		return err
	}
	name := "?2"
	if there != 0 {
		name = "?2 || ':' || ulid"
	}
	if err := t.exec("UPDATE sessions SET host_session_id = "+name+" WHERE host = 'raw' AND host_session_id = ?1", manualPrefix+from, manualPrefix+into); err != nil {
		return err
	}
	if err := t.combineLearnings(from, into); err != nil {
		return err
	}
	if err := t.execAll([]string{
		// A session takes its records along, by triggers; others can be of another project than their session.
		"UPDATE sessions SET project = ?2, label = ?3 WHERE project = ?1",
		"UPDATE observations SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		"UPDATE learnings SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		"UPDATE injections SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		"UPDATE project_aliases SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
	}, from, into, memory.ProjectLabel(into)); err != nil {
		return err
	}
	if alias {
		_, err = t.addAlias(from, into)
	}
	return err
}

// combineLearnings makes one of each two learnings of both projects that say the same: that
// of into, which stays retired if it was.
func (t *tx) combineLearnings(from, into string) error {
	return t.execAll([]string{
		`UPDATE learnings SET times_seen = times_seen + other.seen, confidence = max(confidence, other.sure), updated_at = max(updated_at, other.at)
			FROM (SELECT content_key AS same, times_seen AS seen, confidence AS sure, updated_at AS at FROM learnings WHERE project = ?1) other
			WHERE project = ?2 AND content_key = other.same`,
		`UPDATE learnings SET superseded_by = (SELECT i.id FROM learnings f JOIN learnings i ON i.project = ?2 AND i.content_key = f.content_key WHERE f.id = learnings.superseded_by)
			WHERE superseded_by IN (SELECT f.id FROM learnings f JOIN learnings i ON i.project = ?2 AND i.content_key = f.content_key WHERE f.project = ?1)`,
		"UPDATE learnings SET superseded_by = NULL WHERE superseded_by = id AND project IN (?1, ?2)",
		"DELETE FROM learnings WHERE project = ?1 AND content_key IN (SELECT content_key FROM learnings WHERE project = ?2)",
	}, from, into)
}

// followMerge gives the records of a claim the project of their session as it is stored: the
// project may have been merged into another one since the claim.
func (t *tx) followMerge(claimed *memory.Session, observations []memory.Observation, learnings []memory.Learning) error {
	var project string
	if err := t.row("SELECT project FROM sessions WHERE id = ?", []any{int64(claimed.ID)}, &project); err != nil || project == claimed.ProjectPath {
		return err
	}
	for i := range observations {
		if observations[i].ProjectPath == claimed.ProjectPath {
			observations[i].ProjectPath = project
		}
	}
	for i := range learnings {
		if learnings[i].ProjectPath == claimed.ProjectPath {
			learnings[i].ProjectPath = project
		}
	}
	claimed.ProjectPath = project
	return nil
}
