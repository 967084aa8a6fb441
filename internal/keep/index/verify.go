package index

import (
	"context"
	"fmt"

	"claudemem/internal/memory"
)

// Verified is the result of Verify.
type Verified struct {
	// Cursor is the number of the last change that the index has.
	Cursor int64
	// Records are those that it has.
	Records []memory.RecordRef
	// Wrong says what is damaged, none if the index is sound: the first 20 findings of
	// SQLite, and a line with the number of records that have no words.
	Wrong []string
}

// Verify reads all of the index at path. It works beside the worker and never writes. The
// codes of its errors are those of OpenReadOnly; a damaged file is CodeUnavailable.
func Verify(ctx context.Context, path string) (v Verified, err error) {
	const what = "verify index"
	b, err := openBaseReadOnly(ctx, path, nil)
	if err != nil {
		return v, fault(what, err)
	}
	defer func() { _ = b.close() }()
	tx, err := b.reader.BeginTx(ctx, nil)
	if err != nil {
		return v, fault(what, err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := tx.QueryRowContext(ctx, "SELECT seq FROM cursor").Scan(&v.Cursor); err != nil {
		return v, fault(what, err)
	}
	var line string
	for range selected(ctx, tx, &err, "PRAGMA integrity_check(20)").Into(&line) {
		if line != "ok" {
			v.Wrong = append(v.Wrong, line)
		}
	}
	bare := 0
	var k key
	var whole bool
	for range selected(ctx, tx, &err, `SELECT kind, record_id, EXISTS (SELECT 1 FROM contents c WHERE c.document = d.id) AND EXISTS (SELECT 1 FROM texts_docsize t WHERE t.id = d.id)
		FROM documents d`).Into(&k.kind, &k.record, &whole) {
		v.Records = append(v.Records, memory.RecordRef{Kind: k.kind.recordKind(), ID: k.record})
		if !whole {
			bare++
		}
	}
	if bare > 0 {
		v.Wrong = append(v.Wrong, fmt.Sprintf("%d records have no words", bare))
	}
	return v, fault(what, err)
}
