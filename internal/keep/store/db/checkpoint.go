package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"claudemem/internal/memory"
)

// Sizes are the sizes of the memory's files, in bytes.
type Sizes struct {
	Database int64 `json:"database_bytes"`
	// Log is the write-ahead log beside it.
	Log int64 `json:"log_bytes"`
	// Free is the part of the database that holds nothing and will be used again.
	Free int64 `json:"free_bytes"`
}

// Sizes measures the database's files. CodeStorage when the database cannot be looked at.
func (s *DB) Sizes(ctx context.Context) (sizes Sizes, err error) {
	defer Wrap(&err, "measure memory")
	info, err := os.Stat(s.path)
	if err != nil {
		return sizes, memory.Errorf(memory.CodeStorage, "%w", err)
	}
	sizes.Database = info.Size()
	sizes.Log, _ = logSize(s.path) // 0 for one that cannot be read
	sizes.Free, err = Value[int64](ctx, s.Reader,
		"SELECT f.freelist_count * p.page_size FROM pragma_freelist_count f, pragma_page_size p")
	return sizes, err
}

// Checkpoint copies the write-ahead log into the database and cuts it to nothing, so that
// neither file has the bytes of deleted rows. It waits up to about 5 s for readers that are
// under way, between tries, so that arrivals go on. CodeConflict when one keeps the log for
// longer, such as another program.
func (s *DB) Checkpoint(ctx context.Context) error {
	const what = "checkpoint"
	for try := range checkpointTries {
		if try > 0 {
			select {
			case <-ctx.Done():
				return Fault(what, ctx.Err())
			case <-time.After(checkpointPause):
			}
		}
		if busy, err := s.checkpoint(ctx, what); err != nil || busy == 0 {
			return err
		}
	}
	return Fault(what, memory.Errorf(memory.CodeConflict, "another program reads memory.db, so the log of its changes stays").
		WithHint("close it, such as a shell of sqlite3, and try again"))
}

// TrimLog tries once to do what Checkpoint does, if the log has more than above bytes, and
// returns how many it gave back: 0, without an error, for a smaller log and with a reader in
// the way. Arrivals wait for it, so it is for times in which
// nothing is captured. SQLite itself only writes the log anew from its beginning, so that the
// file stays as large as it once was.
func (s *DB) TrimLog(ctx context.Context, above int64) (given int64, err error) {
	const what = "trim log"
	size, err := logSize(s.path)
	if err != nil || size <= above {
		return 0, Fault(what, err)
	}
	if busy, err := s.checkpoint(ctx, what); err != nil || busy != 0 {
		return 0, err
	}
	return size, nil
}

// logSize returns the size of the write-ahead log, 0 without one.
func logSize(path string) (int64, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Checkpoint tries 50 times and pauses in between, so that arrivals can be written.
const (
	checkpointTries = 50
	checkpointPause = 100 * time.Millisecond
)

// checkpoint tries to empty the log; busy is 1 when a reader is in the way. It does not wait
// for that reader: arrivals would. An error has its code and begins with what.
func (s *DB) checkpoint(ctx context.Context, what string) (busy int, err error) {
	return InJob(ctx, s, what, Job{KeepsSessions: true, Bare: true}, func(t *Tx) (busy int, err error) {
		ctx := context.Background()
		if _, err := t.Conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
			return 0, err
		}
		defer func() {
			_, back := t.Conn.ExecContext(ctx, "PRAGMA "+BusyTimeout)
			err = errors.Join(err, back)
		}()
		var pages, copied int
		err = t.Conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
		return busy, err
	})
}
