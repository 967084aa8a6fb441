//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// startLine is the line that the user reads in the second session of play, with the address of what the agent was given.
var startLine = regexp.MustCompile(`^claude-mem: 1 observation; last: The bucket is now capped at its burst on refill.*, (just now|\d+m ago)\nWhat the agent was given: http://127\.0\.0\.1:\d+/given$`)

// TestStartLine checks the line that the user reads at the start of a session: in the real
// CLI's message of the hook, in none of its requests; none of an empty memory, and none
// once the setting turns it off.
func TestStartLine(t *testing.T) {
	plugin := buildPlugin(t)
	out := play(t, plugin, "--prompt", fix, "--between", settled,
		"--new-session", "--prompt", resume,
		"--between", `"$plugin/../bin/claude-mem" config set START_LINE off`,
		"--new-session", "--prompt", resume, "--after", settled)
	if t.Failed() {
		return
	}
	said := startMessages(t, out)
	if len(said) != 3 || said[0] != "" || !startLine.MatchString(said[1]) || said[2] != "" {
		t.Fatalf("at the starts of three sessions the user is told %q, want a line like %s in the second alone", said, startLine)
	}
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if len(r.Body) == 0 {
			continue // a HEAD
		}
		for _, text := range texts(t, r.Body) {
			if strings.Contains(text, "claude-mem: 1 observation") {
				t.Errorf("the model reads the line: %.300q", text)
			}
		}
	}
	t.Logf("point 2: %q in the second session; none for an empty memory, none with START_LINE=off, in no request", said[1])
}

// startMessages returns what the SessionStart hooks of a run told the user.
func startMessages(t *testing.T, out string) []string {
	t.Helper()
	var said []string
	for _, r := range readLines[struct {
		Event  string `json:"hook_event"`
		Stdout string `json:"stdout"`
	}](t, filepath.Join(out, "hook-results.jsonl")) {
		if r.Event != "SessionStart" {
			continue
		}
		var reply struct {
			SystemMessage string `json:"systemMessage"`
		}
		if strings.TrimSpace(r.Stdout) != "" {
			if err := json.Unmarshal([]byte(r.Stdout), &reply); err != nil {
				t.Fatalf("%v in %q", err, r.Stdout)
			}
		}
		said = append(said, reply.SystemMessage)
	}
	return said
}
