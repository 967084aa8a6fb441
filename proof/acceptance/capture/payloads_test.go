//go:build unix

package capture

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"
)

// answering are the events whose hooks may answer with additionalContext.
var answering = map[string]bool{"SessionStart": true, "UserPromptSubmit": true, "PostToolUse": true, "PostToolUseFailure": true}

// TestPayloads sends every recorded payload of Claude Code, and what no host
// should ever send, through the hook binary: with a worker, without one, and
// with a data directory that cannot be written.
func TestPayloads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(world.Root("testdata", "claude-code-hooks", "*.json"))
	if err != nil || len(files) < 70 {
		t.Fatalf("%d payloads found (%v)", len(files), err)
	}
	payloads := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		payloads[strings.TrimSuffix(filepath.Base(f), ".json")] = b
	}
	big := append([]byte(`{"session_id":"big","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"x"},"tool_response":{"stdout":"`),
		append(bytes.Repeat([]byte("0123456789abcde\\n"), 20<<20/17), `"}}`...)...)
	for name, b := range map[string][]byte{
		"bad-empty":           nil,
		"bad-20MB":            big,
		"bad-20MB-garbage":    bytes.Repeat([]byte{0xff, 0, '{', '"'}, 5<<20),
		"bad-text":            []byte("hello, this is not JSON"),
		"bad-truncated":       payloads["PostToolUse-Edit"][:300],
		"bad-array":           []byte(`[1,2,3]`),
		"bad-null":            []byte(`null`),
		"bad-types":           []byte(`{"session_id":7,"hook_event_name":["PostToolUse"],"tool_name":{},"tool_input":"x","tool_response":5,"cwd":false,"prompt":{}}`),
		"bad-types-known":     []byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":5,"tool_input":[],"tool_response":null,"cwd":9}`),
		"bad-no-session":      []byte(`{"hook_event_name":"PostToolUse","tool_name":"Bash"}`),
		"bad-lone-surrogates": []byte(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"\ud800 \udfff \ud83d","cwd":"/tmp"}`),
		"bad-nuls":            []byte(`{"session_id":"s\u0000","hook_event_name":"UserPromptSubmit","prompt":"a\u0000b` + "\x00" + `","cwd":"/tmp\u0000"}`),
		"bad-nul-escapes":     []byte(`{"session_id":"s2","hook_event_name":"UserPromptSubmit","prompt":"a\u0000b","cwd":"/tmp"}`),
		"bad-deep":            []byte(strings.Repeat(`{"a":`, 100000)),
		"bad-two-objects":     append(append([]byte(nil), payloads["Stop"]...), payloads["Stop"]...),
		"bad-unknown-event":   []byte(`{"session_id":"s","hook_event_name":"Tomorrow","cwd":"/tmp"}`),
	} {
		payloads[name] = b
	}

	conditions := []struct {
		name  string
		setup func(m *world.Memory)
	}{
		{"worker up", func(m *world.Memory) { m.MustCommand("worker", "start") }},
		{"no worker", func(*world.Memory) {}},
		{"directory not writable", func(m *world.Memory) {
			// Even root cannot make entries below a file.
			if err := os.RemoveAll(m.Dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(m.Dir, []byte("in the way"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	verbs := []string{"", "context", "new", "save", "summary", "end"}
	for _, c := range conditions {
		t.Run(c.name, func(t *testing.T) {
			m := world.NewMemory(t)
			c.setup(m)
			runs, answers := 0, 0
			for name, payload := range payloads {
				for _, verb := range verbs {
					if len(payload) > 1<<20 && verb != "" && verb != "save" {
						continue // 20 MB through two verbs is enough
					}
					r := m.Hook(verb, payload)
					runs++
					if r.Exit != 0 || len(r.Stderr) != 0 {
						t.Errorf("%s, verb %q: exit %d, stderr %q", name, verb, r.Exit, r.Stderr)
					}
					if len(r.Stdout) == 0 {
						continue
					}
					answers++
					checkAnswer(t, name+" "+verb, payload, r.Stdout)
				}
			}
			world.Figure(t, 3, "%s: %d payloads, %d runs, %d answers: exit 0, stderr empty, stdout empty or one object of its event", c.name, len(payloads), runs, answers)
		})
	}
}

func checkAnswer(t *testing.T, name string, payload, stdout []byte) {
	t.Helper()
	var in struct {
		Event string `json:"hook_event_name"`
	}
	_ = json.Unmarshal(payload, &in) // a payload without an event may have no answer: checked below
	var out struct {
		Specific *struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
		SystemMessage string `json:"systemMessage"`
	}
	dec := json.NewDecoder(bytes.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Errorf("%s: stdout is not the object it should be: %v: %.200s", name, err, stdout)
		return
	}
	if dec.More() {
		t.Errorf("%s: more than one object on stdout: %.200s", name, stdout)
	}
	if !answering[in.Event] {
		t.Errorf("%s: event %q must get no answer, got %.200s", name, in.Event, stdout)
	}
	if out.Specific != nil && out.Specific.Event != in.Event {
		t.Errorf("%s: answer for %q to event %q", name, out.Specific.Event, in.Event)
	}
}
