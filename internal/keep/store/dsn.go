package store

import "claudemem/internal/keep/sqlite"

const (
	// busyTimeout bounds the wait for another program's lock, in ms. The
	// hooks gave up long before that and spooled.
	busyTimeout = "busy_timeout(5000)"
	// checkpointPages is the size of the log, in pages, at which a commit copies it
	// into the database. SQLite's default of 1000 makes a worker under load sync
	// the database ten times a second.
	checkpointPages = "wal_autocheckpoint(4000)"
	// readCache bounds the pages that a reading connection keeps, in KB. The driver's
	// allocator takes twice of it, and the system keeps the pages of the file too.
	readCache = "cache_size(-1000)"
	// journalLimit cuts the log file back to this many bytes after a checkpoint.
	journalLimit = "journal_size_limit(33554432)"
)

// readSource returns the driver's name for the database file at path, opened for
// reading. With immutable=1 it needs no shared-memory file of the write-ahead log:
// for a file that nobody writes, in a directory where none can be made.
func readSource(path string, parameters ...string) string {
	return sqlite.Source(path, append(parameters, "mode=ro"), busyTimeout, "query_only(1)", readCache)
}

// writeSource returns the driver's name for the database file at path, opened for writing.
func writeSource(path string) string {
	return sqlite.Source(path, []string{"_txlock=immediate"}, busyTimeout,
		"auto_vacuum(incremental)", // takes only on a file without tables
		"journal_mode(wal)", "synchronous(full)",
		"fullfsync(1)", // on macOS a plain fsync does not reach the medium
		"cache_size(-16000)", "foreign_keys(1)", checkpointPages, journalLimit)
}
