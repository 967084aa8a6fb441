// Package hostfiles finds out whether a host tells its model something anyway: it reads
// the instruction and memory files that the host loads by itself, so that the context
// block need not repeat them.
//
// Nouns: a document is one such file; a statement is a sentence or a list item of it.
//
// Guarantees:
//
//   - Files are read, never written: regular files of at most maxFile bytes, at most
//     maxFiles of them, and no FIFO is waited for.
//   - Only files that the host loads: which ones were observed with Claude Code 2.1.197
//     (docs/host-files.md). When that is in doubt a file does not count.
//   - What our own managed blocks say does not count.
//   - Statements are the same when their words are, in their order: numbers,
//     identifiers and negations are compared exactly, so that "always use pnpm" and
//     "never use pnpm" differ.
//   - The same files give the same answers.
//
// A path in a request is untrusted. Of the configuration directory, which has to belong
// to this user, only CLAUDE.md, settings.json and the memory of the request's project
// are read; of the start directory, which has to lie in the project, only instruction
// files and what they import from below it. Nothing that a file says leaves this
// package, only its name.
//
// Place in the flow: recall asks it for each line of a block.
package hostfiles
