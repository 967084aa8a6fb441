package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"claudemem/internal/leaf/collect"
)

// Check is a row of the table. docs/doctor.md says what it looks at.
type Check struct {
	Name  string
	limit time.Duration
	run   checkFunc
	// Kinds are the problems that it may find.
	Kinds []Kind
}

// checkFunc returns the problems that a check finds, and a line for the report when
// there are none.
type checkFunc func(context.Context, *exam) (problems []Finding, fine string)

// Kind is a problem that a check may find. Its name is part of the stable output of
// `claude-mem doctor --json`; docs/doctor.md explains it.
type Kind struct {
	Name   string
	Status Status
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
	return append(slices.Clip(anyCheck), collect.Flat(Checks(), func(c Check) []Kind { return c.Kinds })...)
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
	{"check-failed", Fail, "please report it, with the output of `claude-mem doctor --json`", ""},
	{"check-slow", Fail, "run `claude-mem doctor` again; if the finding stays, check that the disk of {dir} answers: `ls {dir}`", ""},
}

// Checks returns the table, in the order of the report: programs, hooks, files, worker,
// database, provider.
func Checks() []Check {
	return []Check{
		{"binaries", reading, checkBinaries, []Kind{
			{"twin-missing", Fail, "put claude-mem-hook {version} into {bin}, beside claude-mem", ""},
			{"twin-unusable", Fail, "chmod 755 {path}", RemedyModes},
			{"twin-version", Warn, "put claude-mem-hook {version} into {bin}", ""},
			{"path-other", Warn, "put {bin} ahead of {other} in PATH, or remove {path}", ""},
		}},
		{"plugin", quick, checkPlugin, []Kind{
			{"plugin-missing", Fail, "claude-mem install", ""},
			{"plugin-disabled", Fail, "claude plugin enable {id}", ""},
			{"plugin-gone", Fail, "claude-mem install", ""},
			{"program-gone", Fail, "claude-mem install", ""},
			{"plugin-version", Warn, "claude-mem install", ""},
			{"plugin-twice", Warn, "claude-mem uninstall && claude-mem install", ""},
			{"node-plugin", Warn, "claude plugin disable {id}", ""},
			{"host-unreadable", Warn, "repair {path}: it must be readable and JSON", ""},
		}},
		{"hooks", reading, checkHooks, []Kind{
			{"hooks-disabled", Fail, "remove \"disableAllHooks\" from {path}", ""},
			{"hooks-silent", Warn, "claude-mem install, then restart Claude Code; its /hooks must list claude-mem", ""},
		}},
		{"agents", quick, checkAgents, []Kind{
			{"agent-unreadable", Fail, "repair {path}, then claude-mem install --host {host}", ""},
			{"agent-hooks", Fail, "claude-mem install --host {host}", ""},
			{"agent-program-gone", Fail, "claude-mem install --host {host}", ""},
			{"agent-mcp", Warn, "claude-mem install --host {host}", ""},
			{"agent-silent", Warn, "trust the hooks in {agent}, then start a new session there", ""},
			{"agent-version", Warn, "claude-mem install --host {host}", ""},
		}},
		{"claude", reading, checkCLI, []Kind{
			{"cli-missing", Warn, "install Claude Code, or `claude-mem config set CLAUDE_MEM_PROVIDER offline` to do without a model", ""},
			{"cli-broken", Warn, "reinstall Claude Code; `{path} --version` must print its version", ""},
		}},
		{"data", quick, checkData, []Kind{
			{"home-missing", Fail, "export CLAUDE_MEM_DATA_DIR=/path/of/a/directory", ""},
			{"data-not-directory", Fail, "mv {dir} {dir}.aside", ""},
			{"data-unreadable", Fail, "chmod 700 {path}", RemedyModes},
			{"data-owner", Fail, "sudo chown -R \"$(id -un)\" {dir}", ""},
			{"data-open", Warn, "chmod 700 {path}", RemedyModes},
			{"file-open", Warn, "chmod 600 {path}", RemedyModes},
			{"file-misplaced", Fail, "mv {path} {path}.aside", ""},
			{"data-read-only", Fail, "chmod 700 {path}", RemedyModes},
			{"data-read-only-disk", Fail, "export CLAUDE_MEM_DATA_DIR=/a/writable/directory", ""},
			{"network-file-system", Warn, "claude-mem worker stop, move {dir} to a local disk, then export CLAUDE_MEM_DATA_DIR=/its/new/place", ""},
		}},
		{"disk", quick, inDataDir(checkDisk), []Kind{
			{"disk-full", Fail, "free some space on the disk of {dir}, or raise the quota", ""},
			{"disk-low", Warn, "free some space on the disk of {dir}", ""},
			{"inodes-low", Warn, "delete files on the disk of {dir}; `df -i {dir}` counts them", ""},
			{"aside-kept", Warn, "rm -r {path}, when you do not need them", ""},
		}},
		{"settings", quick, inDataDir(checkSettings), []Kind{
			{"settings-broken", Fail, "repair {path}, or `mv {path} {path}.broken` to start with the defaults", ""},
			{"settings-outdated", Warn, "repair {path}, or `mv {path} {path}.broken` to start with the defaults", ""},
			{"settings-older", Warn, "claude-mem config import --yes", ""},
			{"setting-invalid", Warn, "claude-mem config set {key} {value}", ""},
		}},
		{"clock", reading, checkClock, []Kind{
			{"clock-back", Warn, "correct the clock (`date` shows it); stored events keep their time", ""},
		}},
		{"worker", reading, inDataDir(checkWorker), []Kind{
			{"worker-away", Warn, "claude-mem worker start", RemedyStart},
			{"worker-died", Warn, "claude-mem worker start", RemedyMarks},
			{"worker-start-failed", Fail, "claude-mem worker start", RemedyMarks},
			{"worker-mute", Fail, "end the other process of claude-mem, then claude-mem worker start", ""},
			{"worker-unknown", Warn, "make worker.lock in the data directory a file that only you can read and write", ""},
			{"worker-version", Warn, "claude-mem worker restart", RemedyRestart},
			{"worker-wire", Fail, "claude-mem worker restart", RemedyRestart},
			{"worker-newer", Warn, "install claude-mem {version} here too: {path} is older", ""},
			{"worker-stage", Warn, "claude-mem worker logs", ""},
			{"port-taken", Warn, "claude-mem config set CLAUDE_MEM_WORKER_PORT {port}", ""},
			{"socket-elsewhere", Warn, "export CLAUDE_MEM_DATA_DIR=/a/shorter/path, and move {dir} there", ""},
			{"socket-unsafe", Warn, "mv {path} {path}.unsafe", ""},
			{"socket-foreign", Warn, "export CLAUDE_MEM_DATA_DIR=/a/shorter/path, so that the socket is in the data directory", ""},
		}},
		{"spool", reading, inDataDir(checkSpool), []Kind{
			{"spool-waiting", Warn, "claude-mem worker start", RemedyStart},
			{"spool-unreadable", Fail, "chmod 700 {spool} && chmod 600 {spool}/*.json", RemedyModes},
			{"spool-corrupt", Warn, "inspect them, then rm -r {spool}/corrupt", ""},
			{"spool-newer", Warn, "install the newer claude-mem, then claude-mem worker restart", ""},
			{"spool-unwritable", Fail, "chmod 700 {spool}", RemedyModes},
		}},
		{"database", reading, checkDatabase, []Kind{
			{"database-damaged", Fail, "claude-mem doctor --fix", RemedyRecover},
			{"recovery-stopped", Fail, "check the disk; claude-mem doctor --fix", RemedyRecover},
			{"database-newer", Fail, "install the newer claude-mem, or export CLAUDE_MEM_DATA_DIR=/another/directory", ""},
			{"database-older", Warn, "claude-mem worker restart", ""},
			{"database-half-made", Warn, "claude-mem worker restart", ""},
			{"database-locked", Warn, "close the program that has {dir}/memory.db open: `fuser {dir}/memory.db` names it", ""},
			{"database-unreadable", Fail, "chmod 600 {dir}/memory.db", RemedyModes},
			{"database-log-large", Warn, "claude-mem worker restart", ""},
		}},
		{"records", reading, checkRecords, []Kind{
			{"records-changed", Fail, "claude-mem doctor --deep --fix", RemedyRecover},
			{"records-withheld", Warn, "check the disk; `claude-mem forget` erases what you do not need", ""},
		}},
		{"backups", reading, inDataDir(checkBackups), []Kind{
			{"backup-missing", Warn, "claude-mem backup", RemedyBackup},
			{"backup-old", Warn, "claude-mem backup", RemedyBackup},
		}},
		{"books", reading, checkBooks, []Kind{
			{"books-unbalanced", Fail, "please report it, with the output of `claude-mem stats --json`", ""},
		}},
		{"queue", reading, checkQueue, []Kind{
			{"dead-letters", Warn, "claude-mem queue retry", ""},
			{"queue-stuck", Warn, "claude-mem worker restart", RemedyRestart},
			{"queue-unread", Warn, "claude-mem queue retry", ""},
			{"queue-waiting", Warn, "claude-mem queue", ""},
		}},
		{"index", reading, checkIndex, []Kind{
			{"index-missing", Warn, "claude-mem reindex", RemedyReindex},
			{"index-failed", Warn, "claude-mem reindex", RemedyReindex},
			{"index-wrong", Warn, "claude-mem reindex", RemedyReindex},
			{"repair-stopped", Warn, "check the disk; claude-mem reindex", RemedyReindex},
			{"search-failing", Fail, "claude-mem reindex", RemedyReindex},
			{"index-behind", Warn, "claude-mem reindex", RemedyReindex},
			{"index-layout", Warn, "install another version of claude-mem", ""},
			{"embedder-failing", Warn, "claude-mem config get CLAUDE_MEM_EMBEDDER_BASE_URL", ""},
			{"training-failed", Warn, "claude-mem reindex", RemedyReindex},
		}},
		{"provider", reading, checkProvider, []Kind{
			{"key-missing", Fail, "claude-mem config set {key} YOUR_KEY", ""},
			{"key-refused", Fail, "claude-mem config set {key} YOUR_KEY", ""},
			{"login-refused", Fail, "run claude and type /login", ""},
			{"provider-quota", Warn, "wait, or claude-mem config set CLAUDE_MEM_PROVIDER offline", ""},
			{"provider-away", Warn, "claude-mem worker logs", ""},
			{"provider-refuses", Warn, "claude-mem worker logs; another model: claude-mem config set CLAUDE_MEM_MODEL NAME", ""},
			{"answers-unusable", Warn, "claude-mem config set CLAUDE_MEM_MODEL NAME, with a model that follows instructions better", ""},
			{"calls-failing", Warn, "claude-mem worker logs", ""},
		}},
		{"caps", reading, checkCaps, []Kind{
			{"cap-day", Warn, "wait until midnight, or claude-mem config set CLAUDE_MEM_DAILY_TOKEN_CAP {more}", ""},
			{"cap-session", Warn, "claude-mem config set CLAUDE_MEM_SESSION_TOKEN_CAP {more}", ""},
		}},
		{"agent-files", reading, inDataDir(checkAgentFiles), []Kind{
			{"agent-files-unwritten", Warn, "claude-mem agent-files status --project {project}", ""},
		}},
		{"experiment", reading, inDataDir(checkExperiment), []Kind{
			{"experiment-agent-files", Warn, "claude-mem config set AGENT_FILES off, or claude-mem experiment off", ""},
		}},
		{"devices", reading, inDataDir(checkDevices), []Kind{
			{"devices-failed", Warn, "claude-mem sync now", ""},
			{"devices-git", Warn, "install git, then claude-mem sync now", ""},
			{"devices-refused", Warn, "claude-mem sync status", ""},
			{"devices-missing", Warn, "claude-mem sync devices", ""},
			{"devices-key", Fail, "claude-mem sync leave, then claude-mem sync join with the sheet of words", ""},
		}},
		{"team", reading, inDataDir(checkTeam), []Kind{
			{"team-failed", Warn, "claude-mem team doctor", ""},
			{"team-refused", Warn, "claude-mem team status", ""},
			{"team-config", Fail, "claude-mem team join with the address of the server", ""},
		}},
		{"private", quick, inDataDir(checkPrivate), []Kind{
			{"private-not-directory", Warn, "mv {path} {path}.aside", ""},
			{"private-left", Warn, "claude-mem doctor --fix", RemedyMarks},
		}},
		{"log", quick, inDataDir(checkLog), []Kind{
			{"hook-errors", Warn, "tail -n 20 {path}", ""},
			{"not-understood", Warn, "see docs/hosts.md, or leave claude-mem's hooks out of that program", ""},
			{"event-lost", Fail, "tail -n 20 {path}", ""},
			{"log-large", Warn, "mv {path} {path}.1", ""},
		}},
	}
}
