package records

import (
	"context"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// A strict filter is answered from sources: parts of it that an index yields in
// the order of time, so that a page costs what is on it and not what the filter
// passes. A project has one source, a type of a project one, and so on; together
// they give what passes, each record once, except that an observation with two
// of the concepts comes from two.

const (
	// maxSources bounds the projects, types and concepts that have sources of their
	// own. More are filtered row by row.
	maxSources = 24
	// rareFiles bounds the observations of the wanted files that are sorted, at about
	// 2 µs each. With more of them a walk through all observations in order finds a
	// page soon: 2000 of 100,000 are one in fifty.
	rareFiles = 2000
)

// recordFilter is a memory.Query as the rows have it.
type recordFilter struct {
	kinds        []memory.RecordKind
	projects     []string // root paths; none: all
	session      int64
	types        []string
	concepts     []string
	files        []fileFilter
	since, until memory.Millis
}

// resolveFilter returns the filter that q and kinds stand for, its project and files looked
// up. No kinds are all kinds, an unknown one is CodeInvalid. Types, concepts and files pass
// observations only, so other kinds drop out: a filter without kinds passes nothing. Limit and
// offset are not part of it.
func (s *Records) resolveFilter(ctx context.Context, reader db.Querier, q memory.Query, kinds []memory.RecordKind) (recordFilter, error) {
	f := recordFilter{
		session: int64(q.Session), concepts: distinct(q.Concepts),
		since: q.Since, until: q.Until,
	}
	f.types = distinct(collect.Map(q.Types, func(t memory.ObservationType) string { return string(t) }))
	if len(kinds) == 0 {
		kinds = memory.RecordKinds()
	}
	narrow := len(f.types)+len(f.concepts)+len(q.Files) > 0
	for _, kind := range distinct(kinds) {
		if !slices.Contains(memory.RecordKinds(), kind) {
			return f, unknownKind(kind)
		}
		if !narrow || kind == memory.RecordObservation {
			f.kinds = append(f.kinds, kind)
		}
	}
	var err error
	if f.projects, err = ProjectsNamed(ctx, reader, q.Project); err != nil {
		return f, err
	}
	f.files, err = s.fileFilters(ctx, reader, distinct(q.Files), f.projects)
	return f, err
}

// distinct returns a sorted copy of items without duplicates.
func distinct[T ~string](items []T) []T {
	items = slices.Clone(items)
	slices.Sort(items)
	return slices.Compact(items)
}

// conditions are what rows have to pass, and the arguments.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) and(condition string, args ...any) {
	c.where = append(c.where, condition)
	c.args = append(c.args, args...)
}

// between adds bounds on a time; 0 is none.
func (c *conditions) between(column string, since, until memory.Millis) {
	if since != 0 {
		c.and(column+" >= ?", int64(since))
	}
	if until != 0 {
		c.and(column+" <= ?", int64(until))
	}
}

// text returns the SQL, "1" if there are no conditions.
func (c *conditions) text() string {
	if len(c.where) == 0 {
		return "1"
	}
	return strings.Join(c.where, " AND ")
}

// source is a query for records of a kind: FROM and WHERE, and which columns
// have a record's number and time.
type source struct {
	kind   memory.RecordKind
	from   string
	id, at string
	conditions
	pinned   bool // comes ahead of what is not, where the order says so
	repeated bool // another source may have the same record
}

// with returns a copy of the source with one more condition.
func (s source) with(condition string, args ...any) source {
	s.where, s.args = slices.Clip(s.where), slices.Clip(s.args)
	s.and(condition, args...)
	return s
}

// in returns the condition that a column has one of the values, and its argument.
// One value is compared with =, which lets an index give the order too.
func in(column string, values []string) (string, any) {
	if len(values) == 1 {
		return column + " = ?", values[0]
	}
	return column + " IN (SELECT value FROM json_each(?))", db.JSONList(values)
}

// eachProject calls call for the project of each source, or once with "" when one
// source serves all projects or too many; that source has to check the project.
func (f *recordFilter) eachProject(sourcesEach int, call func(project string)) {
	if len(f.projects) == 0 || len(f.projects)*sourcesEach > maxSources {
		call("")
		return
	}
	for _, p := range f.projects {
		call(p)
	}
}

