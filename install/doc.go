// Package install puts claude-mem into Claude Code and takes it out again.
//
// A Plan says what an install would do: files of our own (a marketplace that is
// a directory of the data directory, with the plugin and both programs in it),
// the user's files that change, and the commands of the host's own CLI that
// register the plugin, which is the way the host supports. Where there is no
// such CLI, plain hooks go into the user's settings.json instead. A Removal is
// the same for the way back.
//
// What it promises:
//
//   - Nothing is changed before the plan is carried out, and nothing when a file
//     of the host's is broken.
//   - A file of the user's is backed up first, replaced whole or not at all, keeps
//     its mode and stays a link if it is one. Only our entries differ: what the
//     host's CLI rewrites in its own layout is given its layout back.
//   - The manifest in the data directory's backups is written before the first
//     change and removed after the last. Killed between any two steps, the next
//     install completes and the next uninstall undoes.
//   - An uninstall gives a file that nobody else has changed back to the byte,
//     and takes only our entries out of one that was changed.
//   - Two at once wait for each other. A second install finds nothing to do.
//   - The memory is not touched.
//
// It stands beside the pipeline: cmd/claude-mem shows plans and asks, the
// plugin's files come from package plugin, the hooks from package hook.
package install
