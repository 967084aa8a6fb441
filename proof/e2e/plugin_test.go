//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/run/recorded"
)

const lookUp = "How did we get TestBurstIsTheCeiling green? Look it up, do not try it out."

// theirSettings is laid out as no program does it, and has a plugin of the user's own.
const theirSettings = `{
    "permissions": {"allow": ["Bash(ls)", "Bash(go test:*)"]},
        "env": { "GREETING" : "hello" }
}`

// maxInstalled bounds what an installation takes on disk, in bytes: both programs once
// and the plugin's text files.
const maxInstalled = 47e6

// installed puts the plugin into the CLI of this home: the user has a marketplace and a
// plugin already. First in and out again with nothing between, then in to stay.
const installed = `set -eu
mkdir -p "$HOME/theirs/.claude-plugin" "$HOME/theirs/helper/.claude-plugin" "$HOME/theirs/helper/commands"
echo '{"name": "theirs", "owner": {"name": "dev"}, "plugins": [{"name": "helper", "source": "./helper"}]}' >"$HOME/theirs/.claude-plugin/marketplace.json"
echo '{"name": "helper", "version": "1.0.0", "description": "Helps", "author": {"name": "dev"}}' >"$HOME/theirs/helper/.claude-plugin/plugin.json"
printf -- '---\ndescription: Help\n---\nHelp.\n' >"$HOME/theirs/helper/commands/help.md"
claude plugin marketplace add "$HOME/theirs"
claude plugin install helper@theirs
cp "$out/their-settings.json" "$HOME/.claude/settings.json"
claude plugin enable helper@theirs || true # the settings that had it are gone
sed -i 's/GREETING":/GREETING" :/' "$HOME/.claude/settings.json" # no layout of the CLI's
cp -R "$HOME/.claude" "$out/before"
"$program" install --yes
"$program" uninstall --yes
cp -R "$HOME/.claude" "$out/in-and-out"
"$program" install --yes
cp -R "$HOME/.claude" "$out/installed"
claude plugin validate --strict "$HOME/.claude-mem/marketplace/claude-mem" >"$out/validate.txt"
claude plugin validate --strict "$HOME/.claude-mem/marketplace" >>"$out/validate.txt"
claude plugin list --json >"$out/plugins.json"
du -sb "$HOME/.claude-mem" "$HOME/.claude/plugins" | awk '{ n += $1 } END { print n }' >"$out/installed-bytes"
`

// uninstalled takes it out again, twice.
const uninstalled = idle + `"$program" uninstall --yes &&
"$program" uninstall --yes 2>&1 | grep -q "Nothing to do" &&
"$program" search TestBurstIsTheCeiling --json >"$out/remembered.json" &&
"$program" worker stop`

// TestPlugin has the real CLI install the plugin (accept-install, point 2): its
// sessions have tools and skill, what an earlier one did is found with them, and then
// nothing of ours is left.
func TestPlugin(t *testing.T) {
	words := strings.Fields(script(t, "--cli"))
	bin := filepath.Join(buildPlugin(t), "bin")
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "claude"), []byte("#!/bin/sh\nexec '"+strings.Join(words, "' '")+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := recorded.CopyFiles(project, "ratelimit"); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".claude-mem", "config.json"), `{"CLAUDE_MEM_PROVIDER":"offline"}`)
	write(filepath.Join(out, "their-settings.json"), theirSettings)
	args := []string{"--plugin", "", "--scenario", filepath.Join("testdata", "plugin.json"),
		"--project", project, "--home", home, "--out", out, "--timeout", "120",
		"--env", "PATH=" + tools + ":" + os.Getenv("PATH"), "--env", "program=" + filepath.Join(bin, "claude-mem"),
		"--env", "GOCACHE=" + goEnv(t, "GOCACHE"), "--env", "GOFLAGS=-count=1 -buildvcs=false", "--env", "GOTOOLCHAIN=local",
		"--between", installed, "--prompt", fix, "--between", idle, "--new-session", "--prompt", lookUp, "--after", uninstalled}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)

	checkInstalled(t, out)
	checkOffered(t, out)
	checkLookedUp(t, out)
	checkNothingLeft(t, out)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkInstalled looks at what the CLI itself says of the plugin.
