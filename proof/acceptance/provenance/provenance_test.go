//go:build unix

package provenance

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// markCase is a call of the table with the calls before it, and its mark.
type markCase struct {
	line, want string
	calls      []map[string]any // of payloads
}

// markCases parses testdata/provenance/calls.txt.
func markCases(t *testing.T) (cases []markCase) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "provenance", "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var before []map[string]any
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		fields := strings.SplitN(line, "\t", 3)
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		tool, agent, _ := strings.Cut(fields[1], " by ")
		input, response := map[string]any{}, map[string]any{}
		switch raw := strings.ReplaceAll(fields[2], "⏎", "\n"); {
		case strings.HasPrefix(raw, `{"`):
			if err := json.Unmarshal([]byte(raw), &input); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			response["questions"], response["answers"] = input["questions"], input["answers"]
		case tool == "Bash":
			input["command"] = raw
		case tool == "Agent":
			response["status"], response["agentId"] = "completed", strings.TrimPrefix(raw, "agent ")
		case tool == "Grep" || tool == "Glob":
			input["pattern"] = raw
		default:
			input["file_path"] = raw
		}
		call := map[string]any{"tool_name": tool, "tool_input": input, "tool_response": response}
		if agent != "" {
			call["agent_id"] = agent
		}
		if before = append(before, call); fields[0] != "-" {
			cases = append(cases, markCase{line, fields[0], before})
			before = nil
		}
	}
	return cases
}

// TestProvenanceTable sends each call of the table through the hook and the worker, in a real
// repository, and compares the mark that the worker gives it when it is distilled.
func TestProvenanceTable(t *testing.T) {
	t.Parallel()
	cases := markCases(t)
	m := world.NewMemory(t)
	// Not below /tmp, of which nobody knows who wrote what.
	home, err := os.MkdirTemp("/var/tmp", "claude-mem-provenance-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	setup := exec.Command("sh", filepath.Join("testdata", "provenance", "repository.sh"), home)
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	api := world.NewStandIn(t, func(*world.Asked) world.Reply { return world.Reply{Text: "no idea"} })
	m.Configure(api.With("openai", "SESSION_TOKEN_CAP", "1", "SKIP_TOOLS", "none")) // keeps what no model has read, with its mark
	m.MustCommand("worker", "start")
	for i, c := range cases {
		h := &world.Host{M: m, ID: fmt.Sprint("case-", i), Project: filepath.Join(home, "shop")}
		h.Prompt("Go on.")
		for n, call := range c.calls {
			p := h.Payload("PostToolUse")
			p["tool_use_id"] = fmt.Sprint(i, "-", n)
			for key, value := range call {
				p[key] = value
			}
			h.Send("save", p)
		}
		h.Stop()
	}
	m.Settle(world.SettleLimit)
	marks := map[string][]string{}
	m.Query(func(rows *sql.Rows) error {
		var session, mark string
		err := rows.Scan(&session, &mark)
		marks[session] = append(marks[session], mark)
		return err
	}, `SELECT s.host_session_id, u.provenance FROM unread_messages u JOIN events e ON e.id = u.event_id JOIN sessions s ON s.id = e.session_id
		WHERE e.kind = 'tool' ORDER BY e.occurred_at, e.delivery_id, e.id`)
	wrong, byMark := 0, map[string]int{}
	for i, c := range cases {
		got := marks[fmt.Sprint("case-", i)]
		if len(got) != len(c.calls) || got[len(got)-1] != c.want {
			wrong++
			t.Errorf("%s: got %q", c.line, got)
		}
		byMark[c.want]++
	}
	t.Logf("point 2: %d calls of %d have another mark than expected (%d of the project, %d outside, %d of the web, %d unknown)",
		wrong, len(cases), byMark["project"], byMark["outside"], byMark["web"], byMark["unknown"])
}
