package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Check is a row of the table.
type Check struct {
	Name string
	// Looks describes the objects of the check.
	Looks string
	limit time.Duration
	run   checkFunc
	// Kinds are the problems that it may find.
	Kinds []Kind
}

// checkFunc returns the problems that a check finds, and a line for the report when
// there are none.
type checkFunc func(context.Context, *exam) (problems []Finding, fine string)

// Kind is a problem that a check may find. Its name is part of the stable output of
// `claude-mem doctor --json`.
type Kind struct {
	Name   string
	Status Status
	// Meaning explains the problem to the user.
	Meaning string
	// Fix is the command that solves it, or an instruction. {dir} is the data directory;
	// the finding has the values of other names in braces.
	Fix string
	// Remedy is the repair that --fix makes, "" for none.
	Remedy Remedy
}

// Remedy names the repair that Heal makes for a finding.
type Remedy string

// The remedies.
const (
	// RemedyModes sets the modes of claude-mem's own files.
	RemedyModes Remedy = "modes"
	// RemedyMarks removes files that dead processes left behind.
	RemedyMarks Remedy = "marks"
	// RemedyRestart replaces the worker by one of this program.
	RemedyRestart Remedy = "restart"
	// RemedyStart starts the worker, which takes in the spool.
	RemedyStart Remedy = "start"
	// RemedyRecover restarts the worker, which recovers the damaged database.
	RemedyRecover Remedy = "recover"
	// RemedyBackup makes a backup.
	RemedyBackup Remedy = "backup"
	// RemedyReindex rebuilds the search index.
	RemedyReindex Remedy = "reindex"
)

// remedies are in the order in which Heal applies them.
var remedies = []Remedy{RemedyModes, RemedyMarks, RemedyRecover, RemedyRestart, RemedyStart, RemedyBackup, RemedyReindex}

// Kinds returns the problems that any check may find, then those of each check.
func Kinds() []Kind {
	kinds := slices.Clip(anyCheck)
	for _, c := range Checks() {
		kinds = append(kinds, c.Kinds...)
	}
	return kinds
}

// The time limits of checks. SQLite waits 5 s for another program's lock, and the
// worker's status takes startingLimit; the checks that need either have more time.
const (
	quick   = 5 * time.Second
	reading = 12 * time.Second
)

// inDataDir returns a check that runs only if the data directory exists.
func inDataDir(run checkFunc) checkFunc {
	return func(ctx context.Context, e *exam) ([]Finding, string) {
		if e.DataDir == "" {
			return nil, "not looked at: there is no data directory"
		}
		info, err := os.Stat(e.DataDir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, "nothing yet: " + e.DataDir + " is created with the first event"
		case err == nil && !info.IsDir():
			return nil, "not looked at: " + e.DataDir + " is not a directory"
		}
		return run(ctx, e)
	}
}

// anyCheck are the problems of a check itself.
var anyCheck = []Kind{
	{"check-failed", Fail, "A check of doctor panicked: a bug in claude-mem. The other checks are not affected.",
		"please report it, with the output of `claude-mem doctor --json`", ""},
	{"check-slow", Fail, "A check exceeded its time limit, mostly because a file system does not answer or another program holds a lock.",
		"run `claude-mem doctor` again; if the finding stays, check that the disk of {dir} answers: `ls {dir}`", ""},
}

