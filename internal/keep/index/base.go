package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/vectors"
	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// base is an open index.db with its file of vectors and the catalogue of both in
// memory. One goroutine writes; any number reads.
type base struct {
	path   string
	fresh  bool      // it has just been made
	db     *sql.DB   // nil when opened for reading only
	conn   *sql.Conn // the only one of db
	write  *sqlite.Statements
	reader *sql.DB
	read   *sqlite.Statements
	cat    *catalogue

	// pages is index.db, open until the connections are closed: to close it earlier would give up
	// SQLite's locks. sums are those of its pages; only the writer uses them. logKept is the size
	// of a log that a reader kept from being cut, 0 for none.
	pages   *os.File
	sums    []uint32
	logKept int64

	// vectors is nil while the number of dimensions is unknown or when a reader
	// finds no file. cat.mu guards the pointer.
	vectors *vectors.Set
	// ahead waits for the set that openAhead opens and gives it up; nil when none is being opened.
	ahead      func() (*vectors.Set, error)
	model      string
	dimensions int
	// trained is the table of the vectors of observations; nil for the built-in one.
	trained *embed.Table
	// savedModel and savedDimensions are those of the vectors that the documents have.
	savedModel      string
	savedDimensions int

	// What follows belongs to the writer; cat.mu guards it for others to look at.
	cursor int64
	// newest is the feed's newest change when the writer last looked.
	newest int64
	build  buildPosition
	// tidying says that a build ends, see tidy.
	tidying bool
	// expected is the number of records that the current build has to read.
	expected int
	// toZero are slots that a failed write left behind: they are emptied later.
	toZero []uint32
	// successor has the vectors of the next table while they are made.
	successor *successor
	// repaired says that a damaged index made way for it, unsound that it is damaged itself and
	// stays: queries do not use it before it is built, or not at all.
	repaired bool
	unsound  atomic.Bool
	// mayRepair is Options.MayRepair.
	mayRepair func(file, reason string) bool
	// unknownLayout says that package postings does not understand the full-text index.
	unknownLayout atomic.Bool
	// deletions says that the full-text index still has words of deleted documents
	// in its segments.
	deletions, sweeping bool
}

// buildPosition is the progress of a build.
type buildPosition struct {
	kind  kind // 0: no build is under way
	after int64
}

func (b buildPosition) String() string { return fmt.Sprintf("%d:%d", b.kind, b.after) }

// parseBuildPosition parses "kind:record", as a build stores how far it has come;
// sqlite.ErrDamaged for anything else.
func parseBuildPosition(s string) (buildPosition, error) {
	left, right, _ := strings.Cut(s, ":")
	k, err := strconv.ParseUint(left, 10, 8)
	after, err2 := strconv.ParseInt(right, 10, 64)
	if err != nil || err2 != nil || k < 1 || int(k) > len(memory.RecordKinds()) {
		return buildPosition{}, sqlite.ErrDamaged
	}
	return buildPosition{kind(k), after}, nil
}

func vectorPath(path string) string { return strings.TrimSuffix(path, ".db") + ".vec" }

