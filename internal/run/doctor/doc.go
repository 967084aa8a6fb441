// Package doctor checks everything that claude-mem needs and reports each problem in
// one line and its fix in another.
//
// A [Check] is a row of the table in table.go, with the problems that it may find. A
// [Kind] is such a problem: its stable name and its fix. A [Finding] is the result of a
// check: a kind, or that nothing is wrong. docs/doctor.md explains checks and kinds; a test
// compares it with the table.
//
// Guarantees: [Examine] changes nothing that lasts. Every check ends, by itself or by
// its time limit; one that panics or hangs is a finding of its own. So there is always
// a report: without a home, without a data directory, with a damaged database, with a
// worker that does not answer. [Heal] makes only repairs that cannot lose data: modes
// of claude-mem's own files, files of dead processes, the worker, the index. It never
// changes the database, the settings, or a file of another program.
//
// The package imports what it examines. cmd/claude-mem provides functions that start
// programs or ask a provider.
package doctor
