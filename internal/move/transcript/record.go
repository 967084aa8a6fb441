package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/capture/hosttext"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// record is a line of a transcript. Its raw JSON refers to the line.
type record struct {
	kind, subtype, uuid   string
	session, agent        string
	promptID, cwd, branch string
	at                    memory.Millis
	// sidechain: of a subagent, in the session's own file.
	sidechain bool
	// hidden: the host has written it, not the user.
	hidden bool
	// forkedFrom are the session and uuid of the record that a fork has copied; "" of a record of its own.
	forkedFrom struct{ session, uuid string }
	// origin is who wrote a record of the user: "human", "peer" …; "" is not told.
	origin string
	// project is the hash of the directory of a session of Gemini CLI.
	project string
	// failed: the text is an error of the API.
	failed bool

	role, stopReason string
	// message is the provider's name of the message, usage what it says of its tokens.
	message string
	usage   []byte
	// content is a JSON string or an array of blocks.
	content []byte
	// payload is that of another agent's record.
	payload []byte
	// result is the structured response of the one tool whose result the record has.
	result []byte
}

// block is a part of a message.
type block struct {
	kind, text string
	// id and name are those of a call, or of the call that a result is of.
	id, name string
	input    []byte
	content  []byte
	isError  bool
}

// parseRecord parses a line; false if it is no object of the form of a record: one with a type, and a
// message with content if it is of the user or the agent. A time that cannot be read is 0.
func parseRecord(line []byte) (r record, ok bool) {
	var at, start, mode string
	var message []byte
	var meta, compact, only bool
	var origin, forked []byte
	if err := jsonscan.Decode(line, map[string]any{
		"type": &r.kind, "subtype": &r.subtype, "uuid": &r.uuid, "sessionId": &r.session, "agentId": &r.agent,
		"promptId": &r.promptID, "cwd": &r.cwd, "gitBranch": &r.branch, "timestamp": &at, "isSidechain": &r.sidechain,
		"isMeta": &meta, "isCompactSummary": &compact, "isVisibleInTranscriptOnly": &only, "isApiErrorMessage": &r.failed,
		"message": &message, "toolUseResult": &r.result, "origin": &origin, "forkedFrom": &forked, "payload": &r.payload,
		"projectHash": &r.project, "startTime": &start, "kind": &mode,
	}); err != nil || r.kind == "" && r.project == "" {
		return record{}, false
	}
	if r.kind == "" {
		r.kind, at, only = geminiMeta, start, mode == "subagent"
	}
	if r.hidden = meta || compact || only; r.kind == codexMeta {
		r.parseCodexMeta()
	}
	_ = jsonscan.Decode(origin, map[string]any{"kind": &r.origin}) // else it is not told
	_ = jsonscan.Decode(forked, map[string]any{"sessionId": &r.forkedFrom.session, "messageUuid": &r.forkedFrom.uuid})
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		r.at = memory.MillisOf(t)
	}
	if r.branch == "HEAD" {
		r.branch = "" // no branch was checked out
	}
	if string(r.result) == "null" {
		r.result = nil
	}
	if r.kind == "user" || r.kind == "assistant" {
		var model string
		if err := jsonscan.Decode(message, map[string]any{
			"role": &r.role, "content": &r.content, "stop_reason": &r.stopReason, "model": &model, "id": &r.message, "usage": &r.usage,
		}); err != nil || len(r.content) == 0 {
			return record{}, false
		}
		r.failed = r.failed || model == "<synthetic>"
	}
	return r, true
}

// recordsOf returns the records of a line.
func recordsOf(line []byte) []record {
	if r, ok := parseRecord(line); ok {
		return []record{r}
	}
	return collect.Pick(torn(line), parseRecord)
}

// maxTorn bounds the looks at a torn line for a whole record.
const maxTorn = 16

// recordOpenings begin records, as agents of any version order the members.
var recordOpenings = []string{`{"parentUuid"`, `{"type"`, `{"timestamp"`, `{"sessionId"`, `{"uuid"`, `{"cwd"`, `{"id"`, `{"$set"`}

