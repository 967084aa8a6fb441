package hook

import (
	"strconv"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// adapter describes the payloads of a host and the replies that it takes. A field that is
// left out means "as Claude Code".
type adapter struct {
	host memory.Host
	// byShape says that the names of members, events and tools are not known: then only registered and
	// what concerns replies count.
	byShape bool
	// members, events and tools translate the host's names to Claude Code's. MCP tools, and
	// those that Claude Code does not have, keep their names.
	members, events, tools names
	// take takes a member, by its translated name, for the adapter itself; false for one that
	// is not its own.
	take func(p *payload, key string, value []byte) bool
	// finish completes a tool call when all members are read: it gives the call Claude Code's
	// shape, and tells a failure from a success.
	finish func(p *payload)
	// print returns the reply with the context of an event, nil for none. Without it the reply has
	// the form of Claude Code's.
	print func(context string) []byte
	// silent are the events, by Claude Code's names, whose replies cannot have context.
	silent string
	// contextInBytes says that longestContext is in bytes.
	contextInBytes bool
	// registered are the events that the host's configuration asks for, in the order of a
	// session's life.
	registered []string
	// inMillis says that the configuration has timeouts in milliseconds.
	inMillis bool
}

// names are pairs of a host's name and Claude Code's.
type names [][2]string

// of returns Claude Code's name of a name; false, and the name itself, if it is not listed.
func (n names) of(name string) (string, bool) {
	for _, pair := range n {
		if pair[0] == name {
			return pair[1], true
		}
	}
	return name, false
}

// aToolCall stands for the event of a tool call that has failed or not, as its error says.
const aToolCall = ""

// adapters are the hosts. A new one is a row here, and its payloads in testdata.
var adapters = [...]*adapter{
	&claudeCodeAdapter, &codexAdapter, &geminiAdapter, &qwenAdapter, &openCodeAdapter, &cursorAdapter, &vsCodeAdapter, &copilotAdapter, &rawAdapter,
	// Observed with the CLI 3.0.65, which takes context after a tool only and has no event for a prompt; the
	// extension of VS Code has, by docs.cline.bot/features/hooks/hook-reference.
	{
		host: memory.HostCline, byShape: true, print: contextAt("contextModification"),
		registered: []string{"TaskStart", eventPrompt, eventSaved, "TaskComplete", "TaskCancel", "PreCompact"},
	},
	// After their documentation, never run: docs.factory.ai/harness/hooks, kiro.dev/docs/cli/hooks,
	// github.com/block/goose (documentation/docs/guides/context-engineering/hooks.md),
	// docs.windsurf.com/windsurf/cascade/hooks.
	{host: memory.HostDroid, byShape: true, registered: codexAdapter.registered},
	{
		host: memory.HostKiro, byShape: true, inMillis: true, silent: eventSaved + " " + eventFailure,
		print:      func(context string) []byte { return []byte(context) },
		registered: []string{"agentSpawn", "userPromptSubmit", "postToolUse", "stop"},
	},
	{
		host: memory.HostGoose, byShape: true, silent: everyReply,
		registered: []string{"SessionStart", eventPrompt, eventSaved, eventFailure, eventStop, "SessionEnd"},
	},
	{
		host: memory.HostWindsurf, byShape: true, silent: everyReply,
		registered: []string{"pre_user_prompt", "post_read_code", "post_write_code", "post_run_command", "post_mcp_tool_use", "post_cascade_response"},
	},
}

// everyReply are the events whose replies may have context.
const everyReply = "SessionStart " + eventPrompt + " " + eventSaved + " " + eventFailure

// Silent returns the events, by Claude Code's names, at which a host cannot take context.
func Silent(host memory.Host) string {
	if a := adapterOf(host); a != nil {
		return a.silent
	}
	return everyReply
}

// claudeCodeAdapter registers exactly the events that every Claude Code from 2.0.60 on knows:
// one name that a host does not know disables all hooks of the plugin.
var claudeCodeAdapter = adapter{
	host:       memory.HostClaudeCode,
	registered: []string{"SessionStart", "UserPromptSubmit", eventSaved, eventFailure, "Stop", "SubagentStop", "PreCompact", "SessionEnd"},
}

// adapterOf returns the adapter of a host, nil for an unknown host.
func adapterOf(host memory.Host) *adapter {
	for _, a := range adapters {
		if a.host == host {
			return a
		}
	}
	return nil
}

// The names of Claude Code's tools whose results the adapters translate.
const (
	toolBash  = "Bash"
	toolRead  = "Read"
	toolWrite = "Write"
	toolEdit  = "Edit"
)

// fail makes the call a failure with a message, "" for one that the host does not give.
func (p *payload) fail(message string) {
	p.name, p.event.ToolError = eventFailure, message
}

// setShellResult sets the result of a command line: what it printed or, if the exit code is not 0,
// its failure as Claude Code words it.
func (p *payload) setShellResult(output string, exit int64) {
	if exit != 0 {
		p.fail("Exit code " + strconv.FormatInt(exit, 10) + "\n" + output)
		return
	}
	p.event.ToolResponse = jsonscan.Object("stdout", output)
}

// setFileRead sets the result of reading a file: its text from a line on, 1 for the first.
func (p *payload) setFileRead(text string, firstLine int64) {
	file := jsonscan.Object("content", text, "startLine", max(firstLine, 1))
	p.event.ToolResponse = jsonscan.Object("type", "text", "file", file)
}

// setFileWritten sets the result of writing a file: whether it is new, and its text before
// as a JSON string, nil if the host does not tell; of a new file it does not count.
func (p *payload) setFileWritten(created bool, before []byte) {
	kind := "update"
	if created {
		kind, before = "create", nil
	}
	if before == nil {
		before = []byte("null")
	}
	p.event.ToolResponse = jsonscan.Object("type", kind, "originalFile", before)
}
