package nodedb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// FileName is the name of the database in the data directory, which both programs use.
const FileName = "claude-mem.db"

const (
	copyPattern = "import-*.tmp"
	// staleCopy is the age of copies that a killed import left.
	staleCopy = 24 * time.Hour
	// copyAttempts bounds the copies of a file that is being written.
	copyAttempts = 5
	// countedCopy bounds the copy that is made to count, in bytes, and countedWithin its time.
	// Of a larger database the log, which the Node program keeps below 4 MB, is a small part.
	countedCopy   = 64 << 20
	countedWithin = time.Second
)

// Copy is a copy of a database with its log, in a folder of its own.
type Copy struct {
	// Dir is the folder, which may get other files.
	Dir string
	db  *sql.DB
}

// Close removes the folder.
func (c *Copy) Close() error { return errors.Join(c.db.Close(), os.RemoveAll(c.Dir)) }

// Open copies the database at path, and its log, into a folder of its own in dir and opens the
// copy, which Close removes; copies that killed imports left there go too. The codes of its errors:
// CodeNotFound, CodeInvalid for a file that is no such database, CodeStorage, CodeConflict for one
// that is being written all the time, CodeUnavailable when ctx ends.
func Open(ctx context.Context, path, dir string) (*Copy, error) {
	return open(ctx, path, dir, true, check)
}

// OpenOther is Open for a database of another program, which has these tables.
func OpenOther(ctx context.Context, path, dir string, tables ...string) (*Copy, error) {
	return open(ctx, path, dir, false, func(ctx context.Context, db *sql.DB) error {
		found, err := plainTables(ctx, db, tables)
		if err == nil && found < len(tables) {
			err = memory.Errorf(memory.CodeInvalid, "its tables are not known: %s are not all there", strings.Join(tables, ", "))
		}
		return err
	})
}

// DB returns the copy, to be read.
func (c *Copy) DB() *sql.DB { return c.db }

