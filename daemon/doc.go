// Package daemon is the worker: the one long-lived process of a data directory.
// It builds every stage behind the hooks (intake, queue, observer, store, index,
// search, recall, HTTP API), starts and stops them in the right order and owns what is
// shared between them.
//
// Guarantees:
//
//   - There is one worker per data directory. The holder of the operating
//     system's lock on worker.lock is the worker; worker.json only tells others
//     where to find it.
//   - What was spooled while no worker ran is taken in before the worker
//     listens, in order and exactly once.
//   - Stopping loses nothing: requests under way are answered, claimed work is
//     confirmed or given back, and when the process is killed instead, the next
//     worker goes on from what is committed.
//   - The index, which is derived, is opened in the background once the worker
//     serves. When it cannot be opened, events are taken in all the same, and it
//     is tried again.
//   - What was hidden is erased after ten minutes, by a timer that sleeps while
//     nothing is hidden.
//   - A worker that is newer than the running one takes over from it; an older
//     one leaves it alone.
//   - After Close no goroutine, socket or lock of the worker is left.
package daemon
