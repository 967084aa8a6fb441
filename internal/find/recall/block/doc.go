// Package block writes the context block that a session is given at its start.
//
// A [Builder] reads the memory through a [Source] and writes the block in
// layers, the most important first: the session index, the functions and types that
// changed lately, what is known of the project, past observations (pinned, not distilled yet,
// those that a [recall.Finder] finds for the latest summary, the newest), then a line that tells
// how to look further. A layer is a name, a cap and a function that builds its lines; all of
// them are built at the same time, and one that fails, panics or takes too long is
// left out and named in [memory.ContextBlock.Skipped]. The writer fits the lines
// into the budget, leaves out what repeats a line above, and can tell of each line
// what it costs and why it is there.
//
// What it guarantees:
//
//   - The block never costs more than the effective budget: the lesser of the
//     budget and what a host takes from a hook (10,000 UTF-16 units).
//   - A memory that holds something gives at least one line, unless the host loads all
//     of it by itself ([HostFiles]); an empty memory gives nothing at all.
//   - The same memory, session, minute and files of the host give the same bytes, as long
//     as nothing is late: what a Finder, a WorkTree or HostFiles does not tell in time
//     is not in them.
//   - A session whose turns still wait in the queue is shown all the same: they
//     are distilled on the spot, without claiming them.
package block
