package toolcall

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

// patchCall is a call of Codex's apply_patch.
func patchCall(t *testing.T, patch string) *memory.Event {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": patch})
	if err != nil {
		t.Fatal(err)
	}
	return &memory.Event{
		Kind: memory.KindTool, Host: memory.HostCodex, ToolName: "apply_patch", ToolInput: input,
		ToolResponse: json.RawMessage(`"Success."`), Cwd: "/p", WorktreeRoot: "/p", ProjectPath: "/p",
	}
}

func TestPatch(t *testing.T) {
	type edit struct {
		Path, From, Text string
		Created, Deleted bool
		Hunks            int
	}
	for name, tt := range map[string]struct {
		patch, file string
		want        []edit
	}{
		"three files": {
			"*** Begin Patch\n*** Add File: b.go\n+package b\n+\n*** Update File: a/made.txt\n@@ func x\n one\n-marker\n+changed\n\n@@\n-y\n*** Delete File: old.txt\n*** End Patch\n",
			"b.go", []edit{{Path: "b.go", Created: true, Text: "package b\n\n"}, {Path: "a/made.txt", Hunks: 2}, {Path: "old.txt", Deleted: true}},
		},
		"moved":          {"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n+y\n*** End Patch", "b.go", []edit{{Path: "b.go", From: "a.go", Hunks: 1}}},
		"outside":        {"*** Begin Patch\n*** Update File: ../a.go\n@@\n-x\n+y\n*** End Patch", "../a.go", nil},
		"nothing":        {"*** Begin Patch\n*** End Patch", "", nil},
		"another format": {"--- a/x\n+++ b/x\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			call := Parse(patchCall(t, tt.patch))
			var got []edit
			for _, e := range call.Edits {
				got = append(got, edit{e.Path, e.From, e.Text, e.Created, e.Deleted, len(e.Hunks)})
			}
			if call.File != tt.file || cmp.Diff(tt.want, got) != "" {
				t.Errorf("file %q, edits %s", call.File, cmp.Diff(tt.want, got))
			}
		})
	}
}

// TestPatchTexts: the file before a patch is known from the file after it.
func TestPatchTexts(t *testing.T) {
	const before, after = "package a\n\nfunc A() int {\n\treturn 1\n}\n", "package a\n\nfunc A() int {\n\treturn 2\n}\n"
	call := Parse(patchCall(t, "*** Begin Patch\n*** Update File: a.go\n@@\n func A() int {\n-\treturn 1\n+\treturn 2\n }\n*** End Patch\n"))
	if len(call.Edits) != 1 {
		t.Fatalf("%d edits", len(call.Edits))
	}
	was, is, ok := call.Edits[0].Texts(func() (string, bool) { return after, true })
	if !ok || was != before || is != after {
		t.Errorf("%v, before %q, after %q", ok, was, is)
	}
}

// TestOwnToolsOfHosts: what an agent asked its memory is not captured again, whatever its
// host calls the tool.
func TestOwnToolsOfHosts(t *testing.T) {
	for name, want := range map[string]bool{
		"mcp__claude_mem__search_memory": true, "mcp_claude-mem_search_memory": true, "claude-mem_search_memory": true,
		"MCP:search_memory": true, "MCP:search_docs": false, "mcp__docs__search": false,
	} {
		call := Parse(&memory.Event{Kind: memory.KindTool, ToolName: name})
		if call.IsOwn() != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
