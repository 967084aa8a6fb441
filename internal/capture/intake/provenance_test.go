package intake

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"claudemem/internal/memory"
)

// TestMarks: where git tracks nothing, the files below the root are the project's but for
// those of other repositories and those that links lead to.
func TestMarks(t *testing.T) {
	defer func(of func() []string) { temporary = of }(temporary)
	temporary = func() []string { return nil }
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
	read := func(file string) memory.Event { return tool("Read", `{"file_path":`+quote(file)+`}`, `{}`) }
	bash := func(line string) memory.Event { return tool("Bash", `{"command":`+quote(line)+`}`, `{}`) }
	in := func(cwd string, e memory.Event) memory.Event { e.Cwd = cwd; return e }
	for _, tt := range []struct {
		name  string
		event memory.Event
		want  memory.Provenance
	}{
		{"file", read(filepath.Join(root, "a.go")), memory.FromProject},
		{"relative file", in(filepath.Join(root, "sub"), read("../a.go")), memory.FromProject},
		{"file outside", read(filepath.Join(other, "notes.md")), memory.FromOutside},
		{"link to a file outside", read("notes.md"), memory.FromOutside},
		{"file of another repository", read("lib/main.go"), memory.FromOutside},
		{"file in nobody's home", read("~nobody/a.go"), memory.FromUnknown},
		{"command", bash("go test ./... | tail -n 5"), memory.FromProject},
		{"command elsewhere", in(other, bash("git log")), memory.FromOutside},
		{"command in another directory", bash("cd ../other && git log"), memory.FromOutside},
		{"command on a file outside", bash("cat " + filepath.ToSlash(other) + "/notes.md"), memory.FromOutside},
		{"command on a link", bash("head -n 3 notes.md"), memory.FromOutside},
		{"command on what the shell knows", bash("cat $NOTES"), memory.FromUnknown},
		{"command below the working directory", bash(`cat "$PWD/a.go" ${PWD}/b.go`), memory.FromProject},
		{"pattern that looks like a path", bash("grep -rn '/no-such-name/users' . && awk '/no-such/ { print }' a.txt"), memory.FromProject},
		{"search outside", tool("Grep", `{"pattern":"x","path":`+quote(other)+`}`, `{}`), memory.FromOutside},
		{"search", tool("Grep", `{"pattern":"x"}`, `{}`), memory.FromProject},
		{"page", tool("WebFetch", `{"url":"https://example.com"}`, `{}`), memory.FromWeb},
		{"command that fetches", bash("curl -s https://example.com"), memory.FromWeb},
		{"server", tool("mcp__jira__issue", `{}`, `{}`), memory.FromMCP},
		{"unknown tool", tool("Oracle", `{}`, `{}`), memory.FromUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !links && (tt.name == "link to a file outside" || tt.name == "command on a link") {
				t.Skip("needs symlinks")
			}
			e := tt.event
			e.ProjectPath, e.WorktreeRoot = root, root
			if e.Cwd == "" {
				e.Cwd = root
			}
			if got := mark(e); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := mark(read("/a.go")); got == memory.FromProject {
		t.Errorf("got %q: without a project no path can be judged", got)
	}
}

// mark returns the mark of the only event of a session.
func mark(e memory.Event) memory.Provenance {
	events := []memory.PendingEvent{{Event: e}}
	new(Marks).Mark(1, events)
	return events[0].Provenance
}

// TestMarksOfMessages: what the user and the agent say is marked when it comes in.
func TestMarksOfMessages(t *testing.T) {
	for _, tt := range []struct {
		event memory.Event
		want  memory.Provenance
	}{
		{memory.Event{Kind: memory.KindPrompt, Prompt: "add a test"}, memory.FromUser},
		{memory.Event{Kind: memory.KindStop, LastAssistantMessage: "Done."}, memory.FromAgent},
		{memory.Event{Kind: memory.KindSessionEnd}, ""},
	} {
		intake, q := newIntake(Options{})
		if got := take(t, intake, q, tt.event).Provenance; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.event.Kind, got, tt.want)
		}
	}
}

// TestMarkedSessionsAreBounded: of too many sessions some are forgotten.
func TestMarkedSessionsAreBounded(t *testing.T) {
	var m Marks
	for i := range 2 * maxMarkedSessions {
		m.Mark(memory.SessionID(i), []memory.PendingEvent{{Event: tool("Read", `{"file_path":"a"}`, `{}`)}})
	}
	if len(m.sessions) != maxMarkedSessions {
		t.Errorf("%d sessions", len(m.sessions))
	}
}
