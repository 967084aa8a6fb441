package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"claudemem"
	"claudemem/settings"
)

// TestProjectsInTheHomeDirectory checks that INCLUDED_PROJECTS=~/work captures a project
// and EXCLUDED_PROJECTS=~/work does not, for clients of the API too, from the next event
// on.
func TestProjectsInTheHomeDirectory(t *testing.T) {
	noLeaks(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	project := filepath.Join(home, "work", "p")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "memory")
	w := open(t, config(dir))
	for _, step := range []struct {
		key, value string
		captured   bool
	}{
		{settings.KeyMode, "code", true},
		{settings.KeyExcludedProjects, "~/work", false},
		{settings.KeyExcludedProjects, "~/play", true},
		{settings.KeyIncludedProjects, "~/play", false},
		{settings.KeyIncludedProjects, "~/work", true},
	} {
		if err := settings.Set(dir, step.key, step.value); err != nil {
			t.Fatal(err)
		}
		before := books(t, w)
		e := event("s", claudemem.KindTool)
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		if err := post(t.Context(), peerOf(t, dir), e); err != nil {
			t.Fatal(err)
		}
		if got := books(t, w).Skipped == before.Skipped; got != step.captured {
			t.Errorf("%s=%s: captured %v, want %v", step.key, step.value, got, step.captured)
		}
	}
}
