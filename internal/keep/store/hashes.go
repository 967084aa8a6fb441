package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

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
// every 200 records; an error of it ends the work. checked counts the records.
func (s *Store) VerifyRecords(ctx context.Context, pause func() error) (wrong []Mismatch, checked int, err error) {
	wrong, checked, err = verifyRecords(ctx, s.reader, pause)
	return wrong, checked, fault("verify records", err)
}

func verifyRecords(ctx context.Context, q querier, pause func() error) (wrong []Mismatch, checked int, err error) {
	for _, k := range hashedKinds {
		for after := int64(math.MinInt64); ; {
			sums, err := all(ctx, q, sumFields, sumColumns+" WHERE s.kind = ? AND s.id > ? ORDER BY s.id LIMIT ?", string(k.kind), after, verifiedTogether)
			if err != nil {
				return wrong, checked, err
			}
			last := int64(math.MaxInt64)
			if len(sums) == verifiedTogether {
				last = sums[len(sums)-1].id
			}
			for _, sum := range sums {
				if text := !sum.textRight(); (text || !sum.restRight()) && !sum.known {
					wrong = append(wrong, Mismatch{memory.RecordRef{Kind: k.kind, ID: sum.id}, text, false})
				}
			}
			gone, err := column[int64](ctx, q, `SELECT h.id FROM record_hashes h WHERE h.kind = ? AND h.id > ? AND h.id <= ?
				AND NOT EXISTS (SELECT 1 FROM `+k.table+` r WHERE r.id = h.id)`, string(k.kind), after, last)
			if err != nil {
				return wrong, checked, err
			}
			for _, id := range gone {
				wrong = append(wrong, Mismatch{memory.RecordRef{Kind: k.kind, ID: id}, true, true})
			}
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

// sums are the hashes that a record has to have and those that it has.
type sums struct {
	id         int64
	text, rest int64
	// The kept ones are NULL for a record without hashes.
	keptText, keptRest sql.NullInt64
	// known says that the record was set aside: nothing repairs it.
	known bool
}

const sumColumns = `SELECT s.id, s.text, s.rest, h.text, h.rest, h.damaged_at IS NOT NULL FROM record_sums s LEFT JOIN record_hashes h ON h.kind = s.kind AND h.id = s.id`

// rowSums are, for the rows r of a kind of records, the hash of the text, the columns of their
// sums without the id, and the join that these need; byID is the query of the sums of a list of
// numbers. Over record_sums, a union of all kinds, a query takes longer to prepare than to run.
var rowSums = func() map[memory.RecordKind]struct{ text, columns, join, byID string } {
	parts := map[memory.RecordKind]struct{ text, columns, join, byID string }{}
	for _, k := range hashedKinds {
		files := "0"
		if k.kind == memory.RecordObservation {
			files = "(SELECT record_hashes(f.observation_id, f.position, f.path, f.role, f.file_hash, f.symbols) FROM observation_files f WHERE f.observation_id = r.id)"
		}
		rest := "0"
		if len(k.rest) > 0 {
			rest = "record_hash(" + files + ", r." + strings.Join(k.rest, ", r.") + ")"
		}
		if k.kind == memory.RecordSummary { // from before it was kept
			rest = "iif(r.provenance = '', 0, " + rest + ")"
		}
		text := "record_hash(0, r." + strings.Join(k.text, ", r.") + ")"
		columns := text + ", " + rest + ", h.text, h.rest, h.damaged_at IS NOT NULL"
		join := " LEFT JOIN record_hashes h ON h.kind = '" + string(k.kind) + "' AND h.id = r.id"
		parts[k.kind] = struct{ text, columns, join, byID string }{
			text, columns, join,
			"SELECT r.id, " + columns + " FROM " + k.table + " r" + join + " WHERE r.id IN (SELECT value FROM json_each(?))",
		}
	}
	return parts
}()

func sumFields(s *sums) []any { return append([]any{&s.id}, s.fields()...) }

// fields returns the destinations of the columns of rowSums.
func (s *sums) fields() []any { return []any{&s.text, &s.rest, &s.keptText, &s.keptRest, &s.known} }

func (s *sums) textRight() bool { return s.keptText.Valid && s.keptText.Int64 == s.text }
func (s *sums) restRight() bool { return s.keptRest.Valid && s.keptRest.Int64 == s.rest }

// mismatched returns which of the records do not have the text that was written. The owner of
// the store is told of those that were not known, for their files and flags too.
func mismatched(ctx context.Context, q queryOnly, kind memory.RecordKind, ids []int64) (wrong map[int64]bool, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := all(ctx, q, sumFields, rowSums[kind].byID, jsonList(ids))
	return wrongTexts(q, list), err
}

// wrongTexts is mismatched for records whose sums have been read.
func wrongTexts(q queryOnly, list []sums) (wrong map[int64]bool) {
	unknown := false
	for _, s := range list {
		if s.textRight() && s.restRight() {
			continue
		}
		unknown = unknown || !s.known
		if !s.textRight() {
			if wrong == nil {
				wrong = map[int64]bool{}
			}
			wrong[s.id] = true
		}
	}
	if q, ok := q.(interface{ mismatched() }); ok && unknown {
		q.mismatched()
	}
	return wrong
}

// withhold calls withhold for each of the records of a kind whose text is not the one that
// was written.
func withhold[T any](ctx context.Context, q queryOnly, kind memory.RecordKind, records []T, id func(T) int64, withhold func(T)) error {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = id(r)
	}
	wrong, err := mismatched(ctx, q, kind, ids)
	withholdWrong(records, wrong, id, withhold)
	return err
}

// withholdWrong calls withhold for those of the records that are wrong.
func withholdWrong[T any](records []T, wrong map[int64]bool, id func(T) int64, withhold func(T)) {
	if len(wrong) == 0 {
		return
	}
	for _, r := range records {
		if wrong[id(r)] {
			withhold(r)
		}
	}
}

func withholdPrompts(ctx context.Context, q queryOnly, prompts []*memory.Prompt) error {
	return withhold(ctx, q, memory.RecordPrompt, prompts, func(p *memory.Prompt) int64 { return p.ID }, (*memory.Prompt).Withhold)
}

func withholdSummaries(ctx context.Context, q queryOnly, summaries []*memory.Summary) error {
	return withhold(ctx, q, memory.RecordSummary, summaries, func(s *memory.Summary) int64 { return s.ID }, (*memory.Summary).Withhold)
}

func withholdLearnings(ctx context.Context, q queryOnly, learnings []*memory.Learning) error {
	return withhold(ctx, q, hashedLearning, learnings, func(l *memory.Learning) int64 { return l.ID }, (*memory.Learning).Withhold)
}

// pointers returns the addresses of the items of a list.
func pointers[T any](list []T) []*T {
	found := make([]*T, len(list))
	for i := range list {
		found[i] = &list[i]
	}
	return found
}

// Withheld returns the records whose text was changed on the disk and could not be
// repaired, up to limit, and how many there are.
func (s *Store) Withheld(ctx context.Context, limit int) (list []memory.RecordRef, total int, err error) {
	defer wrap(&err, "list damaged records")
	list, err = all(ctx, s.reader, func(r *memory.RecordRef) []any { return []any{&r.Kind, &r.ID} },
		"SELECT kind, id FROM record_hashes WHERE damaged_at IS NOT NULL ORDER BY damaged_at, kind, id LIMIT ?", limit)
	if err == nil {
		total, err = value[int](ctx, s.reader, "SELECT count(*) FROM record_hashes WHERE damaged_at IS NOT NULL")
	}
	return list, total, err
}
