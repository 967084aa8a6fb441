package records

import (
	"context"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// FoldSymbols adds the changes of a claimed batch to those of its session, so that the
// function map holds one net change for each symbol and session: what came and went has no row.
// Changes of another session fail the transaction with CodeInvalid.
func FoldSymbols(t *db.Tx, claimed *memory.Session, changes []memory.SymbolChange) {
	if len(changes) == 0 {
		return
	}
	files := make([]string, len(changes))
	for i := range changes {
		sessionOf(t, claimed, changes[i].Session)
		files[i] = changes[i].FilePath
	}
	before, err := readSymbolChanges(context.Background(), t, "", `function_map r
		WHERE r.session_id = ? AND r.file_path IN (SELECT value FROM json_each(?)) ORDER BY r.id`, int64(claimed.ID), db.JSONList(files))
	t.Fail(err)
	known := make(map[int64]memory.SymbolChange, len(before))
	for _, c := range before {
		known[c.ID] = c
	}
	for _, c := range memory.FoldSymbols(before, changes...) {
		c.Session = claimed.ID
		switch was, ok := known[c.ID]; {
		case !ok:
			AddSymbol(t, &symbolChange{SymbolChange: c})
		case was != c:
			c.SnapshotAt = t.OrNow(c.SnapshotAt)
			t.Exec(SymbolRecord.Update+" WHERE id = ?", append(SymbolRecord.Rewritten(&symbolChange{SymbolChange: c}), c.ID)...)
		}
		delete(known, c.ID)
	}
	for id := range known { // what came and went
		t.Exec("DELETE FROM function_map WHERE id = ?", id)
	}
}

// symbolList encodes the symbols of an observation's file, "" for none.
func symbolList(symbols []memory.SymbolHash) string {
	if len(symbols) == 0 {
		return ""
	}
	return db.JSONList(symbols)
}

// AddSymbol stores the change of a symbol, with a new ULID for "".
func AddSymbol(t *db.Tx, c *symbolChange) {
	c.SnapshotAt = t.OrNow(c.SnapshotAt)
	t.Name(&c.ulid, c.SnapshotAt)
	t.Exec(SymbolRecord.Insert, SymbolRecord.Inserted(c)...)
}

// readSymbolChanges reads changes of symbols; from is what follows FROM, with a clause WITH in front
// of it all, or "".
func readSymbolChanges(ctx context.Context, q db.QueryOnly, with, from string, args ...any) ([]memory.SymbolChange, error) {
	rows, err := db.All(ctx, q, SymbolRecord.fields, with+"SELECT "+SymbolRecord.read+" FROM "+from, args...)
	return collect.Map(rows, func(s symbolChange) memory.SymbolChange { return s.SymbolChange }), err
}

// Symbols lists changes of functions and types, the latest first, those of one edit in the
// order of the file. Of the query, the
// project, the session, the files (as people type them), the times (of the last edit), the
// limit (0: all) and the offset count. name, unless "", is the qualified name of the symbol
// or its last part, in any letter case. total is how many there are without the limit.
func (s *Records) Symbols(ctx context.Context, q memory.Query, name string) (changes []memory.SymbolChange, total int, err error) {
	defer db.Wrap(&err, "list symbol changes")
	c, err := s.symbolFilter(ctx, s.Reader, q, name)
	if err != nil {
		return nil, 0, err
	}
	changes, err = readSymbolChanges(ctx, s.Reader, "", "function_map r WHERE "+c.text()+" ORDER BY r.snapshot_at DESC, r.file_path, r.line_start, r.id LIMIT +? OFFSET ?", append(c.args, db.SQLLimit(q.Limit), max(q.Offset, 0))...)
	if err != nil || q.Limit <= 0 && q.Offset <= 0 {
		return changes, len(changes), err
	}
	total, err = s.countSymbols(ctx, q, name)
	return changes, total, err
}

// countSymbols counts what Symbols lists without a limit. The number is kept until something
// changes.
func (s *Records) countSymbols(ctx context.Context, q memory.Query, name string) (int, error) {
	const what = "count symbol changes"
	q.Limit, q.Offset = 0, 0
	key, err := db.Encode(struct {
		Symbols memory.Query
		Name    string
	}{q, name})
	if err != nil {
		return 0, db.Fault(what, err)
	}
	return CountOnce(ctx, s.DB, &s.counts, what, key, func(reader db.Querier, _ int64) (int, error) {
		c, err := s.symbolFilter(ctx, reader, q, name)
		if err != nil {
			return 0, err
		}
		return db.Value[int](ctx, reader, "SELECT count(*) FROM function_map r WHERE "+c.text(), c.args...)
	})
}

// symbolFilter returns the conditions of a query on function_map r.
func (s *Records) symbolFilter(ctx context.Context, reader db.Querier, q memory.Query, name string) (c conditions, err error) {
	c.and("r.change_type <> 'unchanged'")
	projects, err := ProjectsNamed(ctx, reader, q.Project)
	if err != nil {
		return c, err
	}
	if q.Project != "" {
		c.and(in("r.project", projects))
	}
	if q.Session != 0 {
		c.and("r.session_id = ?", int64(q.Session))
	}
	if len(q.Files) > 0 {
		filters, err := s.fileFilters(ctx, reader, distinct(q.Files), projects)
		if err != nil {
			return c, err
		}
		files, err := db.Column[string](ctx, reader, `WITH RECURSIVE files (path) AS (SELECT min(file_path) FROM function_map
			UNION ALL SELECT (SELECT min(file_path) FROM function_map WHERE file_path > files.path) FROM files WHERE files.path IS NOT NULL)
			SELECT path FROM files WHERE path IS NOT NULL`)
		if err != nil {
			return c, err
		}
		var anyOf []string
		var args []any
		for _, f := range filters {
			condition, values := f.checkSymbol(files)
			anyOf, args = append(anyOf, condition), append(args, values...)
		}
		c.and("("+strings.Join(anyOf, " OR ")+")", args...)
	}
	if name != "" {
		name = strings.ToLower(name)
		c.and("(lower(r.qualified_name) = ? OR lower(r.qualified_name) LIKE '%.' || ? ESCAPE '\\')", name, likeEscaper.Replace(name))
	}
	c.between("r.snapshot_at", q.Since, q.Until)
	return c, nil
}

// likeEscaper makes a text a pattern for LIKE that matches only itself.
var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// RecentSymbols implements block.Source: the changes of the last sessions of a project
// that changed a symbol, the latest first, one for each symbol. The project is a root path
// or a label. The session except is left out unless it is 0.
func (s *Records) RecentSymbols(ctx context.Context, project string, except memory.SessionID, sessions int) (changes []memory.SymbolChange, err error) {
	defer db.Wrap(&err, "list recent symbol changes")
	projects, err := ProjectsNamed(ctx, s.Reader, project)
	if err != nil {
		return nil, err
	}
	ofProject, value := in("s.project", projects)
	return readSymbolChanges(ctx, s.Reader, `WITH recent AS MATERIALIZED (
			SELECT s.id FROM sessions s WHERE `+ofProject+` AND s.id <> ?
				AND EXISTS (SELECT 1 FROM function_map r WHERE r.session_id = s.id AND r.change_type <> 'unchanged')
			ORDER BY s.updated_at DESC, s.id DESC LIMIT +?),
		ranked AS (SELECT r.*, row_number() OVER (PARTITION BY r.file_path, r.qualified_name, r.signature ORDER BY r.snapshot_at DESC, r.id DESC) AS place
			FROM recent CROSS JOIN function_map r ON r.session_id = recent.id AND r.change_type <> 'unchanged')
		`, "ranked r WHERE r.place = 1 ORDER BY r.snapshot_at DESC, r.id DESC",
		value, int64(except), sessions)
}

// readSymbols adds to the documents of summaries, by number, the names of what their turns
// changed: between the summary before in the session and the summary itself.
func readSymbols(ctx context.Context, q db.Querier, summaries map[int64]*memory.Document) (err error) {
	if len(summaries) == 0 {
		return nil
	}
	var id int64
	var name string
	for range db.Select(ctx, q, &err, `SELECT r.id, m.qualified_name FROM json_each(?) j CROSS JOIN session_summaries r ON r.id = j.value
		CROSS JOIN function_map m ON m.session_id = r.session_id
		WHERE m.snapshot_at <= r.created_at AND m.snapshot_at > coalesce((SELECT max(p.created_at) FROM session_summaries p
			WHERE p.session_id = r.session_id AND p.id < r.id), -1) ORDER BY r.id, m.id`, db.JSONList(slices.Collect(maps.Keys(summaries)))).Into(&id, &name) {
		if d := summaries[id]; len(d.Symbols) < maxDocumentSymbols {
			d.Symbols = text.Add(d.Symbols, name)
		}
	}
	return err
}

// maxDocumentSymbols bounds the names in a document.
const maxDocumentSymbols = 60
