// Package memory is the domain of claude-mem: the nouns that every stage of
// the pipeline shares, their validation, and nothing that touches a disk, a
// network or a clock.
//
// A host (the coding agent) does things; a hook turns each into an [Event].
// Intake makes an [Arrival] of it, the queue keeps it until an observer has
// distilled a [Batch] of them into an [Outcome]: observations, a summary. What
// is stored is given back to the next session as a context block.
//
// The package is linked into the 2 MB hook binary, so it imports little of the
// standard library and nothing else.
package memory
