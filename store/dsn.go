package store

import "claudemem/sqlite"

// access is the mode of a connection.
type access int

const (
	accessWrite access = iota
	accessRead
	// accessFrozen reads a file that nobody writes, in a directory where the
	// shared-memory file of the write-ahead log can't be made.
	accessFrozen
)

const (
	// busyTimeout bounds the wait for another program's lock, in ms. The
	// hooks gave up long before that and spooled.
	busyTimeout = "busy_timeout(5000)"
	// checkpointPages is the size of the log, in pages, at which a commit copies it
	// into the database. SQLite's default of 1000 makes a worker under load sync
	// the database ten times a second.
	checkpointPages = "wal_autocheckpoint(4000)"
	// journalLimit cuts the log file back to this many bytes after a checkpoint.
	journalLimit = "journal_size_limit(33554432)"
)

// dataSource returns the driver's name for the database file at path.
func dataSource(path string, a access) string {
	switch a {
	case accessRead:
		return sqlite.Source(path, []string{"mode=ro"}, busyTimeout, "query_only(1)")
	case accessFrozen:
		return sqlite.Source(path, []string{"mode=ro", "immutable=1"}, busyTimeout, "query_only(1)")
	}
	return sqlite.Source(path, []string{"_txlock=immediate"}, busyTimeout,
		"auto_vacuum(incremental)", // takes only on a file without tables
		"journal_mode(wal)", "synchronous(full)",
		"fullfsync(1)", // on macOS a plain fsync does not reach the medium
		"cache_size(-16000)", "foreign_keys(1)", checkpointPages, journalLimit)
}
