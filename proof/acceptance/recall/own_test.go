//go:build unix

package recall

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

const contextEnd = "</claude-mem-context>"

// frames makes a memory, and returns what hooks give sessions out of it, by the
// moment at which they do.
func frames(t *testing.T, m *world.Memory) map[string]string {
	t.Helper()
	m.MustCommand("worker", "start")
	project := filepath.Join(m.Home, "till")
	if _, err := m.API().Add(world.Note{
		Project: project, Type: "bugfix", Title: "Fix basket total losing cents in basket.go",
		Narrative: "The basket total was added up as a float and lost cents. Amounts are whole cents now.",
		Facts:     []string{"TestBasketTotal failed with: basket total mismatch, got 1999 want 2000", "Fixed by adding up whole cents in basket.go"},
		Files:     []string{"basket.go"},
	}); err != nil {
		t.Fatal(err)
	}
	m.Indexed(30 * time.Second)
	moments := map[string]map[string]any{
		"SessionStart":     {"source": "startup"},
		"UserPromptSubmit": {"prompt_id": "p1", "prompt": "The basket total loses cents again, why does basket.go add it up as a float?"},
		"PostToolUse": {"tool_name": "Read", "tool_input": map[string]any{"file_path": filepath.Join(project, "basket.go")},
			"tool_response": map[string]any{"type": "text", "file": map[string]any{"content": "package till"}}},
		"PostToolUseFailure": {"tool_name": "Bash", "tool_input": map[string]any{"command": "go test ./..."},
			"error": "Exit code 1\n--- FAIL: TestBasketTotal\n    basket total mismatch, got 1999 want 2000"},
	}
	given := map[string]string{}
	for event, payload := range moments {
		payload["hook_event_name"], payload["cwd"] = event, project
		// A reminder that came too late on a busy machine was not given; the next may be.
		for n := 0; given[event] == "" && n < 20; n++ {
			payload["session_id"], payload["tool_use_id"] = fmt.Sprint("given-", event, n), fmt.Sprint("given-", event, n)
			given[event] = world.InjectedText(t, m.Send("", payload))
		}
		if !strings.Contains(given[event], "basket total losing cents") || !strings.HasSuffix(strings.TrimSpace(given[event]), contextEnd) {
			t.Errorf("%s gave %q", event, given[event])
			delete(given, event)
		}
	}
	return given
}

