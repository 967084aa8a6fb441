package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Mismatch is a record that is not as it was written.
type Mismatch struct {
	memory.RecordRef
	// Text says that the text is another one or gone, Gone that the whole record is. Without
	// them its files, counts or flags are others.
	Text, Gone bool
}

// String names the record: "observation 12".
func (m Mismatch) String() string { return fmt.Sprintf("%s %d", m.Kind, m.ID) }

// verifiedTogether is the number of records that VerifyRecords reads at once.
const verifiedTogether = 200

// VerifyRecords compares all records of the memory with their hashes, and returns those that
// differ and were not set aside by Repair. pause is called after
// every 200 records and at the end of each kind; an error of it ends the work and is returned
// with what was found so far. checked counts the records. Those written meanwhile may be missed.
func (s *Upkeep) VerifyRecords(ctx context.Context, pause func() error) (wrong []Mismatch, checked int, err error) {
	wrong, checked, err = verifyRecords(ctx, s.Reader, pause)
	return wrong, checked, db.Fault("verify records", err)
}

// verifyRecords is VerifyRecords by q: of each kind, in the order of numbers, the records whose hashes
// differ, and the hashes whose record is gone.
func verifyRecords(ctx context.Context, q db.Querier, pause func() error) (wrong []Mismatch, checked int, err error) {
	for _, k := range records.HashedKinds {
		for after := int64(math.MinInt64); ; {
			sums, err := db.All(ctx, q, records.SumFields, records.SumColumns+" WHERE s.kind = ? AND s.id > ? ORDER BY s.id LIMIT ?", string(k.Kind), after, verifiedTogether)
			if err != nil {
				return wrong, checked, err
			}
			last := int64(math.MaxInt64)
			if len(sums) == verifiedTogether {
				last = sums[len(sums)-1].ID
			}
			for _, sum := range sums {
				if text, rest := sum.Right(); (!text || !rest) && !sum.Known {
					wrong = append(wrong, Mismatch{memory.RecordRef{Kind: k.Kind, ID: sum.ID}, !text, false})
				}
			}
			gone, err := db.Column[int64](ctx, q, `SELECT h.id FROM record_hashes h WHERE h.kind = ? AND h.id > ? AND h.id <= ?
				AND NOT EXISTS (SELECT 1 FROM `+k.Table+` r WHERE r.id = h.id)`, string(k.Kind), after, last)
			if err != nil {
				return wrong, checked, err
			}
			wrong = append(wrong, collect.Map(gone, func(id int64) Mismatch { return Mismatch{memory.RecordRef{Kind: k.Kind, ID: id}, true, true} })...)
			checked += len(sums)
			if err := pause(); err != nil {
				return wrong, checked, err
			}
			if after = last; len(sums) < verifiedTogether {
				break
			}
		}
	}
	return wrong, checked, nil
}

// Withheld returns the records whose text was changed on the disk and could not be
// repaired, up to limit, and how many there are.
func (s *Upkeep) Withheld(ctx context.Context, limit int) (list []memory.RecordRef, total int, err error) {
	defer db.Wrap(&err, "list damaged records")
	list, err = db.All(ctx, s.Reader, func(r *memory.RecordRef) []any { return []any{&r.Kind, &r.ID} },
		"SELECT kind, id FROM record_hashes WHERE damaged_at IS NOT NULL ORDER BY damaged_at, kind, id LIMIT ?", limit)
	if err == nil {
		total, err = db.Value[int](ctx, s.Reader, "SELECT count(*) FROM record_hashes WHERE damaged_at IS NOT NULL")
	}
	return list, total, err
}

