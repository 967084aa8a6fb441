package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// erasuresName is the file with what was forgotten, as hashes: a line with a sum for each
// erasure. It stands outside the database, so that a copy from before can be brought up to it.
const erasuresName = "erasures"

// Applied says what was erased from a copy of the memory because it was forgotten later.
type Applied struct {
	// Erasures counts those that were applied.
	Erasures int `json:"erasures"`
	// Unapplied names those that could not be.
	Unapplied []string `json:"unapplied,omitempty"`
}

// readErasures returns the erasures that the file of a data directory names, and its lines that
// cannot be read.
func readErasures(dataDir string) (list []care.Erasure, broken [][]byte, err error) {
	content, err := openfile.Read(filepath.Join(dataDir, erasuresName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, memory.Errorf(memory.CodeStorage, "read %s: %w", erasuresName, err)
	}
	for line := range bytes.Lines(content) {
		var e care.Erasure
		sum, entry, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if string(sum) != lineSum(entry) || json.Unmarshal(entry, &e) != nil || len(e.Key) < 8 {
			broken = append(broken, line)
			continue
		}
		list = append(list, e)
	}
	return list, broken, nil
}

// lineSum returns the sum at the start of a line.
func lineSum(entry []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(entry)) }

// NoteErasure adds an erasure to the file of a data directory, before the database has it: a
// line that the database lacks is applied to it by ApplyErasures. It reads the file and replaces
// it: one call at a time, which the one writer of the store, inside whose transaction it is
// called, sees to.
func NoteErasure(dataDir string, e *care.Erasure) error {
	path := filepath.Join(dataDir, erasuresName)
	content, err := openfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		entry, _ := json.Marshal(e) // never fails
		if len(content) > 0 && content[len(content)-1] != '\n' {
			content = append(content, '\n')
		}
		err = atomicfile.WriteOwn(path, append(content, lineSum(entry)+" "+string(entry)+"\n"...), 0o600)
	}
	if err != nil {
		return memory.Errorf(memory.CodeStorage, "write %s: %w", erasuresName, err)
	}
	return nil
}

// ApplyErasures applies to the database at path the erasures of its memory that it does not have
// yet. No other process may have the database open.
func ApplyErasures(ctx context.Context, dataDir, path string) (done Applied, err error) {
	return applyLacking(ctx, dataDir, path, path)
}

// applyLacking erases from the database at path what the one at like lacks: path itself, or the
// damaged one from which newer rows were added to it.
func applyLacking(ctx context.Context, dataDir, like, path string) (done Applied, err error) {
	list, broken, err := readErasures(dataDir)
	if err != nil || len(list)+len(broken) == 0 {
		return done, err
	}
	mem, has, err := care.Erased(ctx, like)
	if err != nil && like != path && ctx.Err() == nil {
		done.Unapplied = append(done.Unapplied, "what the damaged file had not erased yet: it cannot be read")
		return done, nil
	}
	if err != nil {
		return done, err
	}
	unknown := len(missing(ctx, filepath.Join(dataDir, databaseName), mem, has, list))
	others := len(list)
	list = slices.DeleteFunc(list, func(e care.Erasure) bool { return e.Memory != mem })
	others -= len(list)
	list = slices.DeleteFunc(list, func(e care.Erasure) bool { return slices.Contains(has, e.ID) })
	for _, reason := range []struct {
		n    int
		what string
	}{
		{others, "%d of another memory than that of the file"},
		{len(broken), "%d that cannot be read in the file " + erasuresName},
		{unknown, "%d that only the present memory knows"},
	} {
		if reason.n > 0 {
			done.Unapplied = append(done.Unapplied, fmt.Sprintf(reason.what, reason.n))
		}
	}
	err = applyAll(ctx, path, list, &done)
	return done, err
}

// missing returns the erasures of the database at path, if it is the memory, that are neither
// among has nor in list: those from before there was the file, or of a file that was lost. It
// returns nil for a database that cannot be read.
func missing(ctx context.Context, path string, mem int64, has []memory.ULID, list []care.Erasure) []memory.ULID {
	of, ids, err := care.Erased(ctx, path)
	if err != nil || of != mem {
		return nil
	}
	return slices.DeleteFunc(ids, func(id memory.ULID) bool {
		return slices.Contains(has, id) || slices.ContainsFunc(list, func(e care.Erasure) bool { return e.ID == id })
	})
}

// applyAll erases what list names from the database at path, and counts it in done.
func applyAll(ctx context.Context, path string, list []care.Erasure, done *Applied) (err error) {
	if len(list) == 0 {
		return nil
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range list {
		if _, err := s.Erase(ctx, &list[i]); err != nil {
			return err
		}
		done.Erasures++
	}
	return s.Scrub(ctx)
}
