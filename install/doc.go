// Package install installs claude-mem into Claude Code and removes it.
//
// A Plan lists the changes of an install: files of our own in the data directory (both
// programs, and a marketplace with the plugin), changes of the user's files, and the
// commands of the host's CLI that register the plugin. Without that CLI, the hooks are
// written into the user's settings.json instead. A Removal lists the changes of an
// uninstall.
//
// Guarantees:
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
//   - Two runs at once wait for each other. A second install has nothing to do.
//   - The database is not changed.
//
// It stands beside the pipeline: cmd/claude-mem shows plans and asks, the
// plugin's files come from package plugin, the hooks from package hook.
package install
