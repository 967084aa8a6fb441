package daemon

import (
	"context"
	"fmt"
	"path/filepath"

	"claudemem/internal/keep/index"
	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// noticeIndex is the notice that the index was found to lack rows.
const noticeIndex = "index"

// VerifyIndex reads all of the search index of a data directory and compares its records with
// those of the database. wrong says what is not as it should be. compared is false, and wrong
// has only damage of the file, when one of both has changes that the other lacks. The codes of
// its errors are those of index.Verify.
func VerifyIndex(ctx context.Context, db *store.Store, dataDir string) (wrong []string, compared bool, err error) {
	_, before, err := db.ChangeRange(ctx)
	if err != nil {
		return nil, false, err
	}
	seen, err := index.Verify(ctx, filepath.Join(dataDir, indexName))
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

// mendIndex is the chore that compares the search index with the database, and rebuilds it if
// it is wrong.
func (w *Worker) mendIndex(ctx context.Context) error {
	status := w.finder.status()
	if status.State != indexOpen || status.Building || status.Behind > 0 {
		return errChoreLater
	}
	wrong, _, err := VerifyIndex(ctx, w.store, w.cfg.DataDir)
	if err != nil || len(wrong) == 0 {
		return err
	}
	if !w.mayRepair(indexName, "it has not the records of the memory") {
		return nil
	}
	w.log.Error("the search index is wrong and is rebuilt", "because", wrong)
	if err := w.finder.StartReindex(); err != nil && memory.CodeOf(err) != memory.CodeConflict {
		return err
	}
	return w.store.AddNotice(ctx, noticeIndex, fmt.Sprintf("claude-mem: the search index was damaged (%s). It is being rebuilt.", wrong[0]))
}
