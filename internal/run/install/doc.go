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
//   - Planning changes nothing, and nothing is changed when a file of the host's is
//     broken.
//   - A file of the user's is backed up first, replaced whole or not at all, keeps
//     its mode and stays a link if it is one. Only our entries differ: when the host's
//     CLI rewrites it in its own layout, the user's layout is restored. The one
//     exception is the host's state (.claude.json), of which an uninstall removes the
//     usage counters of our plugin: it holds keys and logins, of which we make no copy.
//   - The manifest in the data directory's backups is written before the first
//     change and removed after the last. If a run is killed between any two steps,
//     the next install completes it and the next uninstall undoes it.
//   - An uninstall restores the old bytes of a file that has not changed since the
//     install, and removes only our entries from one that has.
//   - Of two runs at once, the second waits. A second install has nothing to do.
//   - The database is not changed.
//
// cmd/claude-mem shows plans and asks the user. The plugin's files come from package
// plugin, the hooks from package hook.
package install
