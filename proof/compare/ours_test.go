//go:build linux

package compare

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/capture/hook"
	"claudemem/proof/acceptance/world"
	"claudemem/proof/bench/process"
)

// hostEvents is what Claude Code calls the events.
var hostEvents = map[string]string{ofTool: "PostToolUse", ofPrompt: "UserPromptSubmit", ofStop: "Stop"}

// lines reads the commands of a hooks.json, by event: the last one of each.
func lines(t *testing.T, hooksJSON []byte) map[string]string {
	t.Helper()
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	world.Must(t, json.Unmarshal(hooksJSON, &file))
	found := map[string]string{}
	for event, matchers := range file.Hooks {
		for _, m := range matchers {
			for _, h := range m.Hooks {
				found[event] = h.Command
			}
		}
	}
	return found
}

// newOurs returns a memory that runs the programs as they are shipped.
func newOurs(t *testing.T, binaries process.Binaries) *world.Memory {
	t.Helper()
	m := world.NewMemory(t)
	m.Programs = filepath.Dir(binaries.Big)
	m.Env = slices.DeleteFunc(m.Env, func(entry string) bool { return strings.HasPrefix(entry, "CLAUDE_MEM_SLACK=") })
	m.MustCommand("worker", "start")
	return m
}

// measureOurs times the hook of a tool event and counts what kills leave.
func measureOurs(t *testing.T, r *report, binaries process.Binaries) {
	commands := lines(t, hook.HooksJSON("linux", binaries.Hook))
	m := newOurs(t, binaries)
	r.timeHook(t, ours, "PostToolUse", "waits", "/bin/sh", commands["PostToolUse"], binaries.Empty, m.Env, toolPayload("compare-hooks", m.Home))

	m = newOurs(t, binaries)
	start := func() error {
		_, err := m.Command("worker", "start")
		return err
	}
	u := under{name: ours, pid: m.WorkerPID, start: start, cwd: m.Home, hook: func(kind string, input []byte) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", commands[hostEvents[kind]])
		cmd.Env, cmd.Dir, cmd.Stdin = m.Env, m.Home, bytes.NewReader(input)
		return cmd
	}}
	row := u.kill(t)
	m.Settle(2 * time.Minute)
	const processed = "FROM events WHERE kind = 'tool' AND outcome = 'processed'"
	row.There = m.QueryOne("SELECT count(*) " + processed)
	row.Doubled = row.There - m.QueryOne("SELECT count(DISTINCT event_key) "+processed)
	row.Note = "events that are in its books as processed"
	files := map[string]bool{}
	m.Query(func(rows *sql.Rows) error {
		var path string
		err := rows.Scan(&path)
		files[filepath.Base(path)] = true
		return err
	}, "SELECT path FROM observation_files WHERE path LIKE ?", "%"+killSession+"-%.go")
	row.Named = len(files)
	r.Kills = append(r.Kills, row)
}
