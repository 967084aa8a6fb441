//go:build unix

package wild

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claudemem/internal/memory"
)

// session is what a user and an agent do, as the agent tells its hooks and as it stores it.
type session struct {
	host memory.Host
	id   string
	dir  string // "~/shop": below the home directory
	now  string // the directory of the present turn, "" for dir
	from string // of Codex CLI: the session that it was forked from
	// later is how much later its lines are, turn and calls how many there were.
	later       time.Duration
	turn, calls int
	hooks       []payload
	lines       []string
}

// payload is what a hook is run with.
type payload struct {
	command string // of the hook: the verb, behind the host
	members map[string]any
	env     string // a variable of the environment, "" for none
}

func claude(id string) *session { return &session{host: memory.HostClaudeCode, id: id, dir: shop(id)} }
func codex(id string) *session  { return &session{host: memory.HostCodex, id: id, dir: shop(id)} }
func gemini(id string) *session { return &session{host: memory.HostGemini, id: id, dir: shop(id)} }

// shop is the directory of a session: each has its own, as records of one project may be merged. State
// has "shop" for each.
func shop(id string) string { return "~/shop-" + id }

// in sets the directory: of the session before its first turn, of the turns that follow later.
func (s *session) in(dir string) *session {
	if s.now = dir; s.turn == 0 {
		s.dir = dir
	}
	return s
}

// keptIn has the transcript of a session, which goes on where it was, be in the folder of another directory.
func (s *session) keptIn(dir string) *session {
	s.now, s.dir = s.cwd(), dir
	return s
}

func (s *session) cwd() string {
	if s.now == "" {
		return s.dir
	}
	return s.now
}

// clock returns the time of the next line.
func (s *session) clock() string {
	return time.Date(2026, 11, 20, 10, 0, len(s.lines), 0, time.UTC).Add(s.later).Format("2006-01-02T15:04:05.000Z")
}

