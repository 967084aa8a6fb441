package settings

import (
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// DataDirKey is the environment variable that moves the data directory. It is
// not in the table: the file it would be read from lies in that directory.
const DataDirKey = "CLAUDE_MEM_DATA_DIR"

// DataDir returns the absolute path of the data directory: CLAUDE_MEM_DATA_DIR
// (with ~ for the home directory, relative to the current directory if it is relative), else
// .claude-mem in the home directory; "" when there is neither. It is not made.
func DataDir(getenv func(string) string) string {
	home := HomeDir(getenv)
	dir := getenv(DataDirKey)
	switch {
	case dir == "" && home == "":
		return ""
	case dir == "":
		dir = filepath.Join(home, ".claude-mem")
	case home != "" && (dir == "~" || strings.HasPrefix(dir, "~/")):
		dir = filepath.Join(home, dir[1:])
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Slack returns the time that CLAUDE_MEM_SLACK, a duration like "10s", adds to the deadlines by
// which hooks, context blocks, recall and completions answer, at most a minute: for tests on a
// busy machine. It is 0 for anything else.
func Slack(getenv func(string) string) time.Duration {
	slack, err := time.ParseDuration(getenv("CLAUDE_MEM_SLACK"))
	if err != nil {
		return 0
	}
	return min(max(slack, 0), time.Minute)
}

// HomeDir returns the home directory by the environment, "" if it is not set.
func HomeDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}