// openBase opens the index at path for writing, or makes it: then fresh is set, and the caller
// begins a build. model is that of the vectors to have, dimensions 0 if only its first answer will
// tell. The errors for which only a new one helps are those that damaged reports.
func openBase(ctx context.Context, path string, model string, dimensions int, trained *embed.Table, mayRepair func(file, reason string) bool) (b *base, err error) {
	db, err := sqlite.OpenWriter(path, writeSource(path))
	if err != nil {
		return nil, err
	}
	b = &base{path: path, db: db, cat: newCatalogue(), model: model, dimensions: dimensions, trained: trained, mayRepair: mayRepair}
	opened := b // b is nil when an error is returned
	defer func() {
		if err != nil {
			err = opened.blame(ctx, err)
			err = errors.Join(err, opened.close())
		}
	}()
	if b.pages, err = openfile.Open(path, os.O_RDONLY, 0); err != nil {
		return nil, err
	}
	err = checkSchema(ctx, b.db)
	if b.fresh = errors.Is(err, fs.ErrNotExist); b.fresh {
		err = createSchema(ctx, b.db)
	}
	if err != nil {
		return nil, err
	}
	if b.reader, err = sqlite.OpenReaders(ctx, readSource(path)); err != nil {
		return nil, err
	}
	if b.conn, err = b.db.Conn(ctx); err != nil {
		return nil, err
	}
	b.read, b.write = sqlite.NewStatements(b.reader), sqlite.NewStatements(b.conn)
	atomicfile.RemoveOwnLeftovers(sumsPath(path))
	if !b.fresh {
		if b.sums, err = readSums(path); err != nil {
			return nil, err
		}
	} else if err := remove(sumsPath(path)); err != nil {
		return nil, err
	}
	// A worker that was killed has left a log.
	if err := b.checkpoint(ctx); err != nil && memory.CodeOf(err) != memory.CodeConflict {
		return nil, err
	}
	if err := b.loadHead(ctx, b.conn); err != nil {
		return nil, err
	}
	if err := b.adoptVectors(ctx); err != nil {
		return nil, err
	}
	b.openAhead(vectors.Open)
	if err := b.loadDocuments(ctx, b.conn); err != nil {
		return nil, err
	}
	// The pages of the blocks are not needed again: in memory they take twice their size.
	if _, err := b.conn.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return nil, err
	}
	if err := b.openVectors(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// openBaseReadOnly opens the index at path without ever writing. tableFor
// returns the trained table of a model; nil for a glance, for which the catalogue
// has no records and there are no vectors. It returns CodeNoMemory without a file, and
// CodeUnavailable for one that is damaged or of another version.
func openBaseReadOnly(ctx context.Context, path string, tableFor func(model string) (*embed.Table, bool)) (b *base, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, memory.Errorf(memory.CodeNoMemory, "there is no index yet").
			WithHint("the worker builds it: claude-mem worker start")
	}
	b = &base{path: path, cat: newCatalogue()}
	opened := b // b is nil when an error is returned
	defer func() {
		if damaged(err) {
			err = memory.Errorf(memory.CodeUnavailable, "open index: it is of another version or damaged: %w", err).
				WithHint("the worker builds it anew: claude-mem worker start")
		}
		if err != nil {
			err = errors.Join(err, opened.close())
		}
	}()
	if b.reader, err = sqlite.OpenReaders(ctx, readSource(path)); err != nil {
		return nil, err
	}
	if err = checkSchema(ctx, b.reader); errors.Is(err, fs.ErrNotExist) {
		return nil, errSchema // an empty file
	}
	if err != nil {
		return nil, err
	}
	b.read = sqlite.NewStatements(b.reader)
	tx, err := b.reader.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if err := b.loadHead(ctx, tx); err != nil {
		return nil, err
	}
	b.model, b.dimensions = b.savedModel, b.savedDimensions
	if tableFor == nil {
		return b, nil
	}
	var known bool
	if b.trained, known = tableFor(b.model); known {
		b.openAhead(vectors.OpenReadOnly)
	} else {
		b.dimensions = 0 // without the table, or with another one, words do
	}
	if err := b.loadDocuments(ctx, tx); err != nil {
		return nil, err
	}
	if b.dimensions > 0 {
		// Without the file, or with a damaged one or one of another model, words do.
		if set, err := b.opened(vectors.OpenReadOnly); err == nil {
			b.vectors = set
		}
	}
	return b, nil
}

// querier is a connection, a transaction or a pool.
type querier = sqlite.Querier

