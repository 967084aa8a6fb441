package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/leaf/settings"
	"claudemem/internal/memory"
)

// TestOwnFilesFollowNoLink: with a link in the place of each file that the worker and the
// commands make, nothing is written to the files behind the links.
func TestOwnFilesFollowNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	const before = "names /p, of another program\n"
	plant := func(name string) {
		path, target := filepath.Join(dir, name), filepath.Join(elsewhere, filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path) // it may not be there
		if err := os.WriteFile(target, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{"logs/worker.log", "config.last-good.json", "memory.json", "index.vec", "token", "worker.json"}
	for _, name := range own {
		plant(name)
	}
	if err := os.WriteFile(settings.Path(dir), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}

	log, file, err := OpenLog(dir, "info")
	if err != nil {
		t.Fatal(err)
	}
	log.Info("started in /home/ada")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Load(dir, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	w := open(t, config(dir))
	indexed(t, w)
	closeWorker(t, w)
	for _, name := range own {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && !info.Mode().IsRegular() {
			t.Errorf("%s is still a link", name)
		}
	}

	// What forget writes, and what it leaves alone.
	decide(t, dir, "cents only")
	plant("forgetting.json")
	if err := os.Remove(filepath.Join(elsewhere, "forgetting.json")); err != nil { // a plan that is there is carried out
		t.Fatal(err)
	}
	plant("forgotten.json")
	if err := ReportErasure(dir, &Forgetting{}, nil); err != nil {
		t.Fatal(err)
	}
	plant("logs/hook.log")
	if err := os.WriteFile(filepath.Join(dir, "logs", "hook.log.1"), []byte("in /home/ada\nelsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := Forget(t.Context(), dir, memory.Forgetting{ProjectPath: "/home/ada"}, func(string) string { return "" }, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(done.Left, func(s string) bool { return strings.Contains(s, "hook.log: not a regular file") }) {
		t.Errorf("left %q, want the log that is a link", done.Left)
	}
	if rotated, err := os.ReadFile(filepath.Join(dir, "logs", "hook.log.1")); err != nil || string(rotated) != "elsewhere\n" {
		t.Errorf("the rotated log is %q, %v", rotated, err)
	}
	_ = filepath.WalkDir(elsewhere, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if content, err := os.ReadFile(path); err != nil || string(content) != before {
				t.Errorf("behind the link %s: %.60q, %v", filepath.Base(path), content, err)
			}
		}
		return nil
	})
}
