// Package intake takes in the events of all sources: HTTP, spool, MCP, import. It
// makes an Arrival of an Event and passes it to the queue.
//
// The steps: validate; complete fields that the client left out, its host among
// them; decide whether the event is captured (not: our own runs and tools, excluded
// projects, prompts that the host made, the skip list, private turns), and remove
// the content of one that is not, which is booked as skipped; name and hash the
// files that a tool touched; compare the symbols of a small file that was edited; drop
// contents that were sent for that only;
// strip tags, mask secrets with the full rules and truncate texts; compute the key
// from the result, so that live capture and a later import of a session agree.
//
// Guarantees: a nil error means that the queue has made the arrivals durable. No
// text of an event reaches the queue unredacted, paths and ids included. The same
// event gives the same arrival each time. Safe for concurrent use.
//
// Private turns: hooks drop them and mark the session on disk. For clients without
// our hooks intake remembers private turns in memory, by prompt id where the host
// has one; a restart of the worker during such a turn forgets it.
package intake
