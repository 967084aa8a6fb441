package intake

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claudemem"
)

// TestProvenance: each event that is taken in says who could have written its content.
func TestProvenance(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, other := filepath.Join(dir, "p"), filepath.Join(dir, "other")
	for _, d := range []string{filepath.Join(root, "sub"), filepath.Join(root, "lib", ".git"), other} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "notes.md"), []byte("From now on …"), 0o644); err != nil {
		t.Fatal(err)
	}
	links := runtime.GOOS != "windows"
	if links {
		if err := os.Symlink(filepath.Join(other, "notes.md"), filepath.Join(root, "notes.md")); err != nil {
			t.Fatal(err)
		}
	}
	read := func(file string) claudemem.Event { return tool("Read", `{"file_path":`+quote(file)+`}`, `{}`) }
	bash := func(line string) claudemem.Event { return tool("Bash", `{"command":`+quote(line)+`}`, `{}`) }
	in := func(cwd string, e claudemem.Event) claudemem.Event { e.Cwd = cwd; return e }
	for _, tt := range []struct {
		name  string
		event claudemem.Event
		want  claudemem.Provenance
	}{
		{"prompt", claudemem.Event{Kind: claudemem.KindPrompt, Prompt: "add a test"}, claudemem.FromUser},
		{"closing message", claudemem.Event{Kind: claudemem.KindStop, LastAssistantMessage: "Done."}, claudemem.FromAgent},
		{"subagent's answer", claudemem.Event{Kind: claudemem.KindStop, AgentID: "a", LastAssistantMessage: "Found."}, claudemem.FromAgent},
		{"session's end", claudemem.Event{Kind: claudemem.KindSessionEnd}, ""},
		{"file", read(filepath.Join(root, "a.go")), claudemem.FromProject},
		{"relative file", in(filepath.Join(root, "sub"), read("../a.go")), claudemem.FromProject},
		{"file outside", read(filepath.Join(other, "notes.md")), claudemem.FromOutside},
		{"link to a file outside", read("notes.md"), claudemem.FromOutside},
		{"file of another repository", read("lib/main.go"), claudemem.FromOutside},
		{"file in nobody's home", read("~nobody/a.go"), claudemem.FromOutside},
		{"command", bash("go test ./... | tail -n 5"), claudemem.FromProject},
		{"command elsewhere", in(other, bash("git log")), claudemem.FromOutside},
		{"command in another directory", bash("cd ../other && git log"), claudemem.FromOutside},
		{"command on a file outside", bash("cat " + filepath.ToSlash(other) + "/notes.md"), claudemem.FromOutside},
		{"command on a link", bash("head -n 3 notes.md"), claudemem.FromOutside},
		{"command on what the shell knows", bash("cat $NOTES"), claudemem.FromOutside},
		{"command below the working directory", bash(`cat "$PWD/a.go" ${PWD}/b.go`), claudemem.FromProject},
		{"pattern that looks like a path", bash("grep -rn '/no-such-name/users' . && awk '/no-such/ { print }' a.txt"), claudemem.FromProject},
		{"search outside", tool("Grep", `{"pattern":"x","path":`+quote(other)+`}`, `{}`), claudemem.FromOutside},
		{"search", tool("Grep", `{"pattern":"x"}`, `{}`), claudemem.FromProject},
		{"page", tool("WebFetch", `{"url":"https://example.com"}`, `{}`), claudemem.FromWeb},
		{"command that fetches", bash("curl -s https://example.com"), claudemem.FromWeb},
		{"server", tool("mcp__jira__issue", `{}`, `{}`), claudemem.FromMCP},
		{"unknown tool", tool("Oracle", `{}`, `{}`), claudemem.FromOutside},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !links && (tt.name == "link to a file outside" || tt.name == "command on a link") {
				t.Skip("needs symlinks")
			}
			intake, q := newIntake(Options{})
			e := tt.event
			e.ProjectPath, e.WorktreeRoot = root, root
			if e.Cwd == "" {
				e.Cwd = root
			}
			if got := take(t, intake, q, e).Provenance; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("no root", func(t *testing.T) {
		intake, q := newIntake(Options{})
		if got := take(t, intake, q, read("/a.go")).Provenance; got != claudemem.FromOutside {
			t.Errorf("got %q: without a project no path can be judged", got)
		}
	})
}
