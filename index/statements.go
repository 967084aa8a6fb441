package index

import (
	"context"
	"database/sql"

	"claudemem/sqlite"
)

// preparer is a connection or a pool.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// statements are prepared together and closed together.
type statements struct {
	all []*sql.Stmt
	err error
}

// add prepares a query; nil after an error, of which s.err keeps the first.
func (s *statements) add(ctx context.Context, p preparer, query string) *sql.Stmt {
	if s.err != nil {
		return nil
	}
	stmt, err := p.PrepareContext(ctx, query)
	if err != nil {
		s.err = err
		return nil
	}
	s.all = append(s.all, stmt)
	return stmt
}

// close closes all statements.
func (s *statements) close() {
	for _, stmt := range s.all {
		_ = stmt.Close() // nothing is lost
	}
	s.all = nil
}

// writes are the writer's statements.
type writes struct {
	statements
	documentOf, contentOf, slotsOf, following              *sql.Stmt
	putDocument, putContent, putText, putFragments         *sql.Stmt
	deleteDocument, deleteContent, deleteText              *sql.Stmt
	deleteFragments, addTerm, subtractTerm, deleteTerm     *sql.Stmt
	addTotal, putProject, setCursor, putBuild, deleteBuild *sql.Stmt
	between, noteDeletions                                 *sql.Stmt
}

// prepare prepares the statements that change the index.
func (w *writes) prepare(ctx context.Context, p preparer) error {
	for _, s := range []struct {
		at    **sql.Stmt
		query string
	}{
		{&w.documentOf, "SELECT id, project, session, length, digest, previous FROM documents WHERE kind = ? AND record_id = ?"},
		{&w.contentOf, "SELECT words FROM contents WHERE document = ?"},
		{&w.slotsOf, "SELECT slots FROM fragments WHERE document = ?"},
		{&w.following, "SELECT record_id FROM documents WHERE session = ? AND previous = ? AND kind = 3"},
		{&w.between, "SELECT record_id FROM documents WHERE kind = ? AND record_id > ? AND record_id <= ?"},
		{&w.putDocument, "INSERT OR REPLACE INTO documents(id, kind, record_id, project, session, type, created_at, previous, length, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&w.putContent, "INSERT OR REPLACE INTO contents(document, words, pieces) VALUES (?, ?, ?)"},
		{&w.putText, "INSERT INTO texts(rowid, title, text, files, concepts, parts, neighbours, scope) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
		{&w.putFragments, "INSERT OR REPLACE INTO fragments(document, slots) VALUES (?, ?)"},
		{&w.deleteDocument, "DELETE FROM documents WHERE id = ?"},
		{&w.deleteContent, "DELETE FROM contents WHERE document = ?"},
		{&w.deleteText, "DELETE FROM texts WHERE rowid = ?"},
		{&w.deleteFragments, "DELETE FROM fragments WHERE document = ?"},
		{&w.addTerm, "INSERT INTO terms(term, project, documents) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET documents = documents + excluded.documents"},
		{&w.subtractTerm, "UPDATE terms SET documents = documents + ? WHERE term = ? AND project = ?"},
		{&w.deleteTerm, "DELETE FROM terms WHERE term = ? AND project = ? AND documents <= 0"},
		{&w.addTotal, "INSERT INTO totals(project, documents, words) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET documents = documents + excluded.documents, words = words + excluded.words"},
		{&w.putProject, "INSERT INTO projects(id, path) VALUES (?, ?)"},
		{&w.noteDeletions, "INSERT OR REPLACE INTO meta(name, value) VALUES ('" + metaDeletions + "', '1')"},
		{&w.setCursor, "UPDATE cursor SET seq = ?"},
		{&w.putBuild, "INSERT OR REPLACE INTO meta(name, value) VALUES ('" + metaBuild + "', ?)"},
		{&w.deleteBuild, "DELETE FROM meta WHERE name = '" + metaBuild + "'"},
	} {
		*s.at = w.add(ctx, p, s.query)
	}
	return w.err
}

// reads are the statements of queries.
type reads struct {
	statements
	termsAll, termsOf, gather, contents, syntax, first *sql.Stmt
}

// prepare prepares the statements of queries.
func (r *reads) prepare(ctx context.Context, p preparer) error {
	for _, s := range []struct {
		at    **sql.Stmt
		query string
	}{
		{&r.termsAll, "SELECT term, sum(documents) FROM terms WHERE term IN (SELECT value FROM json_each(?)) GROUP BY term"},
		{&r.termsOf, "SELECT term, sum(documents) FROM terms WHERE term IN (SELECT value FROM json_each(?)) AND project IN (SELECT value FROM json_each(?)) GROUP BY term"},
		{&r.gather, "SELECT group_concat(rowid) FROM texts WHERE texts MATCH ?"},
		{&r.syntax, "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT ?"},
		{&r.first, "SELECT rowid FROM texts WHERE texts MATCH ? LIMIT 1"},
		{&r.contents, "SELECT document, words, pieces FROM contents WHERE document IN (SELECT value FROM json_each(?))"},
	} {
		*s.at = r.add(ctx, p, s.query)
	}
	return r.err
}

// scanInts reads the only column of rows.
func scanInts(rows *sql.Rows, err error) ([]int64, error) {
	var list []int64
	err = sqlite.Rows(rows, err).Each(func(scan sqlite.Scan) error {
		list = append(list, 0)
		return scan(&list[len(list)-1])
	})
	return list, err
}
