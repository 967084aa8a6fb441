package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/memory"
)

// Replace deletes the backups of the present memory that were made before one of its erasures,
// since they may have the erased text, and those for which holds returns true. With keep above
// 0 it makes a new backup first; when that fails, the old ones stay and the error says why.
// Without such backups it does nothing.
func Replace(ctx context.Context, dataDir string, keep int, now time.Time, holds func(Backup) bool) (removed []string, err error) {
	database := filepath.Join(dataDir, databaseName)
	mem, _, err := care.Erased(ctx, database)
	if err != nil {
		return nil, err
	}
	list, err := List(dataDir)
	if err != nil {
		return nil, err
	}
	own := fmt.Sprintf("%016x", uint64(mem)) //nolint:gosec // not negative
	// What is deleted from the list here is kept on the disk.
	old := slices.DeleteFunc(list, func(b Backup) bool {
		of, has, err := care.Erased(ctx, b.Path)
		if err != nil { // a damaged one may have anything
			return b.Memory != own
		}
		return of != mem || len(missing(ctx, database, of, has, nil)) == 0 && !holds(b)
	})
	if len(old) == 0 {
		return nil, nil
	}
	if keep > 0 {
		if _, err := Make(ctx, dataDir, keep, now); err != nil {
			return nil, err
		}
	}
	for _, b := range old {
		// The new one may have taken the place of the oldest.
		if err := os.Remove(b.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, memory.Errorf(memory.CodeStorage, "delete backup: %w", err)
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