// ways are how an injected text comes back as something that happened: each
// makes a part of a payload from it. What stands outside the frame is left of it.
var ways = map[string]func(text string) map[string]any{
	"prompt that quotes it": func(text string) map[string]any {
		return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "before it\n" + text + "\nafter it"}
	},
	"prompt that quotes half of it": func(text string) map[string]any {
		return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "before it\n" + strings.TrimSuffix(text, contextEnd)}
	},
	"last message": func(text string) map[string]any {
		return map[string]any{"hook_event_name": "Stop", "last_assistant_message": "before it\n" + text + "\nafter it"}
	},
	"last message of a subagent": func(text string) map[string]any {
		return map[string]any{"hook_event_name": "SubagentStop", "agent_type": "Explore", "last_assistant_message": "before it\n" + text}
	},
	"call of an agent": func(text string) map[string]any {
		return tool("Agent", map[string]any{"description": "before it", "prompt": "Look into this:\n" + text, "subagent_type": "Explore"},
			map[string]any{"status": "completed", "content": []any{map[string]any{"type": "text", "text": text + "\nfound it"}}})
	},
	"transcript read": func(text string) map[string]any {
		return tool("Read", map[string]any{"file_path": "/tmp/before it.jsonl"}, map[string]any{"type": "text",
			"file": map[string]any{"filePath": "/tmp/before it.jsonl", "content": transcript(text, false)}})
	},
	"transcript read, angle brackets escaped": func(text string) map[string]any {
		return tool("Read", map[string]any{"file_path": "/tmp/before it.jsonl"}, map[string]any{"type": "text",
			"file": map[string]any{"filePath": "/tmp/before it.jsonl", "content": transcript(text, true)}})
	},
	"transcript of a transcript": func(text string) map[string]any {
		return bash("cat /tmp/before-it.jsonl", transcript(transcript(text, true), true))
	},
	"cat": func(text string) map[string]any { return bash("cat before it", text) },
	"grep": func(text string) map[string]any {
		return bash("grep -rn cents before it", "a.jsonl:12:"+transcript(text, false)+"b.jsonl:7:"+transcript(text, true))
	},
	"head": func(text string) map[string]any {
		return bash("head -c 900 before it", "first line\n"+text[:len(text)-len(contextEnd)-2])
	},
	"in upper case": func(text string) map[string]any {
		return bash("tr a-z A-Z before it", strings.NewReplacer("<claude-mem-context>", "<CLAUDE-MEM-CONTEXT>", contextEnd, strings.ToUpper(contextEnd)).Replace(text))
	},
	"in the middle of much": func(text string) map[string]any {
		return bash("cat before it", strings.Repeat("a line of output\n", 6000)+text+strings.Repeat("\nmore output", 6000))
	},
	"jq": func(text string) map[string]any {
		return bash("jq . before it", "{\n  \"context\": "+jsonText(text, false)+"\n}\n")
	},
	"escaped for a shell": func(text string) map[string]any {
		return bash("printf %q before it", "$'"+strings.ReplaceAll(text, "\n", `\n`)+"'")
	},
	"what a failed command printed": func(text string) map[string]any {
		return map[string]any{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": map[string]any{"command": "false before it"},
			"error": "Exit code 1\n" + text}
	},
	"file written": func(text string) map[string]any {
		return tool("Write", map[string]any{"file_path": "/tmp/before it.md", "content": "# Notes\n" + text + "\n"},
			map[string]any{"type": "create", "filePath": "/tmp/before it.md", "content": "# Notes\n" + text + "\n", "structuredPatch": []any{}})
	},
	"file edited": func(text string) map[string]any {
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, "+"+line)
		}
		return tool("Edit", map[string]any{"file_path": "/tmp/before it.md", "old_string": "x", "new_string": text},
			map[string]any{"filePath": "/tmp/before it.md", "oldString": "x", "newString": text, "originalFile": "x",
				"structuredPatch": []any{map[string]any{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": len(lines), "lines": append([]string{"-x"}, lines...)}}})
	},
	"answer of an MCP server": func(text string) map[string]any {
		return tool("mcp__files__read", map[string]any{"path": "before it"}, []any{map[string]any{"type": "text", "text": text}})
	},
}

func tool(name string, input map[string]any, response any) map[string]any {
	return map[string]any{"hook_event_name": "PostToolUse", "tool_name": name, "tool_input": input, "tool_response": response}
}

func bash(command, stdout string) map[string]any {
	return tool("Bash", map[string]any{"command": command}, map[string]any{"stdout": stdout, "stderr": "", "interrupted": false})
}

// transcript is a line in which a host keeps what a hook gave.
func transcript(text string, escape bool) string {
	return `{"type":"attachment","attachment":{"type":"hook_additional_context","content":[` + jsonText(text, escape) + `],"hookName":"x"},"uuid":"1"}` + "\n"
}

// jsonText quotes a text; programs differ in whether they escape angle brackets.
func jsonText(text string, escape bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escape)
	if err := enc.Encode(text); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestOwnInjections sends what sessions were given back in every way in which an
// agent comes upon it. A word that only the injected text has must be nowhere:
// not in a spool file, nor in the database, nor in a log; and what stands beside
// it must be captured.
func TestOwnInjections(t *testing.T) {
	t.Parallel()
	given := frames(t, world.NewMemory(t))
	if len(given) < 3 {
		t.Fatalf("given at %d moments only", len(given))
	}
	for _, by := range []string{"worker up", "spool", "other client"} {
		t.Run(by, func(t *testing.T) {
			m := world.NewMemory(t)
			release := func() {}
			var client *world.API
			if by == "spool" {
				release = m.HoldLock()
			} else {
				m.MustCommand("worker", "start")
				client = m.API()
			}
			sent, sessions := 0, []string{}
			for moment, text := range given {
				for way, payload := range ways {
					sent++
					session := fmt.Sprintf("own-%d", sent)
					sessions = append(sessions, session)
					p := payload(strings.Replace(text, contextEnd, "- echoword of "+moment+" (#7)\n"+contextEnd, 1))
					p["session_id"], p["cwd"] = session, m.Home
					if p["hook_event_name"] != "UserPromptSubmit" && p["hook_event_name"] != "Stop" {
						p["tool_use_id"] = session
					}
					if by == "other client" {
						if p["hook_event_name"] == "SubagentStop" {
							sessions = sessions[:len(sessions)-1] // a hook makes a tool event of it
							continue
						}
						deliver(client, t, p)
						continue
					}
					if r := m.Send("", p); len(r.Stdout) != 0 {
						t.Errorf("%s, %s: stdout %s", moment, way, r.Stdout)
					}
				}
			}
			for _, session := range sessions { // so that they are distilled
				m.Send("", map[string]any{"hook_event_name": "Stop", "session_id": session, "cwd": m.Home, "last_assistant_message": "It is done."})
			}
			look := func(when string) {
				m.EachFile(func(path string, content []byte) {
					if i := bytes.Index(bytes.ToLower(content), []byte("echoword")); i >= 0 {
						t.Errorf("%s: in %s: …%.200q", when, filepath.Base(path), content[max(0, i-160):i+30])
					}
				})
			}
			look("after sending")
			if by == "spool" && m.Spooled() != 2*sent {
				t.Errorf("%d spooled of %d", m.Spooled(), 2*sent)
			}
			release()
			m.MustCommand("worker", "start")
			// What waits is looked at before it is distilled, and what was made of it after.
			captured := map[string]int{}
			m.Settle(60 * time.Second)
			m.Query(func(rows *sql.Rows) error {
				var session, outcome string
				if err := rows.Scan(&session, &outcome); err != nil {
					return err
				}
				if outcome == "skipped" {
					t.Errorf("%s was skipped", session)
				}
				captured[session]++
				return nil
			}, "SELECT s.host_session_id, e.outcome FROM events e JOIN sessions s ON s.id = e.session_id")
			for _, session := range sessions {
				if captured[session] != 2 {
					t.Errorf("%d events of %s were captured, want what was sent and its end", captured[session], session)
				}
			}
			look("after distilling")
			m.MustCommand("worker", "stop")
			look("after the worker's stop")
			world.Figure(t, 4, "%s: %d ways of coming upon what %d moments gave, nothing of it in %d sessions", by, len(ways), len(given), len(sessions))
		})
	}
}

// deliver hands a hook's payload to the worker as a client without our hooks does.
func deliver(a *world.API, t testing.TB, p map[string]any) {
	t.Helper()
	path := map[string]string{"UserPromptSubmit": "init", "Stop": "summarize"}[p["hook_event_name"].(string)]
	if path == "" {
		path = "observations"
	}
	p["host"] = "claude-code"
	if status, answer, err := a.Send(http.MethodPost, "/api/sessions/"+path, p); err != nil || status != http.StatusAccepted {
		t.Errorf("status %d, %v: %s", status, err, answer)
	}
}
