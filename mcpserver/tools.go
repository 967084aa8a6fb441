package mcpserver

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// texts holds for each tool its description, NAME.md, and the schema of its
// arguments, NAME.json.
//
//go:embed tools/*.md tools/*.json
var texts embed.FS

// tool is one tool.
type tool struct {
	name, title string
	run         func(context.Context, *call) (*answer, error)
	hints       mcp.ToolAnnotations
	// nothingYet: an empty memory is an answer, not an error.
	nothingYet bool
}

// The hints for the kinds of tools; none reaches beyond this memory (OpenWorldHint false).
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

// tools returns all tools in the order in which agents use them.
func tools() []tool {
	return []tool{
		{"search_memory", "Search memory", searchMemory, reading(), true},
		{"timeline", "Timeline", timeline, reading(), true},
		{"get_observations", "Observations in full", getObservations, reading(), false},
		{"get_session_summary", "Session summary", getSessionSummary, reading(), false},
		{"get_project_context", "Project context", getProjectContext, reading(), true},
		{"save_memory", "Save a memory", saveMemory, adding(), false},
		{"forget_memory", "Forget memories", forgetMemory, removing(), false},
	}
}

// definition returns the tool as clients list it. It panics when a text is missing;
// tests call it for each tool.
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
