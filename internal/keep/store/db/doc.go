// Package db is memory.db as a file: it opens it, brings its schema up to date, and has the only
// writer. Nothing else opens or commits; the rooms above it (records, books, care) say what is
// read and written.
//
// A [DB] that the worker opens has one writer and several readers. The writer is a goroutine that
// owns the only connection that may write. Waiting deliveries share a commit and go ahead of all
// other transactions, which therefore have to be short (10 ms: a hook waits for its arrival).
// [OpenReadOnly] gives the same reading to a process that is not the worker: it never migrates
// and never writes.
//
//   - a transaction ([Tx]) keeps its first error: nothing runs after it, nothing of it is
//     committed, and that error comes out, whatever the transaction's function returns;
//   - after a nil error the effect of a transaction survives kill -9 and power loss;
//   - a change of a session, prompt, observation, summary, learning or symbol is in the feed
//     ([DB.Changes]) in the same transaction as the change;
//   - a database with a newer schema, or one that claude-mem has not made, is refused and not
//     changed.
package db
