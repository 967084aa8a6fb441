package toolcall

import (
	"encoding/json"
	"testing"

	"claudemem/internal/memory"
)

// TestUnknownTools reads calls of tools that no table has, by what their inputs look like.
func TestUnknownTools(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch`
	for name, c := range map[string]struct {
		tool, input string
		want        Tool
		file        string
		added       string // of the first edit
	}{
		"VS Code, replace":        {"replace_string_in_file", `{"filePath":"/w/a.go","oldString":"x","newString":"y"}`, ToolEdit, "/w/a.go", "y\n"},
		"VS Code, several":        {"multi_replace_string_in_file", `{"explanation":"e","replacements":[{"filePath":"a.go","oldString":"x","newString":"y"}]}`, ToolEdit, "a.go", "y\n"},
		"VS Code, create":         {"create_file", `{"filePath":"a.go","content":"y\n"}`, ToolEdit, "a.go", ""},
		"VS Code, files alone":    {"editFiles", `{"files":["src/a.ts"]}`, ToolEdit, "src/a.ts", ""},
		"VS Code, patch":          {"applyPatch", `{"input":"` + patch + `","explanation":"e"}`, ToolEdit, "a.go", "y\n"},
		"VS Code, terminal":       {"run_in_terminal", `{"command":"go test ./...","explanation":"e","isBackground":false}`, ToolCommand, "", ""},
		"VS Code, search":         {"semantic_search", `{"query":"rounding"}`, ToolSearch, "", ""},
		"VS Code, list":           {"list_directory_tree", `{"path":"src"}`, ToolSearch, "", ""},
		"Kiro, replace":           {"fs_write", `{"command":"str_replace","path":"a.go","old_str":"x","new_str":"y"}`, ToolEdit, "a.go", "y\n"},
		"Kiro, create":            {"fs_write", `{"command":"create","path":"a.go","file_text":"y"}`, ToolEdit, "a.go", ""},
		"Kiro, read":              {"fs_read", `{"operations":[{"mode":"Line","path":"a.go"}]}`, ToolRead, "a.go", ""},
		"an editor's view":        {"text_editor", `{"command":"view","path":"a.go"}`, ToolRead, "a.go", ""},
		"Goose, edit":             {"developer__edit", `{"path":"a.go","before":"x","after":"y"}`, ToolEdit, "a.go", "y\n"},
		"Windsurf, edits":         {"post_write_code", `{"file_path":"a.go","edits":[{"old_string":"x","new_string":"y"}]}`, ToolEdit, "a.go", "y\n"},
		"Windsurf, command":       {"post_run_command", `{"command_line":"npm test"}`, ToolCommand, "", ""},
		"nested":                  {"x", `{"args":{"target_file":"a.go","code_edit":"y","search":"x","replace":"y"}}`, ToolEdit, "a.go", "y\n"},
		"a list as command":       {"x", `{"cmd":["bash","-lc","go test ./..."]}`, ToolCommand, "", ""},
		"arguments":               {"x", `{"cmd":"go","args":["test","./..."]}`, ToolCommand, "", ""},
		"a diff":                  {"x", `{"diff":"diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y\n"}`, ToolEdit, "a.go", ""},
		"a known name":            {"edit", `{"path":"a.go","old_str":"x","new_str":"y"}`, ToolEdit, "a.go", "y\n"},
		"a URL of a file":         {"x", `{"uri":"file:///w/a.go"}`, ToolRead, "/w/a.go", ""},
		"another URL as path":     {"x", `{"uri":"github://a/b"}`, ToolOther, "", ""},
		"a page":                  {"x", `{"url":"https://example.com"}`, ToolWeb, "", ""},
		"deleted":                 {"delete_file", `{"path":"a.go"}`, ToolOther, "", ""},
		"nothing":                 {"x", `{"todo":[1]}`, ToolOther, "", ""},
		"no object":               {"x", `"text"`, ToolOther, "", ""},
		"an MCP server's":         {"mcp__github__create_file", `{"path":"a.go","content":"y"}`, ToolOther, "", ""},
		"types that do not fit":   {"x", `{"path":[1],"edits":{"a":1},"files":7,"content":{}}`, ToolOther, "", ""},
		"a null does not hide it": {"x", `{"file":null,"path":"a.go"}`, ToolRead, "a.go", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := memory.Event{Kind: memory.KindTool, ToolName: c.tool, ToolInput: json.RawMessage(c.input), ToolResponse: json.RawMessage(`"ok"`), Cwd: "/w", WorktreeRoot: "/w"}
			call := Parse(&e)
			added := ""
			if len(call.Edits) > 0 {
				for _, piece := range call.Edits[0].Added() {
					added += piece
				}
			}
			if call.Tool != c.want || call.File != c.file || added != c.added {
				t.Errorf("got tool %d, file %q, added %q; want %d, %q, %q", call.Tool, call.File, added, c.want, c.file, c.added)
			}
			if c.want == ToolEdit && (len(call.Edits) != 1 || call.Role != memory.FileModified) {
				t.Errorf("edits %+v, role %q", call.Edits, call.Role)
			}
			if c.want == ToolCommand && (len(call.Checks) != 1 || !call.Checks[0].Passed) {
				t.Errorf("checks %+v", call.Checks)
			}
		})
	}
}
