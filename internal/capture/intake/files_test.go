package intake

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	write := func(name, content string, age time.Duration) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		when := testClock.Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "package a\n", time.Minute)
	write("sub/b.go", "package b\n", 0)
	write("late.go", "x", -time.Second)
	write("big.bin", strings.Repeat("x", maxHashed+1), time.Minute)
	write("edge.bin", strings.Repeat("x", maxHashed), time.Minute)
	write(".env", "x", time.Minute)
	write("../outside.go", "secret", time.Minute)
	links := runtime.GOOS != "windows"
	if links {
		for link, target := range map[string]string{"out": "../outside.go", "in": "a.go", "loop": "loop", "abs": filepath.Join(root, "a.go")} {
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		makeFIFO(t, filepath.Join(root, "fifo"))
	}
	hashA := sha("package a\n")
	path := func(name string) string { return quote(filepath.Join(root, name)) }
	tests := []struct {
		name  string
		event memory.Event
		want  []memory.FileRef
		links bool
	}{
		{"read", tool("Read", `{"file_path":`+path("a.go")+`}`, `{}`), []memory.FileRef{{Path: "a.go", Role: "read", Hash: hashA}}, false},
		{"relative", tool("Read", `{"file_path":"a.go"}`, `{}`), []memory.FileRef{{Path: "a.go", Role: "read", Hash: hashA}}, false},
		{"just written", tool("Write", `{"file_path":`+path("sub/b.go")+`,"content":"x"}`, `{}`), []memory.FileRef{{Path: "sub/b.go", Role: "modified", Hash: sha("package b\n")}}, false},
		{"edit", tool("Edit", `{"file_path":`+path("a.go")+`}`, `{}`), []memory.FileRef{{Path: "a.go", Role: "modified", Hash: hashA}}, false},
		{"multi edit", tool("MultiEdit", `{"file_path":`+path("a.go")+`}`, `{}`), []memory.FileRef{{Path: "a.go", Role: "modified", Hash: hashA}}, false},
		{"notebook", tool("NotebookEdit", `{"notebook_path":`+path("n.ipynb")+`}`, `{}`), []memory.FileRef{{Path: "n.ipynb", Role: "modified"}}, false},
		{"changed since", tool("Read", `{"file_path":`+path("late.go")+`}`, `{}`), []memory.FileRef{{Path: "late.go", Role: "read"}}, false},
		{"too large", tool("Read", `{"file_path":`+path("big.bin")+`}`, `{}`), []memory.FileRef{{Path: "big.bin", Role: "read"}}, false},
		{"just not too large", tool("Read", `{"file_path":`+path("edge.bin")+`}`, `{}`), []memory.FileRef{{Path: "edge.bin", Role: "read", Hash: sha(strings.Repeat("x", maxHashed))}}, false},
		{"withheld", tool("Read", `{"file_path":`+path(".env")+`}`, `{}`), []memory.FileRef{{Path: ".env", Role: "read"}}, false},
		{"gone", tool("Read", `{"file_path":`+path("gone")+`}`, `{}`), []memory.FileRef{{Path: "gone", Role: "read"}}, false},
		{"outside", tool("Read", `{"file_path":`+path("../outside.go")+`}`, `{}`), []memory.FileRef{{Path: filepath.ToSlash(filepath.Join(dir, "outside.go")), Role: "read"}}, false},
		{"directory", tool("Read", `{"file_path":`+path("sub")+`}`, `{}`), []memory.FileRef{{Path: "sub", Role: "read"}}, false},
		{"the root", tool("Read", `{"file_path":`+quote(root)+`}`, `{}`), nil, false},
		{"link out", tool("Read", `{"file_path":`+path("out")+`}`, `{}`), []memory.FileRef{{Path: "out", Role: "read"}}, true},
		{"link within", tool("Read", `{"file_path":`+path("in")+`}`, `{}`), []memory.FileRef{{Path: "in", Role: "read", Hash: hashA}}, true},
		{"loop", tool("Read", `{"file_path":`+path("loop")+`}`, `{}`), []memory.FileRef{{Path: "loop", Role: "read"}}, true},
		{"fifo", tool("Read", `{"file_path":`+path("fifo")+`}`, `{}`), []memory.FileRef{{Path: "fifo", Role: "read"}}, true},
		{"failed", memory.Event{Kind: memory.KindTool, ToolName: "Read", ToolInput: json.RawMessage(`{"file_path":` + path("a.go") + `}`), ToolError: "no"}, nil, false},
		{"command", tool("Bash", `{"command":"cat a.go"}`, `{}`), nil, false},
		{"search", tool("Grep", `{"pattern":"x","path":`+path("a.go")+`}`, `{}`), nil, false},
		{"no path", tool("Read", `{"file_path":7}`, `{}`), nil, false},
		{"no object", tool("Read", `[]`, `{}`), nil, false},
		{"strange path", tool("Read", `{"file_path":"a\u0000b"}`, `{}`), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.links && !links {
				t.Skip("needs symlinks")
			}
			in, q := newIntake(Options{Policy: fixed(Policy{Withheld: home.Compile([]string{".env*"})})})
			e := tt.event
			e.ProjectPath, e.WorktreeRoot, e.Cwd = root, root, root
			got := take(t, in, q, e).Files
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// A file whose stored path is masked is not hashed: whoever looks for that path
// later would find it gone.
func TestMaskedPathIsNotHashed(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(root, "ghp_"+"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cwd, "a.go")
	if err := os.WriteFile(path, []byte("package a"), 0o644); err != nil {
		t.Fatal(err)
	}
	when := testClock.Add(-time.Minute)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	in, q := newIntake(Options{})
	e := tool("Read", `{"file_path":"a.go"}`, `{}`)
	e.ProjectPath, e.WorktreeRoot, e.Cwd = root, root, cwd
	files := take(t, in, q, e).Files
	if len(files) != 1 || !strings.Contains(files[0].Path, "[redacted:") || files[0].Hash != "" {
		t.Errorf("got %v, want a masked path without a hash", files)
	}
}
