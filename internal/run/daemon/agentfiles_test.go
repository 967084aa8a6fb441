package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/serve/agentfiles"
	"claudemem/internal/serve/api"
)

// summarised posts a turn in a project whose stop makes a summary and, from the edit, an
// observation.
func summarised(t *testing.T, dir, project, session string) {
	t.Helper()
	peer := peerOf(t, dir)
	for _, kind := range []memory.EventKind{memory.KindPrompt, memory.KindTool, memory.KindStop} {
		e := event(session, kind)
		e.PromptID, e.ProjectPath, e.WorktreeRoot, e.Cwd = "prompt of "+session, project, project, project
		switch kind {
		case memory.KindPrompt:
			e.Prompt = "Round the total of the cart"
		case memory.KindTool:
			e.ToolInput = []byte(`{"file_path":"cart.go","old_string":"total","new_string":"round(total)"}`)
			e.ToolResponse = []byte(`{"filePath":"cart.go"}`)
		case memory.KindStop:
			e.LastAssistantMessage = "The total is rounded in cart.go now."
		}
		if err := post(t.Context(), peer, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := peer.AddObservation(t.Context(), api.NewObservation{ProjectPath: project, Title: "Amounts are cents in " + session, Narrative: "Amounts are whole cents.", FilesModified: []string{"cart.go"}}); err != nil {
		t.Fatal(err)
	}
}

// has reports whether a file has a text.
func has(path, text string) bool {
	raw, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(raw), text)
}

// TestAgentFiles: with the setting on, a summary has the files of its project written, in
// no other project and not with the setting off; what was hidden is gone after the next
// one, and a refused file is told.
func TestAgentFiles(t *testing.T) {
	noLeaks(t)
	dir, project, other := t.TempDir(), t.TempDir(), t.TempDir()
	path := filepath.Join(project, "CLAUDE.md")
	w := open(t, config(dir))
	summarised(t, dir, project, "off")
	if err := w.observer.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := settings.Set(dir, settings.KeyAgentFiles, "root"); err != nil {
		t.Fatal(err)
	}
	summarised(t, dir, project, "on")
	if !eventually(func() bool { return has(path, "cents in on") && has(path, "cents in off") }) {
		t.Fatal("no block was written")
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("another project: %v, %v", entries, err)
	}

	peer := peerOf(t, dir)
	if _, err := peer.HideObservation(t.Context(), api.HideRequest{ID: observationOf(t, peer.Memory, "cents in off"), Purge: true}); err != nil {
		t.Fatal(err)
	}
	summarised(t, dir, project, "later")
	if !eventually(func() bool { return has(path, "cents in later") && !has(path, "cents in off") }) {
		t.Error("what was hidden is still there")
	}

	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	notice := func() (text string) {
		standing, err := w.store.Standing(t.Context(), w.cfg.Clock())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range standing {
			if strings.HasPrefix(n.Key, agentfiles.Notice) {
				text = n.Text
			}
		}
		return text
	}
	summarised(t, dir, project, "refused")
	if !eventually(func() bool { return strings.Contains(notice(), "CLAUDE.md: is read-only") }) {
		t.Errorf("notice %q", notice())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	summarised(t, dir, project, "allowed")
	if !eventually(func() bool { return notice() == "" && has(path, "cents in allowed") }) {
		t.Errorf("the notice stays: %q", notice())
	}
}

// TestAgentFilesAfterAKill: what a worker that died had not written yet, the next one
// writes.
func TestAgentFilesAfterAKill(t *testing.T) {
	noLeaks(t)
	dir, project := t.TempDir(), t.TempDir()
	if err := settings.Set(dir, settings.KeyAgentFiles, "root"); err != nil {
		t.Fatal(err)
	}
	w := open(t, config(dir))
	summarised(t, dir, project, "s")
	if err := w.observer.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeWorker(t, w) // within filesPause
	open(t, config(dir))
	if !eventually(func() bool { return has(filepath.Join(project, "CLAUDE.md"), "cents in s") }) {
		t.Error("no block was written")
	}
}

// observationOf returns the number of the observation with a text in its title.
func observationOf(t *testing.T, m api.Memory, title string) memory.ObservationID {
	t.Helper()
	found, err := m.Observations(context.Background(), api.ObservationsRequest{Paged: api.Paged{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range found.Results {
		if strings.Contains(o.Title, title) {
			return o.ID
		}
	}
	t.Fatalf("no observation %q", title)
	return 0
}