// torn returns the whole values of a line that is no record: writers that were killed, or that wrote at the
// same time, leave NULs, two records on a line, or a piece of one before a whole one.
func torn(line []byte) (whole [][]byte) {
	for range maxTorn {
		var value json.RawMessage
		line = bytes.TrimLeft(line, "\x00 \t\r\n")
		decoder := json.NewDecoder(bytes.NewReader(line))
		if decoder.Decode(&value) == nil {
			whole = append(whole, value)
			line = line[decoder.InputOffset():]
			continue
		}
		next := -1
		for _, opening := range recordOpenings {
			if i := bytes.Index(line[min(1, len(line)):], []byte(opening)); i >= 0 && (next < 0 || i < next) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		line = line[1+next:]
	}
	return whole
}

// blocks returns the parts of the content, as parts of the line; that of a plain text is one part, nil
// for none.
func (r *record) blocks() (list []block) {
	if text, ok := jsonscan.Unquote(r.content); ok {
		return []block{{kind: "text", text: text}}
	}
	if len(r.content) == 0 || r.content[0] != '[' {
		return nil
	}
	jsonscan.Parts(r.content, func(_ string, value []byte) {
		if text, ok := jsonscan.Unquote(value); ok {
			list = append(list, block{kind: "text", text: text})
			return
		}
		var b block
		var use string
		if err := jsonscan.Decode(value, map[string]any{
			"type": &b.kind, "text": &b.text, "id": &b.id, "name": &b.name, "input": &b.input,
			"tool_use_id": &use, "content": &b.content, "is_error": &b.isError,
		}); err == nil {
			if b.kind == "tool_result" {
				b.id = use
			}
			list = append(list, b)
		}
	})
	return list
}

// contentText returns the text of a content: a string, or the texts of its blocks, one line each.
func contentText(content []byte) string {
	if text, ok := jsonscan.Unquote(content); ok {
		return text
	}
	texts := collect.Keep((&record{content: content}).blocks(), func(b block) bool { return b.kind == "text" || b.kind == "" }) // Gemini CLI names none
	return strings.Join(collect.Map(texts, func(b block) string { return b.text }), "\n")
}

// refusals begin the results of calls that the host or the user has refused: no hook is told
// of them.
var refusals = []string{
	"<tool_use_error>", hosttext.Interrupted, "The user doesn't want to ", "Permission to use ", "Claude requested permissions to ",
	"Error: No such tool available", "InputValidationError",
	"exec command rejected by user", "patch rejected by user", "aborted by user", "apply_patch verification failed", // Codex CLI
}

// refused reports whether a tool was not run.
func refused(text string) bool {
	text = strings.TrimLeft(text, " \r\n\t")
	return slices.ContainsFunc(refusals, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// response returns what a hook is given as the response of a tool: the structured result if
// the record has one, as those of a session's own file have. Those of subagents have only the
// text that the agent was given, of which the form of usual tools is made.
func response(name string, input, result, content []byte) []byte {
	if len(result) > 0 {
		return bytes.Clone(result)
	}
	text := contentText(content)
	quoted := jsonscan.AppendQuote(nil, text)
	switch name {
	case "Bash":
		return fmt.Appendf(nil, `{"stdout":%s,"stderr":"","interrupted":false}`, quoted)
	case "Read":
		var path string
		_ = jsonscan.Decode(input, map[string]any{"file_path": &path}) // else without one
		numbered, first := withoutNumbers(text)
		return fmt.Appendf(nil, `{"type":"text","file":{"filePath":%s,"content":%s,"numLines":%d,"startLine":%d}}`,
			jsonscan.AppendQuote(nil, path), jsonscan.AppendQuote(nil, numbered), strings.Count(numbered, "\n")+1, first)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		var path string
		_ = jsonscan.Decode(input, map[string]any{"file_path": &path})
		return fmt.Appendf(nil, `{"filePath":%s}`, jsonscan.AppendQuote(nil, path))
	}
	if len(content) > 0 && content[0] == '[' {
		return bytes.Clone(content)
	}
	return quoted
}

// withoutNumbers returns a file as it was shown to the agent, each line behind its number and
// a tab or an arrow, without the numbers, and the first of them. A text with a line that has none
// is returned as it is, with 1.
func withoutNumbers(text string) (file string, first int) {
	var b strings.Builder
	first = 1
	for i, line := range strings.Split(text, "\n") {
		number, rest, ok := strings.Cut(line, "\t")
		if !ok {
			number, rest, ok = strings.Cut(line, "→")
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if !ok || err != nil {
			return text, 1
		}
		if i == 0 {
			first = n
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(rest)
	}
	return b.String(), first
}
