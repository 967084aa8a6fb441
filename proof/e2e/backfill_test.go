//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBackfillOfRealSessions plays sessions through the real CLI with the plugin: an import of
// the transcripts that the CLI has written adds nothing to what the hooks have captured, and a
// new memory gets the same records of them.
func TestBackfillOfRealSessions(t *testing.T) {
	plugin := buildPlugin(t)
	out := t.TempDir()
	script(t, "--plugin", plugin, "--scenario", filepath.Join("..", "fakeanthropic", "examples", "tools.json"), "--out", filepath.Join(out, "run"),
		"--prompt", "Work through the list", "--prompt", "And what did you find?", "--new-session", "--prompt", "Once more, in another session",
		"--env", "CLAUDE_MEM_PROVIDER=offline",
		"--between", `mkdir -p -m 700 "$HOME/.claude-mem" && echo '{"CLAUDE_MEM_PROVIDER":"offline","CLAUDE_MEM_WORKER_PORT":"0"}' >"$HOME/.claude-mem/config.json"`,
		"--after", `(`+settled+`) || exit 1
p="$plugin/bin/claude-mem"
"$p" import "$HOME/.claude/projects" --json >"$out/over.json" || exit 1
"$p" recent --all --json -n 50 >"$out/live.json" || exit 1
mkdir -m 700 "$out/fresh" && cp "$HOME/.claude-mem/config.json" "$out/fresh" && export CLAUDE_MEM_DATA_DIR="$out/fresh"
"$p" import "$HOME/.claude/projects" --json >"$out/new.json" || exit 1
"$p" recent --all --json -n 50 >"$out/past.json" || exit 1`)
	run := filepath.Join(out, "run")
	type counts struct{ Prompts, Tools, Stops int }
	var over, fresh struct{ Added, Present counts }
	read(t, filepath.Join(run, "over.json"), &over)
	read(t, filepath.Join(run, "new.json"), &fresh)
	// A subagent's end and the call that it answers are one event.
	if over.Added != (counts{}) || fresh.Present != (counts{Tools: 2}) || over.Present != (counts{fresh.Added.Prompts, fresh.Added.Tools + 2, fresh.Added.Stops}) {
		t.Errorf("over what the hooks have captured %+v; into a new memory %+v", over, fresh)
	}
	type record struct {
		Type          string
		Title         string
		Subtitle      string
		Facts         []string
		FilesRead     []string `json:"files_read"`
		FilesModified []string `json:"files_modified"`
	}
	var live, past struct{ Results []record }
	read(t, filepath.Join(run, "live.json"), &live)
	read(t, filepath.Join(run, "past.json"), &past)
	if len(live.Results) == 0 {
		t.Error("the hooks have left no record")
	}
	if diff := cmp.Diff(live, past); diff != "" {
		t.Errorf("the records differ (-hooks +transcripts):\n%s", diff)
	}
	t.Logf("%d prompts, %d tool calls and %d closing messages of 2 sessions: 0 added over live capture, %d records are the same", fresh.Added.Prompts, fresh.Added.Tools, fresh.Added.Stops, len(live.Results))
}

// read reads a JSON file.
func read(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
}
