package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/memory"
)

// Repaired is the result of Repair: each record is in one of its lists.
type Repaired struct {
	// Restored have the content of a backup again, or needed none: only their hash was wrong.
	Restored []Mismatch
	// Withheld have a text that no backup has: Withheld stands in its place.
	Withheld []Mismatch
	// Lost are gone, and no backup has them.
	Lost []Mismatch
	// Accepted have their text; their files, counts or flags may be wrong.
	Accepted []Mismatch
}

// Total returns the number of records.
func (r *Repaired) Total() int {
	return len(r.Restored) + len(r.Withheld) + len(r.Lost) + len(r.Accepted)
}

// Repair repairs records that are not as they were written, each by the first backup, a path,
// that has the content with the right hash; one of an older schema is copied and migrated first,
// beside the database. A text that none has is set aside: an observation is hidden, a learning
// retired.
func (s *Store) Repair(ctx context.Context, wrong []Mismatch, backups []string) (done Repaired, err error) {
	const what = "repair records"
	left := wrong
	for _, path := range backups {
		if len(left) == 0 {
			break
		}
		unread := s.upgraded(ctx, path, func(path string) error {
			return withReader(ctx, path, func(backup *sql.DB) error {
				left, err = s.repairFrom(ctx, backup, left, &done)
				return err
			})
		})
		if err != nil {
			return done, fault(what, err)
		}
		// A backup that cannot be read repairs nothing. One that cannot be read for want of space
		// may repair later what would be set aside now.
		if unread != nil && (ctx.Err() != nil || sqlite.Full(unread)) {
			return done, fault(what, unread)
		}
	}
	for _, m := range left {
		list, err := inKeeping(ctx, s, what, func(t *tx) (*[]Mismatch, error) { return t.setAside(m, &done) })
		if err != nil {
			return done, err
		}
		*list = append(*list, m)
	}
	return done, nil
}

// repairFrom repairs what it can by a backup and returns the rest of wrong.
func (s *Store) repairFrom(ctx context.Context, backup *sql.DB, wrong []Mismatch, done *Repaired) (left []Mismatch, err error) {
	for _, m := range wrong {
		saved, err := readSaved(ctx, backup, m)
		restored := false
		if err == nil && saved != nil {
			restored, err = inKeeping(ctx, s, "repair record", func(t *tx) (bool, error) { return t.restoreRecord(m, saved) })
			if err != nil && (ctx.Err() != nil || file.External(err)) {
				return nil, err
			}
		}
		if restored {
			done.Restored = append(done.Restored, m)
		} else {
			left = append(left, m)
		}
	}
	return left, nil
}

// saved is a record of a backup.
type saved struct {
	kind *recordKind
	sums sums
	// row holds the columns of the kind, files those of observation_files, after the id.
	row   []any
	files [][]any
}

// fileColumns are the columns of observation_files besides the observation's number.
const fileColumns = "position, path, role, file_hash, symbols"

