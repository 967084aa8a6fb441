package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"claudemem/internal/memory"
)

// aliased returns the project that path is an alias of, path itself if it is none. It is the
// one place where reading follows aliases; the bookkeeper and imports, which write, know them
// all.
func aliased(ctx context.Context, q querier, path string) (string, error) {
	project, err := value[string](ctx, q, "SELECT project FROM project_aliases WHERE path = ?", path)
	if errors.Is(err, sql.ErrNoRows) {
		return path, nil
	}
	return project, err
}

// ProjectOf implements search.Records: the project that what is done in path belongs to: that of an alias, else
// path itself.
func (s *Store) ProjectOf(ctx context.Context, path string) (project string, err error) {
	defer wrap(&err, "find project")
	return aliased(ctx, s.reader, path)
}

// readAliases returns all aliases.
func (t *tx) readAliases() (map[string]string, error) {
	aliases, err := all(context.Background(), t, scanAlias, selectAliases)
	known := make(map[string]string, len(aliases))
	for _, a := range aliases {
		known[a.Path] = a.Project
	}
	return known, err
}

const selectAliases = "SELECT path, project, created_at FROM project_aliases ORDER BY project, path"

func scanAlias(a *memory.ProjectAlias) []any { return []any{&a.Path, &a.Project, &a.At} }

// Aliases returns all aliases of projects, by project.
func (s *Store) Aliases(ctx context.Context) (aliases []memory.ProjectAlias, err error) {
	defer wrap(&err, "list aliases of projects")
	return all(ctx, s.reader, scanAlias, selectAliases)
}

// AddAlias has what is done in path from now on belong to a project, named by its root or
// label. CodeConflict while there are records of path: they would be found no more by its
// name. CodeInvalid for a path that is the project's own.
func (s *Store) AddAlias(ctx context.Context, path, project string) (memory.ProjectAlias, error) {
	const what = "add alias of a project"
	var alias memory.ProjectAlias
	if path == "" {
		return alias, memory.Errorf(memory.CodeInvalid, "no path").WithHint("name the directory whose sessions belong to another project")
	}
	if !isRoot(path) {
		return alias, memory.Errorf(memory.CodeInvalid, "%.100q is no directory", path).WithHint("an alias is the full path of a directory, or label:NAME")
	}
	into, err := s.oneProject(ctx, project)
	if err != nil {
		return alias, fault(what, err)
	}
	return inJob(ctx, s, what, job{}, func(t *tx) (memory.ProjectAlias, error) {
		found, err := t.number(`SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?1) OR EXISTS (SELECT 1 FROM learnings WHERE project = ?1)`, path)
		switch {
		case err != nil:
			return alias, err
		case path == into:
			return alias, memory.Errorf(memory.CodeInvalid, "%.200q is that project", path)
		case found != 0:
			return alias, memory.Errorf(memory.CodeConflict, "there are records of %.200q", path).
				WithHint("`claude-mem projects merge FROM INTO --alias` moves them and adds the alias")
		}
		return t.addAlias(path, into)
	})
}

// addAlias stores an alias. Aliases of path become those of the project.
func (t *tx) addAlias(path, project string) (memory.ProjectAlias, error) {
	alias := memory.ProjectAlias{Path: path, Project: project, At: t.now()}
	err := t.exec("INSERT OR REPLACE INTO project_aliases (path, project, created_at) VALUES (?, ?, ?)", path, project, int64(alias.At))
	err2 := t.exec("UPDATE project_aliases SET project = ? WHERE project = ?", project, path)
	return alias, errors.Join(err, err2)
}

// RemoveAlias removes an alias: what is done in path belongs to path again. Records stay
// where they are. CodeNotFound without such an alias.
func (s *Store) RemoveAlias(ctx context.Context, path string) (memory.ProjectAlias, error) {
	return inJob(ctx, s, "remove alias of a project", job{}, func(t *tx) (alias memory.ProjectAlias, err error) {
		err = t.row("SELECT path, project, created_at FROM project_aliases WHERE path = ?", []any{path}, scanAlias(&alias)...)
		if errors.Is(err, sql.ErrNoRows) {
			return alias, memory.Errorf(memory.CodeNotFound, "%.200q is no alias of a project", path).WithHint("`claude-mem projects alias` lists them")
		}
		if err == nil {
			err = t.exec("DELETE FROM project_aliases WHERE path = ?", path)
		}
		return alias, err
	})
}

// isRoot reports whether a project is named by its root, or as label:NAME, and not by its
// label.
func isRoot(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, labelOnly)
}
