// Package recall writes what a session is given back: the context block at its
// start, and a few lines at its moments.
//
// A [Builder] reads the memory through a [Source] and writes the block in
// layers, the most important first: the session index, the functions and types that
// changed lately, what is known of the project, past observations (pinned, not distilled yet, those that a [Finder]
// finds for the latest summary, the newest), then a line that tells how to look
// further. A layer is a name, a cap and a function that builds its lines; all of
// them are built at the same time, and one that fails, panics or takes too long is
// left out and named in [memory.ContextBlock.Skipped]. The writer fits the lines
// into the budget, leaves out what repeats a line above, and can tell of each line
// what it costs and why it is there.
//
// A [Reminder] is asked at moments: a prompt, a file that was read, something that
// failed. It finds what is remembered of it, lets package gate decide whether that
// is worth a line, and writes at most three within 250 tokens. Its account of what
// it gave (the ledger) and the store's books together keep it from saying anything
// twice to a session that has not been compacted in between.
//
// What it guarantees:
//
//   - The block never costs more than the effective budget: the lesser of the
//     budget and what a host takes from a hook (10,000 UTF-16 units).
//   - A memory that holds something gives at least one line, unless the host loads all
//     of it by itself ([HostFiles]); an empty memory gives nothing at all.
//   - The same memory, session, minute and files of the host give the same bytes, as long
//     as nothing is late: what a Finder, a [WorkTree] or HostFiles does not tell in time
//     is not in them.
//   - What was remembered is shown as history and cannot break out of its line
//     or its frame, whatever a record says.
//   - A session whose turns still wait in the queue is shown all the same: they
//     are distilled on the spot, without claiming them.
//   - A moment is silent when in doubt: on an error, after its time, and always for
//     what the session did itself or was shown.
//
// It is the last stage of the pipeline: observer → store → recall → hook.
package recall
