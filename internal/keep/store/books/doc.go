// Package books keeps the books of what was received: events from their arrival to what became
// of them.
//
//   - no observation without the delete of the payloads it came from, and no such delete
//     without its observation: [Keeper.Confirm] is one transaction;
//   - an event is booked once, by its key and by its delivery id, and its row is never deleted,
//     so that the books balance ([Keeper.Books], [Keeper.Audit]).
package books

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
)

// Keeper keeps the books of an open memory.
type Keeper struct {
	*db.DB
	records *records.Records
}

// New returns the keeper of a memory's books.
func New(r *records.Records) *Keeper { return &Keeper{r.DB, r} }
