package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// asideFolder has a folder for each database that was set aside, named by the time.
	asideFolder = "aside"
	// restoring is the database that is being put in place.
	restoring = "memory.db.restoring"
	// salvagePrefix begins the name of the folder in which a damaged database is read.
	salvagePrefix = ".salvage-"
)

// rename and writeFrom are variables for tests of a disk that fails.
var (
	rename    = os.Rename
	writeFrom = atomicfile.WriteFrom
)

var (
	// databaseFiles are memory.db and its log, in the order in which they are set aside: a
	// log without its database is never applied to another one.
	databaseFiles = []string{databaseName, databaseName + "-wal", databaseName + "-shm"}
	// readyFiles are the database that is being put in place, and its log.
	readyFiles = []string{restoring, restoring + "-wal", restoring + "-shm"}
	// derivedFiles are made from memory.db: they are deleted when it is replaced.
	derivedFiles = []string{"index.db", "index.db-wal", "index.db-shm", "index.db-sums", "index.vec", "index.vec.new", "index.table", "index.table.new"}
)

// Find returns the backup that a user names: by its name, its path, or "latest". CodeNotFound if there
// is none. A file that is named by its path need not be a backup: Check tells.
func Find(dataDir, named string) (Backup, error) {
	list, err := List(dataDir)
	if err != nil {
		return Backup{}, err
	}
	for _, b := range list { // the newest first
		if named == "latest" || named == b.Name {
			return b, nil
		}
	}
	path, err := filepath.Abs(named)
	if err != nil {
		return Backup{}, err
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Backup{}, memory.Errorf(memory.CodeNotFound, "there is no backup %q", named).
			WithHint("`claude-mem restore --list` lists the backups; `claude-mem backup` makes one")
	}
	return Backup{Name: info.Name(), Path: path, At: memory.MillisOf(info.ModTime()), Bytes: info.Size()}, nil
}

// Check reads all of a backup and returns what it holds. A file that is damaged or no memory
// is CodeStorage.
func Check(ctx context.Context, b Backup) (upkeep.Contents, error) {
	wrong, err := upkeep.Verify(ctx, b.Path)
	if err == nil && len(wrong) > 0 {
		err = memory.Errorf(memory.CodeStorage, "%s is damaged: %s", b.Name, strings.Join(wrong, "; ")).
			WithHint("`claude-mem restore --list` lists the backups")
	}
	if err != nil {
		return upkeep.Contents{}, err
	}
	has, err := upkeep.ReadContents(ctx, b.Path)
	if err == nil && has.Schema == 0 {
		err = memory.Errorf(memory.CodeStorage, "%s is not a database of claude-mem", b.Name).
			WithHint("`claude-mem restore --list` lists the backups")
	}
	return has, err
}

// Restore checks a backup, sets the present database aside, and puts a copy of the backup in
// its place, without what was forgotten after it was made. The caller holds the worker's lock.
// aside is the folder of the former database, "" when there was none. An error of Check leaves
// the present database where it is.
func Restore(ctx context.Context, dataDir string, b Backup, now time.Time) (aside string, applied Applied, err error) {
	if _, err := Check(ctx, b); err != nil {
		return "", applied, err
	}
	ready := filepath.Join(dataDir, restoring)
	// A log that is left is of another copy: SQLite must not apply it to this one.
	if err := errors.Join(removeFiles(dataDir, readyFiles[1:]), copyFile(b.Path, ready)); err != nil {
		return "", applied, memory.Errorf(memory.CodeStorage, "copy backup: %w", err)
	}
	if applied, err = ApplyErasures(ctx, dataDir, ready); err == nil {
		aside, err = SetAside(dataDir, now)
	}
	if err != nil {
		return "", applied, errors.Join(err, removeFiles(dataDir, readyFiles))
	}
	return aside, applied, putInPlace(dataDir, ready)
}

