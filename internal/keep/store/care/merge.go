package care

import (
	"cmp"
	"context"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// MergeProjects makes the records of a project those of another one, in one transaction; the
// change feed tells of each record. A learning that says what one of the other project says
// becomes one with it. DryRun counts and changes nothing.
//
// CodeInvalid for a project into itself and for a label that several projects share;
// CodeNotFound for a project without records. Into may be a directory without records yet.
func (s *Care) MergeProjects(ctx context.Context, m memory.ProjectMerge) (memory.ProjectMerged, error) {
	const what = "merge projects"
	from, err := s.records.OneProject(ctx, m.From)
	into, err2 := s.records.OneProject(ctx, m.Into)
	if err := cmp.Or(err, err2); err != nil {
		return memory.ProjectMerged{}, db.Fault(what, err)
	}
	if from == into {
		return memory.ProjectMerged{}, db.Fault(what, memory.Errorf(memory.CodeInvalid, "both are the project %.200q", from))
	}
	count := func(q db.Querier) (memory.ProjectMerged, error) { return countMerge(ctx, q, from, into) }
	if m.DryRun {
		return db.InSnapshot(ctx, s.DB, what, count)
	}
	return db.InJob(ctx, s.DB, what, db.Job{}, func(t *db.Tx) (memory.ProjectMerged, error) {
		merged, err := count(t.Conn)
		if err != nil {
			return merged, err
		}
		merged.Merged, merged.Aliased = true, m.Alias
		mergeProjects(t, from, into, m.Alias)
		return merged, nil
	})
}

// countMerge counts the records of from; CodeNotFound if there are none.
func countMerge(ctx context.Context, q db.Querier, from, into string) (memory.ProjectMerged, error) {
	m := memory.ProjectMerged{From: from, Into: into}
	err := q.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sessions WHERE project = ?1), (SELECT count(*) FROM prompts WHERE project = ?1),
		(SELECT count(*) FROM session_summaries WHERE project = ?1), (SELECT count(*) FROM observations WHERE project = ?1),
		(SELECT count(*) FROM learnings WHERE project = ?1), (SELECT count(*) FROM function_map WHERE project = ?1),
		(SELECT count(*) FROM learnings WHERE project = ?1 AND content_key IN (SELECT content_key FROM learnings WHERE project = ?2))`, from, into).
		Scan(&m.Sessions, &m.Prompts, &m.Summaries, &m.Observations, &m.Learnings, &m.Symbols, &m.Combined)
	if err == nil && m.Empty() {
		err = memory.Errorf(memory.CodeNotFound, "there are no records of %.200q", from).WithHint("`claude-mem projects` lists the projects")
	}
	return m, err
}

// mergeProjects moves the records of a project. The conditions on ?3 are always true: all
// statements take the same arguments.
func mergeProjects(t *db.Tx, from, into string, alias bool) {
	// What is written by hand next finds the session for that by its name.
	there := t.Number("SELECT EXISTS (SELECT 1 FROM sessions WHERE host = 'raw' AND host_session_id = ?)", records.ManualPrefix+into)
	name := "?2"
	if there != 0 {
		name = "?2 || ':' || ulid"
	}
	t.Exec("UPDATE sessions SET host_session_id = "+name+" WHERE host = 'raw' AND host_session_id = ?1", records.ManualPrefix+from, records.ManualPrefix+into)
	combineLearnings(t, from, into)
	records.MoveImported(t, from, into)
	t.ExecAll([]string{
		// A session takes its records along, by triggers; others can be of another project than their session.
		"UPDATE sessions SET project = ?2, label = ?3 WHERE project = ?1",
		"UPDATE observations SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		"UPDATE learnings SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		"UPDATE injections SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
		// What waits, for the observer or for a model, is distilled into records of the project that it names.
		"UPDATE pending_messages SET payload = json_set(payload, '$.project_path', ?2) WHERE iif(json_valid(payload), payload ->> '$.project_path', '') = ?1 AND ?3 <> ''",
		"UPDATE unread_messages SET payload = json_set(payload, '$.project_path', ?2) WHERE iif(json_valid(payload), payload ->> '$.project_path', '') = ?1 AND ?3 <> ''",
		"UPDATE project_aliases SET project = ?2 WHERE project = ?1 AND ?3 <> ''",
	}, from, into, memory.ProjectLabel(into))
	if alias {
		addAlias(t, from, into)
	}
}

// combineLearnings makes one of each two learnings of both projects that say the same: that
// of into, which stays retired if it was.
func combineLearnings(t *db.Tx, from, into string) {
	t.ExecAll([]string{
		`UPDATE learnings SET times_seen = times_seen + other.seen, confidence = max(confidence, other.sure), updated_at = max(updated_at, other.at)
			FROM (SELECT content_key AS same, times_seen AS seen, confidence AS sure, updated_at AS at FROM learnings WHERE project = ?1) other
			WHERE project = ?2 AND content_key = other.same`,
		`UPDATE learnings SET superseded_by = (SELECT i.id FROM learnings f JOIN learnings i ON i.project = ?2 AND i.content_key = f.content_key WHERE f.id = learnings.superseded_by)
			WHERE superseded_by IN (SELECT f.id FROM learnings f JOIN learnings i ON i.project = ?2 AND i.content_key = f.content_key WHERE f.project = ?1)`,
		"UPDATE learnings SET superseded_by = NULL WHERE superseded_by = id AND project IN (?1, ?2)",
		"DELETE FROM learnings WHERE project = ?1 AND content_key IN (SELECT content_key FROM learnings WHERE project = ?2)",
	}, from, into)
}

func aliasFields(a *memory.ProjectAlias) []any { return []any{&a.Path, &a.Project, &a.At} }

// Aliases returns all aliases of projects, by project.
func (s *Care) Aliases(ctx context.Context) (aliases []memory.ProjectAlias, err error) {
	defer db.Wrap(&err, "list aliases of projects")
	return db.All(ctx, s.Reader, aliasFields, "SELECT path, project, created_at FROM project_aliases ORDER BY project, path")
}

// AddAlias has what is done in path from now on belong to a project, named by its root or
// label. CodeConflict while there are records of path: they would be found no more by its
// name. CodeInvalid for a path that is the project's own.
func (s *Care) AddAlias(ctx context.Context, path, project string) (memory.ProjectAlias, error) {
	const what = "add alias of a project"
	var alias memory.ProjectAlias
	if path == "" {
		return alias, memory.Errorf(memory.CodeInvalid, "no path").WithHint("name the directory whose sessions belong to another project")
	}
	if !records.IsRoot(path) {
		return alias, memory.Errorf(memory.CodeInvalid, "%.100q is no directory", path).WithHint("an alias is the full path of a directory, or label:NAME")
	}
	into, err := s.records.OneProject(ctx, project)
	if err != nil {
		return alias, db.Fault(what, err)
	}
	return db.InJob(ctx, s.DB, what, db.Job{}, func(t *db.Tx) (memory.ProjectAlias, error) {
		found := t.Number(`SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?1) OR EXISTS (SELECT 1 FROM observations WHERE project = ?1)
			OR EXISTS (SELECT 1 FROM learnings WHERE project = ?1)`, path)
		switch {
		case path == into:
			return alias, memory.Errorf(memory.CodeInvalid, "%.200q is that project", path)
		case found != 0:
			return alias, memory.Errorf(memory.CodeConflict, "there are records of %.200q", path).
				WithHint("`claude-mem projects merge FROM INTO --alias` moves them and adds the alias")
		}
		return addAlias(t, path, into), nil
	})
}

// addAlias stores an alias, in place of another one of path. Aliases of path become those of the
// project: none leads to another alias.
func addAlias(t *db.Tx, path, project string) memory.ProjectAlias {
	alias := memory.ProjectAlias{Path: path, Project: project, At: t.Now()}
	t.Exec("INSERT OR REPLACE INTO project_aliases (path, project, created_at) VALUES (?, ?, ?)", path, project, int64(alias.At))
	t.Exec("UPDATE project_aliases SET project = ? WHERE project = ?", project, path)
	return alias
}

// RemoveAlias removes an alias: what is done in path belongs to path again. Records stay
// where they are. CodeNotFound without such an alias.
func (s *Care) RemoveAlias(ctx context.Context, path string) (memory.ProjectAlias, error) {
	return db.InJob(ctx, s.DB, "remove alias of a project", db.Job{}, func(t *db.Tx) (alias memory.ProjectAlias, err error) {
		if !t.Find("SELECT path, project, created_at FROM project_aliases WHERE path = ?", []any{path}, aliasFields(&alias)...) {
			return alias, memory.Errorf(memory.CodeNotFound, "%.200q is no alias of a project", path).WithHint("`claude-mem projects alias` lists them")
		}
		t.Exec("DELETE FROM project_aliases WHERE path = ?", path)
		return alias, nil
	})
}
