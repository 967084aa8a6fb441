// Package queue is the policy of the durable work between capture and the
// observer: when work is announced, when a failure is tried again, which claims are
// healed. It keeps the work in a [Storage], whose transactions carry the
// guarantees.
//
// An event is enqueued, claimed together with others of its session, and then
// confirmed, given back for a retry, released, or buried as a dead letter. A
// claim is given back exactly once; the name of its claimer is made here and
// used for one claim only, so that a claim which was lost can't be confirmed by
// a later one.
//
// Nothing is polled: [Queue.Ready] is a signal in memory. Between signals one
// timer runs, for the next self-healing or the next retry that becomes due,
// whichever is earlier.
//
// A [Queue] implements intake.Queue; observer uses it as it is.
package queue
