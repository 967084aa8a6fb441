package intake

import (
	"encoding/json"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// TestWithheldFiles checks that what comes from a withheld file leaves no text of it in an
// arrival, for clients whose hook has not withheld it: by name, by a pattern of the shell,
// in diffs, in searches and in the report of a subagent. Other text stays.
func TestWithheldFiles(t *testing.T) {
	const project, plain = "/home/dev/p", "COLOUR=blue" // no rule masks this
	policy := Policy{Withheld: home.Compile([]string{".env*", "*.pem", "notes/"})}
	for _, tt := range []struct {
		name, tool, input, response string
		gone                        bool
	}{
		{"read", "Read", `{"file_path":"/home/dev/p/.env"}`, `{"file":{"content":"COLOUR=blue"}}`, true},
		{"read in a folder", "Read", `{"file_path":"notes/a.md"}`, `{"file":{"content":"COLOUR=blue"}}`, true},
		{"write", "Write", `{"file_path":"/home/dev/p/.env","content":"COLOUR=blue"}`, `{"type":"create"}`, true},
		{"edit", "Edit", `{"file_path":".env.test","old_string":"COLOUR=blue","new_string":""}`, `{"originalFile":"COLOUR=blue","structuredPatch":[{"lines":["-COLOUR=blue"]}]}`, true},
		{"answer of an MCP tool", "mcp__files__read", `{"paths":["a.go",".env"]}`, `[{"type":"text","text":"COLOUR=blue"}]`, true},
		{"cat", "Bash", `{"command":"cat .env"}`, `{"stdout":"COLOUR=blue"}`, true},
		{"pattern of the shell", "Bash", `{"command":"cat .e*"}`, `{"stdout":"COLOUR=blue"}`, true},
		{"braces of the shell", "Bash", `{"command":"cat {a.go,.env}"}`, `{"stdout":"COLOUR=blue"}`, true},
		{"git show", "Bash", `{"command":"git show HEAD:.env"}`, `{"stdout":"COLOUR=blue"}`, true},
		{"git diff", "Bash", `{"command":"git diff"}`, `{"stdout":"diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n+COLOUR=blue\n"}`, true},
		{"git log", "Bash", `{"command":"git log -p"}`, `{"stdout":"commit 1\n\n    text\n\ndiff --git a/.env b/.env\nnew file mode 100644\n--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+COLOUR=blue\n"}`, true},
		{"search", "Grep", `{"pattern":"COLOUR"}`, `{"content":".env:1:COLOUR=blue"}`, true},
		{"report", "Task", `{"prompt":"look"}`, `[{"type":"text","text":"The file .env has COLOUR=blue."}]`, true},
		{"another file", "Read", `{"file_path":"a.go"}`, `{"file":{"content":"COLOUR=blue"}}`, false},
		{"another file in a diff", "Bash", `{"command":"git diff"}`, `{"stdout":"diff --git a/.env b/.env\n+x=1\ndiff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n+COLOUR=blue\n"}`, false},
	} {
		in, q := newIntake(Options{Policy: fixed(policy)})
		e := tool(tt.tool, tt.input, tt.response)
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		a := take(t, in, q, e)
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if gone := !strings.Contains(string(text), plain); gone != tt.gone {
			t.Errorf("%s: gone %t, want %t: %s", tt.name, gone, tt.gone, text)
		}
		for _, f := range a.Files {
			if tt.gone && f.Hash != "" {
				t.Errorf("%s: %s has the hash of its content", tt.name, f.Path)
			}
		}
	}
}

// TestPrivateForms checks that intake removes what the hook removes, for clients without
// it: an unclosed tag reaches the end of all blocks of a message, and a tag in escapes or
// with invisible characters counts if the user typed it or if it is closed.
func TestPrivateForms(t *testing.T) {
	message := func(blocks string) memory.Event { return tool("mcp__a__b", `{}`, blocks) }
	for _, tt := range []struct {
		name  string
		event memory.Event
		gone  bool
	}{
		{"unclosed over blocks", message(`[{"type":"text","text":"a <private> b"},{"type":"text","text":"hush"}]`), true},
		{"unclosed in content", message(`{"content":[{"type":"text","text":"<private>"},{"type":"text","text":"x"},{"type":"text","text":"hush"}]}`), true},
		{"unclosed in a prompt", memory.Event{Kind: memory.KindPrompt, Prompt: "do it <private> hush"}, true},
		{"escaped in a prompt", memory.Event{Kind: memory.KindPrompt, Prompt: "do it &lt;private&gt; hush"}, true},
		{"no-break space in a prompt", memory.Event{Kind: memory.KindPrompt, Prompt: "do it <\u00a0private> hush"}, true},
		{"zero width in a prompt", memory.Event{Kind: memory.KindPrompt, Prompt: "do it <pri\u200bvate> hush"}, true},
		{"full width in a prompt", memory.Event{Kind: memory.KindPrompt, Prompt: "do it \uff1cprivate\uff1e hush"}, true},
		{"escaped and closed", message(`[{"type":"text","text":"a &lt;private&gt;hush&lt;/private&gt; b"}]`), true},
		{"zero width and closed", message(`[{"type":"text","text":"a <pri\u200bvate>hush</pri\u200bvate> b"}]`), true},
		{"escaped and not closed", message(`[{"type":"text","text":"write &lt;private&gt; before the hush"}]`), false},
		{"zero width and not closed", message(`[{"type":"text","text":"write <pri\u200bvate> before the hush"}]`), false},
	} {
		in, q := newIntake(Options{})
		text, err := json.Marshal(take(t, in, q, tt.event).Event)
		if err != nil {
			t.Fatal(err)
		}
		if gone := !strings.Contains(string(text), "hush"); gone != tt.gone {
			t.Errorf("%s: gone %t, want %t: %s", tt.name, gone, tt.gone, text)
		}
	}
}
