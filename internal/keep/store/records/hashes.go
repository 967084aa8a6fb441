package records

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"claudemem/internal/keep/store/db"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// Sums are the hashes that a record has to have and those that it has.
type Sums struct {
	ID         int64
	Text, Rest int64
	// The kept ones are NULL for a record without hashes.
	KeptText, KeptRest sql.NullInt64
	// Known says that the record was set aside: nothing repairs it.
	Known bool
}

// SumColumns selects the sums of records s.
const SumColumns = `SELECT s.id, s.text, s.rest, h.text, h.rest, h.damaged_at IS NOT NULL FROM record_sums s LEFT JOIN record_hashes h ON h.kind = s.kind AND h.id = s.id`

type rowSum struct{ Text, columns, Join, byID string }

// RowSums are, for the rows r of a kind of records, the hash of the text, the columns of their
// sums without the id, and the join that these need; byID is the query of the sums of a list of
// numbers. Over record_sums, a union of all kinds, a query takes longer to prepare than to run.
var RowSums = func() map[memory.RecordKind]rowSum {
	parts := map[memory.RecordKind]rowSum{}
	for _, k := range HashedKinds {
		files := "0"
		if k.Kind == memory.RecordObservation {
			files = "(SELECT record_hashes(f.observation_id, f.position, f.path, f.role, f.file_hash, f.symbols) FROM observation_files f WHERE f.observation_id = r.id)"
		}
		text, rest := k.hash("0", k.Text), k.hash(files, k.Rest)
		columns := text + ", " + rest + ", h.text, h.rest, h.damaged_at IS NOT NULL"
		join := " LEFT JOIN record_hashes h ON h.kind = '" + string(k.Kind) + "' AND h.id = r.id"
		parts[k.Kind] = rowSum{
			text, columns, join,
			"SELECT r.id, " + columns + " FROM " + k.Table + " r" + join + " WHERE r.id IN (SELECT value FROM json_each(?))",
		}
	}
	return parts
}()

// hash returns the expression for a seed joined with the hash of the columns of a row r. An added
// column is joined only if it has something: older rows keep their hashes.
func (k *Kind) hash(seed string, columns []string) string {
	var first []string
	for _, column := range columns {
		if slices.Contains(k.Added, column) {
			seed = "iif(r." + column + " = '', " + seed + ", record_hash(" + seed + ", r." + column + "))"
		} else {
			first = append(first, "r."+column)
		}
	}
	if len(first) == 0 {
		return seed
	}
	return "record_hash(" + seed + ", " + strings.Join(first, ", ") + ")"
}

// SumFields returns the destinations of SumColumns.
func SumFields(s *Sums) []any { return append([]any{&s.ID}, s.fields()...) }

// fields returns the destinations of the columns of RowSums.
func (s *Sums) fields() []any { return []any{&s.Text, &s.Rest, &s.KeptText, &s.KeptRest, &s.Known} }

// Right reports whether the hashes of the text and of the rest are those that were kept.
func (s *Sums) Right() (text, rest bool) {
	return s.KeptText.Valid && s.KeptText.Int64 == s.Text, s.KeptRest.Valid && s.KeptRest.Int64 == s.Rest
}

// mismatched returns which of the records do not have the text that was written, nil for none.
// The owner of the store is told (the option Mismatched) if one that differs, in its text, files
// or flags, was not set aside by Repair; a transaction that writes tells nobody.
func mismatched(ctx context.Context, q db.QueryOnly, kind memory.RecordKind, ids []int64) (wrong map[int64]bool, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := db.All(ctx, q, SumFields, RowSums[kind].byID, db.JSONList(ids))
	return wrongTexts(q, list), err
}

// wrongTexts is mismatched for records whose sums have been read.
func wrongTexts(q db.QueryOnly, list []Sums) (wrong map[int64]bool) {
	unknown := false
	for _, s := range list {
		text, rest := s.Right()
		if text && rest {
			continue
		}
		unknown = unknown || !s.Known
		if !text {
			if wrong == nil {
				wrong = map[int64]bool{}
			}
			wrong[s.ID] = true
		}
	}
	if q, ok := q.(interface{ Mismatched() }); ok && unknown {
		q.Mismatched()
	}
	return wrong
}

// withhold withholds each of the records of a kind whose text is not the one that was written:
// memory.Withheld stands in its place, and Damaged is set.
func withhold[T any, P interface {
	*T
	Withhold()
}](ctx context.Context, q db.QueryOnly, kind memory.RecordKind, records []T, id func(*T) int64) error {
	ids := collect.MapPtr(records, id)
	wrong, err := mismatched(ctx, q, kind, ids)
	for i := range records {
		if wrong[ids[i]] {
			P(&records[i]).Withhold()
		}
	}
	return err
}

// pointers returns the addresses of the items of a list.
func pointers[T any](list []T) []*T {
	return collect.MapPtr(list, func(x *T) *T { return x })
}
