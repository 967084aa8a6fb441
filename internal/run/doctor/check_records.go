package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// deepLimit is the time limit of each check of a deep examination.
const deepLimit = 30 * time.Minute

// namedRecords is how many records a finding names.
const namedRecords = 5

// limit returns the time limit of a check.
func (e *exam) limit(c Check) time.Duration {
	if e.Deep {
		return deepLimit
	}
	return c.limit
}

// took returns how long something took that began at start, for a finding.
func took(start time.Time) string { return time.Since(start).Round(time.Millisecond).String() }

// checkRecords reports the records that are withheld. A deep examination compares all records
// with their hashes.
func checkRecords(ctx context.Context, e *exam) ([]Finding, string) {
	db, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	var list []Finding
	withheld, total, err := db.Withheld(ctx, namedRecords)
	if err != nil {
		return nil, unread(err)
	}
	if total > 0 {
		list = append(list, e.found("records-withheld", fmt.Sprintf("the text of %s was changed on the disk: %s", text.Count(total, "record"), named(withheld, total))))
	}
	if !e.Deep {
		return list, "none withheld; --deep compares all with their hashes"
	}
	start := time.Now()
	wrong, checked, err := db.VerifyRecords(ctx, ctx.Err)
	if err != nil {
		return list, unread(err)
	}
	if len(wrong) > 0 {
		refs := make([]memory.RecordRef, len(wrong))
		for i, m := range wrong {
			refs[i] = m.RecordRef
		}
		list = append(list, e.found("records-changed", fmt.Sprintf("%d of %s were changed on the disk: %s", len(wrong), text.Count(checked, "record"), named(refs, len(refs)))))
	}
	return list, fmt.Sprintf("%s have their hashes, compared in %s", text.Count(checked, "record"), took(start))
}

// named returns the names of the first records of a list of total ones.
func named(refs []memory.RecordRef, total int) string {
	names := make([]string, 0, namedRecords)
	for _, r := range refs[:min(len(refs), namedRecords)] {
		names = append(names, fmt.Sprintf("%s %d", r.Kind, r.ID))
	}
	if total > len(names) {
		names = append(names, fmt.Sprintf("%d more", total-len(names)))
	}
	return strings.Join(names, ", ")
}

// deepIndex compares the search index with the database.
func (e *exam) deepIndex(ctx context.Context, db *store.Store) ([]Finding, string) {
	start := time.Now()
	wrong, compared, err := control.VerifyIndex(ctx, db, e.DataDir)
	switch {
	case err != nil:
		return []Finding{e.found("index-failed", err.Error())}, ""
	case len(wrong) > 0:
		return []Finding{e.found("index-wrong", strings.Join(wrong, "; "))}, ""
	case !compared:
		return nil, "; sound, read completely in " + took(start) + "; not compared with the memory, which is ahead of it"
	}
	return nil, "; the records of the memory, compared in " + took(start)
}