// checkProject adds to a source of all projects the condition that a row's column has
// one of the filter's.
func (f *recordFilter) checkProject(s *source, column string) {
	if len(f.projects) > 0 {
		s.and(in(column, f.projects))
	}
}

// timeIndexes are the indexes of prompts and summaries by session, by project
// and of all, each in order of time.
var timeIndexes = map[memory.RecordKind]struct{ table, session, project, everywhere string }{
	memory.RecordPrompt:  {"prompts", "prompts_time", "prompts_newest", "prompts_newest_everywhere"},
	memory.RecordSummary: {"session_summaries", "session_summaries_time", "session_summaries_project", "session_summaries_everywhere"},
}

// turnSources returns the sources of prompts or summaries.
func (f *recordFilter) turnSources(kind memory.RecordKind) []source {
	index := timeIndexes[kind]
	from := func(name string) source {
		return source{kind: kind, from: index.table + " r INDEXED BY " + name, id: "r.id", at: "r.created_at"}
	}
	if f.session != 0 {
		s := from(index.session).with("r.session_id = ?", f.session)
		f.checkProject(&s, "r.project")
		s.between(s.at, f.since, f.until)
		return []source{s}
	}
	var sources []source
	f.eachProject(1, func(project string) {
		s := from(index.everywhere)
		if project != "" {
			s = from(index.project).with("r.project = ?", project)
		} else {
			f.checkProject(&s, "r.project")
		}
		s.between(s.at, f.since, f.until)
		sources = append(sources, s)
	})
	return sources
}

// order is the order of the records of a list. Kind and number break ties of the time.
type order int

const (
	newest order = iota
	oldest
	// pinnedNewest is newest with pinned observations ahead.
	pinnedNewest
)

// observationSources returns the sources of observations, for lists in order o. byFile selects the
// numbers of the observations of the filter's files, with fileArgs; "" checks each row instead.
func (f *recordFilter) observationSources(o order, byFile string, fileArgs []any) []source {
	rows := func(index string) source {
		return source{kind: memory.RecordObservation, from: "observations r INDEXED BY " + index, id: "r.id", at: "r.created_at",
			conditions: conditions{where: []string{"r.deleted_at IS NULL"}}}
	}
	var sources []source
	add := func(s source, checked ...string) {
		f.check(&s, checked...)
		sources = append(sources, s)
	}
	// byTime adds the sources, of pinned observations or others, that are in order whatever else is to
	// be checked.
	byTime := func(pinned ...bool) {
		f.eachProject(len(pinned), func(project string) {
			for _, p := range pinned {
				s := rows("observations_newest_everywhere").with("r.pinned = ?", p)
				checked := []string{}
				if project != "" {
					s = rows("observations_newest").with("r.project = ?", project).with("r.pinned = ?", p)
					checked = append(checked, "project")
				}
				s.pinned = p && o == pinnedNewest
				add(s, checked...)
			}
		})
	}
	if o == pinnedNewest {
		// Few are pinned: going through them all is nothing.
		byTime(true)
		rows = func(inner func(string) source) func(string) source {
			return func(index string) source { return inner(index).with("r.pinned = 0") }
		}(rows)
	}
	switch {
	case f.session != 0:
		add(rows("observations_session").with("r.session_id = ?", f.session), "session")
	case byFile != "":
		s := rows("")
		s.from = "observations r NOT INDEXED"
		add(s.with("r.id IN ("+byFile+")", fileArgs...), "files")
	case len(f.concepts) > 0 && len(f.concepts) <= maxSources:
		f.conceptSources(o, add)
	case len(f.types) > 0 && len(f.types) <= maxSources:
		f.eachProject(len(f.types), func(project string) {
			for _, t := range f.types {
				if project == "" {
					add(rows("observations_type_everywhere").with("r.type = ?", t), "type")
				} else {
					add(rows("observations_type").with("r.project = ?", project).with("r.type = ?", t), "project", "type")
				}
			}
		})
	case o == pinnedNewest:
		byTime(false)
	default:
		byTime(true, false)
	}
	return sources
}

