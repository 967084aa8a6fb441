package claudedir

import (
	"path/filepath"
	"strings"
	"testing"
)

// The names were made by the CLI 2.1.197.
func TestSlug(t *testing.T) {
	long := strings.Repeat("l", 120) + "/" + strings.Repeat("k", 120)
	for dir, want := range map[string]string{
		"/tmp/x/observer":          "-tmp-x-observer",
		"/tmp/x/ä_b.c d/😀x-1":      "-tmp-x---b-c-d---x-1",
		"/tmp/x/e\u0301nfd":        "-tmp-x-e-nfd",
		"/tmp/x/" + long:           "-tmp-x-" + strings.Repeat("l", 120) + "-" + strings.Repeat("k", 72) + "-p7hcfj",
		`C:\Users\u\.claude-mem\o`: "C--Users-u--claude-mem-o",
	} {
		if got := slug(dir); got != want {
			t.Errorf("slug(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	if got, want := MemoryFile("/home/u/.claude", "/work/my.app"), filepath.FromSlash("/home/u/.claude/projects/-work-my-app/memory/MEMORY.md"); got != want {
		t.Errorf("MemoryFile = %q, want %q", got, want)
	}
	if got, want := Transcripts("/home/u/.claude", "/work/my.app"), filepath.FromSlash("/home/u/.claude/projects/-work-my-app"); got != want {
		t.Errorf("Transcripts = %q, want %q", got, want)
	}
}

// TestSwitches: the variables with which the CLI 2.1.197 left the files out.
func TestSwitches(t *testing.T) {
	for _, c := range []struct {
		name, value          string
		instructions, memory bool
	}{
		{"", "", true, true},
		{"CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1", false, false},
		{"CLAUDE_CODE_DISABLE_CLAUDE_MDS", "0", true, true},
		{"CLAUDE_CODE_DISABLE_AUTO_MEMORY", "true", true, false},
		{"CLAUDE_CODE_DISABLE_AUTO_MEMORY", "false", true, true},
		{"CLAUDE_CODE_SIMPLE", "1", false, false},
		{"CLAUDE_CODE_REMOTE_MEMORY_DIR", "/elsewhere", true, false},
		{"CLAUDE_COWORK_MEMORY_INDEX_CONTENT", "text", true, false},
	} {
		getenv := func(key string) string {
			if key == c.name {
				return c.value
			}
			return ""
		}
		if got := LoadsInstructions(getenv); got != c.instructions {
			t.Errorf("%s=%s: LoadsInstructions = %v, want %v", c.name, c.value, got, c.instructions)
		}
		if got := LoadsMemory(getenv); got != c.memory {
			t.Errorf("%s=%s: LoadsMemory = %v, want %v", c.name, c.value, got, c.memory)
		}
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		env, home, want string
		moved           bool
	}{
		{"", dir, filepath.Join(dir, ".claude"), false},
		{filepath.Join(dir, "c"), dir, filepath.Join(dir, "c"), true},
		{"", "", "", false},
	} {
		got, moved := Config(func(key string) string {
			if key == "CLAUDE_CONFIG_DIR" {
				return c.env
			}
			return ""
		}, c.home)
		if got != c.want || moved != c.moved {
			t.Errorf("Config(%q, %q) = %q, %v", c.env, c.home, got, moved)
		}
	}
}
