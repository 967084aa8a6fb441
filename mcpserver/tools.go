package mcpserver

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// texts holds for each tool what the model reads, NAME.md, and the schema of its
// arguments, NAME.json.
//
//go:embed tools/*.md tools/*.json
var texts embed.FS

// tool is one tool.
type tool struct {
	name, title string
	run         func(context.Context, *call) (*answer, error)
	hints       mcp.ToolAnnotations
}

// The kinds of tools: the domain is closed, for all are about this memory alone.
func reading() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
}

func adding() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)}
}

func removing() mcp.ToolAnnotations {
	destructive := true
	return mcp.ToolAnnotations{DestructiveHint: &destructive, IdempotentHint: true, OpenWorldHint: new(bool)}
}

// tools are all of them, in the order in which they are used.
func tools() []tool {
	return []tool{
		{"search_memory", "Search memory", searchMemory, reading()},
		{"timeline", "Timeline", timeline, reading()},
		{"get_observations", "Observations in full", getObservations, reading()},
		{"get_session_summary", "Session summary", getSessionSummary, reading()},
		{"get_project_context", "Project context", getProjectContext, reading()},
		{"save_memory", "Save a memory", saveMemory, adding()},
		{"forget_memory", "Forget memories", forgetMemory, removing()},
	}
}

// definition is the tool as clients list it. It panics when a text is missing,
// which a test would see.
func (t tool) definition() *mcp.Tool {
	read := func(suffix string) []byte {
		text, err := texts.ReadFile("tools/" + t.name + suffix)
		if err != nil {
			panic(err)
		}
		return text
	}
	var schema bytes.Buffer
	if err := json.Compact(&schema, read(".json")); err != nil {
		panic(err)
	}
	hints := t.hints
	hints.Title = t.title
	return &mcp.Tool{Name: t.name, Description: strings.TrimSpace(string(read(".md"))), InputSchema: json.RawMessage(schema.Bytes()), Annotations: &hints}
}
