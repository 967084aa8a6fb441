// Package doctor looks at everything that a working memory needs and tells what
// is wrong, in one line, and what mends it, in another.
//
// A [Check] is one row of the table in checks.go: what it looks at and what it
// may find. A [Kind] is one thing that may be wrong (kinds.go): its name, which
// programs may rely on, what it means and the fix. A [Finding] is a kind found
// here and now, or that a check found nothing wrong. docs/doctor.md is made from
// the two tables.
//
// Guarantees: [Examine] changes nothing that lasts; every check ends, by itself or
// by its time limit, and one that panics or hangs is a finding of its own, so that
// a report comes whatever is broken: no home, no data directory, a database that
// is damaged, a worker that is mute. [Heal] does only what cannot lose anything:
// modes of our own files, marks of processes that are gone, the worker, the index;
// never the database, the settings, or a file of another program.
//
// The package is beside the pipeline, not in it. It reads files itself, by way of
// settings and wire; what needs a stage (the database, the worker, the index, the
// claude CLI, what hosts have installed) it meets through interfaces of its own,
// which cmd/claude-mem fills.
package doctor
