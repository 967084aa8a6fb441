//go:build unix

package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/capture/hook"
	"claudemem/internal/capture/symbols"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/capture/wire"
	"claudemem/internal/distil/offline"
	"claudemem/internal/memory"
	"claudemem/internal/run/recorded"
)

// TestOfflineMemoryOfRecordedSessions shows what a user without a model remembers
// of the recorded sessions: testdata/offline-memory.golden.md is meant to be read.
// Each payload goes through the hook as it came from the host, each turn is
// distilled at its stop, as the worker does.
func TestOfflineMemoryOfRecordedSessions(t *testing.T) {
	var got strings.Builder
	got.WriteString("# Offline memory of the recorded sessions\n")
	turns, observations, summaries, silent := 0, 0, 0, 0
	for _, s := range recorded.Sessions() {
		fmt.Fprintf(&got, "\n## %s\n\n%s\n", s.Name, s.Note)
		for _, session := range capture(t, s) {
			for _, batch := range session {
				turns++
				outcome, err := offline.New().Distil(context.Background(), batch)
				if err != nil {
					t.Fatal(err)
				}
				again, err := offline.New().Distil(context.Background(), batch)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(outcome, again); diff != "" {
					t.Errorf("%s: the same batch twice gave two outcomes:\n%s", s.Name, diff)
				}
				observations += len(outcome.Observations)
				summaries += len(outcome.Summaries)
				if len(outcome.Observations) == 0 {
					silent++
				}
				writeTurn(&got, batch, outcome)
			}
		}
	}
	golden := filepath.Join("testdata", "offline-memory.golden.md")
	if *world.Update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("offline memory differs from %s (-want +got):\n%s\nread the change, then run with -update", golden, diff)
	}
	if turns < 30 {
		t.Errorf("recorded turns: got %d, want at least 30", turns)
	}
	world.Figure(t, 7, "%d recorded turns: %d observations, %d summaries, %d turns of noise without an observation", turns, observations, summaries, silent)
}

// capture runs a recorded session's payloads through the hook, which spools them
// for want of a worker, and cuts each host session at its stops.
func capture(t *testing.T, s recorded.Session) [][]memory.Batch {
	t.Helper()
	dataDir := t.TempDir()
	project := "/home/dev/" + s.Project
	clock := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, p := range s.Payloads {
		if p.Event == "SessionStart" {
			continue // asks for context and captures nothing
		}
		hook.Run(hook.Options{
			Stdin:  bytes.NewReader(recorded.Render(p.Body, project, "/home/dev")),
			Stdout: new(bytes.Buffer),
			Getenv: func(key string) string {
				switch key {
				case "CLAUDE_PROJECT_DIR":
					return project
				case "HOME":
					return dataDir
				}
				return ""
			},
			Now:         func() time.Time { return clock.Add(time.Duration(i) * time.Second) },
			Rand:        func() uint64 { return uint64(i) },
			DataDir:     dataDir,
			StartWorker: func(string) error { return nil },
		})
	}
	spool := wire.SpoolOf(dataDir)
	names, err := spool.List(clock.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	batches := map[string][]memory.Batch{}
	prompts := map[string][]memory.Prompt{}
	open := map[string][]memory.PendingEvent{}
	cut := func(id string) {
		if len(open[id]) > 0 {
			number := len(prompts[id])
			batch := memory.Batch{
				Session: memory.Session{ID: 1, HostSessionID: id, ProjectPath: project, PromptCount: number},
				Events:  open[id],
			}
			if number > 0 {
				batch.Prompts = prompts[id][number-1:]
			}
			batches[id] = append(batches[id], batch)
			open[id] = nil
		}
	}
	for _, name := range names {
		entry, err := spool.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if entry.Event == nil {
			continue
		}
		e := *entry.Event
		id := e.HostSessionID
		if batches[id] == nil && open[id] == nil && prompts[id] == nil {
			order = append(order, id)
		}
		switch e.Kind {
		case memory.KindPrompt:
			cut(id)
			prompts[id] = append(prompts[id], memory.Prompt{Number: len(prompts[id]) + 1, Text: e.Prompt})
		case memory.KindTool, memory.KindStop:
			changes, _ := symbols.AtOnce(&e, memory.FileRef{Path: toolcall.ParseInput(&e).Path})
			e.ToolResponse = withoutOriginal(e.ToolResponse)
			open[id] = append(open[id], memory.PendingEvent{Key: name, PromptNumber: len(prompts[id]), Event: e, Symbols: changes})
			if e.Kind == memory.KindStop {
				cut(id)
			}
		}
	}
	var all [][]memory.Batch
	for _, id := range order {
		cut(id)
		all = append(all, batches[id])
	}
	return all
}

// withoutOriginal drops the file as it was, as intake does after comparing symbols.
func withoutOriginal(response json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(response, &fields) != nil || fields["originalFile"] == nil {
		return response
	}
	delete(fields, "originalFile")
	out, err := json.Marshal(fields)
	if err != nil {
		return response
	}
	return out
}

func writeTurn(w *strings.Builder, batch memory.Batch, outcome memory.Outcome) {
	for _, p := range batch.Prompts {
		fmt.Fprintf(w, "\n### %s\n\n", p.Text)
	}
	if len(outcome.Observations) == 0 {
		w.WriteString("(no observation)\n")
	}
	for i := range outcome.Observations {
		o := &outcome.Observations[i]
		fmt.Fprintf(w, "%s **%s**\n", o.Type.Glyph(), o.Title)
		fmt.Fprintf(w, "  %s · %s · %d tokens\n", o.Type, strings.Join(o.Concepts, " "), o.DiscoveryTokens)
		if o.Subtitle != "" {
			fmt.Fprintf(w, "  _%s_\n", o.Subtitle)
		}
		fmt.Fprintf(w, "  %s\n", o.Narrative)
		for _, f := range o.Facts {
			fmt.Fprintf(w, "  - %s\n", f)
		}
		for _, role := range []memory.FileRole{memory.FileModified, memory.FileRead} {
			if files := o.FilesIn(role); len(files) > 0 {
				fmt.Fprintf(w, "  %s: %s\n", role, strings.Join(files, ", "))
			}
		}
		if o.AgentType != "" {
			fmt.Fprintf(w, "  agent: %s\n", o.AgentType)
		}
		w.WriteString("\n")
	}
	for _, s := range outcome.Summaries {
		w.WriteString("Summary\n")
		for _, field := range []struct{ name, text string }{
			{"request", s.Request}, {"investigated", s.Investigated}, {"learned", s.Learned},
			{"completed", s.Completed}, {"next steps", s.NextSteps},
			{"read", strings.Join(s.FilesRead, ", ")}, {"edited", strings.Join(s.FilesEdited, ", ")},
		} {
			if field.text != "" {
				fmt.Fprintf(w, "- %s: %s\n", field.name, field.text)
			}
		}
	}
}
