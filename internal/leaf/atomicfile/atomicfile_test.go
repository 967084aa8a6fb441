package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWriteReplacesWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"first, and longer", "second", ""} {
		if err := Write(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("content = %q, %v, want %q", got, err, content)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode = %v, want 0640 whatever the umask", info.Mode().Perm())
	}
	onlyFile(t, filepath.Dir(path), "file")
}

// onlyFile fails when a directory has another entry than name.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != name {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestWriteKeepsLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("target", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Write(link, []byte("through the link"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "target")); err != nil || string(got) != "through the link" {
		t.Errorf("target = %q, %v", got, err)
	}
	if got, err := os.Readlink(link); err != nil || got != "target" {
		t.Errorf("link = %q, %v", got, err)
	}
}

func TestFailedReplaceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	rename = func(string, string) error { return refused }
	t.Cleanup(func() { rename = os.Rename })
	if err := Write(path, []byte("new"), 0o600); !errors.Is(err, refused) {
		t.Errorf("Write = %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("content = %q, %v", got, err)
	}
	onlyFile(t, dir, "file")
}

// On Windows a file that another process reads cannot be replaced at that moment.
func TestReplaceWaitsForReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	busy, attempts := errors.New("in use"), 0
	rename = func(from, to string) error {
		if attempts++; attempts < 4 {
			return busy
		}
		return os.Rename(from, to)
	}
	inUse = func(err error) bool { return errors.Is(err, busy) }
	t.Cleanup(func() { rename, inUse = os.Rename, isInUse })
	if err := Write(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if attempts != 4 {
		t.Errorf("attempts = %d, want 4", attempts)
	}
}

func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a[b]*")
	if runtime.GOOS == "windows" {
		path = filepath.Join(dir, "a[b]")
	}
	for _, name := range []string{"." + filepath.Base(path) + tempInfix + "123", ".other" + tempInfix + "123", filepath.Base(path)} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	RemoveLeftovers(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := ".other" + tempInfix + "123 " + filepath.Base(path); strings.Join(names, " ") != want {
		t.Errorf("left = %v, want %s", names, want)
	}
}

// TestRemoveOwnLeftovers: a link in the place of a file of our own is not followed.
func TestRemoveOwnLeftovers(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	leftover := filepath.Join(dir, ".plan"+tempInfix+"1")
	foreign := filepath.Join(elsewhere, ".plan"+tempInfix+"2")
	for _, path := range []string{leftover, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(elsewhere, "plan"), filepath.Join(dir, "plan")); err != nil {
		t.Skip(err)
	}
	RemoveOwnLeftovers(filepath.Join(dir, "plan"))
	if _, err := os.Lstat(leftover); err == nil {
		t.Errorf("%s is left", leftover)
	}
	if _, err := os.Lstat(foreign); err != nil {
		t.Error(err)
	}
}

// TestWriteIn: a file below a directory is replaced whole, and nothing is written outside
// of it, whatever links say.
func TestWriteIn(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"first, and longer", "second"} {
		if err := WriteIn(root, "sub/file", []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "sub", "file")); err != nil || string(got) != content {
			t.Errorf("content = %q, %v, want %q", got, err, content)
		}
	}
	onlyFile(t, filepath.Join(dir, "sub"), "file")
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, path := range []string{"link/file", "../" + filepath.Base(outside) + "/file", "absent/file"} {
		if err := WriteIn(root, path, []byte("x"), 0o600); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	onlyFile(t, outside, "")
	// A directory in the place of the file: the rename fails, and leaves nothing behind.
	if err := WriteIn(root, "sub", []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	onlyFile(t, filepath.Join(dir, "sub"), "file")
	for _, e := range []string{"sub", "link"} {
		if err := os.RemoveAll(filepath.Join(dir, e)); err != nil {
			t.Fatal(err)
		}
	}
	onlyFile(t, dir, "")
}
