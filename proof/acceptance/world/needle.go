//go:build unix

package world

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Needle is a text that stands in everything that the test has forgotten; it is no word.
const Needle = "Qzvnightjarx"

// Needles returns the files of the data directory that have the needle, in any case, as a
// word of the index has it too.
func (m *Memory) Needles() (files []string) {
	m.EachFile(func(path string, content []byte) {
		if bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(Needle))) {
			files = append(files, filepath.Base(path))
		}
	})
	return files
}

// PlayNeedle has two sessions work, one of them on the needle: prompts, tool calls, closing
// messages and learnings.
func (m *Memory) PlayNeedle(project string, turns int) {
	m.T.Helper()
	for _, session := range []string{Needle, "harmless"} {
		id := fmt.Sprintf("session-%d", len(session))
		base := func(event, prompt string) map[string]any {
			return map[string]any{"session_id": id, "hook_event_name": event, "prompt_id": prompt, "cwd": project, "transcript_path": filepath.Join(project, "t.jsonl")}
		}
		for n := range turns {
			prompt := fmt.Sprintf("%s-p%d", id, n)
			p := base("UserPromptSubmit", prompt)
			p["prompt"] = fmt.Sprintf("From now on: name the project %s in %d places. Why does the build of %s fail?", session, n, session)
			m.Send("new", p)
			p = base("PostToolUse", prompt)
			p["tool_name"], p["tool_use_id"] = "Edit", prompt+"-t"
			p["tool_input"] = map[string]any{"file_path": filepath.Join(project, "src", session+".go"), "old_string": "a", "new_string": "b " + session}
			p["tool_response"] = map[string]any{"filePath": filepath.Join(project, "src", session+".go"), "originalFile": "a"}
			m.Send("save", p)
			p = base("Stop", prompt)
			p["last_assistant_message"] = fmt.Sprintf("Fixed the build of %s: the cause was a missing `%sCache` in %s.go, number %d.", session, session, session, n)
			m.Send("summary", p)
		}
	}
}