// Resume completes a Restore or Recover whose process died after it had set memory.db aside:
// it puts the database that was ready in its place and returns true. It deletes the files of
// one that died earlier, which is then begun again. The caller holds the worker's lock.
func Resume(ctx context.Context, dataDir string, now time.Time) (resumed bool, err error) {
	ready := filepath.Join(dataDir, restoring)
	atomicfile.RemoveLeftovers(ready)
	folders, _ := filepath.Glob(filepath.Join(dataDir, salvagePrefix+"*")) // the pattern is valid
	for _, folder := range folders {
		_ = os.RemoveAll(folder) // it only takes space
	}
	if _, err := os.Lstat(ready); err != nil {
		return false, nil //nolint:nilerr // no file is ready
	}
	if _, err := os.Lstat(filepath.Join(dataDir, databaseName)); !errors.Is(err, fs.ErrNotExist) {
		return false, removeFiles(dataDir, readyFiles)
	}
	if _, err := os.Lstat(ready + "-wal"); err == nil {
		return false, removeFiles(dataDir, readyFiles) // something was being erased from it
	}
	if _, err := Check(ctx, Backup{Name: restoring, Path: ready}); err != nil {
		return false, ctx.Err() // Recover replaces it
	}
	// A log that is left is of the former database: SQLite must not apply it to this one.
	if _, err := SetAside(dataDir, now); err != nil {
		return false, err
	}
	return true, putInPlace(dataDir, ready)
}

// putInPlace makes the database at ready the memory.db of a data directory that has none.
func putInPlace(dataDir, ready string) error {
	if err := os.Rename(ready, filepath.Join(dataDir, databaseName)); err != nil {
		return memory.Errorf(memory.CodeStorage, "put database in place: %w", err)
	}
	_ = atomicfile.SyncDir(dataDir) // the next start finds either no database or this one
	return nil
}

// SetAside moves memory.db and its log, as they are, into a new folder, which it returns; ""
// when there is no file. The files derived from them are deleted. After an error memory.db
// and its log are where they were.
func SetAside(dataDir string, now time.Time) (string, error) {
	there := collect.Keep(databaseFiles, func(name string) bool { return openfile.Exists(filepath.Join(dataDir, name)) })
	if err := RemoveDerived(dataDir); err != nil {
		return "", err
	}
	if len(there) == 0 {
		return "", nil
	}
	aside, err := makeFolder(filepath.Join(dataDir, asideFolder), now)
	if err != nil {
		return "", memory.Errorf(memory.CodeStorage, "set memory.db aside: %w", err)
	}
	for i, name := range there {
		err := rename(filepath.Join(dataDir, name), filepath.Join(aside, name))
		if err == nil {
			continue
		}
		err = memory.Errorf(memory.CodeStorage, "set %s aside: %w", name, err)
		for _, moved := range slices.Backward(there[:i]) { // memory.db last: it is never without its log
			err = errors.Join(err, rename(filepath.Join(aside, moved), filepath.Join(dataDir, moved)))
		}
		return "", errors.Join(err, os.Remove(aside))
	}
	_ = atomicfile.SyncDir(aside) // the files are in one of the two folders
	return aside, nil
}

// RemoveDerived deletes the files that are made from memory.db, which the worker makes again.
func RemoveDerived(dataDir string) error { return removeFiles(dataDir, derivedFiles) }

// removeFiles deletes files of a data directory; one that is not there is no error.
func removeFiles(dataDir string, names []string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(dataDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return memory.Errorf(memory.CodeStorage, "delete %s: %w", name, err)
		}
	}
	return nil
}

// makeFolder makes a folder below parent that is named by the time.
func makeFolder(parent string, now time.Time) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(parent, now.UTC().Format(timeFormat))
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		if err := os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// copyFile copies a file, synced and with mode 0600, in place of to: whole, or after an error not at
// all. fs.ErrNotExist if there is no from.
func copyFile(from, to string) error {
	f, err := openfile.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return writeFrom(to, f, 0o600)
}
