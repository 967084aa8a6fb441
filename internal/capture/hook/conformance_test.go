package hook

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// hostRow is what is expected of an adapter. A new host passes by its row here and its
// payloads in testdata/HOST-hooks, one a file.
type hostRow struct {
	host memory.Host
	// kinds are the events that the payloads become, by the beginning of the file's name;
	// "" for those that are ignored. The longest that fits counts.
	kinds map[string]memory.EventKind
	// failed are the payloads of tools that failed.
	failed []string
	// start, prompt and tool are the names of payloads; the replies of these events have
	// the context in JSON at that path, "" when the host cannot take it.
	start, prompt, tool                string
	startReply, promptReply, toolReply string
}

const claudeReply = "hookSpecificOutput.additionalContext"

var hostRows = []hostRow{
	{
		host: memory.HostCodex,
		kinds: map[string]memory.EventKind{
			"SessionStart": memory.KindSessionStart, "UserPromptSubmit": memory.KindPrompt, "PreToolUse": "",
			"PostToolUse": memory.KindTool, "Stop": memory.KindStop, "SessionEnd": memory.KindSessionEnd,
		},
		start: "SessionStart", prompt: "UserPromptSubmit", tool: "PostToolUse-Bash",
		startReply: claudeReply, promptReply: claudeReply, toolReply: claudeReply,
	},
	{
		host: memory.HostGemini,
		kinds: map[string]memory.EventKind{
			"SessionStart": memory.KindSessionStart, "BeforeAgent": memory.KindPrompt, "BeforeTool": "",
			"AfterTool": memory.KindTool, "AfterAgent": memory.KindStop, "SessionEnd": memory.KindSessionEnd, "PreCompress": "",
		},
		failed: []string{"AfterTool-run_shell_command-failed", "AfterTool-read_file-failed"},
		start:  "SessionStart", prompt: "BeforeAgent", tool: "AfterTool-read_file",
		startReply: claudeReply, promptReply: claudeReply, toolReply: claudeReply,
	},
	{
		host: memory.HostQwen,
		kinds: map[string]memory.EventKind{
			"SessionStart": memory.KindSessionStart, "UserPromptSubmit": memory.KindPrompt, "UserPromptSubmit-empty": "",
			"PostToolUse": memory.KindTool, "Stop": memory.KindStop, "SessionEnd": memory.KindSessionEnd,
		},
		failed: []string{"PostToolUse-run_shell_command-failed", "PostToolUseFailure-run_shell_command-failed", "PostToolUseFailure-read_file-failed"},
		start:  "SessionStart", prompt: "UserPromptSubmit", tool: "PostToolUse-read_file",
		startReply: claudeReply, promptReply: claudeReply, toolReply: claudeReply,
	},
	{
		host: memory.HostCopilot,
		kinds: map[string]memory.EventKind{
			"SessionStart": memory.KindSessionStart, "UserPromptSubmit": memory.KindPrompt,
			"PostToolUse": memory.KindTool, "Stop": memory.KindStop, "SessionEnd": memory.KindSessionEnd,
		},
		failed: []string{"PostToolUse-Bash-failed", "PostToolUseFailure-Read-failed"},
		start:  "SessionStart", prompt: "UserPromptSubmit", tool: "PostToolUse-Read",
		startReply: "additionalContext", promptReply: "additionalContext", toolReply: "additionalContext",
	},
	{
		host: memory.HostCline,
		kinds: map[string]memory.EventKind{
			"TaskStart": memory.KindSessionStart, "UserPromptSubmit": memory.KindPrompt,
			"PostToolUse": memory.KindTool, "TaskComplete": memory.KindStop, "TaskCancel": memory.KindSessionEnd,
		},
		failed: []string{"PostToolUse-execute_command-failed"},
		start:  "TaskStart", prompt: "UserPromptSubmit", tool: "PostToolUse-read_files",
		startReply: "contextModification", promptReply: "contextModification", toolReply: "contextModification",
	},
	{
		host: memory.HostOpenCode,
		kinds: map[string]memory.EventKind{
			"session.created": memory.KindSessionStart, "chat.message": memory.KindPrompt, "tool.execute.after": memory.KindTool,
			"session.idle": memory.KindStop, "session.deleted": memory.KindSessionEnd, "experimental.session.compacting": memory.KindFlush,
		},
		failed: []string{"tool.execute.after-bash-failed", "tool.execute.after-read-failed"},
		start:  "session.created", prompt: "chat.message", tool: "tool.execute.after-read",
		startReply: claudeReply, promptReply: claudeReply, toolReply: claudeReply,
	},
	{
		host: memory.HostCursor,
		kinds: map[string]memory.EventKind{
			"sessionStart": memory.KindSessionStart, "beforeSubmitPrompt": memory.KindPrompt, "postToolUse": memory.KindTool,
			"postToolUse-Write": "", "afterFileEdit": memory.KindTool, "afterShellExecution": "", "afterAgentResponse": memory.KindStop,
			"stop": memory.KindFlush, "preCompact": memory.KindFlush, "sessionEnd": memory.KindSessionEnd,
		},
		failed: []string{"postToolUse-Shell-plain-failed", "postToolUseFailure-failed"},
		start:  "sessionStart", prompt: "beforeSubmitPrompt", tool: "postToolUse-Read",
		startReply: "additional_context", toolReply: "additional_context",
	},
	{
		host: memory.HostVSCode,
		kinds: map[string]memory.EventKind{
			"SessionStart": memory.KindSessionStart, "UserPromptSubmit": memory.KindPrompt, "PreToolUse": "", "SubagentStart": "",
			"PostToolUse": memory.KindTool, "Stop": memory.KindStop, "PreCompact": memory.KindFlush,
		},
		failed: []string{"PostToolUse-run_in_terminal-failed"},
		start:  "SessionStart", prompt: "UserPromptSubmit", tool: "PostToolUse-read_file",
		startReply: claudeReply, toolReply: claudeReply,
	},
}