// open is Open for a database that check knows. Without its indexes, bare, it is read although they are
// damaged.
func open(ctx context.Context, path, dir string, bare bool, check func(context.Context, *sql.DB) error) (_ *Copy, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "%w", err)
	}
	removeStale(dir)
	folder, err := os.MkdirTemp(dir, copyPattern)
	if err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "copy the database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	to := filepath.Join(folder, FileName)
	if err := copyUnchanged(ctx, path, to); err != nil {
		return nil, err
	}
	db, err := sql.Open(sqlite.Driver, source(to))
	if err != nil {
		return nil, err
	}
	if err = check(ctx, db); err == nil && bare || err != nil && strings.Contains(err.Error(), malformedSchema) {
		if err = cmp.Or(db.Close(), bareTables(ctx, to)); err == nil {
			if db, err = sql.Open(sqlite.Driver, source(to)); err == nil {
				err = check(ctx, db)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Copy{folder, db}, nil
}

// malformedSchema is how SQLite says that a definition in a database does not fit the others: mixed
// versions of the Node program have left indexes on columns that are not there.
const malformedSchema = "malformed database schema"

// bareTables removes all definitions but those of the tables that are read from the copy at path, which
// is only read afterwards: the rows are whole.
func bareTables(ctx context.Context, path string) error {
	db, err := sql.Open(sqlite.Driver, sqlite.Source(path, nil, "writable_schema(1)", "trusted_schema(0)"))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `DELETE FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL
		OR lower(tbl_name) NOT IN ('sdk_sessions', 'user_prompts', 'observations', 'session_summaries', 'session', 'message', 'part')`)
	return errors.Join(err, db.Close())
}

// source returns the driver's name for a database of another program: functions of this one are
// not called by its schema.
func source(path string, parameters ...string) string {
	return sqlite.Source(path, parameters, "query_only(1)", "trusted_schema(0)")
}

// check returns CodeInvalid for a database that is damaged or of another program, or of which a
// table that is read is computed.
func check(ctx context.Context, db *sql.DB) error {
	if _, err := plainTables(ctx, db, []string{"user_prompts", "session_summaries"}); err != nil {
		return err
	}
	found, err := plainTables(ctx, db, []string{"sdk_sessions", "observations"})
	if err == nil && found < 2 {
		err = memory.Errorf(memory.CodeInvalid, "this is no database of claude-mem for Node").WithHint("`claude-mem restore` reads backups of this program's database")
	}
	return err
}

// plainTables returns how many of the tables are there; CodeInvalid if one is a view, is virtual or
// computes columns: reading it would run what a stranger wrote, for as long as that takes. It reads the
// schema alone.
func plainTables(ctx context.Context, db *sql.DB, names []string) (found int, err error) {
	list, _ := json.Marshal(names) // texts always encode
	//nolint:rowserrcheck // Each checks it
	err = sqlite.Rows(db.QueryContext(ctx, `SELECT s.name, s.type = 'table' AND s.sql LIKE 'CREATE TABLE%' AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0)
		FROM sqlite_schema s WHERE lower(s.name) IN (SELECT value FROM json_each(?))`, string(list))).Each(func(scan sqlite.Scan) error {
		var name string
		var plain bool
		if err := scan(&name, &plain); err != nil {
			return err
		}
		if !plain {
			return memory.Errorf(memory.CodeInvalid, "its table %.40q is computed: it is a view, a virtual table, or has generated columns", name)
		}
		found++
		return nil
	})
	if err != nil && memory.CodeOf(err) != memory.CodeInvalid {
		err = memory.Errorf(memory.CodeInvalid, "the database cannot be read: %w", err)
	}
	return found, err
}

// copyUnchanged copies a database and its log of one moment: again, if one of them has changed
// meanwhile, up to copyAttempts times with a second between them. Its errors are those of Open.
func copyUnchanged(ctx context.Context, path, to string) error {
	for range copyAttempts {
		before := state(path)
		for _, suffix := range []string{"", "-wal"} {
			err := copyFile(path+suffix, to+suffix)
			if errors.Is(err, fs.ErrNotExist) {
				if suffix == "" {
					return memory.Errorf(memory.CodeNotFound, "there is no database %q", filepath.Base(path))
				}
				err = os.RemoveAll(to + suffix)
			}
			if err != nil {
				return memory.Errorf(memory.CodeStorage, "copy the database: %w", err).WithHint("the copy needs as much space as the database")
			}
		}
		if state(path) == before {
			return nil
		}
		select {
		case <-ctx.Done():
			return memory.Errorf(memory.CodeUnavailable, "interrupted: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
	return memory.Errorf(memory.CodeConflict, "the database is being written").WithHint("stop the program that writes it and import it again")
}

// state returns sizes and times of a database and its log as a text, to be compared.
func state(path string) string {
	text := ""
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			text += fmt.Sprint(suffix, info.Size(), " ", info.ModTime().UnixNano(), " ")
		}
	}
	return text
}

// copyFile copies a file, replacing to; fs.ErrNotExist if from is not there. It does not sync, as the
// copy is a temporary one.
func copyFile(from, to string) error {
	source, err := openfile.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	target, err := openfile.Open(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// removeStale removes the copies of imports that were killed.
func removeStale(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, copyPattern)) // the pattern is valid
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && time.Since(info.ModTime()) > staleCopy {
			_ = os.RemoveAll(path) // the next import tries again
		}
	}
}

// Count returns the number of observations in the database at path, 0 when it cannot be read.
// No file appears beside it. Where there is a log, as while the Node program runs, a copy in dir
// is counted, unless that is large or being written: then the rows in the log are left out.
func Count(ctx context.Context, path, dir string) (n int) {
	if h, err := sqlite.ReadHeader(path); err != nil || h == nil {
		return 0
	}
	if log := size(path + "-wal"); log > 0 && size(path)+log <= countedCopy {
		ctx, cancel := context.WithTimeout(ctx, countedWithin)
		defer cancel()
		if c, err := Open(ctx, path, dir); err == nil {
			defer func() { _ = c.Close() }() // a copy that stays is removed by a later import
			if err := countObservations(ctx, c.db, &n); err == nil {
				return n
			}
		}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return 0
	}
	db, err := sql.Open(sqlite.Driver, source(absolute, "mode=ro", "immutable=1"))
	if err != nil {
		return 0
	}
	defer func() { _ = db.Close() }() // it was only read
	if check(ctx, db) != nil || countObservations(ctx, db, &n) != nil {
		return 0
	}
	return n
}

func countObservations(ctx context.Context, db *sql.DB, n *int) error {
	return db.QueryRowContext(ctx, "SELECT count(*) FROM observations").Scan(n)
}

// size returns the size of a file in bytes, 0 without one.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// rememberedName is the file in the data directory that says what was imported.
const rememberedName = "imported-node.json"

// remembered is the content of the file.
type remembered struct {
	Observations int `json:"observations"`
}

// Remember notes that the database at path was imported and how many observations it had, if it
// is the one in the data directory; nil for another one, of which nothing is noted.
func Remember(dataDir, path string, observations int) error {
	of, err := os.Stat(path)
	own, err2 := os.Stat(filepath.Join(dataDir, FileName))
	if err != nil || err2 != nil || !os.SameFile(of, own) {
		return nil //nolint:nilerr // it is another database
	}
	content, _ := json.Marshal(remembered{observations}) // a number always encodes
	return atomicfile.Write(filepath.Join(dataDir, rememberedName), append(content, '\n'), 0o600)
}

// Found returns the path of the Node program's database in a data directory, whether it is there or
// not, and the number of its observations, 0 if there is none or if they were imported. After an
// import it counts all again once there are more than then.
func Found(ctx context.Context, dataDir string) (path string, observations int) {
	path = filepath.Join(dataDir, FileName)
	n := Count(ctx, path, dataDir)
	if n == 0 {
		return path, 0
	}
	var done remembered
	content, err := openfile.Read(filepath.Join(dataDir, rememberedName))
	if err == nil && json.Unmarshal(content, &done) == nil && done.Observations >= n {
		return path, 0
	}
	return path, n
}
