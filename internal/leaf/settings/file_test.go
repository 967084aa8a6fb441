package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mem")
	if err := Unset(dir, KeyMode); err != nil {
		t.Error(err)
	}
	if err := Set(dir, "mode", "a<b> \"c\""); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, dir), "{\n  \"CLAUDE_MEM_MODE\": \"a<b> \\\"c\\\"\"\n}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s, err := Load(dir, env())
	if err != nil || s.Text(KeyMode) != "a<b> \"c\"" {
		t.Errorf("%q, %v", s.Text(KeyMode), err)
	}
	for _, c := range []struct {
		key, value string
		want       memory.Code
	}{{"NOSUCH", "x", memory.CodeNotFound}, {KeyWorkerPort, "x", memory.CodeInvalid}, {KeyProvider, "none", memory.CodeInvalid}} {
		if err := Set(dir, c.key, c.value); memory.CodeOf(err) != c.want {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
	if err := Unset(dir, "NOSUCH"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(Path(dir)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 3 { // its lock, its last good copy
		t.Errorf("left in the directory: %q, %v", left, err)
	}
}

// TestSetKeepsTheRest checks that order, unknown keys and values that are not text stay.
func TestSetKeepsTheRest(t *testing.T) {
	dir := write(t, "\ufeff"+`{"z":{"b":[1, 2]},"CLAUDE_MEM_MODE":"a","CLAUDE_MEM_NODE_ONLY":"x","CLAUDE_MEM_MODE":"b","a":1.50}`)
	if err := Set(dir, KeyMode, "c"); err != nil {
		t.Fatal(err)
	}
	if err := Set(dir, KeyModel, "m"); err != nil {
		t.Fatal(err)
	}
	want := "\ufeff" + `{"z":{"b":[1, 2]},"CLAUDE_MEM_MODE":"a","CLAUDE_MEM_NODE_ONLY":"x","CLAUDE_MEM_MODE":"c","a":1.50,"CLAUDE_MEM_MODEL":"m"}`
	if got := read(t, dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := Unset(dir, KeyMode); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir); got != "\ufeff"+`{"z":{"b":[1, 2]},"CLAUDE_MEM_NODE_ONLY":"x","a":1.50,"CLAUDE_MEM_MODEL":"m"}` {
		t.Errorf("after Unset: %s", got)
	}
}

func TestSetThroughALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	home := write(t, "{}")
	if err := os.Chmod(Path(home), 0o640); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(Path(home), Path(dir)); err != nil {
		t.Fatal(err)
	}
	if err := Set(dir, KeyMode, "x"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(Path(dir)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if info, err := os.Stat(Path(home)); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(read(t, home), `"x"`) {
		t.Errorf("%v, %v, %s", info.Mode(), err, read(t, home))
	}
}

// TestSetOnDanglingLink checks that no edit replaces a link to a missing file, whose
// settings are unknown: with a new file everything would be captured again.
func TestSetOnDanglingLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	dir := t.TempDir()
	gone := filepath.Join(t.TempDir(), "unmounted", "config.json")
	if err := os.Symlink(gone, Path(dir)); err != nil {
		t.Fatal(err)
	}
	put(t, OlderPath(dir), `{"CLAUDE_MEM_MODE":"a"}`)
	for name, edit := range map[string]func() error{
		"Set":    func() error { return Set(dir, KeyMode, "x") },
		"Unset":  func() error { return Unset(dir, KeyMode) },
		"Import": func() error { return Import(dir, all) },
	} {
		if err := edit(); memory.CodeOf(err) != memory.CodeInvalid || !strings.Contains(err.Error(), "link to a missing file") {
			t.Errorf("%s: %v, want that the link is broken", name, err)
		}
		// The directory of the file exists, as that of a checkout without the file.
		if err := os.MkdirAll(filepath.Dir(gone), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := edit(); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s with the directory: %v", name, err)
		}
		if s, err := Load(dir, env()); err == nil || !s.Closed() {
			t.Errorf("after %s the settings are open: %v", name, err)
		}
	}
}

// TestSetAtOnce checks that no edit is lost.
func TestSetAtOnce(t *testing.T) {
	dir := t.TempDir()
	keys := []string{KeyMode, KeyModel, KeyLanguage, KeyOpenAIBaseURL, KeyOllamaBaseURL, KeyGeminiBaseURL}
	var wg sync.WaitGroup
	for _, key := range keys {
		wg.Go(func() {
			if err := Set(dir, key, key); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := Load(dir, env())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if s.Text(key) != key {
			t.Errorf("%s was lost", key)
		}
	}
}

func TestLockOfADeadEdit(t *testing.T) {
	dir := t.TempDir()
	path := Path(dir) + ".lock"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Set(dir, KeyMode, "x"); err != nil {
		t.Error(err)
	}
}

func TestDataDirNotWritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(file, KeyMode, "x"); memory.CodeOf(err) != memory.CodeStorage {
		t.Errorf("%v", err)
	}
}
