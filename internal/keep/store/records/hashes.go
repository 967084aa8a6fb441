package records

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/keep/store/db"
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

type rowSum struct{ Text, columns, Join string }

// RowSums are, for the rows r of a kind of records, the hash of the text, the columns of their
// sums, and the join that these need. Over record_sums, a union of all kinds, a query takes
// longer to prepare than to run.
var RowSums = func() map[memory.RecordKind]rowSum {
	parts := map[memory.RecordKind]rowSum{}
	for _, k := range HashedKinds {
		files := "0"
		if k.Kind == memory.RecordObservation {
			files = "(SELECT record_hashes(f.observation_id, f.position, f.path, f.role, f.file_hash, f.symbols) FROM observation_files f WHERE f.observation_id = r.id)"
		}
		text, rest := k.hash("0", k.Text), k.hash(files, k.Rest)
		parts[k.Kind] = rowSum{
			text, "r.id, " + text + ", " + rest + ", h.text, h.rest, h.damaged_at IS NOT NULL",
			" LEFT JOIN record_hashes h ON h.kind = '" + string(k.Kind) + "' AND h.id = r.id",
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

// SumFields returns the destinations of SumColumns, and of the columns of RowSums.
func SumFields(s *Sums) []any {
	return []any{&s.ID, &s.Text, &s.Rest, &s.KeptText, &s.KeptRest, &s.Known}
}

// Right reports whether the hashes of the text and of the rest are those that were kept.
func (s *Sums) Right() (text, rest bool) {
	return s.KeptText.Valid && s.KeptText.Int64 == s.Text, s.KeptRest.Valid && s.KeptRest.Int64 == s.Rest
}

// read reads records of a kind from rows r, and the projects of these. In place of a text that is
// not the one that was written stands memory.Withheld, and Damaged is set. The owner of the store is
// told (the option Mismatched) if a record that differs, in its text, files or flags, was not set
// aside by Repair; a transaction that writes tells nobody.
func read[R, P any, W interface {
	*R
	Withhold()
}](ctx context.Context, q db.Querier, of *record[R, P], from, where string, args ...any) (list []R, projects []string, err error) {
	sums, unknown := RowSums[of.Kind.Kind], false
	err = db.Each(ctx, q, func(scan sqlite.Scan) error {
		list, projects = append(list, *new(R)), append(projects, "")
		last := len(list) - 1
		var s Sums
		if err := scan(slices.Concat(of.fields(&list[last]), []any{&projects[last]}, SumFields(&s))...); err != nil {
			return err
		}
		text, rest := s.Right()
		if !text {
			W(&list[last]).Withhold()
		}
		unknown = unknown || !s.Known && (!text || !rest)
		return nil
	}, "SELECT "+of.read+", r.project, "+sums.columns+" FROM "+from+sums.Join+" WHERE "+where, args...)
	if q, ok := q.(interface{ Mismatched() }); ok && unknown {
		q.Mismatched()
	}
	return list, projects, err
}
