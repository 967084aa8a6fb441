package doctor

import "time"

// The time limits of checks. SQLite waits 5 s for another program's lock; the checks
// that read the database need more.
const (
	quick   = 5 * time.Second
	reading = 12 * time.Second
)

// checks returns the table, in the order of the report: programs, hooks, files, worker,
// database, provider.
func checks() []Check {
	return []Check{
		{"binaries", "claude-mem and claude-mem-hook: in one directory, executable, of one version, and first in PATH",
			[]string{"twin-missing", "twin-unusable", "twin-version", "path-other"}, reading, checkBinaries},
		{"plugin", "Claude Code's registrations: the plugin or plain hooks of claude-mem, enabled, once, of this version, with its files; the plugin of claude-mem for Node",
			[]string{"plugin-missing", "plugin-disabled", "plugin-gone", "program-gone", "plugin-version", "plugin-twice", "node-plugin", "host-unreadable"}, quick, checkPlugin},
		{"hooks", "the time of the last hook, compared with the last use of Claude Code (its newest transcript)",
			[]string{"hooks-disabled", "hooks-silent"}, reading, checkHooks},
		{"claude", "the claude CLI: found, and its version",
			[]string{"cli-missing", "cli-broken"}, reading, checkCLI},
		{"data", "the data directory: its owner, its modes (0700, files 0600), whether it is writable and on a local disk",
			[]string{"home-missing", "data-not-directory", "data-unreadable", "data-owner", "data-open", "file-open", "data-read-only", "data-read-only-disk", "network-file-system"}, quick, checkData},
		{"disk", "free space and inodes; a test file is written and removed",
			[]string{"disk-full", "disk-low", "inodes-low"}, quick, checkDisk},
		{"settings", "config.json: one flat JSON object with valid values; a settings.json that was not imported",
			[]string{"settings-broken", "settings-outdated", "settings-older", "setting-invalid"}, quick, checkSettings},
		{"clock", "whether the newest event was received in the future",
			[]string{"clock-back"}, reading, checkClock},
		{"worker", "the worker: running, answering, of this version; its lock, worker.json, port and socket; the state of its stages",
			[]string{"worker-away", "worker-died", "worker-start-failed", "worker-mute", "worker-version", "worker-wire", "worker-newer", "worker-stage", "port-taken", "socket-elsewhere", "socket-unsafe", "socket-foreign"}, reading, checkWorker},
		{"spool", "events that wait, unreadable and corrupt files; whether hooks can write there",
			[]string{"spool-waiting", "spool-unreadable", "spool-corrupt", "spool-newer", "spool-unwritable"}, quick, checkSpool},
		{"database", "memory.db: its schema, SQLite's quick_check for 5 seconds, the size of its log and its free pages",
			[]string{"database-damaged", "database-newer", "database-older", "database-locked", "database-unreadable", "database-log-large"}, reading, checkDatabase},
		{"books", "received = processed + skipped + failed + pending + processing + forgotten, and the other invariants of the queue's counters",
			[]string{"books-unbalanced"}, reading, checkBooks},
		{"queue", "failed events, unfinished claims, the age of the oldest waiting event",
			[]string{"dead-letters", "queue-stuck", "queue-waiting"}, reading, checkQueue},
		{"index", "the search index: its version and how far it is behind; the embedder",
			[]string{"index-missing", "index-failed", "index-behind", "embedder-failing"}, reading, checkIndex},
		{"provider", "the provider, its key or login, and the outcome of its last calls; only --online asks it whether it accepts the key",
			[]string{"key-missing", "key-refused", "login-refused", "provider-quota", "provider-away", "calls-failing"}, reading, checkProvider},
		{"caps", "whether the cap of the day or of a session was reached",
			[]string{"cap-day", "cap-session"}, reading, checkCaps},
		{"private", "marks of private turns: their directory, and marks older than a week",
			[]string{"private-not-directory", "private-left"}, quick, checkPrivate},
		{"log", "errors that hooks logged in the last day, and the size of their log",
			[]string{"hook-errors", "event-lost", "log-large"}, quick, checkLog},
	}
}
