package replay

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"strings"
)

// A Session writes what the hooks of one session get on their standard input, in the order of
// its calls. Paths are relative to its working directory.
type Session struct {
	dir, id string
	calls   int
}

// NewSession returns a session that works in dir.
func NewSession(dir, id string) *Session { return &Session{dir: dir, id: id} }

// Start is the beginning of the session.
func (s *Session) Start() []byte { return s.event("SessionStart", payload{Source: "startup"}) }

// Prompt is what the user types.
func (s *Session) Prompt(text string) []byte {
	return s.event("UserPromptSubmit", payload{Prompt: text})
}

// Stop is the agent's last message of a turn.
func (s *Session) Stop(message string) []byte {
	return s.event("Stop", payload{LastMessage: message})
}

// End is the end of the session.
func (s *Session) End() []byte { return s.event("SessionEnd", payload{Reason: "prompt_input_exit"}) }

// Read is a call of Read on a file of that text, of limit lines from the line offset; 0 for all.
func (s *Session) Read(file, text string, offset, limit int) []byte {
	file = path.Join(s.dir, file)
	all := strings.Split(text, "\n")
	input := map[string]any{"file_path": file}
	from, to := 0, len(all)
	if offset > 0 {
		input["offset"], from = offset, min(offset-1, to)
	}
	if limit > 0 {
		input["limit"], to = limit, min(from+limit, to)
	}
	part := all[from:to]
	return s.tool("Read", input, map[string]any{"type": "text", "file": map[string]any{
		"filePath": file, "content": strings.Join(part, "\n"), "numLines": len(part), "startLine": from + 1, "totalLines": len(all),
	}})
}

// Run is a command that succeeds.
func (s *Session) Run(command, output string) []byte {
	return s.tool("Bash", map[string]any{"command": command}, map[string]any{
		"stdout": output, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": output == "",
	})
}

// Fail is a command that ends with an exit code that is not 0.
func (s *Session) Fail(command string, code int, output string) []byte {
	return s.event("PostToolUseFailure", payload{ToolName: "Bash", ToolInput: map[string]any{"command": command},
		Error: strings.TrimRight(fmt.Sprintf("Exit code %d\n%s", code, output), "\n")})
}

// Edit is a call of Edit that replaces was, which before must have once, by is.
func (s *Session) Edit(file, before, was, is string) []byte {
	file, no := path.Join(s.dir, file), false
	return s.tool("Edit", editInput{file, was, is, false}, response{
		FilePath: file, OldString: &was, NewString: &is, OriginalFile: &before, StructuredPatch: patches(before, strings.Replace(before, was, is, 1)), ReplaceAll: &no,
	})
}

// Write is a call of Write; before is the file that it overwrites, nil if it is new.
func (s *Session) Write(file string, before *string, text string) []byte {
	file = path.Join(s.dir, file)
	r := response{Type: "create", FilePath: file, Content: &text, StructuredPatch: []patch{}, OriginalFile: before}
	if before != nil {
		r.Type, r.StructuredPatch = "update", patches(*before, text)
	}
	return s.tool("Write", writeInput{file, text}, r)
}

// patches is the difference of two states of a file, as one hunk.
func patches(before, after string) []patch {
	old, fresh := lines(before), lines(after)
	same := 0
	for same < min(len(old), len(fresh)) && old[same] == fresh[same] {
		same++
	}
	oldEnd, freshEnd := len(old), len(fresh)
	for oldEnd > same && freshEnd > same && old[oldEnd-1] == fresh[freshEnd-1] {
		oldEnd, freshEnd = oldEnd-1, freshEnd-1
	}
	if same == oldEnd && same == freshEnd {
		return []patch{}
	}
	return []patch{patchOf(old, hunk{same, oldEnd - same, same, freshEnd - same}, fresh[same:freshEnd])}
}

// An Option is what a question offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Ask is a question to the user, with the answer.
func (s *Session) Ask(question string, options []Option, answer string) []byte {
	asked := map[string]any{
		"questions":   []any{map[string]any{"question": question, "header": "Choice", "options": options, "multiSelect": false}},
		"answers":     map[string]string{question: answer},
		"annotations": map[string]any{},
	}
	return s.tool("AskUserQuestion", asked, asked)
}

// Agent is a subagent that ends with that answer, and the call that began it.
func (s *Session) Agent(kind, task, answer string) [][]byte {
	id := fmt.Sprintf("a%016x", s.hash("agent"))
	stop := s.event("SubagentStop", payload{AgentID: id, AgentType: kind, LastMessage: answer})
	return [][]byte{stop, s.tool("Agent", map[string]any{"description": kind, "prompt": task, "subagent_type": kind}, map[string]any{
		"status": "completed", "prompt": task, "agentId": id, "agentType": kind, "content": []any{map[string]string{"type": "text", "text": answer}},
		"totalDurationMs": 41000, "totalTokens": 18000, "totalToolUseCount": 4,
	})}
}

func (s *Session) tool(name string, input, response any) []byte {
	return s.event("PostToolUse", payload{ToolName: name, ToolInput: input, ToolResponse: response})
}

// event completes the payload of an event.
func (s *Session) event(name string, p payload) []byte {
	s.calls++
	p.SessionID, p.TranscriptPath, p.Cwd, p.HookEventName = s.id, "/home/dev/.claude/projects/project/"+s.id+".jsonl", s.dir, name
	if p.ToolName != "" {
		p.ToolUseID, p.DurationMS = fmt.Sprintf("toolu_%016x", s.hash(p.ToolName)), 5
	}
	if name != "SessionStart" && name != "SessionEnd" {
		p.PermissionMode = "acceptEdits"
	}
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // its parts are texts and numbers
	}
	return raw
}

// hash is different for each call of the session.
func (s *Session) hash(what string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %d", s.id, what, s.calls)
	return h.Sum64()
}
