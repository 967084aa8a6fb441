package store

import (
	"context"
	"errors"
	"strings"

	"claudemem"
)

// labelOnly begins the path of a project whose root is not known: "label:shop".
const labelOnly = "label:"

// rootsByLabel returns the roots of the projects with sessions, by label.
func (t *tx) rootsByLabel() (map[string][]string, error) {
	// It reads one entry of the index per project.
	projects, err := column[string](context.Background(), t, `WITH RECURSIVE p (project) AS (
			SELECT min(project) FROM sessions
			UNION ALL SELECT (SELECT min(s.project) FROM sessions s WHERE s.project > p.project) FROM p WHERE p.project IS NOT NULL)
		SELECT project FROM p WHERE project <> ''`)
	if err != nil {
		return nil, err
	}
	roots := map[string][]string{}
	for _, project := range projects {
		if !strings.HasPrefix(project, labelOnly) {
			label := claudemem.ProjectLabel(project)
			roots[label] = append(roots[label], project)
		}
	}
	return roots, nil
}

// adoptLabel moves the records that are known by the label of a project only to the project,
// if it is the only one with that label.
func (b *bookkeeper) adoptLabel(t *tx, project string) error {
	label := claudemem.ProjectLabel(project)
	if project == "" || strings.HasPrefix(project, labelOnly) {
		return nil
	}
	from := labelOnly + label
	waits, err := t.number("SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?)", from)
	if err != nil || waits == 0 {
		return err
	}
	roots, err := t.rootsByLabel()
	if err != nil || len(roots[label]) != 1 || roots[label][0] != project {
		return err
	}
	for _, s := range b.sessions {
		if s.project == from {
			s.project, s.saved.project = project, project
		}
	}
	_, err = t.exec("UPDATE sessions SET project = ?1 WHERE project = ?2", project, from)
	_, err2 := t.exec("UPDATE OR IGNORE learnings SET project = ?1 WHERE project = ?2", project, from)
	return errors.Join(err, err2)
}
