// Package agentfiles keeps blocks of past work in the files that agents read anyway:
// CLAUDE.md and AGENTS.md at a project's root, CLAUDE.md in its folders, and a rule file
// of Cursor.
//
// Nouns: a target is a choice of files (root, folders, cursor); a block is the part of a
// file between our two markers; a record is an observation, newest first.
//
// Guarantees:
//   - Nothing outside of the markers is changed, not by a byte; [Sync] without targets
//     takes every block out and leaves the files as they were, line endings and a missing
//     final line break included. A file that did not exist before is deleted again, unless
//     somebody wrote into it.
//   - The same records make the same bytes, so that a second Sync writes nothing.
//   - Nothing is written outside of the project, through symbolic links either, and files
//     are replaced whole.
//   - A file that cannot be read, understood or written is reported and left alone; the
//     others are done.
//   - The text between the markers is in a <claude-mem-context> element, which every way in
//     strips: it is never captured. It cannot end that element or the block, and imports
//     no file (@path).
//
// Place in the flow: the worker syncs a project after a summary, `claude-mem agent-files`
// by hand.
package agentfiles
