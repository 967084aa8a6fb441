package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// markName is the file that says which memory the data directory has, and how much was in it
// when the worker last looked. It stands outside the database, to notice that one is gone.
const markName = "memory.json"

// Mark is the content of memory.json.
type Mark struct {
	// Memory, Position and Received are those of upkeep.Contents.
	Memory   int64 `json:"memory"`
	Position int64 `json:"position"`
	Received int64 `json:"received"`
	// At is when the worker last looked.
	At memory.Millis `json:"at"`
	// Clean says that the worker closed the database, which then had these bytes and this
	// time of change, in Unix nanoseconds.
	Clean   bool  `json:"clean"`
	Bytes   int64 `json:"bytes,omitempty"`
	Changed int64 `json:"changed,omitempty"`
	// Damage says what was found wrong with the database: the next worker restores it.
	Damage string `json:"damage,omitempty"`
}

// Close notes that the worker has closed the database.
func (m *Mark) Close(database fs.FileInfo) {
	m.Clean, m.Bytes, m.Changed = true, database.Size(), database.ModTime().UnixNano()
}

// Fits reports whether the database is as it was closed, by its size and time.
func (m *Mark) Fits(database fs.FileInfo) bool {
	return m.Bytes == database.Size() && m.Changed == database.ModTime().UnixNano()
}

// ReadMark returns the mark of a data directory; the zero Mark when there is none or it
// cannot be read.
func ReadMark(dataDir string) (m Mark) {
	content, err := openfile.Read(filepath.Join(dataDir, markName))
	if err != nil || json.Unmarshal(content, &m) != nil {
		return Mark{}
	}
	return m
}

// WriteMark replaces the mark of a data directory.
func WriteMark(dataDir string, m Mark) error {
	content, _ := json.Marshal(m) // never fails
	if err := atomicfile.WriteOwn(filepath.Join(dataDir, markName), append(content, '\n'), 0o600); err != nil {
		return memory.Errorf(memory.CodeStorage, "write %s: %w", markName, err)
	}
	return nil
}

// Recovered is the result of Recover.
type Recovered struct {
	// From is the backup that was restored, nil when there was no sound one.
	From *Backup
	// Rows is the number of rows copied out of the damaged database. Unread is why none could
	// be, nil otherwise.
	Rows   int
	Unread error
	// Unsound has an error for each backup that was passed over because it cannot be used.
	Unsound []error
	// Applied says what was erased because it was forgotten after the backup.
	Applied Applied
	// Aside is the folder of the damaged database, "" when there was none.
	Aside string
}

// Recover replaces a damaged or missing database: by the newest sound backup, and the newer
// rows of the damaged one that can be read. The damaged one is set aside untouched. Without a
// backup the readable rows make a new memory; without either there is no database afterwards.
// The caller holds the worker's lock. After an error, such as a full disk, the database is
// where it was.
func Recover(ctx context.Context, dataDir string, now time.Time) (done Recovered, err error) {
	ready := filepath.Join(dataDir, restoring)
	if err := removeFiles(dataDir, readyFiles); err != nil {
		return done, err
	}
	list, err := List(dataDir)
	if err != nil {
		return done, err
	}
	for _, b := range list {
		if _, err := Check(ctx, b); err != nil {
			if ctx.Err() != nil {
				return done, ctx.Err()
			}
			done.Unsound = append(done.Unsound, err)
			continue // an older one may be sound
		}
		if err := copyFile(b.Path, ready); err != nil {
			return done, memory.Errorf(memory.CodeStorage, "copy backup: %w", err).WithHint(needsSpace)
		}
		done.From = &b
		if done.Applied, err = ApplyErasures(ctx, dataDir, ready); err != nil {
			return done, errors.Join(err, removeFiles(dataDir, readyFiles))
		}
		break
	}
	if done.Rows, done.Unread, err = salvage(ctx, dataDir, ready, &done.Applied); err != nil {
		return done, err
	}
	if done.Aside, err = SetAside(dataDir, now); err != nil || done.From == nil && done.Rows == 0 {
		return done, errors.Join(err, removeFiles(dataDir, readyFiles))
	}
	return done, putInPlace(dataDir, ready)
}

// salvage copies what can be read of the present database into the one at ready, which it
// makes if there is none, and verifies the result. unread is why nothing of a damaged
// database can be used. Without rows, the one at ready is as it was.
func salvage(ctx context.Context, dataDir, ready string, applied *Applied) (rows int, unread, err error) {
	work, err := os.MkdirTemp(dataDir, salvagePrefix)
	if err != nil {
		return 0, nil, memory.Errorf(memory.CodeStorage, "make folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	damaged, result := filepath.Join(work, databaseName), filepath.Join(work, "result.db")
	for _, suffix := range []string{"", "-wal"} {
		from := filepath.Join(dataDir, databaseName+suffix)
		err := copyFile(from, damaged+suffix)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if unread := readThrough(from); unread != nil {
			return 0, unread, nil // a file that cannot be read has no readable rows
		}
		return 0, nil, memory.Errorf(memory.CodeStorage, "copy damaged database: %w", err).WithHint(needsSpace)
	}
	if info, err := os.Stat(damaged); err != nil || info.Size() == 0 {
		return 0, nil, nil // there is nothing to salvage
	}
	like := damaged // has the erasures that were applied to its rows
	switch err := copyFile(ready, result); {
	case errors.Is(err, fs.ErrNotExist):
		like = result // has those of the damaged one and no others
	case err != nil:
		return 0, nil, memory.Errorf(memory.CodeStorage, "copy backup: %w", err).WithHint(needsSpace)
	}
	// Makes the tables, or brings those of an older backup up to date.
	s, err := store.Open(ctx, result, store.Options{})
	if err != nil {
		return 0, nil, err
	}
	if err := s.Close(); err != nil {
		return 0, nil, err
	}
	rows, unread, err = upkeep.Salvage(ctx, damaged, result)
	switch {
	case ctx.Err() != nil:
		return 0, nil, ctx.Err()
	case err != nil:
		return 0, nil, err
	case rows == 0:
		return 0, unread, nil // too damaged, or nothing is newer; the backup alone is restored
	}
	more, err := applyLacking(ctx, dataDir, like, result)
	if err != nil {
		return 0, nil, err
	}
	applied.Erasures += more.Erasures
	applied.Unapplied = append(applied.Unapplied, more.Unapplied...)
	if wrong, err := upkeep.Verify(ctx, result); err != nil {
		return 0, nil, err
	} else if len(wrong) > 0 {
		return 0, fmt.Errorf("the rows that were read do not make a sound database: %s", strings.Join(wrong, "; ")), nil
	}
	if err := os.Rename(result, ready); err != nil {
		return 0, nil, memory.Errorf(memory.CodeStorage, "put salvaged database in place: %w", err)
	}
	return rows, nil, nil
}

// needsSpace is the hint for a recovery that cannot write a file.
const needsSpace = "free some space on the disk; the next start of the worker tries again"

// readThrough reads a whole file and returns the error of that.
func readThrough(path string) error {
	f, err := openfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(io.Discard, f)
	return err
}
