// Package care keeps a memory in order: import and export, projects that become one, what is
// hidden and erased for its age or because the user wants it forgotten, and what is damaged.
//
// [Care.PurgeHidden] erases hidden observations, and paths that no other observation has. Only
// copies and files that nobody has open are read or repaired beside the writer.
package care

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
)

// Care takes care of an open memory.
type Care struct {
	*db.DB
	records *records.Records
}

// New returns the care of a memory.
func New(r *records.Records) *Care { return &Care{r.DB, r} }
