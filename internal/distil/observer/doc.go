// Package observer decides when a session's events are distilled, has it done, and
// makes sure that each event ends in exactly one outcome.
//
// Its nouns: a session's backlog are its events waiting in the queue; a batch is the
// work of one call of a [Distiller]; a lane is a session with work. An [Observer] owns
// one goroutine that schedules and one for each running lane, at most
// [Options].MaxObservers; sessions take turns, one batch a turn, first come first
// served.
//
// With batching on, tool events wait for the end of their turn. A batch is taken when
// a stop arrives, when the next prompt arrives, at overflow, when the session is over,
// on request ([Observer.Flush], [Observer.FlushProject]) and after ten quiet minutes.
// With batching off each event is a batch.
//
// Guarantees: a batch's outcome is confirmed in the transaction that takes its events
// off the queue, or not at all. A failure or panic of a distiller costs its batch an
// attempt and other sessions nothing: after the second failure the batch is halved
// until the bad event is found, which goes to the fallback, and only events on which
// that fails too are buried. Failures that the events did not cause (see [Transient])
// cost no attempt. Nothing polls: the observer sleeps until the queue, a request or
// the timer of a waiting turn wakes it.
//
// A [Model] is the distiller that asks a model. Its nouns: a [Choice] is the provider
// for a session at present; a call is a question of kind observation, summary or turn
// (both, for a small turn); a run is a conversation with a model about one session,
// which is compacted (started again from a digest of the session's records) before it
// gets expensive. A request has at most 56 KB of JSON whatever a session contains. The
// tools' own reports correct what a model says about files. An answer is not paid for
// twice when its batch comes again. The user is told once about a failing provider;
// the work waits for it, and in the end goes to the fallback, as does work that a cap
// forbids.
//
// Place in the flow: between queue and store on one side and a model.Provider on the
// other.
package observer
