package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/memory"
)

const (
	// schemaVersion changes with the tables, with what package words makes of a
	// text and with what a document's columns hold: an index of another version is
	// deleted and built anew.
	schemaVersion = 7
	// applicationID marks the file as an index of ours ("cmix").
	applicationID = 0x636d6978
	// schemaObjects is the number of tables and indexes that the schema makes, those of
	// the full-text index included.
	schemaObjects = 18
)

// schema makes the tables.
//
// documents has what the writer looks up by record; blocks has the fields that filters use
// and the number of vectors, many documents a row (blocks.go). contents has the words as package rank scores them, as
// numbers of the vocabulary, and the numbers of the embedding table's pieces
// (vocabulary.go). texts is the full-text index: it gets the words that package words
// made, already stemmed, so its tokenizer has only to cut at spaces, and knows which documents
// have a word, not where (clause.go). Besides words it has tokens: _hcart for a word of the
// title, and for filters _p12 _kobservation _tbugfix _s7. terms counts the documents of a project
// that have a word, totals the documents and their words.
const schema = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cursor(seq INTEGER NOT NULL);
INSERT INTO cursor VALUES (0);
CREATE TABLE projects(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE documents(
	id INTEGER PRIMARY KEY,
	kind INTEGER NOT NULL,
	record_id INTEGER NOT NULL,
	project INTEGER NOT NULL,
	session INTEGER NOT NULL,
	previous INTEGER NOT NULL,
	length INTEGER NOT NULL,
	digest INTEGER NOT NULL
);
CREATE UNIQUE INDEX documents_record ON documents(kind, record_id);
CREATE INDEX documents_previous ON documents(session, previous) WHERE kind = 3;
CREATE TABLE vocabulary(row INTEGER PRIMARY KEY, hashes BLOB NOT NULL);
CREATE TABLE contents(document INTEGER PRIMARY KEY, words BLOB NOT NULL, pieces BLOB NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(words,
	content='', contentless_delete=1, tokenize='ascii tokenchars _', detail=none);
CREATE VIRTUAL TABLE words USING fts5vocab(texts, row);
CREATE TABLE terms(term INTEGER NOT NULL, project INTEGER NOT NULL, documents INTEGER NOT NULL,
	PRIMARY KEY (term, project)) WITHOUT ROWID;
CREATE TABLE totals(project INTEGER PRIMARY KEY, documents INTEGER NOT NULL, words INTEGER NOT NULL);
CREATE TABLE blocks(number INTEGER PRIMARY KEY, entries BLOB NOT NULL);
`

// Names of rows of meta.
const (
	metaModel      = "model"
	metaDimensions = "dimensions"
	// metaBuild is the progress of a build, "kind:number"; no row without a build.
	metaBuild = "build"
	// metaDeletions is there while the full-text index has words of deleted documents.
	metaDeletions = "deletions"
)

// Statements on the table meta.
const (
	setMeta    = "INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)"
	deleteMeta = "DELETE FROM meta WHERE name = ?"
)

// readSource and writeSource return the driver's name for the database file at path.
func readSource(path string) string {
	return sqlite.Source(path, []string{"mode=ro"}, "busy_timeout(5000)", "query_only(1)",
		// The driver's allocator takes twice of it. The system keeps the pages too.
		"cache_size(-1000)")
}

// writeSource returns the data source name, with its pragmas, of the connection that
// writes the index.
func writeSource(path string) string {
	return sqlite.Source(path, nil, "busy_timeout(5000)", "journal_mode(wal)",
		"synchronous(normal)", // changes that a power cut loses are read again from the feed
		"cache_size(-4000)",
		"secure_delete(1)",      // pages that a delete frees are overwritten
		"wal_autocheckpoint(0)") // checkpoint takes sums
}

// errSchema says that a file is no index of this version.
var errSchema = errors.New("no index of this version")

// checkSchema returns errSchema for a file of another version or another program,
// fs.ErrNotExist for an empty one.
func checkSchema(ctx context.Context, db *sql.DB) error {
	var version, application, tables int
	err := db.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_master)").
		Scan(&version, &application, &tables)
	switch {
	case err != nil:
		return err
	case tables == 0:
		return fs.ErrNotExist
	case version != schemaVersion || application != applicationID || tables != schemaObjects:
		return fmt.Errorf("%w (%d), but %d", errSchema, schemaVersion, version)
	}
	return nil
}

// createSchema makes the tables in one transaction, so that a file has all of
// them or none.
func createSchema(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// hashsize: the bytes that the full-text index collects in memory before it writes a
	// segment. The default of 1 MB makes a build write and merge many small ones.
	for _, statement := range []string{
		schema,
		"INSERT INTO texts(texts, rank) VALUES ('hashsize', 8388608)",
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// clearAway removes the index at path so that it is built anew. A database of
// another program, which somebody put there by mistake, is renamed instead: aside is its new
// path, "" for none.
func clearAway(path string) (aside string, err error) {
	if header, err := sqlite.ReadHeader(path); err == nil && header != nil && header.ApplicationID != applicationID {
		aside = path + ".foreign"
		if err := os.Rename(path, aside); err != nil {
			return "", unremovable(path, err)
		}
	}
	if err := remove(path, path+"-wal", path+"-shm", path+"-journal", path+"-sums"); err != nil {
		return aside, unremovable(path, err)
	}
	atomicfile.RemoveOwnLeftovers(sumsPath(path))
	return aside, nil
}

// unremovable returns the error for an index that makes way for a new one and could
// not be removed.
func unremovable(path string, err error) error {
	return memory.Errorf(memory.CodeStorage, "remove index: %w", err).WithHint("delete " + path)
}
