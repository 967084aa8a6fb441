// Package backup makes and restores backups of memory.db. A backup is a whole database in
// the folder backups of the data directory, copied while the worker runs, verified, and only
// then given its name, which tells when it was made, of which memory, and its number, by which
// backups are ordered: memory-20060102T150405Z-1a2b3c4d5e6f7081-12.db.
//
// The file erasures of the data directory has what was forgotten, as hashes. Whatever becomes
// memory.db, a backup, a salvaged or a copied file, has it erased first.
//
// A restored backup takes the place of the present database, which is set aside untouched in
// a folder below aside, with its log. Nothing in that folder is ever deleted.
package backup