// payloads returns the payloads of a host by their names.
func (row *hostRow) payloads(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", string(row.host)+"-hooks", "*.json"))
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d payloads, %v", len(paths), err)
	}
	all := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = string(data)
	}
	return all
}

// kind returns what the payload becomes.
func (row *hostRow) kind(t *testing.T, name string) memory.EventKind {
	t.Helper()
	best, found := "", false
	for prefix := range row.kinds {
		if strings.HasPrefix(name, prefix) && len(prefix) >= len(best) {
			best, found = prefix, true
		}
	}
	if !found {
		t.Fatalf("no row says what becomes of %s", name)
	}
	return row.kinds[best]
}

// TestHosts sends every payload of every host through the hook, with and without a verb,
// and keeps the events as golden files.
func TestHosts(t *testing.T) {
	verbs := map[memory.EventKind]Verb{
		memory.KindPrompt: VerbNew, memory.KindTool: VerbSave, memory.KindStop: VerbSummary, memory.KindSessionEnd: VerbEnd,
	}
	for _, row := range hostRows {
		t.Run(string(row.host), func(t *testing.T) {
			seen := map[memory.EventKind]int{}
			for name, payload := range row.payloads(t) {
				kind := row.kind(t, name)
				seen[kind]++
				if kind == memory.KindSessionStart {
					continue // TestHostReplies
				}
				for _, verb := range []Verb{"", verbs[kind]} {
					s := newStage(t)
					s.alone, s.host, s.verb = true, row.host, verb
					if out := s.run(payload); out != "" || s.logged() != nil {
						t.Errorf("%s: stdout %q, log %q", name, out, s.logged())
					}
					events := s.spooled()
					if kind == "" || kind == memory.KindFlush {
						if len(events) != 0 {
							t.Errorf("%s became %+v", name, events)
						}
						continue
					}
					if len(events) != 1 {
						t.Fatalf("%s: %d events", name, len(events))
					}
					e := events[0]
					if err := e.Validate(); err != nil || e.Kind != kind || e.Host != row.host {
						t.Errorf("%s: %s of %s, %v; want %s", name, e.Kind, e.Host, err, kind)
					}
					if failed := strings.HasSuffix(name, "-failed") && contains(row.failed, name); e.Failed() != failed {
						t.Errorf("%s: failed %v, want %v", name, e.Failed(), failed)
					}
					golden(t, filepath.Join("testdata", string(row.host), name+".json"), e)
				}
			}
			for _, kind := range []memory.EventKind{memory.KindSessionStart, memory.KindPrompt, memory.KindTool, memory.KindStop, memory.KindSessionEnd} {
				if seen[kind] == 0 && (row.host != memory.HostVSCode || kind != memory.KindSessionEnd) { // which has no such event
					t.Errorf("no payload of kind %s", kind)
				}
			}
		})
	}
}

func contains(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
}

