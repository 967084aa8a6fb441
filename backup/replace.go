package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claudemem"
	"claudemem/atomicfile"
)

// Replace deletes the backups of all memories that were made at the time by or before: they
// may have what was erased then. With keep above 0 it makes a new backup first; when that
// fails, the old ones stay and the error says why. Without such backups it does nothing.
func Replace(ctx context.Context, dataDir string, keep int, by claudemem.Millis, now time.Time) (removed []string, err error) {
	list, err := List(dataDir)
	if err != nil {
		return nil, err
	}
	old := list[:0]
	for _, b := range list {
		if b.At <= by { // names have seconds: one made in the same second may be from before
			old = append(old, b)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	if keep > 0 {
		if _, err := Make(ctx, dataDir, keep, time.UnixMilli(max(now.UnixMilli(), int64(by)+1000))); err != nil {
			return nil, err
		}
	}
	for _, b := range old {
		// The new one may have taken the place of the oldest.
		if err := os.Remove(b.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, claudemem.Errorf(claudemem.CodeStorage, "delete backup: %w", err)
		}
		removed = append(removed, b.Name)
	}
	_ = atomicfile.SyncDir(Folder(dataDir)) // a name that comes back is deleted again
	return removed, nil
}

// AsideFolder returns the folder below which databases are set aside.
func AsideFolder(dataDir string) string { return filepath.Join(dataDir, asideFolder) }

// Asides returns the folders with databases that were set aside, which are never deleted.
func Asides(dataDir string) []string {
	folders, _ := filepath.Glob(filepath.Join(AsideFolder(dataDir), "*")) // the pattern is valid
	return folders
}
