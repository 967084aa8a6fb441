package daemon

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
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
	open(t, config(dir))
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
		e := event("s", memory.KindTool)
		e.ProjectPath, e.WorktreeRoot, e.Cwd = project, project, project
		if err := post(t.Context(), peerOf(t, dir), e); err != nil {
			t.Fatal(err)
		}
		// The books do not tell: events of earlier steps that wait are skipped later.
		if got := outcomeOf(t, dir, e.DeliveryID); (got != "skipped") != step.captured {
			t.Errorf("%s=%s: outcome %q, want captured %v", step.key, step.value, got, step.captured)
		}
	}
}

// outcomeOf returns the outcome of a delivered event, as the database has it.
func outcomeOf(t *testing.T, dir, delivery string) (outcome string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, control.Database)+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow("SELECT outcome FROM events WHERE delivery_id = ?", delivery).Scan(&outcome); err != nil {
		t.Fatal(err)
	}
	return outcome
}
