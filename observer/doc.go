// Package observer decides when a session's events are distilled, has it done,
// and sees to it that each event ends in exactly one outcome.
//
// Its nouns: a session's backlog is what waits for it in the [Queue]; a batch is
// what one call of a [Distiller] works on; a lane is a session with work. An
// [Observer] owns one goroutine that schedules and one for each lane in work, at
// most [Options].MaxObservers; sessions take turns, one batch a turn, first come
// first served.
//
// With batching on, tool events wait for the end of their turn. A batch is taken
// when a stop is there, when the next prompt has come, at overflow, when the
// session is over, when somebody asks ([Observer.Flush], [Observer.FlushProject])
// and after ten quiet minutes. With batching off each event is a batch.
//
// Guarantees: a batch's outcome is confirmed in the transaction that takes its
// events off the queue, or not at all. A distiller that fails or panics costs its
// batch an attempt and nobody else anything: after the second failure the batch
// is halved until the bad event is found, which goes to the fallback, and only
// what that cannot do either is buried. Failures that are not the events' fault (see
// [Transient]) cost nothing. Nothing polls: the observer sleeps until the queue,
// a request or a timer that a waiting turn needs wakes it.
//
// A [Model] is the distiller that asks a model. Its nouns: a [Choice] is who is
// asked for a session just now; a call is a question of kind observation, summary
// or turn (both, for a small turn); a run is a conversation with a model about one
// session, which is compacted (begun anew from a digest of what was recorded)
// before it gets dear. A request has at most 56 KB of JSON whatever a session
// holds. What a model says of files is held against what the tools say. An answer
// is not bought twice when its batch comes again. A provider that is away is told
// to the user once; the work waits for it, and in the end goes to the fallback, as
// does what a cap forbids.
//
// In the flow it stands between queue and store on one side and a model.Provider
// on the other.
package observer
