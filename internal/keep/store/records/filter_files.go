package records

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	driversqlite "modernc.org/sqlite"

	"claudemem/internal/capture/repo"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/keep/store/db"
)

func init() {
	driversqlite.MustRegisterDeterministicScalarFunction("path_matches", 2, pathMatches)
}

// lastPattern is the pattern of the call before: a query has one for all rows.
var lastPattern atomic.Pointer[typedPattern]

type typedPattern struct {
	typed   string
	pattern words.PathPattern
}

// pathMatches is the SQL function path_matches(path, typed): whether what a person typed means
// the path. It may be called from several connections at once.
func pathMatches(_ *driversqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	path, _ := args[0].(string)
	typed, _ := args[1].(string)
	last := lastPattern.Load()
	if last == nil || last.typed != typed {
		last = &typedPattern{typed, words.ParsePathPattern(typed)}
		lastPattern.Store(last)
	}
	return last.pattern.Matches(path), nil
}

// fileFilter passes the observations of the files that a typed path means.
type fileFilter struct {
	typed   string // as words.ParsePathPattern reads it; ".": any observation of the project, with files or without
	project string // root path; "": in all projects
}

// fileFilters returns the filters for the typed paths, of which one has to pass.
// An absolute path below the root of a project means the path in that project; it
// also means itself, because files outside of a worktree are stored so.
func fileFilters(ctx context.Context, reader db.Querier, typed, projects []string) ([]fileFilter, error) {
	filters := make([]fileFilter, 0, len(typed))
	for _, file := range typed {
		filters = append(filters, fileFilter{typed: file})
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
				filters = append(filters, fileFilter{typed: inside, project: root})
			}
		}
	}
	return filters, nil
}

// condition returns the condition on g, a row of path_segments (a key of a path), and on the
// observation whose number is in the column observation. text joins the path p, whose text has
// to be compared; "" if the key says enough.
func (f fileFilter) condition(observation string) (text, where string, args []any) {
	key, alone := words.ParsePathPattern(f.typed).Key()
	where, args = "g.segment = ?", []any{key}
	if !alone {
		text = " CROSS JOIN paths p ON p.id = g.path_id"
		where, args = where+" AND path_matches(p.path, ?)", append(args, f.typed)
	}
	if f.project != "" {
		where += " AND EXISTS (SELECT 1 FROM observations o WHERE o.id = " + observation + " AND o.project = ?)"
		args = append(args, f.project)
	}
	return text, where, args
}

// query selects the numbers of the observations that pass, hidden ones too, some repeatedly.
func (f fileFilter) query() (string, []any) {
	if f.typed == "." {
		return "SELECT id AS observation_id FROM observations WHERE project = ?", []any{f.project}
	}
	text, where, args := f.condition("f.observation_id")
	return "SELECT f.observation_id FROM path_segments g" + text + " CROSS JOIN file_refs f ON f.path_id = g.path_id WHERE " + where, args
}

// check is the condition that observation r passes.
func (f fileFilter) check() (string, []any) {
	if f.typed == "." {
		return "r.project = ?", []any{f.project}
	}
	text, where, args := f.condition("r.id")
	return "EXISTS (SELECT 1 FROM file_refs f CROSS JOIN path_segments g ON g.path_id = f.path_id" + text +
		" WHERE f.observation_id = r.id AND " + where + ")", args
}

// checkSymbol is the condition that the change r of a symbol passes. Each file is compared
// once, however many changes there are of it.
func (f fileFilter) checkSymbol() (string, []any) {
	if f.typed == "." {
		return "r.project = ?", []any{f.project}
	}
	const matches = `r.file_path IN (WITH RECURSIVE files (path) AS (SELECT min(file_path) FROM function_map
		UNION ALL SELECT (SELECT min(file_path) FROM function_map WHERE file_path > files.path) FROM files WHERE files.path IS NOT NULL)
		SELECT path FROM files WHERE path_matches(path, ?))`
	if f.project == "" {
		return matches, []any{f.typed}
	}
	return "(" + matches + " AND r.project = ?)", []any{f.typed, f.project}
}
