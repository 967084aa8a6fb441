package index

import (
	"context"
	"os"
	"time"

	"claudemem/internal/memory"
)

// trimAfter is the time after the last change, or the start, at which a log of more than
// keptLog bytes is cut. SQLite itself leaves the file as large as it once was.
const (
	trimAfter = 30 * time.Second
	keptLog   = 1 << 20
)

// trim cuts a large log when its time has come. With a reader in the way it tries again
// after the next change.
func (f *follower) trim(ctx context.Context, ix *Index) error {
	if f.trimAt.IsZero() || ix.until(f.trimAt, trimAfter) > 0 {
		return nil
	}
	f.trimAt = time.Time{}
	info, err := os.Stat(ix.path + "-wal")
	if err != nil || info.Size() <= keptLog {
		return ifExists(err)
	}
	if err := ix.base.checkpoint(ctx); memory.CodeOf(err) != memory.CodeConflict {
		return err
	}
	return nil
}
