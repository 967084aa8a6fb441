package control

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestEdits: the folder of an editor stays while its process lives; one that a killed process left goes.
func TestEdits(t *testing.T) {
	dataDir := t.TempDir()
	dir, remove, err := EditFolder(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || filepath.Dir(dir) != dataDir || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", dir, info, err)
	}
	text := filepath.Join(dir, "12.md")
	if err := os.WriteFile(text, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dataDir, "edit-1.tmp")
	if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, "3.md"), []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	RemoveEdits(dataDir)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a killed process: %v", err)
	}
	if _, err := os.Stat(text); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the edit: %v", err)
	}
	if _, _, err := EditFolder(filepath.Join(dataDir, "none")); err == nil {
		t.Error("a folder was made in a directory that is not there")
	}
}
