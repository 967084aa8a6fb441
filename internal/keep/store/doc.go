// Package store is memory.db: the only truth of what is remembered, the books
// of what was received, and the ordered feed of what changed. It opens its six rooms together:
// db, the file and its writer; over it records, over these books, accounts, upkeep and care.
//
// Errors carry the codes of package memory: CodeStorage for a disk that is
// full, read-only or a damaged file, CodeUnavailable while another program
// holds the lock or the store is closing, CodeConflict for a claim that is no
// longer held, CodeNotFound, CodeInvalid, CodeNewerSchema, CodeOlderSchema and
// CodeNoMemory.
//
// The rooms meet the stages through interfaces they own (queue.Storage,
// block.Source, index.Feed, search.Records, those of httpapi)
// and import none of them.
package store
