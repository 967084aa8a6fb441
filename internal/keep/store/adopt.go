package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"claudemem/internal/memory"
)

// labelOnly begins the path of a project whose root is not known: "label:shop".
const labelOnly = "label:"

// rootsByLabel returns the roots of the projects with sessions, by label.
func rootsByLabel(ctx context.Context, q queryOnly) (map[string][]string, error) {
	// It reads one entry of the index per project.
	projects, err := column[string](ctx, q, `WITH RECURSIVE p (project) AS (
			SELECT min(project) FROM sessions
			UNION ALL SELECT (SELECT min(s.project) FROM sessions s WHERE s.project > p.project) FROM p WHERE p.project IS NOT NULL)
		SELECT project FROM p WHERE project <> ''`)
	if err != nil {
		return nil, err
	}
	roots := map[string][]string{}
	for _, project := range projects {
		if !strings.HasPrefix(project, labelOnly) {
			label := memory.ProjectLabel(project)
			roots[label] = append(roots[label], project)
		}
	}
	return roots, nil
}

// adoptableLabel returns the label under which records wait for a project ("label:shop"), "" if
// there are none, or another project has that label too. They are moved to the project with the
// first event of a session (adoptLabel); until then, reading the project includes them.
func adoptableLabel(ctx context.Context, q queryOnly, project string) (label string, err error) {
	if !isRoot(project) || strings.HasPrefix(project, labelOnly) {
		return "", nil
	}
	name := memory.ProjectLabel(project)
	waiting, err := column[string](ctx, q, "SELECT project FROM sessions WHERE project = ? LIMIT 1", labelOnly+name)
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	roots, err := rootsByLabel(ctx, q)
	if err != nil || slices.ContainsFunc(roots[name], func(root string) bool { return root != project }) {
		return "", err
	}
	return waiting[0], nil
}

// adoptLabel moves the records that are known by the label of a project only to the project,
// if it is the only one with that label.
func (b *bookkeeper) adoptLabel(t *tx, project string) error {
	from, err := adoptableLabel(context.Background(), t, project)
	if err != nil || from == "" {
		return err
	}
	for _, s := range b.sessions {
		if s.project == from {
			s.project, s.saved.project = project, project
		}
	}
	err = t.exec("UPDATE sessions SET project = ?1 WHERE project = ?2", project, from)
	err2 := t.exec("UPDATE OR IGNORE learnings SET project = ?1 WHERE project = ?2", project, from)
	return errors.Join(err, err2)
}