// conceptSources adds the sources of the concepts. The table of concepts alone
// answers when nothing else of the observation is asked; triggers take hidden observations
// out of it.
func (f *recordFilter) conceptSources(o order, add func(source, ...string)) {
	alone := o != pinnedNewest && f.session == 0 && len(f.types) == 0 && len(f.files) == 0
	f.eachProject(len(f.concepts), func(project string) {
		for _, concept := range f.concepts {
			s := source{kind: memory.RecordObservation, id: "c.observation_id", at: "c.created_at", repeated: len(f.concepts) > 1}
			s.from = "observation_concepts c"
			s.and("c.concept = ?", concept)
			if project == "" {
				f.checkProject(&s, "c.project")
			} else {
				s.and("c.project = ?", project)
			}
			if !alone {
				s.from += " CROSS JOIN observations r ON r.id = c.observation_id"
			}
			if o == pinnedNewest {
				s.and("r.pinned = 0")
			}
			add(s, "concepts", "project")
		}
	})
}

// check adds the filter's conditions that a source does not ensure by itself: project, session,
// type, concepts and files but those named in ensured, and always the time.
func (f *recordFilter) check(s *source, ensured ...string) {
	open := func(what string, asked bool) bool { return asked && !slices.Contains(ensured, what) }
	s.between(s.at, f.since, f.until)
	if open("project", true) {
		f.checkProject(s, "r.project")
	}
	if open("session", f.session != 0) {
		s.and("r.session_id = ?", f.session)
	}
	if open("type", len(f.types) > 0) {
		s.and(in("r.type", f.types))
	}
	if open("concepts", len(f.concepts) > 0) {
		condition, value := in("k.concept", f.concepts)
		// The time stands before the number in the table's key.
		s.and(`EXISTS (SELECT 1 FROM observation_concepts k WHERE `+condition+`
			AND k.created_at = r.created_at AND k.observation_id = r.id)`, value)
	}
	if open("files", len(f.files) > 0) {
		var matches []string
		for _, file := range f.files {
			condition, args := file.check()
			matches = append(matches, condition)
			s.args = append(s.args, args...)
		}
		s.where = append(s.where, "("+strings.Join(matches, " OR ")+")")
	}
}

// fileRows lists the observations of the files, hidden ones too; few is false,
// and the list cut off, when they are more than most.
func (f *recordFilter) fileRows(ctx context.Context, q db.Querier, most int) (ids []int64, few bool, err error) {
	query, args := f.filesQuery()
	ids, err = joined(ctx, q, "observation_id", parseID, "SELECT DISTINCT observation_id FROM ("+query+") LIMIT +?", append(args, most+1)...)
	return ids, len(ids) <= most, err
}

// filesQuery selects the numbers of the observations of the files.
func (f *recordFilter) filesQuery() (query string, args []any) {
	var queries []string
	for _, file := range f.files {
		query, values := file.query()
		queries, args = append(queries, query), append(args, values...)
	}
	return strings.Join(queries, " UNION ALL "), args
}

// through is a way to find the observations of files.
type through int

const (
	// filesWhenRare looks the observations of the files up when they are few, and
	// else checks all observations in order.
	filesWhenRare through = iota
	// filesAll looks the observations of the files up, because all are wanted.
	filesAll
	// filesNone checks all observations.
	filesNone
)

// sources returns the sources of a list in order o, the SQL parts that together select
// what passes the filter; none if nothing can pass. how says in which way files are
// checked.
func (f *recordFilter) sources(ctx context.Context, q db.Querier, o order, how through) ([]source, error) {
	var all []source
	for _, kind := range f.kinds {
		if kind != memory.RecordObservation {
			all = append(all, f.turnSources(kind)...)
			continue
		}
		byFile, args := "", []any{}
		switch {
		case len(f.files) == 0 || f.session != 0 || how == filesNone:
		case how == filesAll:
			byFile, args = f.filesQuery()
		default:
			ids, few, err := f.fileRows(ctx, q, rareFiles)
			if err != nil {
				return nil, err
			}
			if few {
				byFile, args = "SELECT value FROM json_each(?)", []any{db.JSONList(ids)}
			}
		}
		all = append(all, f.observationSources(o, byFile, args)...)
	}
	return all, nil
}
