// Package records reads and writes what is remembered: sessions, prompts, observations,
// summaries, learnings and the changes of symbols.
//
//   - declared.go declares the fields of each record; every statement that names all of them
//     is made of it;
//   - a hidden or deleted record is in no list, count, timeline or document;
//   - a text that was changed on the disk is withheld;
//   - an observation written by hand is stored once for the same content in a project
//     ([Records.AddObservation]);
//   - the cost of a page of a filter ([Records.FilterRecords]) depends on the size of the
//     page: its parts are read in order from indexes; only the observations of rare
//     files are sorted. A count is exact, and cached until the next change.
//
// What books and care do with records in their own transactions are functions with a
// [db.Tx], which keeps their errors.
package records

import (
	"claudemem/internal/keep/store/db"
	"claudemem/internal/memory"
)

// Records are those of an open memory.
type Records struct {
	*db.DB
	counts CountMemory[int]
	totals CountMemory[memory.Totals]
	sets   sets
	paths  pathForms
	nearby knownVersions
}

// New returns the records of a database.
func New(d *db.DB) *Records { return &Records{DB: d} }
