// Package upkeep keeps a memory's file in order: what is hidden or erased for its age, what is damaged, and whether a copy is whole.
//
// [Upkeep.PurgeHidden] erases hidden observations, and paths that no other observation has. Only
// copies and files that nobody has open are read or repaired beside the writer.
package upkeep

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
)

// Upkeep keeps the file of an open memory in order.
type Upkeep struct {
	*db.DB
	records *records.Records
}

// New returns the upkeep of a memory.
func New(r *records.Records) *Upkeep { return &Upkeep{r.DB, r} }
