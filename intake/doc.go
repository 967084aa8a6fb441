// Package intake is where every way in ends: HTTP, spool, MCP, import. It makes
// an Arrival of an Event and hands it to the queue.
//
// The order of the work: the event is validated; it is decided whether it is
// captured at all (our own runs and tools, excluded projects, text that nobody
// typed, the skip list, private turns), and what is not loses its content there
// and then, being booked as skipped; the files that a tool touched are named and
// hashed; contents that travelled only for a comparison are dropped; tags are
// stripped, secrets masked with the full rules and long texts cut; the event's
// key is computed from what is left, so that live capture and a later import of
// the same session agree.
//
// Guarantees: a nil error means that the queue has made the arrivals durable. No
// text of an event reaches the queue unredacted, its paths and ids included.
// Taking the same event in twice gives the same arrival. Safe for concurrent use.
//
// Private turns: hooks drop them themselves and mark the session on disk. For
// clients that bypass our hooks intake remembers in memory which sessions are in
// a private turn, by prompt id where the host has one; a restart of the worker
// in the middle of such a client's private turn forgets it.
package intake
