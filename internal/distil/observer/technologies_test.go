package observer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTechnologiesOf(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"setup.py", "pyproject.toml", "go.mod", "Makefile", "README.md"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "Dockerfile"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := technologiesOf(root), []string{"Go", "Python", "make"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, root := range []string{"", "relative", filepath.Join(root, "gone")} {
		if got := technologiesOf(root); got != nil {
			t.Errorf("%q: got %q", root, got)
		}
	}
}
