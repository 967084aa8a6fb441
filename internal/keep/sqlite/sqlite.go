// Package sqlite opens database files and says what their errors mean: what
// package store (memory.db) and package index (index.db) have in common; and the SQL functions
// that hash records (hash.go) and pack their texts (packed.go).
package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// Driver is the name of the driver for database/sql.
const Driver = "sqlite"

// QueryOnly is a Querier, the prepared statements of one, or a batch of such statements.
type QueryOnly interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Querier is a pool, a connection or a transaction that reads.
type Querier interface {
	QueryOnly
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Source returns the driver's name for the database file at path, opened with
// parameters ("mode=ro") and pragmas ("synchronous(full)"), which run in order. path has
// to be absolute.
func Source(path string, parameters []string, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… of Windows
	}
	q := url.Values{"_pragma": pragmas}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		q.Set(name, value)
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	return u.String()
}

// OpenWriter opens the only connection that writes to the file at path. It makes
// what is not there: the directory with mode 0700, the file with 0600. It does not read the file:
// a damaged one fails with the first statement.
func OpenWriter(path, source string) (*sql.DB, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	if err := createPrivate(path); err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "%w", err).WithHint("check that the data directory can be written")
	}
	db, err := sql.Open(Driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// createPrivate makes the directory (0700) and the database file (0600) that
// are not there and narrows the mode of a file that is. SQLite gives the files
// of its log the mode of the database.
func createPrivate(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := openfile.Open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			return os.Chmod(path, 0o600)
		}
		return nil
	case err != nil:
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

// checkRegular returns an error for a database that SQLite may not open because it, or a file
// beside it, is not a regular file: SQLite waits for the writer of a FIFO.
func checkRegular(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return memory.Errorf(memory.CodeStorage, "%s is %w", filepath.Base(path)+suffix, openfile.ErrNotRegular).
				WithHint("stop claude-mem (`claude-mem worker stop`), then move " + path + suffix + " away")
		}
	}
	return nil
}

// OpenReaders opens a pool of connections that read and proves that one of them
// can.
func OpenReaders(ctx context.Context, source string) (*sql.DB, error) {
	if u, err := url.Parse(source); err == nil {
		if err := checkRegular(u.Path); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open(Driver, source)
	if err != nil {
		return nil, err
	}
	// More readers than processors only take turns; two at least, so that a long
	// list does not hold up a short query.
	n := max(2, min(4, runtime.GOMAXPROCS(0)))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

var keptOpen struct {
	sync.Mutex
	files []*os.File
}

// KeepOpen keeps f, a file of a database that this process has open, its log or the index of that,
// until the process ends: on Unix, to close any descriptor of a file gives up all locks that the
// process has on it, SQLite's too. Another process then takes the log's index for one that nobody
// uses, and empties it (https://www.sqlite.org/howtocorrupt.html, section 2.2).
func KeepOpen(f *os.File) {
	keptOpen.Lock()
	defer keptOpen.Unlock()
	keptOpen.files = append(keptOpen.files, f)
}

// Header is what the first page of a database file says
// (https://www.sqlite.org/fileformat.html#the_database_header).
type Header struct{ ApplicationID uint32 }

// ReadHeader reads the header of the file at path; nil for a file that is too short
// to have one, because nothing was ever committed to it, or that cannot be read. For a file of another
// format the error is ErrNotADatabase. A process that has the database open must not call it:
// see KeepOpen.
func ReadHeader(path string) (*Header, error) {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var page [100]byte
	if _, err := io.ReadFull(f, page[:]); err != nil {
		return nil, nil
	}
	if string(page[:16]) != "SQLite format 3\x00" {
		return nil, ErrNotADatabase
	}
	return &Header{ApplicationID: binary.BigEndian.Uint32(page[68:])}, nil
}

// ErrNotADatabase answers for a file that begins with something else.
var ErrNotADatabase = errors.New("not a database")
