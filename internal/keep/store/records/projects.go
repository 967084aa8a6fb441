package records

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// LabelOnly begins the path of a project whose root is not known: "label:shop".
const LabelOnly = "label:"

// projectsOf is a query for the projects that a table names; it reads one entry of the table's index per
// project.
func projectsOf(table string) string {
	return `SELECT project FROM (WITH RECURSIVE p (project) AS (
			SELECT min(project) FROM ` + table + `
			UNION ALL SELECT (SELECT min(r.project) FROM ` + table + ` r WHERE r.project > p.project) FROM p WHERE p.project IS NOT NULL)
		SELECT project FROM p WHERE project <> '')`
}

// allProjects is a query for all projects: those that a session, an observation or a learning names.
// Records may be of other projects than their sessions.
var allProjects = projectsOf("sessions") + " UNION " + projectsOf("observations") + " UNION " + projectsOf("learnings")

// RootsByLabel returns the roots of the projects with sessions, by label.
func RootsByLabel(ctx context.Context, q db.QueryOnly) (map[string][]string, error) {
	projects, err := db.Column[string](ctx, q, projectsOf("sessions"))
	if err != nil {
		return nil, err
	}
	roots := map[string][]string{}
	for _, project := range projects {
		if !strings.HasPrefix(project, LabelOnly) {
			label := memory.ProjectLabel(project)
			roots[label] = append(roots[label], project)
		}
	}
	return roots, nil
}

// AdoptableLabel returns the label under which records wait for a project ("label:shop"), "" if
// there are none, or another project has that label too. They are moved to the project with the
// first event of a session; until then, reading the project includes them.
func AdoptableLabel(ctx context.Context, q db.QueryOnly, project string) (label string, err error) {
	if !IsRoot(project) || strings.HasPrefix(project, LabelOnly) {
		return "", nil
	}
	name := memory.ProjectLabel(project)
	waiting, err := db.Column[string](ctx, q, "SELECT project FROM sessions WHERE project = ? LIMIT 1", LabelOnly+name)
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	roots, err := RootsByLabel(ctx, q)
	if err != nil || slices.ContainsFunc(roots[name], func(root string) bool { return root != project }) {
		return "", err
	}
	return waiting[0], nil
}

// MoveImported has records that are about to move from one project into another one stay there when an
// import that changed them is undone, other than the one under way.
func MoveImported(t *db.Tx, from, into string) {
	t.Exec(`UPDATE imported SET before = iif(kind = 'session', json_replace(before, '$[0]', ?2, '$[1]', ?3), json_replace(before, '$[0]', ?2))
		WHERE before IS NOT NULL AND import IS NOT (SELECT value FROM counters WHERE name = 'importing')
		AND (kind, id) IN (SELECT 'session', id FROM sessions WHERE project = ?1 UNION ALL SELECT 'observation', id FROM observations WHERE project = ?1
			UNION ALL SELECT 'learning', id FROM learnings WHERE project = ?1)`, from, into, memory.ProjectLabel(into))
}

// Aliased returns the project that path is an alias of, path itself if it is none. It is the
// one place where reading follows aliases; the bookkeeper and imports, which write, know them
// all.
func Aliased(ctx context.Context, q db.Querier, path string) (string, error) {
	project, err := db.Value[string](ctx, q, "SELECT project FROM project_aliases WHERE path = ?", path)
	if errors.Is(err, sql.ErrNoRows) {
		return path, nil
	}
	return project, err
}

// ProjectOf implements search.Records: the project that what is done in path belongs to; see [KnownAs].
func (s *Records) ProjectOf(ctx context.Context, path string) (project string, err error) {
	defer db.Wrap(&err, "find project")
	return KnownAs(ctx, s.Reader, path)
}

// ReadAliases returns the projects of all aliases by path.
func ReadAliases(t *db.Tx) map[string]string {
	aliases, err := db.Pairs[string, string](context.Background(), t, "SELECT path, project FROM project_aliases")
	t.Fail(err)
	return aliases
}

// projectIn is Aliased within a transaction.
func projectIn(t *db.Tx, path string) string {
	t.Find("SELECT project FROM project_aliases WHERE path = ?", []any{path}, &path)
	return path
}

// KnownAs returns the project that path is an alias of, or the one with records whose directory it
// is, in another letter case or Unicode form of a file system that ignores them; path itself if
// there is none.
func KnownAs(ctx context.Context, q db.Querier, path string) (string, error) {
	if !IsRoot(path) {
		return Aliased(ctx, q, path)
	}
	projects, err := ProjectsNamed(ctx, q, path)
	if err != nil || len(projects) == 0 {
		return path, err
	}
	return projects[0], nil
}

// IsRoot reports whether a project is named by its root, or as label:NAME, and not by its
// label.
func IsRoot(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, LabelOnly)
}

