// Package care keeps a memory in order: import and export, projects that become one, what is
// erased because the user wants it forgotten, and what is shared with other devices and with a team.
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
