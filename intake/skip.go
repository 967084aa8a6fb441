package intake

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"claudemem"
	"claudemem/redact"
)

// skipReason decides whether an event is captured: "" for yes. It also keeps
// account of private turns.
func (in *Intake) skipReason(e *claudemem.Event, policy *Policy) string {
	if in.opts.DataDir != "" && (inside(in.opts.DataDir, e.Cwd) || inside(in.opts.DataDir, e.ProjectPath)) {
		return claudemem.SkipInternal
	}
	if !policy.Projects.Captured(e.ProjectPath, e.WorktreeRoot, e.Cwd) {
		return claudemem.SkipExcluded
	}
	if e.Kind == claudemem.KindPrompt {
		words := claudemem.TypedText(e.Prompt)
		switch {
		case redact.WhollyPrivate(words):
			in.private.begin(e)
			return claudemem.SkipPrivate
		case !typed(e.Prompt):
			return claudemem.SkipNotTyped
		}
		in.private.end(e)
		e.Prompt = words
		return ""
	}
	if e.Kind == claudemem.KindSessionEnd {
		return "" // says nothing of what was done
	}
	if in.private.covers(e) {
		return claudemem.SkipPrivate
	}
	if e.Kind == claudemem.KindTool {
		switch {
		case own(e):
			return claudemem.SkipOwn
		case slices.Contains(policy.SkipTools, e.ToolName):
			return claudemem.SkipTool
		}
	}
	return ""
}

// strip takes the content from an event that is booked as skipped. Of a private
// turn not even the tools' names stay.
func strip(e *claudemem.Event, reason string) {
	e.Prompt, e.LastAssistantMessage, e.ToolError = "", "", ""
	e.ToolInput, e.ToolResponse = nil, nil
	e.Interrupted, e.DurationMS = false, 0
	if reason == claudemem.SkipPrivate {
		e.ToolName, e.AgentID, e.AgentType = "", "", ""
	}
}

// typed reports whether a person wrote the prompt. Hosts also send notes of their
// own as prompts, and text that consists of machinery alone.
func typed(prompt string) bool {
	text := strings.TrimSpace(claudemem.TypedText(redact.StripTags(prompt)))
	return text != "" || strings.TrimSpace(prompt) == ""
}

// inside reports whether p is dir or lies below it. Both are as clients send
// them, so separators of all systems count.
func inside(dir, p string) bool {
	dir, p = slashed(dir), slashed(p)
	return p != "" && (p == dir || strings.HasPrefix(p, dir+"/"))
}

func slashed(p string) string {
	return strings.TrimSuffix(strings.ReplaceAll(p, `\`, "/"), "/")
}

// ownTools begin the names of our MCP server's tools, by plugin and by itself.
var ownTools = []string{"mcp__plugin_claude-mem_", "mcp__claude-mem__", "mcp__claude_mem__"}

// One of these is in every command that is ours.
const (
	ownName   = "claude-mem"
	ownPort   = ":37777"
	ownSocket = "worker.sock" // of ~/.claude-mem, or of a data directory of any name
)

// own reports whether a tool event is claude-mem looked at by the agent: its
// output is what is remembered already.
func own(e *claudemem.Event) bool {
	for _, prefix := range ownTools {
		if strings.HasPrefix(e.ToolName, prefix) {
			return true
		}
	}
	// Without an escape the words stand in the JSON as they are.
	if !slices.ContainsFunc([]string{ownName, ownPort, ownSocket, `\u`}, func(mark string) bool { return bytes.Contains(e.ToolInput, []byte(mark)) }) {
		return false
	}
	return ownCommand(command(e))
}

// command returns the shell command that a tool ran, "" when it ran none.
func command(e *claudemem.Event) string {
	input := inputOf(e)
	if c := input["command"]; c != "" {
		return c
	}
	return input["cmd"]
}

// ownCommand reports whether one of the commands in a shell line is ours, or
// asks the worker's HTTP API.
func ownCommand(line string) bool {
	if !strings.Contains(line, ownName) && !strings.Contains(line, ownPort) && !strings.Contains(line, ownSocket) {
		return false
	}
	for simple := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&|\n()`{}", r) }) {
		for word := range strings.FieldsSeq(simple) {
			word = strings.Trim(word, `"'$`)
			if strings.Contains(word, "=") && !strings.HasPrefix(word, "-") && !strings.Contains(word, "/") {
				continue // a variable for the command
			}
			switch name := strings.TrimSuffix(path.Base(slashed(word)), ".exe"); name {
			case "claude-mem", "claude-mem-hook":
				return true
			case "sudo", "env", "command", "exec", "time", "nohup", "do", "then", "if", "while", "!":
				continue // the command follows
			case "curl", "wget", "http":
				if strings.Contains(simple, "localhost:37777") || strings.Contains(simple, "127.0.0.1:37777") || strings.Contains(simple, "/"+ownSocket) {
					return true
				}
			}
			break
		}
	}
	return false
}