// Checks returns the table, in the order of the report: programs, hooks, files, worker,
// database, provider.
func Checks() []Check {
	return []Check{
		{"binaries", "claude-mem and claude-mem-hook: in one directory, executable, of one version, and first in PATH", reading, checkBinaries, []Kind{
			{"twin-missing", Fail, "claude-mem-hook is not in the directory of claude-mem. Claude Code's hooks run it, so nothing is captured.",
				"put claude-mem-hook {version} into {bin}, beside claude-mem", ""},
			{"twin-unusable", Fail, "claude-mem-hook is not executable.",
				"chmod 755 {path}", RemedyModes},
			{"twin-version", Warn, "claude-mem-hook and claude-mem have different versions.",
				"put claude-mem-hook {version} into {bin}", ""},
			{"path-other", Warn, "PATH finds a different claude-mem than the one the hooks run.",
				"put {bin} ahead of {other} in PATH, or remove {path}", ""},
		}},
		{"plugin", "Claude Code's registrations: the plugin or plain hooks of claude-mem, enabled, once, of this version, with its files; the plugin of claude-mem for Node", quick, checkPlugin, []Kind{
			{"plugin-missing", Fail, "Claude Code has no hooks of claude-mem: sessions are not captured and get no context.",
				"claude-mem install", ""},
			{"plugin-disabled", Fail, "The plugin is installed but disabled.",
				"claude plugin enable {id}", ""},
			{"plugin-gone", Fail, "The plugin is registered, but its files are missing or do not run.",
				"claude-mem install", ""},
			{"program-gone", Fail, "The path of a program that the hooks or the MCP server run does not exist, so nothing is captured: the home or the data directory was moved, or the program was deleted.",
				"claude-mem install", ""},
			{"plugin-version", Warn, "The plugin and this program have different versions.",
				"claude-mem install", ""},
			{"plugin-twice", Warn, "Claude Code runs the hooks of claude-mem more than once for each event. Events are stored once, but each session gets two context blocks and each tool call takes twice the time.",
				"claude-mem uninstall && claude-mem install", ""},
			{"node-plugin", Warn, "The plugin of claude-mem for Node is enabled too: each session is captured, gets context and is billed twice.",
				"claude plugin disable {id}", ""},
			{"host-unreadable", Warn, "A file of Claude Code cannot be read, so doctor cannot tell whether claude-mem is installed.",
				"repair {path}: it must be readable and JSON", ""},
		}},
		{"hooks", "the time of the last hook, compared with the last use of Claude Code (its newest transcript)", reading, checkHooks, []Kind{
			{"hooks-disabled", Fail, "Claude Code's settings disable all hooks.",
				"remove \"disableAllHooks\" from {path}", ""},
			{"hooks-silent", Warn, "Claude Code was used after the plugin was installed, but no hook has run since.",
				"claude-mem install, then restart Claude Code; its /hooks must list claude-mem", ""},
		}},
		{"agents", "the files of other agents that claude-mem is installed in: its hooks and MCP server, with programs that exist and are of this version; when each agent was last heard", quick, checkAgents, []Kind{
			{"agent-unreadable", Fail, "A file of the agent's cannot be read or parsed, so neither its hooks nor its MCP server can be checked.",
				"repair {path}, then claude-mem install --host {host}", ""},
			{"agent-hooks", Fail, "The agent's files lack hooks of claude-mem: not all of its sessions is captured.",
				"claude-mem install --host {host}", ""},
			{"agent-program-gone", Fail, "The path of a program that the agent's hooks or MCP server run does not exist, so nothing is captured.",
				"claude-mem install --host {host}", ""},
			{"agent-mcp", Warn, "The memory's MCP server is not registered with the agent, so that it cannot search the memory.",
				"claude-mem install --host {host}", ""},
			{"agent-silent", Warn, "The agent was used for over a day since the install, and none of its hooks has run: it may not trust them yet.",
				"trust the hooks in {agent}, then start a new session there", ""},
			{"agent-version", Warn, "The agent's hooks run another version of claude-mem.",
				"claude-mem install --host {host}", ""},
		}},
		{"claude", "the claude CLI: found, and its version", reading, checkCLI, []Kind{
			{"cli-missing", Warn, "The claude CLI is not found. By default it makes the records of a session; without it they are made without a model.",
				"install Claude Code, or `claude-mem config set CLAUDE_MEM_PROVIDER offline` to do without a model", ""},
			{"cli-broken", Warn, "The claude CLI is installed but does not run.",
				"reinstall Claude Code; `{path} --version` must print its version", ""},
		}},
		{"data", "the data directory: its owner, its modes (0700, files 0600), whether it is writable and on a local disk", quick, checkData, []Kind{
			{"home-missing", Fail, "There is no home directory, so the data directory is not known.",
				"export CLAUDE_MEM_DATA_DIR=/path/of/a/directory", ""},
			{"data-not-directory", Fail, "The data directory's path names a file.",
				"mv {dir} {dir}.aside", ""},
			{"data-unreadable", Fail, "The data directory cannot be read.",
				"chmod 700 {path}", RemedyModes},
			{"data-owner", Fail, "The data directory or a file in it belongs to another user, mostly after a run with sudo.",
				"sudo chown -R \"$(id -un)\" {dir}", ""},
			{"data-open", Warn, "Other users of this machine can read the memory.",
				"chmod 700 {path}", RemedyModes},
			{"file-open", Warn, "Other users of this machine could read a file of the memory if its directory were open.",
				"chmod 600 {path}", RemedyModes},
			{"file-misplaced", Fail, "Something else stands in the place of a file of the memory, so the worker does not start. Hooks spool events if they can.",
				"mv {path} {path}.aside", ""},
			{"data-read-only", Fail, "The data directory cannot be written: events are lost.",
				"chmod 700 {path}", RemedyModes},
			{"data-read-only-disk", Fail, "The file system of the data directory is mounted read-only: events are lost.",
				"export CLAUDE_MEM_DATA_DIR=/a/writable/directory", ""},
			{"network-file-system", Warn, "The data directory is on a network file system. SQLite's locks and shared memory do not work there, which can damage the database.",
				"claude-mem worker stop, move {dir} to a local disk, then export CLAUDE_MEM_DATA_DIR=/its/new/place", ""},
		}},
		{"disk", "free space and inodes, the size of the data directory; a test file is written and removed", quick, inDataDir(checkDisk), []Kind{
			{"disk-full", Fail, "The disk is full: hooks can neither deliver nor spool events, and lose them.",
				"free some space on the disk of {dir}, or raise the quota", ""},
			{"disk-low", Warn, "The disk is almost full.",
				"free some space on the disk of {dir}", ""},
			{"inodes-low", Warn, "The file system is almost out of inodes.",
				"delete files on the disk of {dir}; `df -i {dir}` counts them", ""},
			{"aside-kept", Warn, "Databases that were set aside take space. They may have rows that could not be saved, so nothing deletes them.",
				"rm -r {path}, when you do not need them", ""},
		}},
		{"settings", "config.json: one flat JSON object with valid values; a settings.json that was not imported", quick, inDataDir(checkSettings), []Kind{
			{"settings-broken", Fail, "The settings file is broken and there is no last good copy of it: nothing is captured and no model is called.",
				"repair {path}, or `mv {path} {path}.broken` to start with the defaults", ""},
			{"settings-outdated", Warn, "The settings file is broken; its last good copy is in force.",
				"repair {path}, or `mv {path} {path}.broken` to start with the defaults", ""},
			{"settings-older", Warn, "There is no config.json yet, but a settings.json of an earlier release. Of that file, only keys that restrict are in force.",
				"claude-mem config import --yes", ""},
			{"setting-invalid", Warn, "A setting has an invalid value. Its default is in force, except PROVIDER=offline, RECALL=off, REQUIRE_TOKEN=true.",
				"claude-mem config set {key} {value}", ""},
		}},
		{"clock", "whether the newest event was received in the future", reading, checkClock, []Kind{
			{"clock-back", Warn, "The newest event was received in the future: the clock was set back, or was wrong at that time. Order and ages are wrong until the clock has passed it.",
				"correct the clock (`date` shows it); stored events keep their time", ""},
		}},
		{"worker", "the worker: running, answering, of this version; its lock, worker.json, port and socket; the state of its stages", reading, inDataDir(checkWorker), []Kind{
			{"worker-away", Warn, "The worker is not running, and events wait for it.",
				"claude-mem worker start", RemedyStart},
			{"worker-died", Warn, "worker.json names a process that is no longer running: the worker was killed, or the machine went down. Nothing is lost.",
				"claude-mem worker start", RemedyMarks},
			{"worker-start-failed", Fail, "The worker was started and ended, or does not answer; the reason is named as far as it is known. Hooks try again at growing intervals and spool events meanwhile.",
				"claude-mem worker start", RemedyMarks},
			{"worker-mute", Fail, "A process holds the worker's lock and does not answer, so no other worker can start. Hooks spool events meanwhile.",
				"end the other process of claude-mem, then claude-mem worker start", ""},
			{"worker-unknown", Warn, "The worker does not answer, and its lock cannot be tested.",
				"make worker.lock in the data directory a file that only you can read and write", ""},
			{"worker-version", Warn, "The worker is older than this program.",
				"claude-mem worker restart", RemedyRestart},
			{"worker-wire", Fail, "Worker and hooks have different protocol versions, so every event is spooled.",
				"claude-mem worker restart", RemedyRestart},
			{"worker-newer", Warn, "The worker is newer than this program.",
				"install claude-mem {version} here too: {path} is older", ""},
			{"worker-stage", Warn, "A part of the worker reports an error.",
				"claude-mem worker logs", ""},
			{"port-taken", Warn, "Another program uses the worker's port. Hooks use the socket and are not affected; the HTTP address is another one.",
				"claude-mem config set CLAUDE_MEM_WORKER_PORT {port}", ""},
			{"socket-elsewhere", Warn, "The path of the data directory is too long for a socket. The socket is in another directory, whose path depends on environment variables.",
				"export CLAUDE_MEM_DATA_DIR=/a/shorter/path, and move {dir} there", ""},
			{"socket-unsafe", Warn, "Other users can write into the directory of the socket, so the worker uses another one with a random name. Files in it may be another user's: rename it, do not use or delete it.",
				"mv {path} {path}.unsafe", ""},
			{"socket-foreign", Warn, "The directory of the socket belongs to another user, so the worker uses another one with a random name.",
				"export CLAUDE_MEM_DATA_DIR=/a/shorter/path, so that the socket is in the data directory", ""},
		}},
		{"spool", "events that wait, unreadable and corrupt files, of 200 files or with --deep of all; whether hooks can write there", reading, inDataDir(checkSpool), []Kind{
			{"spool-waiting", Warn, "Events wait in the spool; the worker takes them in when it starts.",
				"claude-mem worker start", RemedyStart},
			{"spool-unreadable", Fail, "Files in the spool cannot be read, so their events are not stored.",
				"chmod 700 {spool} && chmod 600 {spool}/*.json", RemedyModes},
			{"spool-corrupt", Warn, "Spool files that could not be parsed were moved to spool/corrupt.",
				"inspect them, then rm -r {spool}/corrupt", ""},
			{"spool-newer", Warn, "Events of a newer hook wait in the spool for a newer worker.",
				"install the newer claude-mem, then claude-mem worker restart", ""},
			{"spool-unwritable", Fail, "Hooks cannot write into the spool: events are lost while the worker is not running.",
				"chmod 700 {spool}", RemedyModes},
		}},
		{"database", "memory.db: its schema, SQLite's quick_check for 5 seconds, or integrity_check with --deep, the size of its log and its free pages", reading, checkDatabase, []Kind{
			{"database-damaged", Fail, "memory.db is damaged. The fix restarts the worker, which restores the newest sound backup, adds the newer rows that can still be read, and keeps the damaged file in the folder aside. Hooks spool new events meanwhile.",
				"claude-mem doctor --fix", RemedyRecover},
			{"recovery-stopped", Fail, "memory.db was repaired and needs it again within a day, for the same reason. No worker starts, hooks spool new events, and nothing is changed until you decide: the disk may be failing. The fix allows one more repair.",
				"check the disk; claude-mem doctor --fix", RemedyRecover},
			{"database-newer", Fail, "A newer claude-mem wrote the database. This version does not change it.",
				"install the newer claude-mem, or export CLAUDE_MEM_DATA_DIR=/another/directory", ""},
			{"database-older", Warn, "The database has an older schema, which the worker migrates when it starts.",
				"claude-mem worker restart", ""},
			{"database-half-made", Warn, "A process was killed in the middle of a change of the database, before its first log. The worker undoes that change when it starts.",
				"claude-mem worker restart", ""},
			{"database-locked", Warn, "Another program holds a lock on the database.",
				"close the program that has {dir}/memory.db open: `fuser {dir}/memory.db` names it", ""},
			{"database-unreadable", Fail, "The database cannot be opened.",
				"chmod 600 {dir}/memory.db", RemedyModes},
			{"database-log-large", Warn, "The write-ahead log of the database is large: a reader keeps SQLite from copying it into memory.db.",
				"claude-mem worker restart", ""},
		}},
		{"records", "records whose text was changed on the disk; with --deep every record is compared with its hash", reading, checkRecords, []Kind{
			{"records-changed", Fail, "Records are not as they were written: the disk or another program has changed them. The fix restarts the worker, which takes them from the newest backup that has them and withholds the text of the others.",
				"claude-mem doctor --deep --fix", RemedyRecover},
			{"records-withheld", Warn, "The text of records was changed on the disk, and no backup has it. They are not shown; in place of the text stands that it is withheld. Older copies of memory.db, also those in the folder aside, may have it.",
				"check the disk; `claude-mem forget` erases what you do not need", ""},
		}},
		{"backups", "the newest backup of memory.db, compared with the newest event", reading, inDataDir(checkBackups), []Kind{
			{"backup-missing", Warn, "The memory is older than two days and has no backup: the worker could not make one.",
				"claude-mem backup", RemedyBackup},
			{"backup-old", Warn, "The newest backup is more than two days older than the newest event, although the worker makes one a day.",
				"claude-mem backup", RemedyBackup},
		}},
		{"books", "received = processed + skipped + failed + pending + processing + forgotten, and the other invariants of the queue's counters", reading, checkBooks, []Kind{
			{"books-unbalanced", Fail, "The counters of the queue do not balance: an event was lost or counted twice, a bug in claude-mem.",
				"please report it, with the output of `claude-mem stats --json`", ""},
		}},
		{"queue", "failed events, unfinished claims, the age of the oldest waiting event, events that no model has read", reading, checkQueue, []Kind{
			{"dead-letters", Warn, "Events could not be processed after several attempts. They are kept.",
				"claude-mem queue retry", ""},
			{"queue-stuck", Warn, "Events were claimed over 15 minutes ago and are not finished.",
				"claude-mem worker restart", RemedyRestart},
			{"queue-unread", Warn, "The model that the settings name did not read events of the last day. Their records were made without a model. It reads them when it answers again; their payloads are kept for 7 days.",
				"claude-mem queue retry", ""},
			{"queue-waiting", Warn, "Events have waited over two hours to be processed.",
				"claude-mem queue", ""},
		}},
		{"index", "the search index: its version and how far it is behind; with --deep its records, compared with those of the memory; the embedder", reading, checkIndex, []Kind{
			{"index-missing", Warn, "There is no search index: only filters find records.",
				"claude-mem reindex", RemedyReindex},
			{"index-failed", Warn, "The search index is damaged or of another version.",
				"claude-mem reindex", RemedyReindex},
			{"index-wrong", Warn, "The search index does not have the records of the memory: searches miss some, or its file is damaged. Only --deep looks; the worker does once a day.",
				"claude-mem reindex", RemedyReindex},
			{"repair-stopped", Warn, "A file of the index was repaired and needs it again within a day, for the same reason, which the repair does not cure: it is not repeated. Searches go on in the next best way: in the records themselves, by words only, or with the built-in vectors. The fix rebuilds the index and allows repairs again.",
				"check the disk; claude-mem reindex", RemedyReindex},
			{"search-failing", Fail, "A search in the way that users and agents make it fails, or does not find records of the memory by their own words.",
				"claude-mem reindex", RemedyReindex},
			{"index-behind", Warn, "The index lacks the newest records, so searches do not find them.",
				"claude-mem reindex", RemedyReindex},
			{"index-layout", Warn, "The SQLite in this program keeps the full-text index in a way that this version does not know. Searches find records all the same, but are slower and look up fewer of the frequent words. It is no damage, and a rebuild does not change it.",
				"install another version of claude-mem", ""},
			{"embedder-failing", Warn, "The embedder does not answer, so searches use words alone.",
				"claude-mem config get CLAUDE_MEM_EMBEDDER_BASE_URL", ""},
			{"training-failed", Warn, "The vectors could not be trained on the memory's own observations; searches use those that were there before. The worker tries again.",
				"claude-mem reindex", RemedyReindex},
		}},
		{"provider", "the provider, its key or login, and the outcome of its last calls; only --online asks it whether it accepts the key", reading, checkProvider, []Kind{
			{"key-missing", Fail, "The provider in the settings has no API key.",
				"claude-mem config set {key} YOUR_KEY", ""},
			{"key-refused", Fail, "The provider refuses the API key.",
				"claude-mem config set {key} YOUR_KEY", ""},
			{"login-refused", Fail, "The claude CLI is not logged in. With auto, sessions are remembered without a model until it is. claude-mem's calls do not have the variables of your shell, such as ANTHROPIC_API_KEY.",
				"run claude and type /login", ""},
			{"provider-quota", Warn, "The provider's quota or credit is used up. Captured events wait, then their records are made without a model.",
				"wait, or claude-mem config set CLAUDE_MEM_PROVIDER offline", ""},
			{"provider-away", Warn, "The provider does not answer or limits the rate of calls. Captured events wait, then their records are made without a model.",
				"claude-mem worker logs", ""},
			{"provider-refuses", Warn, "The provider refuses what it is asked, or its answers cannot be used: the model may be wrong or too small. Records are made without it.",
				"claude-mem worker logs; another model: claude-mem config set CLAUDE_MEM_MODEL NAME", ""},
			{"answers-unusable", Warn, "The model answers in another form than it is asked for. It is asked once more; what it does not tell then is recorded without a model.",
				"claude-mem config set CLAUDE_MEM_MODEL NAME, with a model that follows instructions better", ""},
			{"calls-failing", Warn, "The last call of the model failed.",
				"claude-mem worker logs", ""},
		}},
		{"caps", "whether the cap of the day or of a session was reached", reading, checkCaps, []Kind{
			{"cap-day", Warn, "The day's token cap is reached: records are made without a model until midnight.",
				"wait until midnight, or claude-mem config set CLAUDE_MEM_DAILY_TOKEN_CAP {more}", ""},
			{"cap-session", Warn, "A session has reached its token cap; the records of the rest of it are made without a model.",
				"claude-mem config set CLAUDE_MEM_SESSION_TOKEN_CAP {more}", ""},
		}},
		{"agent-files", "whether the files that get blocks of records (the setting AGENT_FILES) could be written", reading, inDataDir(checkAgentFiles), []Kind{
			{"agent-files-unwritten", Warn, "Files of a project could not be updated: they are read-only, are links out of the project, or their markers are broken. The others were. The finding goes when the worker has written them, after the next summary.",
				"claude-mem agent-files status --project {project}", ""},
		}},
		{"private", "marks of private turns: their directory, and marks older than a week", quick, inDataDir(checkPrivate), []Kind{
			{"private-not-directory", Warn, "The path of the directory for marks of private turns names a file. The marks are kept in the temporary directory instead.",
				"mv {path} {path}.aside", ""},
			{"private-left", Warn, "Marks of private turns are older than a week. A session that has one is not captured until its next prompt.",
				"claude-mem doctor --fix", RemedyMarks},
		}},
		{"log", "errors that hooks logged in the last day, and the size of their log", quick, inDataDir(checkLog), []Kind{
			{"hook-errors", Warn, "Hooks logged errors in the last day.",
				"tail -n 20 {path}", ""},
			{"not-understood", Warn, "A program that claude-mem does not know calls its hooks, and some of what it reported in the last day was not understood, so that it is not in the memory. The finding names its members, never their values.",
				"see docs/hosts.md, or leave claude-mem's hooks out of that program", ""},
			{"event-lost", Fail, "A hook lost an event in the last day: it could neither deliver nor spool it.",
				"tail -n 20 {path}", ""},
			{"log-large", Warn, "The hooks' log is large: it cannot be rotated.",
				"mv {path} {path}.1", ""},
		}},
	}
}