// readSaved reads a record of a backup; nil when it is not there with its text intact.
func readSaved(ctx context.Context, backup *sql.DB, m Mismatch) (*saved, error) {
	found := saved{kind: kindNamed(m.Kind)}
	err := backup.QueryRowContext(ctx, sumColumns+" WHERE s.kind = ? AND s.id = ?", string(m.Kind), m.ID).Scan(sumFields(&found.sums)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil || !found.sums.textRight() { // it is damaged there too
		return nil, err
	}
	rows, err := all(ctx, backup, anyRow(len(found.kind.hashed())), "SELECT "+strings.Join(found.kind.hashed(), ", ")+" FROM "+found.kind.table+" WHERE id = ?", m.ID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	found.row = rows[0]
	if m.Kind == memory.RecordObservation {
		found.files, err = all(ctx, backup, anyRow(5), "SELECT "+fileColumns+" FROM observation_files WHERE observation_id = ?", m.ID)
	}
	return &found, err
}

// anyRow returns a function that makes room for n columns of any type.
func anyRow(n int) func(*[]any) []any {
	return func(row *[]any) []any {
		*row = make([]any, n)
		fields := make([]any, n)
		for i := range fields {
			fields[i] = &(*row)[i]
		}
		return fields
	}
}

// kindNamed returns the entry of hashedKinds for a kind that is in it.
func kindNamed(kind memory.RecordKind) *recordKind {
	for _, k := range hashedKinds {
		if k.kind == kind {
			return k
		}
	}
	panic(fmt.Sprintf("no hashes of %q", kind))
}

// restoreRecord repairs a record by a backup if that has its content with the right hash, and
// reports whether it is sound then.
func (t *tx) restoreRecord(m Mismatch, from *saved) (bool, error) {
	now, err := t.sums(m)
	if errors.Is(err, sql.ErrNoRows) {
		return t.insertSaved(m, from)
	}
	if err != nil {
		return false, err
	}
	textRight, restRight := now.textRight(), now.restRight()
	switch {
	case textRight, now.text == from.sums.text: // or the hash is wrong
	case now.keptText.Valid && now.keptText.Int64 == from.sums.text:
		if err := t.setColumns(m, from.kind.table, from.kind.text, from.row); err != nil {
			return false, err
		}
	default:
		return false, nil
	}
	switch {
	case restRight, from.sums.restRight() && now.rest == from.sums.rest:
	case from.sums.restRight() && now.keptRest.Valid && now.keptRest.Int64 == from.sums.rest:
		if err := t.setColumns(m, from.kind.table, from.kind.rest, from.row[len(from.kind.text):]); err != nil {
			return false, err
		}
		if err := t.setFiles(m, from); err != nil {
			return false, err
		}
	case textRight:
		return false, nil // an older backup may have it
	}
	return true, t.rehash(m)
}

// sums reads the hashes of a record; sql.ErrNoRows when it is gone.
func (t *tx) sums(m Mismatch) (s sums, err error) {
	err = t.row(sumColumns+" WHERE s.kind = ?1 AND s.id = ?2", []any{string(m.Kind), m.ID}, sumFields(&s)...)
	return s, err
}

// insertSaved brings a record back that is gone, if its hash is that of the backup's.
func (t *tx) insertSaved(m Mismatch, from *saved) (bool, error) {
	same, err := t.number("SELECT count(*) FROM record_hashes WHERE kind = ? AND id = ? AND text = ?", string(m.Kind), m.ID, from.sums.text)
	if err != nil || same == 0 {
		return false, err
	}
	columns := from.kind.hashed()
	if err := t.exec("INSERT INTO "+from.kind.table+" (id, "+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns))+")",
		append([]any{m.ID}, from.row...)...); err != nil {
		return false, err
	}
	if err := t.setFiles(m, from); err != nil {
		return false, err
	}
	return true, t.rehash(m)
}

// setColumns sets columns of a record.
func (t *tx) setColumns(m Mismatch, table string, columns []string, values []any) error {
	if len(columns) == 0 {
		return nil
	}
	return t.exec("UPDATE "+table+" SET "+strings.Join(columns, " = ?, ")+" = ? WHERE id = ?", append(slices.Clone(values[:len(columns)]), m.ID)...)
}

// setFiles replaces the files of an observation by those of a backup.
func (t *tx) setFiles(m Mismatch, from *saved) error {
	if m.Kind != memory.RecordObservation {
		return nil
	}
	// A path that was damaged is that of no other observation: it goes.
	before, err := t.pathsOf(jsonList([]int64{m.ID}))
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM file_refs WHERE observation_id = ?", m.ID); err != nil {
		return err
	}
	for _, f := range from.files {
		if err := t.exec("INSERT INTO observation_files (observation_id, "+fileColumns+") VALUES (?, ?, ?, ?, ?, ?)", append([]any{m.ID}, f...)...); err != nil {
			return err
		}
	}
	return t.dropPaths(before)
}

// rehash makes the hashes of a record those of its present content.
func (t *tx) rehash(m Mismatch) error {
	return t.exec(`INSERT INTO record_hashes (kind, id, text, rest) SELECT kind, id, text, rest FROM record_sums WHERE kind = ?1 AND id = ?2
		ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest, damaged_at = NULL`, string(m.Kind), m.ID)
}

// setAside books a record that no backup can repair, and returns the list of done that it
// belongs to.
func (t *tx) setAside(m Mismatch, done *Repaired) (*[]Mismatch, error) {
	key := []any{string(m.Kind), m.ID}
	now, err := t.sums(m)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	switch {
	case err == nil && now.textRight() && now.restRight(): // somebody has written it meanwhile
		return &done.Restored, nil
	case m.Gone:
		err := t.exec("DELETE FROM record_hashes WHERE kind = ? AND id = ?", key...)
		return &done.Lost, err
	case !m.Text, m.Kind == hashedSession:
		return &done.Accepted, t.rehash(m)
	}
	// One without a hash gets a wrong one.
	if err := t.exec(`INSERT INTO record_hashes (kind, id, text, rest, damaged_at) SELECT kind, id, ~text, rest, ?3 FROM record_sums WHERE kind = ?1 AND id = ?2
		ON CONFLICT (kind, id) DO UPDATE SET rest = excluded.rest, damaged_at = excluded.damaged_at`, append(key, int64(t.now()))...); err != nil {
		return nil, err
	}
	err = nil
	switch m.Kind {
	case memory.RecordObservation:
		err = t.exec("UPDATE observations SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", int64(memory.LatestTime), m.ID)
	case hashedLearning:
		err = t.exec("UPDATE learnings SET is_active = 0 WHERE id = ?", m.ID)
	}
	return &done.Withheld, err
}