func checkInstalled(t *testing.T, out string) {
	t.Helper()
	var plugins []struct {
		ID      string `json:"id"`
		Enabled bool   `json:"enabled"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(out, "plugins.json")), &plugins); err != nil {
		t.Fatal(err)
	}
	var enabled []string
	for _, p := range plugins {
		if p.Enabled {
			enabled = append(enabled, p.ID)
		}
	}
	slices.Sort(enabled)
	if want := []string{"claude-mem@claude-mem-local", "helper@theirs"}; !slices.Equal(enabled, want) {
		t.Errorf("enabled plugins %q, want %q", enabled, want)
	}
	valid := bytes.Count(readFile(t, filepath.Join(out, "validate.txt")), []byte("Validation passed"))
	if valid != 2 {
		t.Errorf("claude plugin validate --strict: %s", readFile(t, filepath.Join(out, "validate.txt")))
	}
	met(t, 2, "installed by the CLI, %d of 2 manifests valid (--strict)", valid)
	size, err := strconv.ParseFloat(strings.TrimSpace(string(readFile(t, filepath.Join(out, "installed-bytes")))), 64)
	if err != nil {
		t.Fatal(err)
	}
	if size > maxInstalled {
		t.Errorf("the installation takes %.1f MB, want at most %.0f", size/1e6, maxInstalled/1e6)
	}
	met(t, 1, "data directory and the CLI's plugins together %.1f MB (bar %.0f)", size/1e6, maxInstalled/1e6)
}

// turns are the answers of the script with their requests: what the model had seen.
func turns(t *testing.T, out string) (all []request) {
	t.Helper()
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if r.Kind == "turn" {
			all = append(all, r)
		}
	}
	if len(all) != 10 {
		t.Fatalf("%d turns were asked for, want 10", len(all))
	}
	return all
}

// checkOffered looks at the first request of each session.
func checkOffered(t *testing.T, out string) {
	t.Helper()
	all := turns(t, out)
	offered := 0
	for _, n := range []int{0, 5} {
		var body struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(all[n].Body, &body); err != nil {
			t.Fatal(err)
		}
		offered = 0
		for _, tool := range body.Tools {
			if strings.HasPrefix(tool.Name, "mcp__plugin_claude-mem_memory__") {
				offered++
			}
		}
		if offered != 8 {
			t.Errorf("request of turn %d: %d tools of ours, want 8", n, offered)
		}
		seen := strings.Join(texts(t, all[n].Body), "\n")
		for what, text := range map[string]string{
			"skill":                   "claude-mem:mem-search: Searches claude-mem's memory",
			"instructions of the MCP": "claude-mem remembers what was done in earlier sessions",
		} {
			if !strings.Contains(seen, text) {
				t.Errorf("request of turn %d has no %s: %q", n, what, text)
			}
		}
	}
	met(t, 2, "a session's first request has %d tools of ours and the skill", offered)
}

// checkLookedUp looks at what the second session got for its calls.
func checkLookedUp(t *testing.T, out string) {
	t.Helper()
	all := turns(t, out)
	for _, call := range []struct {
		name string
		turn int // the one that was asked for with the call's result
		says []string
	}{
		{"skill", 6, []string{"# Memory search", "## Workflow"}},
		{"claude-mem search", 7, []string{"#1", "TestBurstIsTheCeiling"}},
		{"search_memory", 8, []string{"#1 ", "TestBurstIsTheCeiling", "get_observations"}},
		{"get_observations", 9, []string{"#1 ", "bucket.go", "go test ./..."}},
	} {
		got := lastSaid(t, all[call.turn])
		for _, want := range call.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", call.name, want, got)
			}
		}
	}
	met(t, 2, "search_memory, then get_observations returned what the first session did")
}

// lastSaid is the last message of a request: the results of the calls before.
func lastSaid(t *testing.T, r request) string {
	t.Helper()
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil || len(body.Messages) == 0 {
		t.Fatalf("%d messages: %v", len(body.Messages), err)
	}
	return strings.Join(texts(t, body.Messages[len(body.Messages)-1]), "\n")
}

// checkNothingLeft compares the CLI's directory with what it was, twice: after in and
// out with nothing between, and after two sessions.
func checkNothingLeft(t *testing.T, out string) {
	t.Helper()
	before := files(t, filepath.Join(out, "before"))
	inAndOut := files(t, filepath.Join(out, "in-and-out"))
	after := files(t, filepath.Join(out, "home", ".claude"))
	for name := range before {
		if strings.HasPrefix(name, "backups/") { // the CLI's, of its own state
			delete(before, name)
		}
	}
	for name := range after {
		// Transcripts, which have what was said, and the CLI's backups of its own state, which it
		// makes now and then.
		if strings.HasPrefix(name, "projects/") || strings.HasPrefix(name, "backups/.claude.json.backup.") {
			delete(after, name)
		}
	}
	if len(before) < 3 { // settings.json and the books of plugins and of marketplaces
		t.Errorf("only %d files to compare", len(before))
	}
	same := 0
	for name, text := range before {
		for when, now := range map[string]map[string]string{"install and uninstall": inAndOut, "two sessions and uninstall": after} {
			if got, there := now[name]; !there || got != text {
				t.Errorf("after %s %s is\n%s\nwant\n%s", when, name, got, text)
			} else {
				same++
			}
		}
	}
	if before["settings.json"] == "" || before["settings.json"] == files(t, filepath.Join(out, "installed"))["settings.json"] {
		t.Error("settings.json proves nothing: installing did not change it")
	}
	ours := 0
	for name, text := range after {
		if strings.Contains(name, "claude-mem") || strings.Contains(text, "claude-mem") {
			t.Errorf("%s is left, or names us: %s", name, text)
			ours++
		}
	}
	checkState(t, readFile(t, filepath.Join(out, "home", ".claude.json")))
	if _, err := os.Stat(filepath.Join(out, "home", ".claude-mem", "marketplace")); !os.IsNotExist(err) {
		t.Errorf("the marketplace is still there: %v", err)
	}
	var found struct {
		Total int `json:"total"`
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(out, "remembered.json")), &found); err != nil || found.Total == 0 {
		t.Errorf("the memory did not survive: %v, %d found", err, found.Total)
	}
	met(t, 2, "uninstalled: %d entries of ours in %d files, %d comparisons byte-identical", ours, len(after), same)
}

// checkState looks for us in the CLI's state.
func checkState(t *testing.T, text []byte) {
	t.Helper()
	var state map[string]json.RawMessage
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	for key, value := range state {
		if bytes.Contains(value, []byte("claude-mem")) {
			t.Errorf("%s of .claude.json names us: %s", key, value)
		}
	}
}

// met prints what `make accept-install` shows for a point that is met.
func met(t *testing.T, point int, format string, args ...any) {
	t.Helper()
	if !t.Failed() {
		t.Logf("point %d: %s", point, fmt.Sprintf(format, args...))
	}
}

// files reads a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("read %s: %w", dir, err))
	}
	return all
}
