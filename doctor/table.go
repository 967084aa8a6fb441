package doctor

import "time"

// The time limits of checks. SQLite waits 5 s for another program's lock, and the
// checks that read the database share that wait.
const (
	quick   = 5 * time.Second
	reading = 12 * time.Second
)

// checks are the table, in the order in which people read it: what must be there,
// what must run, what is kept, what it needs from outside.
func checks() []Check {
	return []Check{
		{"binaries", "claude-mem and its twin claude-mem-hook: beside each other, executable, of one version, and first in PATH",
			[]string{"twin-missing", "twin-unusable", "twin-version", "path-other"}, reading, checkBinaries},
		{"plugin", "what Claude Code has registered: our plugin or plain hooks, enabled, once, of this version, its files there; the plugin of claude-mem for Node",
			[]string{"plugin-missing", "plugin-disabled", "plugin-gone", "program-gone", "plugin-version", "plugin-twice", "node-plugin", "host-unreadable"}, quick, checkPlugin},
		{"hooks", "when a hook was last heard of, beside when Claude Code was last used (the newest of its transcripts)",
			[]string{"hooks-disabled", "hooks-silent"}, reading, checkHooks},
		{"claude", "the claude CLI: found, and its version",
			[]string{"cli-missing", "cli-broken"}, reading, checkCLI},
		{"data", "the data directory: there, ours, closed to others (0700, files 0600), writable, on a local disk",
			[]string{"home-missing", "data-not-directory", "data-unreadable", "data-owner", "data-open", "file-open", "data-read-only", "data-read-only-disk", "network-file-system"}, quick, checkData},
		{"disk", "room on the disk, in bytes and files; a probe is written and removed",
			[]string{"disk-full", "disk-low", "inodes-low"}, quick, checkDisk},
		{"settings", "config.json: one flat JSON object, and values that can be used; a settings.json that was not imported",
			[]string{"settings-broken", "settings-outdated", "settings-older", "setting-invalid"}, quick, checkSettings},
		{"clock", "whether an event was received later than now",
			[]string{"clock-back"}, reading, checkClock},
		{"worker", "the worker: running, answering, of this version; its lock, worker.json, port and socket; how its stages are",
			[]string{"worker-away", "worker-died", "worker-start-failed", "worker-mute", "worker-version", "worker-wire", "worker-newer", "worker-stage", "port-taken", "socket-elsewhere", "socket-unsafe", "socket-foreign"}, reading, checkWorker},
		{"spool", "deliveries that wait, that cannot be read, that were set aside; whether hooks can write there",
			[]string{"spool-waiting", "spool-unreadable", "spool-corrupt", "spool-newer", "spool-unwritable"}, quick, checkSpool},
		{"database", "memory.db: opens, its schema, SQLite's quick_check for 5 seconds, the size of its log and its free pages",
			[]string{"database-damaged", "database-newer", "database-older", "database-locked", "database-unreadable", "database-log-large"}, reading, checkDatabase},
		{"books", "received = processed + skipped + failed + pending + processing + forgotten, and what else must hold of the books",
			[]string{"books-unbalanced"}, reading, checkBooks},
		{"queue", "dead letters, work that nobody finishes, how long the oldest event has waited",
			[]string{"dead-letters", "queue-stuck", "queue-waiting"}, reading, checkQueue},
		{"index", "the search index: there, of this version, up to date; the embedder",
			[]string{"index-missing", "index-failed", "index-behind", "embedder-failing"}, reading, checkIndex},
		{"provider", "who distils, whether it has its key or login, and what was noted of its last calls; no call is made, and only with --online is it asked whether it takes the key",
			[]string{"key-missing", "key-refused", "login-refused", "provider-quota", "provider-away", "calls-failing"}, reading, checkProvider},
		{"caps", "whether the cap of the day or of a session was reached",
			[]string{"cap-day", "cap-session"}, reading, checkCaps},
		{"private", "marks of private turns: where they should be, and those that are older than a week",
			[]string{"private-not-directory", "private-left"}, quick, checkPrivate},
		{"log", "errors that hooks noted in the last day, and the size of their log",
			[]string{"hook-errors", "event-lost", "log-large"}, quick, checkLog},
	}
}
