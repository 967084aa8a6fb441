package doctor

// Remedy is what Heal does about a finding.
type Remedy string

// The remedies, in the order in which they are done.
const (
	// RemedyModes gives our own files the modes they should have.
	RemedyModes Remedy = "modes"
	// RemedyMarks removes what processes that are gone left behind.
	RemedyMarks Remedy = "marks"
	// RemedyRestart replaces the worker by this program's.
	RemedyRestart Remedy = "restart"
	// RemedyStart starts the worker, which takes the spool in.
	RemedyStart Remedy = "start"
	// RemedyReindex builds the search index anew.
	RemedyReindex Remedy = "reindex"
)

// Kind is one thing that may be wrong. Its name is part of what `claude-mem doctor
// --json` promises.
type Kind struct {
	Name   string
	Status Status
	// Meaning is what it means to the user.
	Meaning string
	// Fix is the command that mends it, or what to do; {dir} is the data directory,
	// other names in braces are told by the finding.
	Fix string
	// Remedy is what --fix does, "" where it must not.
	Remedy Remedy
}

// Kinds returns the table.
func Kinds() []Kind { return kinds }

func kindOf(name string) (Kind, bool) {
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

var kinds = []Kind{
	// of any check
	{"check-failed", Fail, "A check of the doctor panicked: a fault of claude-mem. The others are not affected.",
		"please report it, with what `claude-mem doctor --json` prints", ""},
	{"check-slow", Fail, "A check did not end in its time. Mostly a file system that does not answer, or another program that holds a lock.",
		"run `claude-mem doctor` again; if it stays, see whether the disk of {dir} answers: `ls {dir}`", ""},

	// binaries
	{"twin-missing", Fail, "claude-mem-hook is not beside claude-mem. It is what the hooks of a host run, so nothing is captured.",
		"put claude-mem-hook {version} beside claude-mem, into {bin}", ""},
	{"twin-unusable", Fail, "claude-mem-hook may not be executed.",
		"chmod 755 {path}", RemedyModes},
	{"twin-version", Warn, "claude-mem-hook is of another version than claude-mem.",
		"put claude-mem-hook {version} into {bin}", ""},
	{"path-other", Warn, "The claude-mem that a shell finds first is another one, so that commands do something else than the hooks.",
		"put {bin} ahead of {other} in PATH, or remove {path}", ""},

	// plugin
	{"plugin-missing", Fail, "Claude Code has no hooks of ours: no session is captured, and none is given anything.",
		"claude-mem install", ""},
	{"plugin-disabled", Fail, "The plugin is installed and switched off.",
		"claude plugin enable {id}", ""},
	{"plugin-gone", Fail, "The plugin is registered, and its files are not where Claude Code looks for them.",
		"claude-mem install", ""},
	{"program-gone", Fail, "The hooks or the MCP server run a program by a path at which there is none, so nothing is captured: the home or the data directory was moved, or the program was deleted.",
		"claude-mem install", ""},
	{"plugin-version", Warn, "The plugin is of another version than this program.",
		"claude-mem install", ""},
	{"plugin-twice", Warn, "Claude Code runs our hooks more than once for each event. Nothing is remembered twice, but each session is given two blocks and each tool call costs twice the time.",
		"claude-mem uninstall && claude-mem install", ""},
	{"node-plugin", Warn, "The plugin of claude-mem for Node is enabled too: two captures, two blocks, two bills.",
		"claude plugin disable {id}", ""},
	{"host-unreadable", Warn, "A file of Claude Code's cannot be read, so that it is not known what is installed.",
		"mend {path}: it must be readable and JSON", ""},

	// hooks
	{"hooks-disabled", Fail, "Claude Code is told to run no hooks at all.",
		"remove \"disableAllHooks\" from {path}", ""},
	{"hooks-silent", Warn, "Claude Code was used, the plugin is installed, and no hook has said anything since.",
		"claude-mem install, then restart Claude Code; its /hooks must list claude-mem", ""},

	// claude
	{"cli-missing", Warn, "The claude CLI is not found. It is what distils sessions by default; without it they are remembered by rules alone.",
		"install Claude Code, or `claude-mem config set CLAUDE_MEM_PROVIDER offline` to do without a model", ""},
	{"cli-broken", Warn, "The claude CLI is there and does not run.",
		"install Claude Code again, until `{path} --version` prints its version", ""},

	// data
	{"home-missing", Fail, "There is no home directory, so that nobody knows where the memory is.",
		"export CLAUDE_MEM_DATA_DIR=/where/it/shall/be", ""},
	{"data-not-directory", Fail, "A file is where the data directory should be.",
		"mv {dir} {dir}.aside", ""},
	{"data-unreadable", Fail, "The data directory cannot be read.",
		"chmod 700 {path}", RemedyModes},
	{"data-owner", Fail, "The data directory or a file in it belongs to another user, mostly after a run with sudo.",
		"sudo chown -R \"$(id -un)\" {dir}", ""},
	{"data-open", Warn, "Other users of this machine can read what is remembered.",
		"chmod 700 {path}", RemedyModes},
	{"file-open", Warn, "Other users of this machine could read a file of the memory, were its directory open.",
		"chmod 600 {path}", RemedyModes},
	{"data-read-only", Fail, "Nothing can be written into the data directory: no event is kept.",
		"chmod 700 {path}", RemedyModes},
	{"data-read-only-disk", Fail, "The data directory is on a file system that is mounted read-only: no event is kept.",
		"export CLAUDE_MEM_DATA_DIR=/a/directory/that/can/be/written", ""},
	{"network-file-system", Warn, "The data directory is on a network file system. Locks and shared memory do not work there as SQLite needs them, which can damage the database.",
		"claude-mem worker stop, move {dir} to a local disk, then export CLAUDE_MEM_DATA_DIR=/its/new/place", ""},

	// disk
	{"disk-full", Fail, "There is no room to write: events wait in hooks and are lost when they cannot be spooled either.",
		"free some space on the disk of {dir}, or raise the quota", ""},
	{"disk-low", Warn, "The disk is nearly full.",
		"free some space on the disk of {dir}", ""},
	{"inodes-low", Warn, "The file system can hold hardly any more files.",
		"remove files on the disk of {dir}; `df -i {dir}` counts them", ""},

	// settings
	{"settings-broken", Fail, "The settings file is broken and there is no last good copy of it: nothing is captured and no model is called.",
		"mend {path}, or `mv {path} {path}.broken` to begin anew", ""},
	{"settings-outdated", Warn, "The settings file is broken; the settings that it had before are in force.",
		"mend {path}, or `mv {path} {path}.broken` to begin anew", ""},
	{"settings-older", Warn, "There is no config.json yet, but a settings.json of an earlier release or of claude-mem for Node. Of that only what restricts is in force.",
		"claude-mem config import --yes", ""},
	{"setting-invalid", Warn, "A setting has a value that cannot be used. Its default is in force; of PROVIDER offline, of RECALL off, of REQUIRE_TOKEN true.",
		"claude-mem config set {key} {value}", ""},

	// clock
	{"clock-back", Warn, "The newest event is from the future: the clock was set back, or was wrong when it came. Order and ages are wrong until time has caught up.",
		"set the clock right (`date` shows it); what was received keeps its time", ""},

	// worker
	{"worker-away", Warn, "No worker runs, and something waits for it.",
		"claude-mem worker start", RemedyStart},
	{"worker-died", Warn, "worker.json tells of a worker that is gone: it was killed, or the machine went down. Nothing is lost.",
		"claude-mem worker start", RemedyMarks},
	{"worker-start-failed", Fail, "The worker was started and did not come up. Hooks try again ever less often, and spool meanwhile.",
		"claude-mem worker start", RemedyMarks},
	{"worker-mute", Fail, "A process holds the worker's lock and does not answer, so that no other can take its place. Hooks spool meanwhile.",
		"{kill}claude-mem worker start", ""},
	{"worker-version", Warn, "The worker is of an older version than this program.",
		"claude-mem worker restart", RemedyRestart},
	{"worker-wire", Fail, "Worker and hooks do not speak the same version, so that every event is spooled.",
		"claude-mem worker restart", RemedyRestart},
	{"worker-newer", Warn, "The worker is of a newer version than this program.",
		"install claude-mem {version} here too: {path} is older", ""},
	{"worker-stage", Warn, "A part of the worker is in trouble.",
		"claude-mem worker logs", ""},
	{"port-taken", Warn, "Another program has the worker's port. Hooks use the socket and do not mind; the viewer is at another address.",
		"claude-mem config set CLAUDE_MEM_WORKER_PORT {port}", ""},
	{"socket-elsewhere", Warn, "The path of the data directory is too long for a socket, so that the worker listens in another directory, which is found by environment variables that may differ.",
		"export CLAUDE_MEM_DATA_DIR=/a/shorter/path, and move {dir} there", ""},
	{"socket-unsafe", Fail, "The directory of the socket is open to others, so the worker does not listen in it. What is in it may be another user's: rename it, do not use or delete it.",
		"mv {path} {path}.unsafe", ""},
	{"socket-foreign", Fail, "The directory of the socket belongs to another user, so the worker does not listen in it.",
		"export CLAUDE_MEM_DATA_DIR=/a/shorter/path, so that the socket is in the data directory", ""},

	// spool
	{"spool-waiting", Warn, "Deliveries of hooks wait in the spool; the worker takes them in when it starts.",
		"claude-mem worker start", RemedyStart},
	{"spool-unreadable", Fail, "Files in the spool cannot be read, so that what they hold is not remembered.",
		"chmod 700 {spool} && chmod 600 {spool}/*.json", RemedyModes},
	{"spool-corrupt", Warn, "Deliveries that could not be understood were set aside.",
		"look at them, then rm -r {spool}/corrupt", ""},
	{"spool-newer", Warn, "Deliveries of a newer hook wait for a newer worker.",
		"install the newer claude-mem, then claude-mem worker restart", ""},
	{"spool-unwritable", Fail, "Hooks cannot write into the spool: what happens while the worker is away is lost.",
		"chmod 700 {spool}", RemedyModes},

	// database
	{"database-damaged", Fail, "memory.db is damaged. It is left as it is, and hooks spool what happens meanwhile. Moved aside it is kept for whoever can read it, and a new memory begins.",
		"claude-mem worker stop; mkdir -p {dir}/damaged && mv {dir}/memory.db* {dir}/damaged/", ""},
	{"database-newer", Fail, "A newer claude-mem has written the database. This one does not touch it.",
		"install the newer claude-mem, or export CLAUDE_MEM_DATA_DIR=/another/directory", ""},
	{"database-older", Warn, "The database waits to be brought up to this version, which the worker does when it starts.",
		"claude-mem worker restart", ""},
	{"database-locked", Warn, "Another program holds a lock on the database.",
		"close the program that has {dir}/memory.db open: `fuser {dir}/memory.db` names it", ""},
	{"database-unreadable", Fail, "The database cannot be opened.",
		"chmod 600 {dir}/memory.db", RemedyModes},
	{"database-log-large", Warn, "The write-ahead log of the database has grown large: something keeps it from being copied back.",
		"claude-mem worker restart", ""},

	// books
	{"books-unbalanced", Fail, "The books of the queue do not balance: an event was lost or counted twice, a fault of claude-mem.",
		"please report it, with what `claude-mem stats --json` prints", ""},

	// queue
	{"dead-letters", Warn, "Events could not be distilled in several tries. They are kept.",
		"claude-mem queue retry", ""},
	{"queue-stuck", Warn, "Events have been in work for long, and nobody has finished them.",
		"claude-mem worker restart", RemedyRestart},
	{"queue-waiting", Warn, "Events have waited for long to be distilled.",
		"claude-mem queue", ""},

	// index
	{"index-missing", Warn, "There is no search index: searches find by filters alone.",
		"claude-mem reindex", RemedyReindex},
	{"index-failed", Warn, "The search index cannot be used: it is damaged or of another version.",
		"claude-mem reindex", RemedyReindex},
	{"index-behind", Warn, "The newest records are not found by searches yet.",
		"claude-mem reindex", RemedyReindex},
	{"embedder-failing", Warn, "The embedder does not answer, so that searches go by words alone.",
		"claude-mem config get CLAUDE_MEM_EMBEDDER_BASE_URL", ""},

	// provider
	{"key-missing", Fail, "The provider that the settings name has no API key.",
		"claude-mem config set {key} YOUR_KEY", ""},
	{"key-refused", Fail, "The provider refuses the API key.",
		"claude-mem config set {key} YOUR_KEY", ""},
	{"login-refused", Fail, "The claude CLI is not logged in.",
		"run claude and type /login", ""},
	{"provider-quota", Warn, "The provider says that its quota or credit is used up. What was captured waits, then it is remembered without a model.",
		"wait, or claude-mem config set CLAUDE_MEM_PROVIDER offline", ""},
	{"provider-away", Warn, "The provider does not answer, or asks to be called less often. What was captured waits, then it is remembered without a model.",
		"claude-mem worker logs", ""},
	{"calls-failing", Warn, "The newest call of the model failed.",
		"claude-mem worker logs", ""},

	// caps
	{"cap-day", Warn, "The tokens of the day are used up: until midnight sessions are remembered without a model.",
		"wait until midnight, or claude-mem config set CLAUDE_MEM_DAILY_TOKEN_CAP {more}", ""},
	{"cap-session", Warn, "A session has used the tokens that it may have; the rest of it is remembered without a model.",
		"claude-mem config set CLAUDE_MEM_SESSION_TOKEN_CAP {more}", ""},

	// private
	{"private-not-directory", Warn, "A file is where the marks of private turns should be. They are kept in the temporary directory instead.",
		"mv {path} {path}.aside", ""},
	{"private-left", Warn, "Marks of private turns were left behind. A session that has one is not captured until its next prompt.",
		"claude-mem doctor --fix", RemedyMarks},

	// log
	{"hook-errors", Warn, "Hooks have met errors in the last day.",
		"tail -n 20 {path}", ""},
	{"event-lost", Fail, "A hook could neither deliver nor spool an event in the last day: it is lost.",
		"tail -n 20 {path}", ""},
	{"log-large", Warn, "The hooks' log has grown large: it cannot be set aside.",
		"mv {path} {path}.1", ""},
}
