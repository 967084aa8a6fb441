// Package gate decides whether a session is told of a record that nobody asked for:
// silence is the default, since a line that is not about the matter costs more
// attention than it gives.
//
// There is a decision for each moment. [Prompt] weighs evidence: the measures that a
// search gives for each record near a prompt (memory.Evidence) are added up with
// the weights of calibration.json, and a record is given when the sum is above a
// threshold. Where one of the records has files that the session works on ([AtWork]),
// another sum decides. Its measures include what the records are like: how many files their
// work changed, whether it mended a bug. Weights and thresholds were fitted to labelled
// prompts and are data; docs/how-recall-decides.md has the figures and how to make them
// again. [Failure] and [File] are rules: what they need to know can be read off a record.
//
// In the flow it stands between the search (search.Related) and what a moment says
// of a record (package recall). It is arithmetic: no database, no clock, and the same
// evidence gives the same decision on every machine.
package gate