// upgraded calls use with the path of a database of this schema that says what the one at path
// says: path itself, or of an older one a copy that was migrated and is deleted afterwards.
func (s *Upkeep) upgraded(ctx context.Context, path string, use func(path string) error) (err error) {
	version, err := db.FileVersion(ctx, path)
	if err != nil {
		return err
	}
	if version == db.SchemaVersion() {
		return use(path)
	}
	// Package backup deletes folders of this name that a killed process has left.
	folder, err := os.MkdirTemp(filepath.Dir(s.Path()), ".salvage-repair-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	copied := filepath.Join(folder, filepath.Base(path))
	if err := Copy(ctx, path, copied); err != nil {
		return err
	}
	migrated, err := db.Open(ctx, copied, db.Options{Logger: s.Log})
	if err != nil {
		return err
	}
	if err := migrated.Close(); err != nil {
		return err
	}
	return use(copied)
}

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
func (s *Upkeep) Repair(ctx context.Context, wrong []Mismatch, backups []string) (done Repaired, err error) {
	const what = "repair records"
	left := wrong
	for _, path := range backups {
		if len(left) == 0 {
			break
		}
		unread := s.upgraded(ctx, path, func(path string) error {
			return db.WithReader(ctx, path, func(backup *sql.DB) error {
				left, err = s.repairFrom(ctx, backup, left, &done)
				return err
			})
		})
		if err != nil {
			return done, db.Fault(what, err)
		}
		// A backup that cannot be read repairs nothing. One that cannot be read for want of space
		// may repair later what would be set aside now.
		if unread != nil && (ctx.Err() != nil || sqlite.Full(unread)) {
			return done, db.Fault(what, unread)
		}
	}
	for _, m := range left {
		list, err := db.InKeeping(ctx, s.DB, what, func(t *db.Tx) (*[]Mismatch, error) { return setAside(t, m, &done), nil })
		if err != nil {
			return done, err
		}
		*list = append(*list, m)
	}
	return done, nil
}

// repairFrom repairs what it can by a backup, one transaction a record, and returns the rest of
// wrong: a record that the backup does not have, or that cannot be stored. Only an error that
// other backups would meet too ends it: ctx, a full disk, another program's lock.
func (s *Upkeep) repairFrom(ctx context.Context, backup *sql.DB, wrong []Mismatch, done *Repaired) (left []Mismatch, err error) {
	for _, m := range wrong {
		saved, err := readSaved(ctx, backup, m)
		restored := false
		if err == nil && saved != nil {
			restored, err = db.InKeeping(ctx, s.DB, "repair record", func(t *db.Tx) (bool, error) { return restoreRecord(t, m, saved), nil })
			if err != nil && (ctx.Err() != nil || db.File.External(err)) {
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
	kind *records.Kind
	sums records.Sums
	// row holds the columns of the kind, files those of observation_files, after the id.
	row   []any
	files [][]any
}

// fileColumns are the columns of observation_files besides the observation's number.
const fileColumns = "position, path, role, file_hash, symbols"

// readSaved reads a record of a backup; nil when it is not there with its text intact.
func readSaved(ctx context.Context, backup *sql.DB, m Mismatch) (*saved, error) {
	found := saved{kind: records.HashedKinds[slices.IndexFunc(records.HashedKinds, func(k *records.Kind) bool { return k.Kind == m.Kind })]}
	err := backup.QueryRowContext(ctx, records.SumColumns+" WHERE s.kind = ? AND s.id = ?", string(m.Kind), m.ID).Scan(records.SumFields(&found.sums)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if text, _ := found.sums.Right(); err != nil || !text { // it is damaged there too
		return nil, err
	}
	rows, err := db.All(ctx, backup, AnyRow(len(found.kind.Hashed)), "SELECT "+strings.Join(found.kind.Hashed, ", ")+" FROM "+found.kind.Table+" WHERE id = ?", m.ID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	found.row = rows[0]
	if m.Kind == memory.RecordObservation {
		found.files, err = db.All(ctx, backup, AnyRow(5), "SELECT "+fileColumns+" FROM observation_files WHERE observation_id = ?", m.ID)
	}
	return &found, err
}

// AnyRow returns a function that makes room for n columns of any type.
func AnyRow(n int) func(*[]any) []any {
	return func(row *[]any) []any {
		*row = make([]any, n)
		return collect.MapPtr(*row, func(column *any) any { return column })
	}
}

// restoreRecord repairs a record by a backup if that has its content with the right hash, and
// reports whether it was. If only the text could be repaired, the files, counts and flags stay
// as they are and count as right from now on.
func restoreRecord(t *db.Tx, m Mismatch, from *saved) bool {
	now, there := sums(t, m)
	if !there {
		return insertSaved(t, m, from)
	}
	textRight, restRight := now.Right()
	_, savedRest := from.sums.Right()
	switch {
	case textRight, now.Text == from.sums.Text: // right already, or only its hash is wrong
	case now.KeptText.Valid && now.KeptText.Int64 == from.sums.Text:
		setColumns(t, m, from.kind.Table, from.kind.Text, from.row)
	default:
		return false
	}
	switch {
	case restRight, savedRest && now.Rest == from.sums.Rest:
	case savedRest && now.KeptRest.Valid && now.KeptRest.Int64 == from.sums.Rest:
		setColumns(t, m, from.kind.Table, from.kind.Rest, from.row[len(from.kind.Text):])
		setFiles(t, m, from)
	case textRight:
		return false // an older backup may have it
	}
	rehash(t, m)
	return true
}

// sums reads the hashes of a record and reports whether it is there.
func sums(t *db.Tx, m Mismatch) (s records.Sums, there bool) {
	there = t.Find(records.SumColumns+" WHERE s.kind = ?1 AND s.id = ?2", []any{string(m.Kind), m.ID}, records.SumFields(&s)...)
	return s, there
}

// insertSaved brings a record back that is gone, if its hash is that of the backup's.
func insertSaved(t *db.Tx, m Mismatch, from *saved) bool {
	same := t.Number("SELECT count(*) FROM record_hashes WHERE kind = ? AND id = ? AND text = ?", string(m.Kind), m.ID, from.sums.Text)
	if same == 0 {
		return false
	}
	columns := from.kind.Hashed
	t.Exec("INSERT INTO "+from.kind.Table+" (id, "+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns))+")",
		append([]any{m.ID}, from.row...)...)
	setFiles(t, m, from)
	rehash(t, m)
	return true
}

// setColumns sets columns of a record to the first of the values.
func setColumns(t *db.Tx, m Mismatch, table string, columns []string, values []any) {
	if len(columns) == 0 {
		return
	}
	t.Exec("UPDATE "+table+" SET "+strings.Join(columns, " = ?, ")+" = ? WHERE id = ?", append(slices.Clone(values[:len(columns)]), m.ID)...)
}

// setFiles replaces the files of an observation by those of a backup.
func setFiles(t *db.Tx, m Mismatch, from *saved) {
	if m.Kind != memory.RecordObservation {
		return
	}
	// A path that was damaged is that of no other observation: it goes.
	before := records.PathsOf(t, db.JSONList([]int64{m.ID}))
	t.Exec("DELETE FROM file_refs WHERE observation_id = ?", m.ID)
	for _, f := range from.files {
		t.Exec("INSERT INTO observation_files (observation_id, "+fileColumns+") VALUES (?, ?, ?, ?, ?, ?)", append([]any{m.ID}, f...)...)
	}
	records.DropPaths(t, before)
}

// rehash makes the hashes of a record those of its present content: it is sound then, and no
// longer set aside.
func rehash(t *db.Tx, m Mismatch) {
	t.Exec(`INSERT INTO record_hashes (kind, id, text, rest) SELECT kind, id, text, rest FROM record_sums WHERE kind = ?1 AND id = ?2
		ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text, rest = excluded.rest, damaged_at = NULL`, string(m.Kind), m.ID)
}

// setAside books a record that no backup can repair, and returns the list of done that it
// belongs to.
func setAside(t *db.Tx, m Mismatch, done *Repaired) *[]Mismatch {
	key := []any{string(m.Kind), m.ID}
	now, there := sums(t, m)
	text, rest := now.Right()
	switch {
	case there && text && rest: // somebody has written it meanwhile
		return &done.Restored
	case m.Gone:
		t.Exec("DELETE FROM record_hashes WHERE kind = ? AND id = ?", key...)
		return &done.Lost
	case !m.Text, m.Kind == records.HashedSession:
		rehash(t, m)
		return &done.Accepted
	}
	// One without a hash gets a wrong one.
	t.Exec(`INSERT INTO record_hashes (kind, id, text, rest, damaged_at) SELECT kind, id, ~text, rest, ?3 FROM record_sums WHERE kind = ?1 AND id = ?2
		ON CONFLICT (kind, id) DO UPDATE SET rest = excluded.rest, damaged_at = excluded.damaged_at`, append(key, int64(t.Now()))...)
	switch m.Kind {
	case memory.RecordObservation:
		t.Exec("UPDATE observations SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", int64(memory.LatestTime), m.ID)
	case records.HashedLearning:
		t.Exec("UPDATE learnings SET is_active = 0 WHERE id = ?", m.ID)
	}
	return &done.Withheld
}
