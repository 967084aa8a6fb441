package claudedir

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Config returns the configuration directory, and whether CLAUDE_CONFIG_DIR names it;
// "" when there is no home directory. A relative name counts from the current directory,
// as for Claude Code.
func Config(getenv func(string) string, home string) (dir string, moved bool) {
	if dir = getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return dir, true
	}
	if home == "" {
		return "", false
	}
	return filepath.Join(home, ".claude"), false
}

// Transcripts returns the directory of the transcripts of sessions that were started in
// dir, which is absolute and without symbolic links.
func Transcripts(config, dir string) string {
	return filepath.Join(config, "projects", slug(dir))
}

// MemoryFile returns the index of Claude Code's own memory of a project. The project is
// the root of its main worktree, or the directory itself outside of git.
func MemoryFile(config, project string) string {
	return filepath.Join(config, "projects", slug(project), "memory", "MEMORY.md")
}

// maxSlug is the length above which a directory's name is shortened.
const maxSlug = 200

// slug returns the CLI's name for a directory: each UTF-16 unit that is no ASCII
// letter or digit becomes a hyphen; a name above 200 is cut and gets a hash of the
// whole (seen in 2.1.197, short ones also in 2.0.60). Different directories may have one name.
func slug(dir string) string {
	units := utf16.Encode([]rune(dir))
	var b strings.Builder
	var hash int32
	for _, u := range units {
		hash = hash*31 + int32(u)
		if u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z' {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= maxSlug {
		return b.String()
	}
	return b.String()[:maxSlug] + "-" + strings.TrimPrefix(strconv.FormatInt(int64(hash), 36), "-")
}

// LoadsInstructions reports whether Claude Code loads CLAUDE.md files in this environment.
func LoadsInstructions(getenv func(string) string) bool {
	return !IsOn(getenv("CLAUDE_CODE_DISABLE_CLAUDE_MDS")) && !IsOn(getenv("CLAUDE_CODE_SIMPLE"))
}

// LoadsMemory reports whether Claude Code loads its own memory of a project from the
// configuration directory in this environment: it loads none, or one from elsewhere, where the
// environment says so.
func LoadsMemory(getenv func(string) string) bool {
	for _, elsewhere := range []string{"CLAUDE_CODE_REMOTE_MEMORY_DIR", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "CLAUDE_COWORK_MEMORY_INDEX_CONTENT"} {
		if getenv(elsewhere) != "" {
			return false
		}
	}
	return LoadsInstructions(getenv) && !IsOn(getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY"))
}

// IsOn reports whether a variable that is a switch is on: set to anything but 0, false, no or off.
func IsOn(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}