// OneProject returns the root of the one project that name means; a root is one whether
// or not anything is stored of it. CodeNotFound for an unknown label, CodeInvalid for
// one that several projects share.
func (s *Records) OneProject(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", memory.Errorf(memory.CodeInvalid, "no project").WithHint("name the project's directory")
	}
	if IsRoot(name) {
		return Aliased(ctx, s.Reader, name)
	}
	projects, err := ProjectsNamed(ctx, s.Reader, name)
	if err == nil && len(projects) == 1 && projects[0] == name {
		projects, err = db.Column[string](ctx, s.Reader, "SELECT project FROM ("+allProjects+") WHERE project = ?", name)
	}
	switch {
	case err != nil:
		return "", err
	case len(projects) > 1:
		return "", memory.Errorf(memory.CodeInvalid, "%d projects are called %.60q", len(projects), name).
			WithHint("name one by its directory: " + strings.Join(projects, ", "))
	case len(projects) == 0:
		return "", memory.Errorf(memory.CodeNotFound, "no project is called %.60q", name).
			WithHint("name it by its directory; `claude-mem projects` lists those that have records")
	}
	return projects[0], nil
}

// Projects returns all projects that have sessions with content, observations or learnings, the most
// recently used first. The observations of brief ones are not counted, which takes most of the time.
func (s *Records) Projects(ctx context.Context, brief bool) (projects []memory.ProjectDigest, err error) {
	defer db.Wrap(&err, "list projects")
	count := "(SELECT count(*) FROM observations o WHERE o.project = p.project AND o.pinned IN (0, 1) AND o.deleted_at IS NULL)"
	if brief {
		count = "0"
	}
	projects, err = db.All(ctx, s.Reader, func(p *memory.ProjectDigest) []any {
		return []any{&p.ProjectPath, &p.Sessions, &p.LastAt, &p.Observations}
	}, `WITH p AS (`+allProjects+`), used AS (
			SELECT s.project, count(*) AS sessions, max(s.updated_at) AS at FROM sessions s WHERE s.project <> '' AND `+said+` GROUP BY s.project)
		SELECT p.project, coalesce(used.sessions, 0), max(coalesce(used.at, 0),
			coalesce((SELECT max(o.created_at) FROM observations o WHERE used.at IS NULL AND o.project = p.project AND o.pinned IN (0, 1) AND o.deleted_at IS NULL), 0),
			coalesce((SELECT max(l.created_at) FROM learnings l WHERE used.at IS NULL AND l.project = p.project), 0)) AS last_at, `+count+`
		FROM p LEFT JOIN used ON used.project = p.project WHERE last_at > 0 ORDER BY last_at DESC, p.project`)
	for i := range projects {
		projects[i].Label = memory.ProjectLabel(projects[i].ProjectPath)
	}
	return projects, err
}

// ProjectsNamed implements search.Records: the root paths of the projects that a
// root path or a label means. A name that none has is returned as it is: there
// are no records of it.
func (s *Records) ProjectsNamed(ctx context.Context, name string) (projects []string, err error) {
	defer db.Wrap(&err, "find project")
	return ProjectsNamed(sqlite.Brief(ctx), s.Reader, name)
}

// ProjectsNamed returns the paths of the projects that name means: the project with this
// path or alias, and the label whose records wait for it; else those with this label, else name
// itself; none for "".
func ProjectsNamed(ctx context.Context, q db.Querier, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	name, err := Aliased(ctx, q, name)
	if err != nil {
		return nil, err
	}
	waiting, err := AdoptableLabel(ctx, q, name)
	if err != nil {
		return nil, err
	}
	if waiting != "" {
		return []string{name, waiting}, nil
	}
	known, err := db.Value[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?1) OR EXISTS (SELECT 1 FROM observations WHERE project = ?1)
		OR EXISTS (SELECT 1 FROM learnings WHERE project = ?1)`, name)
	if err != nil {
		return nil, err
	}
	if known {
		return []string{name}, nil
	}
	all, err := db.Column[string](ctx, q, allProjects)
	if err != nil {
		return nil, err
	}
	var same, alike []string // alike: in another letter case or Unicode form, by label or root
	form := words.PathForm(name)
	for _, project := range all {
		label := memory.ProjectLabel(project)
		switch {
		case label == name:
			same = append(same, project)
		case words.PathForm(label) == form, words.PathForm(project) == form && sameDirectory(project, name):
			alike = append(alike, project)
		}
	}
	switch {
	case len(same) > 0:
		return same, nil
	case len(alike) > 0:
		return alike, nil
	}
	return []string{name}, nil
}

// sameDirectory reports whether two paths that differ in letter case or Unicode form lead to one
// directory: the file system says whether they do, if both are there.
func sameDirectory(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
