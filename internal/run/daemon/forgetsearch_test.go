package daemon

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/upkeep"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
)

// TestForgetNamesWhatIsLeft: leftovers of processes that died are deleted, and files that are
// not claude-mem's to delete are named, wherever in them the text stands.
func TestForgetNamesWhatIsLeft(t *testing.T) {
	noLeaks(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	dir := filepath.Join(home, "memory")
	s, err := store.Open(t.Context(), filepath.Join(mkdir(t, dir), control.Database), store.Options{})
	failOn(t, err)
	for _, narrative := range []string{"about Nightjar", "about the weather"} {
		_, err := s.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/home/ada/tally", Type: "decision", Title: "Something decided", Narrative: narrative})
		failOn(t, err)
	}
	aside := filepath.Join(mkdir(t, filepath.Join(dir, "aside", "1")), control.Database)
	failOn(t, upkeep.Copy(t.Context(), s.Path(), aside))
	failOn(t, s.Close())
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("{\"x\":\"NIGHTJAR\"}")) // a buffer takes all
	failOn(t, z.Close())
	long := strings.Repeat("x", chunk+overlap-3) + "nightjar"
	deleted := map[string]string{"backups/.memory-1-1.tmp": "no database", "spool/corrupt/1.json": "nightjar", ".config.json.claude-mem-1-x": "NightJar", "index.vec.new": "nightjar", "import-1.tmp/000001.jsonl": "nightjar", "edit-1.tmp/12.md": "nightjar", "edit-1.tmp/.12.md.swp": "nightjar"}
	named := map[string]string{"notes.txt": "Nightjar", "long.log": long, "exported.jsonl.gz": zipped.String(), "modes/mine.md": "nightjar"}
	kept := map[string]string{"other.txt": "night jar"}
	for _, files := range []map[string]string{deleted, named, kept} {
		for name, content := range files {
			mkdir(t, filepath.Dir(filepath.Join(dir, name)))
			failOn(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
	}
	transcript := filepath.Join(mkdir(t, filepath.Join(home, ".claude", "projects", "-home-ada-tally-sub")), "s.jsonl")
	failOn(t, os.WriteFile(transcript, []byte(`{"text":"nightjar"}`), 0o600))
	opencode := filepath.Join(mkdir(t, filepath.Join(home, ".local", "share", "opencode")), "opencode.db")
	failOn(t, os.WriteFile(opencode, []byte("nightjar"), 0o600))
	export := filepath.Join(home, "export.jsonl")
	failOn(t, os.WriteFile(export, []byte("nightjar"), 0o600))
	failOn(t, noteExport(dir, export))

	done, err := Forget(t.Context(), dir, memory.Forgetting{Text: "nightjar"}, func(string) string { return "" }, func() error { return nil })
	failOn(t, err)
	left := strings.Join(done.Left, "\n")
	for name := range deleted {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	want := []string{transcript, opencode, export, aside}
	for name := range named {
		want = append(want, filepath.Join(dir, name))
	}
	for _, path := range want {
		if !strings.Contains(left, path+":") {
			t.Errorf("%s is not named in %s", path, left)
		}
	}
	if len(done.Left) != len(want) {
		t.Errorf("left: %s", left)
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	failOn(t, os.MkdirAll(dir, 0o700))
	return dir
}

func failOn(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
