// Package store is memory.db: the only truth of what is remembered, the books
// of what was received, and the ordered feed of what changed.
//
// A [Store] that the worker opens has one writer and several readers. The
// writer is a goroutine that owns the only connection that may write. Waiting
// arrivals share a commit and go ahead of all other transactions, which therefore
// have to be short (10 ms: a hook waits for its arrival). [OpenReadOnly] gives the same reading methods to a
// process that is not the worker: it never migrates and never writes.
//
// What the methods promise:
//
//   - after a nil error the effect survives kill -9 and power loss;
//   - no observation without the delete of the payloads it came from, and no
//     such delete without its observation: [Store.Confirm] is one transaction;
//   - an event is booked once, by its key and by its delivery id, and its row is
//     never deleted, so that the books balance ([Store.Books], [Store.Audit]);
//   - a change of a session, prompt, observation, summary, learning or symbol is
//     in the feed ([Store.Changes]) in the same transaction as the change;
//   - a hidden or deleted record is in no list, count, timeline or document, and the
//     feed has the change; [Store.PurgeHidden] erases hidden observations, and paths
//     that no other observation has;
//   - an observation written by hand is stored once for the same content in a project
//     ([Store.AddObservation]); concurrent callers share a commit;
//   - the cost of a page of a filter ([Store.FilterRecords]) depends on the size of the
//     page: its parts are read in order from indexes; only the observations of rare
//     files are sorted. A count is exact, and cached until the next change;
//   - a database with a newer schema is refused and not changed.
//
// Errors carry the codes of package memory: CodeStorage for a disk that is
// full, read-only or a damaged file, CodeUnavailable while another program
// holds the lock or the store is closing, CodeConflict for a claim that is no
// longer held, CodeNotFound, CodeInvalid, CodeNewerSchema, CodeOlderSchema and
// CodeNoMemory.
//
// The package meets the stages through interfaces they own (queue.Storage,
// recall.Source, index.Feed, search.Records, those of httpapi)
// and imports none of them.
// It is one of the two places that speak SQL.
package store
