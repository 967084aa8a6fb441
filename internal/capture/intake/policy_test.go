package intake

import (
	"strings"
	"testing"

	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// home compiles globs without asking the file system.
var home = glob.System{Home: "/home/u"}

func fixed(p Policy) func() *Policy { return func() *Policy { return &p } }

// TestUnmarkedEvents: of a turn that the hook could not mark only a worker that was
// told of an open prompt keeps anything.
func TestUnmarkedEvents(t *testing.T) {
	in, q := newIntake(Options{})
	step := func(session, promptID, want string, e memory.Event) {
		t.Helper()
		e.HostSessionID, e.PromptID, e.Unmarked = session, promptID, e.Kind != memory.KindPrompt
		a := take(t, in, q, e)
		if a.SkipReason != want || a.Event.Unmarked {
			t.Errorf("%s of %s: skip reason %q, want %q; unmarked %v", e.Kind, promptID, a.SkipReason, want, a.Event.Unmarked)
		}
	}
	read := tool("Read", `{"file_path":"/p/a"}`, `{"content":"x"}`)
	step("a", "p1", memory.SkipPrivate, read) // the prompt was told to nobody
	step("a", "p2", memory.SkipPrivate, memory.Event{Kind: memory.KindPrompt, Prompt: "<private></private>"})
	step("a", "p2", memory.SkipPrivate, read)
	step("a", "p3", "", memory.Event{Kind: memory.KindPrompt, Prompt: "open"})
	step("a", "p3", "", read)
	step("a", "p2", memory.SkipPrivate, read)
	step("b", "p4", memory.SkipPrivate, read)
}

// TestForbids: what the user forbade since an event was taken in is told from what is taken
// in as before; masked contents are not masked again.
func TestForbids(t *testing.T) {
	const project = "/home/dev/p"
	before := Policy{Withheld: home.Compile([]string{".env", "*.pem"})}
	in, q := newIntake(Options{Policy: fixed(before)})
	taken := func(name, input, response string) memory.Event {
		e := tool(name, input, response)
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		return take(t, in, q, e).Event
	}
	note := taken("Read", `{"file_path":"/home/dev/p/notes.txt"}`, `{"file":{"content":"1 plans"}}`)
	env := taken("Read", `{"file_path":"/home/dev/p/.env"}`, `{"file":{"content":"PASSWORD=hunter2hunter2"}}`)
	diff := taken("Bash", `{"command":"git diff"}`, `{"stdout":"diff --git a/.env b/.env\n+PASSWORD=hunter2hunter2\ndiff --git a/a.go b/a.go\n+x"}`)
	for _, tt := range []struct {
		name  string
		now   Policy
		event memory.Event
		want  bool
	}{
		{"as before", before, note, false},
		{"withheld before, a file", before, env, false},
		{"withheld before, a diff", before, diff, false},
		{"withheld since", Policy{Withheld: home.Compile([]string{"notes.txt"})}, note, true},
		{"withheld since, a diff", Policy{Withheld: home.Compile([]string{"a.go"})}, diff, true},
		{"excluded since", Policy{Projects: home.Projects([]string{project}, nil)}, note, true},
		{"not among the included", Policy{Projects: home.Projects(nil, []string{"/home/other"})}, note, true},
		{"skipped since", Policy{SkipTools: []string{"Read"}}, note, true},
		{"settings are broken", Policy{Refuse: true, Projects: home.Projects([]string{project}, nil)}, note, false},
	} {
		if got := tt.now.Forbids(&tt.event); got != tt.want {
			t.Errorf("%s: got %t, want %t of %s %s", tt.name, got, tt.want, tt.event.ToolInput, tt.event.ToolResponse)
		}
	}
}

// TestRenew: an event that has waited is skipped for the reason that it would be skipped for
// now, or loses the contents of a file that is withheld by now, and its symbol changes.
func TestRenew(t *testing.T) {
	const project = "/home/dev/p"
	event := func() memory.PendingEvent {
		e := tool("Read", `{"file_path":"/home/dev/p/notes.txt"}`, `{"file":{"content":"1 plans"}}`)
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		return memory.PendingEvent{Event: e, Symbols: []memory.SymbolChange{{}}}
	}
	for _, tt := range []struct {
		name   string
		now    Policy
		skip   string
		masked bool
	}{
		{"as before", Policy{}, "", false},
		{"excluded", Policy{Projects: home.Projects([]string{project}, nil)}, memory.SkipExcluded, false},
		{"a skipped tool", Policy{SkipTools: []string{"Read"}}, memory.SkipTool, false},
		{"withheld", Policy{Withheld: home.Compile([]string{"notes.txt"})}, "", true},
		{"settings are broken", Policy{Refuse: true, Withheld: home.Compile([]string{"notes.txt"})}, "", false},
	} {
		e := event()
		skip, masked := tt.now.Renew(&e)
		if skip != tt.skip || masked != tt.masked {
			t.Errorf("%s: got %q, %t, want %q, %t", tt.name, skip, masked, tt.skip, tt.masked)
		}
		if has := strings.Contains(string(e.Event.ToolResponse), "plans"); has == tt.masked || (len(e.Symbols) == 0) != tt.masked || e.Symbols == nil {
			t.Errorf("%s: the event has %s and the symbols %v", tt.name, e.Event.ToolResponse, e.Symbols)
		}
	}
}
