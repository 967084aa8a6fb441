package records

import (
	"context"
	"strings"
	"sync"

	"claudemem/internal/capture/repo"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
)

// pathForms has the forms of all paths, which are looked through faster than in the database. Paths
// are added to it and deleted, but never changed, and no number is given twice. The zero value is
// empty.
type pathForms struct {
	mu    sync.Mutex
	ids   []int64
	forms []string
}

// update adds the paths that are new in a snapshot.
func (p *pathForms) update(ctx context.Context, q db.Querier) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := int64(0)
	if len(p.ids) > 0 {
		last = p.ids[len(p.ids)-1]
	}
	var path string
	for range db.Select(ctx, q, &err, "SELECT id, path FROM paths WHERE id > ? ORDER BY id", last).Into(&last, &path) {
		p.ids, p.forms = append(p.ids, last), append(p.forms, words.PathForm(path))
	}
	return err
}

// filter returns the filter for what somebody typed; see [fileFilter].
func (p *pathForms) filter(typed, project string) fileFilter {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := fileFilter{part: words.PathPart(typed), project: project}
	var ids []int64
	for i, form := range p.forms {
		if f.part != "." && f.passes(form) {
			ids = append(ids, p.ids[i])
		}
	}
	f.paths = db.JSONList(ids)
	return f
}

// fileFilter passes the observations of the files whose paths have a part.
type fileFilter struct {
	part    string // as words.PathPart returns it; ".": any observation of the project, with files or without
	project string // root path, in which the part begins the path; "": in all projects
	paths   string // numbers of the paths that have it, a list of JSON
}

// passes reports whether a path of this form passes.
func (f *fileFilter) passes(form string) bool {
	return strings.HasPrefix(form, f.part) || f.project == "" && strings.Contains(form, f.part)
}

// fileFilters returns the filters for the typed paths, of which one has to pass.
// An absolute path below the root of a project means the path in that project; it
// also means itself, because files outside of a worktree are stored so.
func (s *Records) fileFilters(ctx context.Context, reader db.Querier, typed, projects []string) ([]fileFilter, error) {
	if len(typed) == 0 {
		return nil, nil
	}
	if err := s.paths.update(ctx, reader); err != nil {
		return nil, err
	}
	filters := make([]fileFilter, 0, len(typed))
	for _, file := range typed {
		filters = append(filters, s.paths.filter(file, ""))
		if !repo.IsAbsolute(file) {
			continue
		}
		roots := projects
		if len(roots) == 0 {
			var err error
			if roots, err = db.Column[string](ctx, reader, allProjects); err != nil {
				return nil, err
			}
		}
		for _, root := range roots {
			if inside := repo.Relative(root, root, file); !repo.IsAbsolute(inside) { // "." for the root itself
				filters = append(filters, s.paths.filter(inside, root))
			}
		}
	}
	return filters, nil
}

// query selects the numbers of the observations that pass, hidden ones too, some repeatedly.
func (f fileFilter) query() (string, []any) {
	switch {
	case f.part == ".":
		return "SELECT id AS observation_id FROM observations WHERE project = ?", []any{f.project}
	case f.project == "":
		return "SELECT f.observation_id FROM json_each(?) p CROSS JOIN file_refs f ON f.path_id = p.value", []any{f.paths}
	}
	return "SELECT f.observation_id FROM json_each(?) p CROSS JOIN file_refs f ON f.path_id = p.value CROSS JOIN observations o ON o.id = f.observation_id WHERE o.project = ?", []any{f.paths, f.project}
}

// check is the condition that observation r passes.
func (f fileFilter) check() (string, []any) {
	return f.within("EXISTS (SELECT 1 FROM file_refs f WHERE f.observation_id = r.id AND +f.path_id IN (SELECT value FROM json_each(?)))", f.paths) // +: by the observation, which has few
}

// checkSymbol is the condition that the change r of a symbol in one of files passes.
func (f fileFilter) checkSymbol(files []string) (string, []any) {
	passed := collect.Keep(files, func(file string) bool { return f.passes(words.PathForm(file)) })
	return f.within("r.file_path IN (SELECT value FROM json_each(?))", db.JSONList(passed))
}

// within returns a condition on a row r, which has one argument, or that it is of the filter's
// project, or both.
func (f fileFilter) within(condition string, arg any) (string, []any) {
	switch {
	case f.part == ".":
		return "r.project = ?", []any{f.project}
	case f.project == "":
		return condition, []any{arg}
	}
	return "(" + condition + " AND r.project = ?)", []any{arg, f.project}
}