// loadHead loads the position and the state of the index, its projects and their
// totals: all but the documents.
func (b *base) loadHead(ctx context.Context, q querier) (err error) {
	err = q.QueryRowContext(ctx, "SELECT seq FROM cursor").Scan(&b.cursor)
	if errors.Is(err, sql.ErrNoRows) {
		return sqlite.ErrDamaged
	}
	meta := map[string]string{}
	var name, value string
	for range selected(ctx, q, &err, "SELECT name, value FROM meta").Into(&name, &value) {
		meta[name] = value
	}
	if err != nil {
		return err
	}
	_, b.deletions = meta[metaDeletions]
	if build, ok := meta[metaBuild]; ok {
		if b.build, err = parseBuildPosition(build); err != nil {
			return err
		}
	}
	b.savedModel = meta[metaModel]
	b.savedDimensions, err = strconv.Atoi(cmp.Or(meta[metaDimensions], "0"))
	if err != nil || b.savedDimensions < 0 || b.savedDimensions > maxDimensions {
		return sqlite.ErrDamaged
	}
	if err := b.loadVocabulary(ctx, q); err != nil {
		return err
	}
	var id uint32
	var path string
	for range selected(ctx, q, &err, "SELECT id, path FROM projects").Into(&id, &path) {
		if id == 0 || id > 1<<24 { // addProject takes memory for all numbers up to it
			return sqlite.ErrDamaged
		}
		b.cat.addProject(id, path)
	}
	var t total
	for range selected(ctx, q, &err, "SELECT project, documents, words FROM totals").Into(&id, &t.documents, &t.words) {
		b.cat.addTotal(id, t.documents, t.words)
	}
	return err
}

// loadDocuments fills the catalogue with all documents.
func (b *base) loadDocuments(ctx context.Context, q querier) error {
	var newest int64
	if err := q.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM documents").Scan(&newest); err != nil {
		return err
	}
	// A list that grows takes twice as much while it is copied.
	documents := int(min(max(newest, 0), maxPresized)) + 1
	b.cat.lengths, b.cat.entries = make(lengths, 0, documents), make([]entry, 1, documents)
	return b.loadEntries(ctx, q, nil, "SELECT number, entries FROM blocks ORDER BY number")
}

// maxPresized bounds the memory that a damaged file can ask for at once.
const maxPresized = 1 << 22

// each runs fn for every row of a query.
func each(ctx context.Context, q sqlite.QueryOnly, query string, fn func(scan sqlite.Scan) error, args ...any) error {
	return sqlite.Rows(q.QueryContext(ctx, query, args...)).Each(fn) //nolint:rowserrcheck // Each checks it
}

// selected returns the rows of a query, for a loop over them. Their error goes to err.
func selected(ctx context.Context, q sqlite.QueryOnly, err *error, query string, args ...any) sqlite.Selection {
	return sqlite.Select(err, func(row func(sqlite.Scan) error) error { return each(ctx, q, query, row, args...) })
}

// column returns the only column of a query's rows.
func column[T any](ctx context.Context, q sqlite.QueryOnly, query string, args ...any) (list []T, err error) {
	var value T
	for range selected(ctx, q, &err, query, args...).Into(&value) {
		list = append(list, value)
	}
	return list, err
}

// openVectors opens the file of vectors for the model. Vectors of another model
// are forgotten: all documents wait for new ones. So do those whose vectors
// the file does not have, since it was deleted or damaged.
func (b *base) openVectors(ctx context.Context) error {
	if b.savedModel == b.model && b.dimensions == 0 {
		b.dimensions = b.savedDimensions
	}
	if b.savedModel != b.model || b.savedDimensions != b.dimensions {
		if err := b.forgetVectors(ctx); err != nil {
			return err
		}
	}
	if b.dimensions == 0 {
		return nil
	}
	set, err := b.opened(vectors.Open)
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "open index: %w", err).WithHint("check that the data directory can be written")
	}
	b.cat.mu.Lock()
	defer b.cat.mu.Unlock()
	b.vectors = set
	return b.compareVectors(ctx)
}

// openSet is vectors.Open or vectors.OpenReadOnly.
type openSet func(path, model string, dimensions int) (*vectors.Set, error)

// openAhead begins to open the file of vectors, which takes as long as reading the documents,
// if the index has those of the model (0 dimensions are any). opened or close waits for the end.
func (b *base) openAhead(open openSet) {
	if b.savedModel != b.model || b.savedDimensions == 0 || b.dimensions != 0 && b.dimensions != b.savedDimensions {
		return
	}
	path, model, dimensions, ready := vectorPath(b.path), b.model, b.savedDimensions, make(chan struct{})
	var set *vectors.Set
	var err error
	go func() {
		defer close(ready)
		set, err = open(path, model, dimensions)
	}()
	b.ahead = func() (*vectors.Set, error) {
		<-ready
		b.ahead = nil
		return set, err
	}
}

