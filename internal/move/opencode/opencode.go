package opencode

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/move/nodedb"
	"claudemem/internal/move/transcript"
)

// session is a session; that of a subagent has a parent. Updated is in milliseconds.
type session struct {
	id, dir, parent string
	updated         int64
}

// entry is a message or a part of one, as JSON.
type entry struct {
	id   string
	data []byte
}

// Is reports whether path is a database of OpenCode, or a directory with one.
func Is(path string) bool { return databaseIn(path) != "" }

// Unpack writes the sessions that OpenCode has stored at path into a folder in dir, and returns it with the
// function that removes it; path itself if that has none. The codes of its errors: those of nodedb.Open.
func Unpack(ctx context.Context, path, dir string) (folder string, remove func(), err error) {
	file := databaseIn(path)
	if file == "" {
		return path, func() {}, nil
	}
	copied, err := nodedb.OpenOther(ctx, file, dir, "session", "message", "part")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = copied.Close() }() // a later import removes what stays
	from := database{copied, ctx}
	if folder, err = nodedb.Folder(dir); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) } // else a later import does
	if err = unpack(ctx, from, folder); err != nil {
		remove()
		return "", nil, memory.Errorf(memory.CodeStorage, "read the sessions of OpenCode: %w", err)
	}
	return folder, remove, nil
}

// unpack writes a file for each session. What a subagent does belongs to the session that began it.
func unpack(ctx context.Context, from database, folder string) error {
	all, err := from.sessions()
	if err != nil {
		return err
	}
	parents := map[string]string{}
	for _, s := range all {
		parents[s.id] = s.parent
	}
	for i, s := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		root := s.id
		for range 32 { // a loop is no parentage
			if parents[root] == "" {
				break
			}
			root = parents[root]
		}
		name := fmt.Sprintf("%06d.jsonl", i)
		if root != s.id {
			name = "agent-" + name
		}
		if err := s.write(from, root, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// write writes the file of a session.
func (s *session) write(from database, root, path string) (err error) {
	messages, err := from.messages(s.id)
	if err != nil || len(messages) == 0 {
		return err
	}
	file, err := openfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := &writer{Writer: bufio.NewWriter(file), s: s, root: root}
	for i := 0; i < len(messages) && err == nil; i++ {
		var parts []entry
		if parts, err = from.parts(messages[i].id); err == nil {
			w.message(messages[i], parts)
		}
	}
	w.stop()
	flushed, closed := w.Flush(), file.Close()
	for _, failed := range []error{err, flushed, closed} {
		if failed != nil {
			return failed
		}
	}
	return os.Chtimes(path, time.Time{}, time.UnixMilli(s.updated))
}

// writer writes the lines of a session.
type writer struct {
	*bufio.Writer
	s    *session
	root string
	// answer is the last text of the agent in a turn, which ended at the time.
	answer string
	ended  int64
}

// hook writes a line with the payload of a hook at a time.
func (w *writer) hook(name string, at int64, members ...any) {
	members = append(members, "hook_event_name", name, "session_id", w.root, "cwd", w.s.dir, "project_dir", w.s.dir)
	if w.root != w.s.id {
		members = append(members, "agent_id", w.s.id, "agent_type", "subagent")
	}
	_, _ = w.Write(append(jsonscan.Object("type", transcript.HookRecord, "sessionId", w.root, "cwd", w.s.dir, // Flush returns the error
		"timestamp", time.UnixMilli(at).UTC().Format(time.RFC3339Nano), "payload", jsonscan.Object(members...)), '\n'))
}

// stop ends a turn. The plugin tells the last text of an answer that has ended, and nothing of a subagent's.
func (w *writer) stop() {
	if w.answer != "" && w.ended > 0 && w.root == w.s.id {
		w.hook("session.idle", w.ended, "last_assistant_message", w.answer)
	}
	w.answer, w.ended = "", 0
}

// message writes the lines of a message.
func (w *writer) message(m entry, parts []entry) {
	var role, prompt string
	var times []byte
	var summary bool
	_ = jsonscan.Decode(m.data, map[string]any{"role": &role, "time": &times, "summary": &summary}) // else it has no role
	created, completed := span(times, "created", "completed")
	switch {
	case role != "user" && role != "assistant":
		_, _ = w.WriteString("broken\n") // counted by who reads it
		return
	case role == "user":
		w.stop()
	default:
		w.ended = completed
	}
	for _, part := range parts {
		var kind, text, tool, call string
		var synthetic, ignored bool
		var state []byte
		_ = jsonscan.Decode(part.data, map[string]any{"type": &kind, "text": &text, "synthetic": &synthetic, "ignored": &ignored, "tool": &tool, "callID": &call, "state": &state})
		switch {
		case kind == "":
			_, _ = w.WriteString("broken\n")
		case kind == "tool":
			w.call(tool, call, state, created)
		case kind != "text" || text == "" || synthetic || ignored || summary:
		case role == "assistant":
			w.answer = text
		case prompt != "":
			prompt += "\n" + text
		default:
			prompt = text
		}
	}
	if prompt != "" && w.root == w.s.id {
		w.hook("chat.message", created, "message_id", m.id, "prompt", prompt)
	}
}

// call writes the line of a call that has ended.
func (w *writer) call(tool, call string, state []byte, at int64) {
	var status, output, failure string
	var input, metadata, times []byte
	_ = jsonscan.Decode(state, map[string]any{"status": &status, "input": &input, "output": &output, "error": &failure, "metadata": &metadata, "time": &times})
	members := []any{"tool", tool, "call_id", call, "args", input}
	switch status {
	case "completed":
		members = append(members, "output", output)
	case "error":
		members = append(members, "error", failure)
	default:
		return
	}
	if len(metadata) > 0 {
		members = append(members, "metadata", metadata)
	}
	if _, end := span(times, "start", "end"); end > 0 {
		at = end
	}
	w.hook("tool.execute.after", at, members...)
}

// span returns two times of an object, 0 for one that it has not.
func span(times []byte, from, to string) (a, b int64) {
	_ = jsonscan.Decode(times, map[string]any{from: &a, to: &b}) // else none
	return a, b
}
