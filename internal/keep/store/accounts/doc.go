// Package accounts gives account of what the memory did: what sessions were given and looked
// up, what the user is told, the model calls and their caps, and the reports over all of it.
//
//   - a model call is reserved before it is made and charged once ([Ledger]);
//   - what is given is booked once, however often it is told ([Accounts.RecordInjection]);
//   - reports only read; lists in them are never null in JSON.
package accounts

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/keep/store/records"
	"claudemem/internal/memory"
)

// Accounts are those of an open memory.
type Accounts struct {
	*db.DB
	weeks    records.CountMemory[memory.FileWeeks]
	recorded records.CountMemory[Recorded]
}

// New returns the accounts of a memory.
func New(d *db.DB) *Accounts { return &Accounts{DB: d} }
