package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/cmd/claude-mem/internal/access"
	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"

	"github.com/google/go-cmp/cmp"
)

// contents are the hashes of all files below a directory.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if len(raw) > 0 && !strings.HasSuffix(path, "-shm") { // what SQLite makes for itself to read holds nothing
			files[path] = sha256.Sum256(raw)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Looking changes nothing: without a worker, every file of the memory is what it
// was, and the same look shows the same block.
func TestPreviewChangesNothing(t *testing.T) {
	dataDir, project := t.TempDir(), t.TempDir()
	ctx := context.Background()
	s, err := store.Open(ctx, access.DatabasePath(dataDir), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	event := func(kind memory.EventKind, id string) memory.Arrival {
		return memory.Arrival{Key: id, Event: memory.Event{DeliveryID: id, Kind: kind, Host: memory.HostClaudeCode, HostSessionID: "0b7c-1", ProjectPath: project,
			Prompt: "Fix the cart", ToolName: "Edit", ToolInput: json.RawMessage(`{"file_path":"cart.go"}`), ToolResponse: json.RawMessage(`{}`)}}
	}
	if _, err := s.Enqueue(ctx, event(memory.KindPrompt, "p"), event(memory.KindTool, "t")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLAUDE_MEM_DATA_DIR", dataDir)
	before := contents(t, dataDir)
	for _, args := range []string{
		"context --preview", "context --preview --json", "context --preview --source compact", "context --preview --source resume --session 0b7c", "context --why 2",
		"context --preview --why S1 --json", "context --preview --budget 20", "sessions show 0b7c", "sessions show last --json", "stats --json",
	} {
		a, out, errs := testApp(t, map[string]string{"CLAUDE_MEM_DATA_DIR": dataDir})
		command := strings.Fields(args)
		if command[0] != "stats" {
			command = append(command, "--project", project)
		}
		if code := a.execute(ctx, command); code != 0 || out.Len() == 0 {
			t.Errorf("%s: exit %d: %s%s", args, code, out, errs)
		}
		if diff := cmp.Diff(before, contents(t, dataDir)); diff != "" {
			t.Fatalf("%s changed the memory (-before +after):\n%s", args, diff)
		}
	}
}

// What the layers and the frame cost adds up to what the block costs.
func TestPreviewAddsUp(t *testing.T) {
	a, out, _ := testApp(t, nil)
	printPreview(a.People(), &contextPreview{BuiltBy: builtByDatabase, Session: "S3", Preview: api.Preview{
		Text: "<claude-mem-context>\n…\n</claude-mem-context>", Tokens: 100, Budget: 9000, EffectiveBudget: 2857, BuildMS: 1.25,
		Source: "resume", ProjectPath: "/home/ada/tally",
		Layers:  []memory.LayerCost{{Name: "sessions", Tokens: 60, Items: 2}, {Name: "closing", Tokens: 10}},
		Skipped: []memory.LayerCost{{Name: "learnings", Reason: "empty"}, {Name: "observations", Tokens: 700, Items: 9, Reason: "budget"}, {Name: "a\x1b[1m", Reason: "b\nc"}},
	}})
	want := "<claude-mem-context>\n…\n</claude-mem-context>\n\n" + strings.Repeat("─", 72) + `
Context block of S3 in tally at resume
  100 of 2857 tokens, built from the database in 1.2 ms
  the budget is 9000; the host accepts 2857
  sessions  60 tokens  2 lines
  closing   10 tokens
  frame     30 tokens
Left out
  learnings     empty
  observations  budget (9 lines, 700 tokens)
  a [1m         b c
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
}

// TestWhyFindsEachObservationOfALine: the line of a session is named by each of the
// observations that it stands for.
func TestWhyFindsEachObservationOfALine(t *testing.T) {
	l := api.PreviewLine{Number: 5, ContextLine: memory.ContextLine{Layer: "sessions", Session: 1, Observation: 2,
		Observations: []memory.ObservationID{2, 3}}}
	for ref, want := range map[string]bool{"#1": false, "#2": true, "#3": true, "#4": false, "S1": true, "S2": false, "5": true, "3": false} {
		wanted, err := lineNamed(ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := wanted(&l); got != want {
			t.Errorf("--why %s: got %v, want %v", ref, got, want)
		}
	}
	if got := observationNumbers(&l); got != "#2, #3" {
		t.Errorf("numbers %q", got)
	}
}
