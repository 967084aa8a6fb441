package control

import (
	"context"
	"path/filepath"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// VerifyIndex reads all of the search index of a data directory and compares its records with
// those of the database. wrong says what is not as it should be. compared is false, and wrong
// has only damage of the file, when one of both has changes that the other lacks. The codes of
// its errors are those of index.Verify.
func VerifyIndex(ctx context.Context, db *store.Store, dataDir string) (wrong []string, compared bool, err error) {
	_, before, err := db.ChangeRange(ctx)
	if err != nil {
		return nil, false, err
	}
	seen, err := index.Verify(ctx, filepath.Join(dataDir, Index))
	if err != nil {
		return nil, false, err
	}
	wrong = seen.Wrong
	refs, err := db.FilterRecords(ctx, memory.Query{}, nil, memory.OrderOldest)
	if err != nil {
		return wrong, false, err
	}
	if _, after, err := db.ChangeRange(ctx); err != nil || after != before || seen.Cursor != after {
		return wrong, false, err
	}
	missing := make(map[memory.RecordRef]bool, len(refs))
	for _, r := range refs {
		missing[r] = true
	}
	foreign := 0
	for _, r := range seen.Records {
		if !missing[r] {
			foreign++
		}
		delete(missing, r)
	}
	if len(missing) > 0 {
		wrong = append(wrong, text.Count(len(missing), "record")+" of the memory missing")
	}
	if foreign > 0 {
		wrong = append(wrong, text.Count(foreign, "record")+" that the memory does not have")
	}
	return wrong, true, nil
}
