package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	databaseName = "memory.db"
	folder       = "backups"
	timeFormat   = "20060102T150405Z"
	// tempPrefix begins the names of backups that are not complete; tempAge is the age at
	// which one is left over from a process that died.
	tempPrefix = ".memory-"
	tempAge    = 24 * time.Hour
)

// name matches the names of backups: the time, the memory's number in hex, and the backup's own
// number, which those of older versions do not have.
var name = regexp.MustCompile(`^memory-(\d{8}T\d{6}Z)-([0-9a-f]{16})(?:-(\d{1,18}))?\.db$`)

// Backup is a file in the folder of backups.
type Backup struct {
	Name string        `json:"name"`
	Path string        `json:"path"`
	At   memory.Millis `json:"at"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Memory is the number of the memory in it, in hex; zeros if it was made before memories
	// had numbers.
	Memory string `json:"-"`
	// Number orders the backups: a later one has a higher number. At is for people only, as
	// clocks are set back. It is 0 for those of older versions, which are the oldest.
	Number int64 `json:"-"`
}

// Folder returns the folder of the backups of a data directory.
func Folder(dataDir string) string { return filepath.Join(dataDir, folder) }

// List returns the backups of a data directory, the newest first.
func List(dataDir string) ([]Backup, error) {
	entries, err := os.ReadDir(Folder(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "list backups: %w", err)
	}
	var list []Backup
	for _, entry := range entries {
		parts := name.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		at, err := time.Parse(timeFormat, parts[1])
		if err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue // deleted meanwhile
		}
		number, _ := strconv.ParseInt(parts[3], 10, 64) // the pattern bounds it
		list = append(list, Backup{Name: entry.Name(), Path: filepath.Join(Folder(dataDir), entry.Name()),
			At: memory.MillisOf(at), Bytes: info.Size(), Memory: parts[2], Number: number})
	}
	slices.SortFunc(list, func(a, b Backup) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(b.At, a.At), strings.Compare(b.Name, a.Name))
	})
	return list, nil
}

// ErrDamaged is the cause of Make's error for a database that is damaged.
var ErrDamaged = errors.New("memory.db is damaged")

// Make writes a backup of memory.db, verifies it, and deletes the oldest ones of the same
// memory beyond keep. It works beside the worker. The codes of its errors: CodeNoMemory when
// there is no database, CodeConflict when something was forgotten meanwhile, CodeStorage; a
// damaged database is ErrDamaged. No backup is deleted then. The error may be that of
// deleting the oldest: made exists and is whole then.
func Make(ctx context.Context, dataDir string, keep int, now time.Time) (made Backup, err error) {
	source := filepath.Join(dataDir, databaseName)
	has, err := upkeep.ReadContents(ctx, source)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && has.Schema == 0:
		return made, memory.Errorf(memory.CodeNoMemory, "nothing is remembered yet")
	case db.Damaged(err):
		return made, damaged(err.Error())
	case err != nil:
		return made, err
	}
	// The copy has new indexes and no free pages: damage there is found in the original only.
	if wrong, err := upkeep.Verify(ctx, source); err != nil {
		return made, err
	} else if len(wrong) > 0 {
		return made, damaged(wrong...)
	}
	if err := os.MkdirAll(Folder(dataDir), 0o700); err != nil {
		return made, memory.Errorf(memory.CodeStorage, "make folder of backups: %w", err)
	}
	// Of those from a time to come, the clock cannot tell.
	removeUnfinished(dataDir, func(info fs.FileInfo) bool { return now.Sub(info.ModTime()).Abs() > tempAge })
	temp := filepath.Join(Folder(dataDir), fmt.Sprintf("%s%d-%d.tmp", tempPrefix, os.Getpid(), now.UnixNano()))
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	if err := copyVerified(ctx, source, temp); err != nil {
		return made, err
	}
	if made, err = enter(dataDir, temp, has.Memory, now); err != nil {
		return made, memory.Errorf(memory.CodeStorage, "name backup: %w", err)
	}
	// What was forgotten meanwhile is in the copy: a forget deletes backups that it sees.
	mem, ids, err := care.Erased(ctx, made.Path)
	if err == nil && len(missing(ctx, source, mem, ids, nil)) > 0 {
		err = memory.Errorf(memory.CodeConflict, "something was forgotten while the backup was made").WithHint("`claude-mem backup` makes another one")
	}
	if err != nil {
		return made, errors.Join(err, os.Remove(made.Path))
	}
	return made, rotate(dataDir, made, keep)
}

// damaged returns the error for a damaged memory.db.
func damaged(wrong ...string) error {
	return memory.Errorf(memory.CodeStorage, "%w: %s", ErrDamaged, strings.Join(wrong, "; ")).
		WithHint("`claude-mem doctor --fix` recovers it; `claude-mem restore --list` lists the backups")
}

// copyVerified copies the database at source into the new file temp, verifies the copy and
// syncs it.
func copyVerified(ctx context.Context, source, temp string) error {
	// Made here, so that it never has another mode; SQLite fills an empty file.
	f, err := openfile.Open(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "make backup: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := upkeep.Copy(ctx, source, temp); err != nil {
		if db.Damaged(err) {
			return damaged(err.Error())
		}
		return err
	}
	if err := f.Sync(); err != nil {
		return memory.Errorf(memory.CodeStorage, "sync backup: %w", err)
	}
	wrong, err := upkeep.Verify(ctx, temp)
	if err == nil && len(wrong) > 0 {
		err = memory.Errorf(memory.CodeStorage, "the backup cannot be read back: %s", strings.Join(wrong, "; ")).
			WithHint("check the disk; the backup was not kept")
	}
	return err
}

// enter renames a complete backup to its name, with a number above those of all others.
func enter(dataDir, temp string, mem int64, now time.Time) (Backup, error) {
	list, err := List(dataDir)
	if err != nil {
		return Backup{}, err
	}
	at := now.UTC().Truncate(time.Second)
	b := Backup{At: memory.MillisOf(at), Memory: fmt.Sprintf("%016x", uint64(mem))} //nolint:gosec // not negative
	if len(list) > 0 {
		b.Number = list[0].Number
	}
	for {
		b.Number++
		b.Name = fmt.Sprintf("memory-%s-%s-%d.db", at.Format(timeFormat), b.Memory, b.Number)
		b.Path = filepath.Join(Folder(dataDir), b.Name)
		if _, err := os.Lstat(b.Path); err == nil {
			continue
		}
		if err := os.Rename(temp, b.Path); err != nil {
			return b, err
		}
		info, err := os.Stat(b.Path)
		if err == nil {
			b.Bytes = info.Size()
			err = atomicfile.SyncDir(Folder(dataDir))
		}
		return b, err
	}
}

const (
	// sizeShare bounds all backups of a memory together, as a multiple of the database,
	// sizeFree is what they may take in any case.
	sizeShare = 2
	sizeFree  = 64 << 20
)

// rotate deletes the oldest backups of the same memory as made: those beyond keep, and those
// that bring the total above sizeShare times the database or sizeFree, if that is more. It
// keeps made.
func rotate(dataDir string, made Backup, keep int) error {
	list, err := List(dataDir)
	if err != nil {
		return err
	}
	most := int64(sizeFree)
	if info, err := os.Stat(filepath.Join(dataDir, databaseName)); err == nil {
		most = max(most, sizeShare*info.Size())
	}
	count, total := 0, int64(0)
	for _, b := range list {
		if b.Memory != made.Memory {
			continue
		}
		count++
		total += b.Bytes
		if b.Name == made.Name || count <= keep && total <= most {
			continue
		}
		if err := os.Remove(b.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return memory.Errorf(memory.CodeStorage, "delete the oldest backup: %w", err)
		}
	}
	return nil
}

// RemoveUnfinished deletes all incomplete backups, which may have what is being forgotten. One
// that is being made fails.
func RemoveUnfinished(dataDir string) {
	removeUnfinished(dataDir, func(fs.FileInfo) bool { return true })
}

// removeUnfinished deletes the incomplete backups for which old returns true.
func removeUnfinished(dataDir string, old func(fs.FileInfo) bool) {
	entries, _ := os.ReadDir(Folder(dataDir))
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), tempPrefix) && old(info) {
			_ = os.Remove(filepath.Join(Folder(dataDir), entry.Name()))
		}
	}
}
