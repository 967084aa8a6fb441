// Package daemon is the worker: the one long-lived process of a data directory.
// It builds every stage behind the hooks (intake, queue, observer, store, index,
// search, recall, HTTP API), starts and stops them in the right order and owns what is
// shared between them.
//
// Guarantees:
//
//   - There is one worker per data directory: the process that holds the operating
//     system's lock on worker.lock. worker.json only says where to reach it.
//   - Events that were spooled while no worker ran are stored before the worker
//     listens, in order and exactly once.
//   - Stopping loses nothing: open requests are answered, claimed work is confirmed
//     or given back. When the process is killed instead, the next worker continues
//     from the last commit.
//   - The index, which is derived, is opened in the background once the worker
//     serves. If that fails, events are stored all the same, and it is tried again.
//   - A hidden observation is erased in the first round of housekeeping after ten
//     minutes.
//   - A worker that is newer than the running one takes over from it; an older
//     one leaves it alone.
//   - After Close no goroutine, socket or lock of the worker is left.
package daemon