// TestHostRows: each adapter has a row, but those of Claude Code and raw, which have tests of their own, and
// of agents that were never run: their documented payloads are sent by TestHostShapes.
func TestHostRows(t *testing.T) {
	for _, a := range adapters {
		own := a.host == memory.HostClaudeCode || a.host == memory.HostRaw || slices.Contains([]memory.Host{memory.HostDroid, memory.HostKiro, memory.HostGoose, memory.HostWindsurf}, a.host)
		if !own && !slices.ContainsFunc(hostRows, func(row hostRow) bool { return row.host == a.host }) {
			t.Errorf("hostRows has no row of %s", a.host)
		}
	}
}

// TestHostReplies looks for the context in the replies, at the place where each host
// reads it.
func TestHostReplies(t *testing.T) {
	for _, row := range hostRows {
		t.Run(string(row.host), func(t *testing.T) {
			all := row.payloads(t)
			for name, path := range map[string]string{row.start: row.startReply, row.prompt: row.promptReply, row.tool: row.toolReply} {
				s := newStage(t)
				s.host = row.host
				w := s.worker()
				w.answerAll("REMEMBERED\ntext")
				out := s.run(all[name])
				if path == "" {
					if out != "" {
						t.Errorf("%s: stdout %q", name, out)
					}
					continue
				}
				var reply any
				if err := json.Unmarshal([]byte(out), &reply); err != nil {
					t.Fatalf("%s: %q is not JSON: %v", name, out, err)
				}
				for key := range strings.SplitSeq(path, ".") {
					object, _ := reply.(map[string]any)
					reply = object[key]
				}
				if reply != "REMEMBERED\ntext" {
					t.Errorf("%s: %q has no context at %s", name, out, path)
				}
				event, _, _ := strings.Cut(name, "-")
				if path == claudeReply && !strings.Contains(out, `"hookEventName":"`+event+`"`) {
					t.Errorf("%s: the reply does not name the event: %q", name, out)
				}
			}
		})
	}
}

// TestContextInBytes: Codex CLI cuts a context of more than 10,000 bytes in the middle.
func TestContextInBytes(t *testing.T) {
	s := newStage(t)
	s.host = memory.HostCodex
	w := s.worker()
	w.answerAll("<claude-mem-context>\n" + strings.Repeat("- línea é\n", 2000) + "</claude-mem-context>")
	row := hostRows[0]
	var reply struct {
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal([]byte(s.run(row.payloads(t)[row.start])), &reply); err != nil {
		t.Fatal(err)
	}
	got := reply.HookSpecificOutput.AdditionalContext
	if len(got) > longestContext || len(got) < longestContext-50 || !strings.HasSuffix(got, "é\n"+contextEnd) {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(len(got)-60, 0):])
	}
}

// answerAll makes the worker answer each event with a text for the model.
func (w *worker) answerAll(text string) {
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = rw.Write(jsonscan.Object("context", text, "tokens", int64(5)))
			return
		}
		rw.WriteHeader(http.StatusAccepted)
		_, _ = rw.Write(jsonscan.Object("status", "queued", "additional_context", text))
	}
}

// TestRawExample sends the session in docs/hosts.md, whose agent needs no code here.
func TestRawExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "hosts.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "<!-- raw -->\n```json\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("no example")
	}
	s := newStage(t)
	s.host = memory.HostRaw
	w := s.worker()
	w.answerAll("REMEMBERED")
	for line := range strings.Lines(example) {
		out := s.run(line)
		wanted := strings.Contains(line, `"session_start"`) || strings.Contains(line, `"prompt"`) || strings.Contains(line, `"tool"`)
		if wanted != strings.Contains(out, `"additionalContext":"REMEMBERED"`) {
			t.Errorf("%s: stdout %q", line, out)
		}
	}
	_, events := w.seen()
	got := ""
	for _, e := range events {
		got += string(e.Kind) + ":" + e.ToolName + e.Prompt + e.LastAssistantMessage + e.Reason + ":" + e.HostSessionID
		if e.Failed() {
			got += " failed"
		}
		got += "\n"
	}
	const want = "prompt:Why does the till round down?:s1\ntool:Bash:s1 failed\ntool:Edit:s1\nstop:The till rounds half up now.:s1\nsession_end:exit:s1\n"
	if got != want || s.logged() != nil {
		t.Errorf("captured\n%swant\n%s, log %q", got, want, s.logged())
	}
}
