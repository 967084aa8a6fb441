// Package nodedb reads claude-mem.db, the database of claude-mem for Node, as records that
// daemon.Import stores.
//
// Its nouns: a [Copy] is a private copy of the file and its log, a [Reader] gives its rows as
// [memory.Portable] records.
//
// Guarantees: the database is never opened for writing, and no file appears beside it.
// Columns are detected, never versions: every layout since the first one is read. Each row is
// a record or has a reason why not. The ULID of a record depends on the row alone, so a second
// import finds the records of the first.
//
// Place in the flow: cmd/claude-mem finds the file, daemon.Import stores what the Reader gives.
package nodedb
