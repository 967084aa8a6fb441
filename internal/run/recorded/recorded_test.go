package recorded

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ours are the events that the plugin registers.
var ours = []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "PreCompact", "SessionEnd"}

// projectNames returns the names of the recorded projects.
func projectNames(t *testing.T) []string {
	t.Helper()
	dirs, err := fs.ReadDir(projects, projectRoot)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	return names
}

func TestEverySessionIsWhole(t *testing.T) {
	for _, s := range Sessions() {
		t.Run(s.Name, func(t *testing.T) {
			if !slices.Contains(projectNames(t), s.Project) {
				t.Errorf("project %q has no files", s.Project)
			}
			if len(s.Payloads) == 0 || s.Payloads[0].Event != "SessionStart" || s.Payloads[len(s.Payloads)-1].Event != "SessionEnd" {
				t.Fatalf("a session goes from SessionStart to SessionEnd, got %d payloads", len(s.Payloads))
			}
			var prompts []string
			for _, p := range s.Payloads {
				var body struct {
					Event  string `json:"hook_event_name"`
					Prompt string `json:"prompt"`
				}
				if err := json.Unmarshal(p.Body, &body); err != nil {
					t.Fatalf("%s: %v", p.Name, err)
				}
				if body.Event != p.Event || !slices.Contains(ours, p.Event) {
					t.Errorf("%s: event %q", p.Name, body.Event)
				}
				if p.Event == "UserPromptSubmit" {
					prompts = append(prompts, body.Prompt)
				}
			}
			// /compact is in meta.json but fires no UserPromptSubmit.
			want := slices.DeleteFunc(slices.Clone(s.Prompts), func(p string) bool { return p == "/compact" })
			if !slices.Equal(prompts, want) {
				t.Errorf("prompts of the payloads\n%q\nwant those of meta.json\n%q", prompts, want)
			}
		})
	}
}

// TestThereIsEnough checks that the recordings hold at least thirty turns on five
// projects.
func TestThereIsEnough(t *testing.T) {
	projects, events := map[string]bool{}, map[string]int{}
	for _, s := range Sessions() {
		projects[s.Project] = true
		for _, p := range s.Payloads {
			events[p.Event]++
		}
	}
	turns := events["UserPromptSubmit"]
	if turns < 30 || len(projects) < 5 {
		t.Errorf("got %d turns on %d projects, want 30 on 5", turns, len(projects))
	}
	for _, e := range ours {
		if events[e] == 0 {
			t.Errorf("no session has a %s", e)
		}
	}
}

// TestNothingOfTheMachineIsKept looks for absolute paths other than those every
// machine has, in payloads and transcripts alike.
func TestNothingOfTheMachineIsKept(t *testing.T) {
	foreign := regexp.MustCompile(`/(root|work|home|Users|opt|var|private)/[^\s"\\]*|\.pyenv[^\s"]*|recorded\.[A-Za-z0-9]{6}`)
	err := filepath.WalkDir("sessions", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, hit := range foreign.FindAll(b, -1) {
			t.Errorf("%s: %s", name, hit)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRenderEscapesForJSON(t *testing.T) {
	body := []byte(`{"cwd":"{{project}}","transcript_path":"{{home}}/x.jsonl"}`)
	got := Render(body, `C:\Users\d "q"\p`, "/home/d")
	var v map[string]string
	if err := json.Unmarshal(got, &v); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if v["cwd"] != `C:\Users\d "q"\p` || v["transcript_path"] != "/home/d/x.jsonl" {
		t.Errorf("got %q", v)
	}
	if got := Render(body, "", ""); !bytes.Equal(got, body) {
		t.Errorf("empty directories must leave the placeholders: %s", got)
	}
}

func TestCopyFilesGivesModulesTheirName(t *testing.T) {
	for _, p := range projectNames(t) {
		dir := t.TempDir()
		if err := CopyFiles(dir, p); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if !d.IsDir() {
				n++
				if strings.HasSuffix(name, "go.mod.txt") {
					t.Errorf("%s keeps its disguise", name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if n < 3 {
			t.Errorf("%s has %d files", p, n)
		}
	}
	if err := CopyFiles(t.TempDir(), "nothing"); err == nil {
		t.Error("no error for a project that is not there")
	}
}

// TestAfter checks that a session names the one that it goes on from.
func TestAfter(t *testing.T) {
	for _, s := range Sessions() {
		if s.Name == "ratelimit-sweep" && s.After != "ratelimit-burst" || s.Version == "" {
			t.Errorf("%s: after %q, version %q", s.Name, s.After, s.Version)
		}
	}
}