// encode returns the JSON of a value; of an object the members come first that begin the records of agents.
func encode(v any) string {
	if record, ok := v.(object); ok {
		var first, rest []string
		for _, name := range slices.Sorted(maps.Keys(record)) {
			member := encode(name) + ":" + encode(record[name])
			if slices.Contains([]string{"id", "parentUuid", "timestamp"}, name) {
				first = append(first, member)
			} else {
				rest = append(rest, member)
			}
		}
		return "{" + strings.Join(append(first, rest...), ",") + "}"
	}

	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type object = map[string]any

// after has what follows happen later.
func (s *session) after(d time.Duration) *session {
	s.later += d
	return s
}

// hook adds a payload for a hook.
func (s *session) hook(verb, event string, members object) *session {
	members["hook_event_name"], members["session_id"], members["cwd"] = event, s.id, s.cwd()
	p := payload{command: "--host " + string(s.host) + " " + verb, members: members}
	if s.host == memory.HostClaudeCode {
		p.command, p.env = verb, "CLAUDE_PROJECT_DIR="+s.dir
	}
	s.hooks = append(s.hooks, p)
	return s
}

// line adds a record to the transcript.
func (s *session) line(record object) *session {
	switch s.host {
	case memory.HostCodex:
		record["timestamp"] = s.clock()
	case memory.HostGemini:
		if record["$set"] == nil {
			record["id"], record["timestamp"] = fmt.Sprintf("%s-%d", s.id, len(s.lines)), s.clock()
		}
	default:
		for name, value := range (object{"parentUuid": nil, "cwd": s.cwd(), "sessionId": s.id, "timestamp": s.clock(), "uuid": fmt.Sprintf("%s-%d", s.id, len(s.lines)), "promptId": s.promptID()}) {
			if _, set := record[name]; !set {
				record[name] = value
			}
		}
	}
	s.lines = append(s.lines, encode(record))
	return s
}

func (s *session) promptID() string { return fmt.Sprintf("%s-p%d", s.id, s.turn) }

// user adds a record of the user with a content to the transcript, and no hook is told.
func (s *session) user(content any) *session {
	return s.line(object{"type": "user", "message": object{"role": "user", "content": content}})
}

// asks sends a prompt; the transcript has it as content, or as the same text without one.
func (s *session) asks(prompt string, content ...any) *session {
	s.turn++
	var stored any = prompt
	if len(content) > 0 {
		stored = content[0]
	}
	switch s.host {
	case memory.HostCodex:
		s.line(object{"type": "turn_context", "payload": object{"turn_id": s.promptID(), "cwd": s.cwd()}})
		s.line(object{"type": "event_msg", "payload": object{"type": "user_message", "message": stored}})
		return s.hook("new", "UserPromptSubmit", object{"prompt": prompt, "turn_id": s.promptID()})
	case memory.HostGemini:
		s.line(object{"type": "user", "content": stored})
		return s.hook("new", "BeforeAgent", object{"prompt": prompt})
	}
	s.user(stored)
	return s.hook("new", "UserPromptSubmit", object{"prompt": prompt, "prompt_id": s.promptID()})
}

// edits changes a file, which is in the directory of the turn unless it begins with "~" or a drive. Codex CLI
// names it as it is.
func (s *session) edits(file string) *session {
	if s.calls++; s.host != memory.HostCodex && !strings.ContainsAny(file, `~\:`) {
		file = s.cwd() + "/" + file
	}
	id := fmt.Sprintf("%s-t%d", s.id, s.calls)
	switch s.host {
	case memory.HostCodex:
		patch := "*** Begin Patch\n*** Update File: " + file + "\n@@\n-a\n+b\n*** End Patch\n"
		s.line(object{"type": "response_item", "payload": object{"type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": patch}})
		s.line(object{"type": "response_item", "payload": object{"type": "custom_tool_call_output", "call_id": id, "output": "Success."}})
		return s.hook("save", "PostToolUse", object{"turn_id": s.promptID(), "tool_name": "apply_patch", "tool_use_id": id, "tool_input": object{"command": patch}, "tool_response": "Success."})
	case memory.HostGemini:
		input := object{"file_path": file, "old_string": "a", "new_string": "b"}
		s.line(object{"type": "gemini", "content": "", "toolCalls": []any{object{
			"id": id, "name": "replace", "args": input, "status": "success", "timestamp": s.clock(), "resultDisplay": "ok",
			"result": []any{object{"functionResponse": object{"response": object{"output": "ok"}}}},
		}}})
		return s.hook("save", "AfterTool", object{"tool_name": "replace", "tool_input": input, "tool_response": object{"llmContent": "ok", "returnDisplay": "ok"}})
	}
	input, result := object{"file_path": file, "old_string": "a", "new_string": "b"}, object{"filePath": file, "oldString": "a", "newString": "b"}
	s.line(object{"type": "assistant", "message": object{"role": "assistant", "stop_reason": "tool_use", "content": []any{object{"type": "tool_use", "id": id, "name": "Edit", "input": input}}}})
	s.line(object{"type": "user", "toolUseResult": result, "message": object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": "ok"}}}})
	return s.hook("save", "PostToolUse", object{"prompt_id": s.promptID(), "tool_name": "Edit", "tool_use_id": id, "tool_input": input, "tool_response": result})
}

// ends is the agent's last word of a turn.
func (s *session) ends(answer string) *session {
	switch s.host {
	case memory.HostCodex:
		s.line(object{"type": "event_msg", "payload": object{"type": "task_complete", "turn_id": s.promptID(), "last_agent_message": answer}})
		return s.hook("summary", "Stop", object{"turn_id": s.promptID(), "last_assistant_message": answer})
	case memory.HostGemini:
		s.line(object{"type": "gemini", "content": answer})
		return s.hook("summary", "AfterAgent", object{"prompt_response": answer})
	}
	s.line(object{"type": "assistant", "message": object{"role": "assistant", "stop_reason": "end_turn", "content": []any{object{"type": "text", "text": answer}}}})
	return s.hook("summary", "Stop", object{"prompt_id": s.promptID(), "last_assistant_message": answer})
}

// settles ends a turn with an answer of which a record is made.
func (s *session) settles(what string) *session {
	return s.ends("The " + what + " of " + s.id + " is settled, because bank " + s.id + " wants it so.")
}

// called has the next call be another than those of a session with the same id.
func (s *session) called(n int) *session {
	s.calls = n
	return s
}

// edit changes the lines of the transcript, each without its end.
func (s *session) edit(change func(lines []string) []string) *session {
	s.lines = change(s.lines)
	return s
}

// meta is the first record of a session of Codex CLI.
func (s *session) meta() string {
	about := object{"id": s.id, "cwd": s.dir, "source": "cli"}
	if s.from != "" {
		about["forked_from_id"] = s.from
	}
	return encode(object{"timestamp": "2026-11-20T10:00:00.000Z", "type": "session_meta", "payload": about})
}

// files returns the transcript by its path below the home directory. home is that directory, of which
// Gemini CLI stores a hash.
func (s *session) files(home string) map[string]string {
	text := strings.Join(s.lines, "\n") + "\n"
	switch s.host {
	case memory.HostCodex:
		return map[string]string{".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-" + s.id + ".jsonl": s.meta() + "\n" + text}
	case memory.HostGemini:
		dir := strings.Replace(s.dir, "~", home, 1)
		sum := sha256.Sum256([]byte(dir))
		meta := encode(object{"sessionId": s.id, "projectHash": hex.EncodeToString(sum[:]), "startTime": "2026-11-20T10:00:00.000Z", "kind": "main"})
		folder := ".gemini/tmp/" + filepath.Base(dir)
		return map[string]string{folder + "/chats/session-2026-11-20T10-00-" + s.id + ".jsonl": meta + "\n" + text, folder + "/.project_root": dir}
	}
	return map[string]string{".claude/projects/" + strings.NewReplacer("/", "-", "~", "", `\`, "-", ":", "-").Replace(s.dir) + "/" + s.id + ".jsonl": text}
}