// opened returns the file of vectors, the one that is being opened ahead if there is one.
func (b *base) opened(open openSet) (*vectors.Set, error) {
	if b.ahead != nil {
		return b.ahead()
	}
	return open(vectorPath(b.path), b.model, b.dimensions)
}

// forgetVectors makes every document wait for vectors of the model.
func (b *base) forgetVectors(ctx context.Context) error {
	b.cat.mu.Lock()
	defer b.cat.mu.Unlock()
	numbers := map[uint32]uint8{}
	for d := range b.cat.among(nil) {
		numbers[d] = waits
	}
	err := b.setVectors(ctx, numbers, func(t *sqlite.Batch) {
		t.Exec(setMeta, metaModel, b.model)
		t.Exec(setMeta, metaDimensions, strconv.Itoa(b.dimensions))
	})
	if err == nil {
		b.savedModel, b.savedDimensions = b.model, b.dimensions
	}
	return err
}

// setVectors sets how many vectors documents have, or that they wait for them, and calls the
// function also in the same transaction; cat.mu is held.
func (b *base) setVectors(ctx context.Context, numbers map[uint32]uint8, also func(*sqlite.Batch)) error {
	err := b.transaction(ctx, func(t *sqlite.Batch) {
		changes := blockChanges{}
		for d, n := range numbers {
			changes.at(t, d).vectors = n
		}
		changes.write(t)
		also(t)
	})
	if err != nil {
		return err
	}
	for d, n := range numbers {
		b.cat.entries[d].vectors = n
		delete(b.cat.waiting, d)
		if n == waits {
			b.cat.waiting[d] = struct{}{}
		}
	}
	return nil
}

// compareVectors brings table and file together, with cat.mu held: documents whose vectors are
// missing wait for new ones, or do without if that is no longer a repair to be made. Those that
// have too many, as a process that was killed leaves them, wait for new ones too.
func (b *base) compareVectors(ctx context.Context) error {
	c := b.cat
	var missing []uint32
	numbers := map[uint32]uint8{}
	for d := range c.among(nil) {
		want, has := int(c.entries[d].vectors), b.vectors.Count(d)
		if want == waits || has == want {
			continue
		}
		numbers[d] = waits
		if has < want {
			missing = append(missing, d)
		}
	}
	if len(missing) > 0 && !b.mayRepair("index.vec", "vectors are missing") {
		for _, d := range missing {
			numbers[d] = 0
		}
	}
	if len(numbers) > 0 {
		if err := b.setVectors(ctx, numbers, func(*sqlite.Batch) {}); err != nil {
			return err
		}
	}
	// What is in the file of documents that wait or do without, or that are gone, is of no use.
	err := b.vectors.Keep(func(d uint32) bool { return c.has(d) && c.entries[d].vectors != 0 && c.entries[d].vectors != waits })
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "open index: %w", err)
	}
	return nil
}

// transaction runs fn between BEGIN and COMMIT on the writer's connection. It returns the first error
// of fn's statements or of COMMIT, and then nothing has changed.
func (b *base) transaction(ctx context.Context, fn func(*sqlite.Batch)) error {
	if _, err := b.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	t := b.write.Batch(ctx)
	fn(t)
	if t.Exec("COMMIT"); t.Err() != nil {
		// Not with ctx, which may be over; SQLite may have rolled back by itself.
		_, _ = b.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return t.Err()
	}
	b.checkpointLarge(ctx)
	return nil
}

// close closes statements, connections and vectors, and returns all errors joined. It
// also closes a base that was only opened in part.
func (b *base) close() error {
	var errs []error
	if b.ahead != nil { // it was not taken over
		if set, err := b.ahead(); err == nil {
			errs = append(errs, set.Close())
		}
	}
	_, _ = b.read.Close(), b.write.Close() // nothing is lost
	// Readers first: only the last connection to leave removes the log.
	if b.reader != nil {
		errs = append(errs, b.reader.Close())
	}
	if b.conn != nil {
		_ = b.checkpoint(context.Background()) // or the next worker makes it
		errs = append(errs, b.conn.Close())
	}
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.pages != nil {
		errs = append(errs, b.pages.Close())
	}
	if b.vectors != nil {
		errs = append(errs, b.vectors.Close())
	}
	b.dropSuccessor()
	return errors.Join(errs...)
}
