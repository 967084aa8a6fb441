package store

import (
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const driverName = "sqlite"

// access is what a connection may do.
type access int

const (
	accessWrite access = iota
	accessRead
	// accessFrozen reads a file that nobody writes, in a directory where the
	// shared-memory file of the write-ahead log can't be made.
	accessFrozen
)

const (
	// busyTimeoutMS is how long a statement waits for another program's lock. The
	// hooks gave up long before that and spooled.
	busyTimeoutMS = "5000"
	// checkpointPages is the size of the log, in pages, at which a commit copies it
	// into the database. SQLite's default of 1000 makes a worker under load sync
	// the database ten times a second.
	checkpointPages = "4000"
	// journalLimit cuts the log file back to this many bytes after a checkpoint.
	journalLimit = "33554432"
)

// dataSource returns the driver's name for the database file at path.
func dataSource(path string, a access) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… of Windows
	}
	q := url.Values{}
	q.Add("_pragma", "busy_timeout("+busyTimeoutMS+")")
	switch a {
	case accessWrite:
		// The order matters: auto_vacuum only takes on a file without tables.
		q.Add("_pragma", "auto_vacuum(incremental)")
		q.Add("_pragma", "journal_mode(wal)")
		q.Add("_pragma", "synchronous(full)")
		// On macOS a plain fsync doesn't reach the medium.
		q.Add("_pragma", "fullfsync(1)")
		q.Add("_pragma", "cache_size(-16000)")
		q.Add("_pragma", "foreign_keys(1)")
		q.Add("_pragma", "wal_autocheckpoint("+checkpointPages+")")
		q.Add("_pragma", "journal_size_limit("+journalLimit+")")
		q.Set("_txlock", "immediate")
	case accessRead:
		q.Set("mode", "ro")
		q.Add("_pragma", "query_only(1)")
	case accessFrozen:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
		q.Add("_pragma", "query_only(1)")
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	return u.String()
}
