package toolcall

import (
	"encoding/json"
	"slices"
	"testing"

	"claudemem/internal/memory"
)

// TestScratchDirectories: what a package manager adds, and what a command writes, in a
// directory made for a trial is not the project's.
func TestScratchDirectories(t *testing.T) {
	for line, want := range map[string]struct{ dependencies, edits int }{
		`npm install left-pad`:                                                        {1, 0},
		`cd web && npm install left-pad`:                                              {1, 0},
		`cd "$PWD/web" && npm install left-pad`:                                       {1, 0},
		`cd /tmp/x && npm install left-pad`:                                           {0, 0},
		`cd $(mktemp -d) && cargo init -q && cargo add left-pad`:                      {0, 0},
		`cd "$(mktemp -d /tmp/try.XXXX)" && cargo add left-pad`:                       {0, 0},
		`d=$(mktemp -d); cd $d/demo && go get example.com/x && ls > a.t`:              {0, 0},
		"export d=`mktemp -d`\ncd \"${d}\" && go get example.com/x":                   {0, 0},
		`d=/tmp/try; mkdir $d; cd $d; go get example.com/x`:                           {0, 0},
		`cd "$TMPDIR" && bundle add rake`:                                             {0, 0},
		`ls > a.t`:                                                                    {0, 1},
		`cd $d && ls > a.t`:                                                           {0, 1},
		`/tmp/v/bin/pip install left-pad`:                                             {0, 0},
		`.venv/bin/pip install left-pad`:                                              {1, 0},
		`/home/dev/project/.venv/bin/pip install left-pad`:                            {1, 0},
		`/usr/bin/pip3 install left-pad`:                                              {1, 0},
		`cd /tmp && pip install left-pad`:                                             {0, 0},
		`cd /tmp && sudo apt-get install -y left-pad`:                                 {1, 0},
		`cd /tmp/x && npm i left-pad; cd - ; cd /home/dev/project && npm i right-pad`: {1, 0},
	} {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		c := Parse(&memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: input, ToolResponse: json.RawMessage(`{"stdout":""}`),
			Cwd: "/home/dev/project", WorktreeRoot: "/home/dev/project", ProjectPath: "/home/dev/project"})
		if len(c.Dependencies) != want.dependencies || len(c.Edits) != want.edits {
			t.Errorf("%s: dependencies %v, edits %v; want %d and %d", line, c.Dependencies, c.Edits, want.dependencies, want.edits)
		}
	}
}

// TestExported: what a line exports is in the environment of its later commands.
func TestExported(t *testing.T) {
	commands := ParseCommands("export A=1 B='x y' && C=2 make check")
	last := commands[len(commands)-1]
	if want := []string{"A=1", "B=x y", "C=2"}; !slices.Equal(last.Env, want) {
		t.Errorf("got %q, want %q", last.Env, want)
	}
}

// TestMovedInDirectory: both names of a move are of the directory in which it runs.
func TestMovedInDirectory(t *testing.T) {
	c := Parse(&memory.Event{Kind: memory.KindTool, ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"cd sub && mv a.go b.go"}`), ToolResponse: json.RawMessage(`{"stdout":""}`),
		Cwd: "/home/dev/project", WorktreeRoot: "/home/dev/project", ProjectPath: "/home/dev/project"})
	if len(c.Edits) != 1 || c.Edits[0].From != "sub/a.go" || c.Edits[0].Path != "sub/b.go" {
		t.Errorf("got %+v", c.Edits)
	}
}
