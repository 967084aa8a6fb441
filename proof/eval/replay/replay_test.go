package replay

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestCommits replays the commits of a repository and applies each edit as the host would.
func TestCommits(t *testing.T) {
	dir := t.TempDir()
	clone := filepath.Join(dir, "a+b")
	states := []string{
		"package a\n\nfunc a() {\n\tx()\n}\n\nfunc b() {\n\tx()\n}\n",
		"package a\n\nfunc a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n\tx()\n}\n",                 // a line before one that is there twice
		"package a\n\nfunc a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n}",                          // a line goes, and the last line end
		"// c\npackage a\n\nfunc a() {\n}\n\nfunc b() {\n\ty()\n}\n\nfunc c() {\n\tx()\n}\n", // three hunks
		"",
		"package b\n",
	}
	git(t, dir, "init", "-q", clone)
	for _, state := range states {
		for _, name := range []string{"a.go", "notes.txt"} {
			must(t, os.WriteFile(filepath.Join(clone, name), []byte(state), 0o600))
		}
		must(t, os.WriteFile(filepath.Join(clone, "crlf.go"), []byte(strings.ReplaceAll(state, "\n", "\r\n")), 0o600))
		git(t, clone, "add", ".")
		git(t, clone, "commit", "-q", "-m", "change")
	}
	s := Source{"a/b", git(t, clone, "rev-parse", "HEAD"), []string{".go"}}
	commits, err := Commits(t.Context(), dir, s, 10)
	must(t, err)
	if len(commits) != len(states) {
		t.Fatalf("%d commits, want %d", len(commits), len(states))
	}
	for i, state := range states {
		c := commits[len(commits)-1-i]
		if len(c.Files) != 1 || c.Files[0].Path != "a.go" || string(c.Files[0].After) != state {
			t.Fatalf("commit %d: %+v", i, c)
		}
		edits := NewSession("/home/dev/project", "s1").Commit(c.Files[0])
		if i == 3 && len(edits) != 3 {
			t.Errorf("commit 3 has %d edits", len(edits))
		}
		text := string(c.Files[0].Before)
		for _, e := range edits {
			if e.Before != text {
				t.Errorf("commit %d: an edit begins with %q, want %q", i, e.Before, text)
			}
			text = apply(t, e, text)
		}
		if text != state {
			t.Errorf("commit %d: the edits give %q, want %q", i, text, state)
		}
	}
	if newest, err := Commits(t.Context(), dir, s, 2); err != nil || len(newest) != 2 || newest[0].ID != s.Head {
		t.Errorf("the newest two: %v, %v", newest, err)
	}
}

// apply does what the payload of an edit says.
func apply(t *testing.T, e Edit, text string) string {
	t.Helper()
	var p struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Path    string `json:"file_path"`
			Old     string `json:"old_string"`
			New     string `json:"new_string"`
			Content string `json:"content"`
		} `json:"tool_input"`
	}
	must(t, json.Unmarshal(e.Payload, &p))
	if p.Input.Path != "/home/dev/project/a.go" {
		t.Errorf("path %q", p.Input.Path)
	}
	got := p.Input.Content
	if p.Tool == "Edit" {
		if n := strings.Count(text, p.Input.Old); n != 1 {
			t.Errorf("old_string %q is in the file %d times", p.Input.Old, n)
		}
		got = strings.Replace(text, p.Input.Old, p.Input.New, 1)
	}
	if got != e.After {
		t.Errorf("the payload gives %q, After is %q", got, e.After)
	}
	return got
}

// TestPatch compares the patch of an edit with the one that the host recorded.
func TestPatch(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "claude-code-hooks", "PostToolUse-Edit.json"))
	must(t, err)
	var recorded struct {
		Response response `json:"tool_response"`
	}
	must(t, json.Unmarshal(raw, &recorded))
	before := *recorded.Response.OriginalFile
	after := strings.Replace(before, "hello", "hello, world", 1)
	edits := NewSession("/home/dev/project", "s1").Commit(File{Path: "src/main.go", Before: []byte(before), After: []byte(after), hunks: []hunk{{5, 1, 5, 1}}})
	var got struct {
		Response response `json:"tool_response"`
	}
	must(t, json.Unmarshal(edits[0].Payload, &got))
	if want := recorded.Response.StructuredPatch; !reflect.DeepEqual(got.Response.StructuredPatch, want) {
		t.Errorf("got %+v, want %+v", got.Response.StructuredPatch, want)
	}
	if got.Response.FilePath != recorded.Response.FilePath || *got.Response.OriginalFile != before {
		t.Errorf("got %+v", got.Response)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
