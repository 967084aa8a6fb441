package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLayout checks the folders: a root of at most 20 entries without Go files, and at most
// ten rows under internal with at most ten stages each. The folder of a row has no Go files;
// internal/memory, the domain, is a row of one package.
func TestLayout(t *testing.T) {
	inRoot(t)
	if shown := entries(t, "."); len(shown) > 20 {
		t.Errorf("the root has %d entries, want at most 20: %v", len(shown), shown)
	}
	noGoFiles(t, ".")
	rows := entries(t, "internal")
	if len(rows) > 10 {
		t.Errorf("internal has %d rows, want at most 10: %v", len(rows), rows)
	}
	for _, row := range rows {
		folder := filepath.Join("internal", row)
		if row == "memory" {
			continue
		}
		noGoFiles(t, folder)
		if stages := entries(t, folder); len(stages) > 10 {
			t.Errorf("%s has %d stages, want at most 10: %v", folder, len(stages), stages)
		}
	}
}

// entries returns what ls shows of a folder.
func entries(t *testing.T, folder string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func noGoFiles(t *testing.T, folder string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) > 0 {
		t.Errorf("Go files in %s, which is no package: %v %v", folder, files, err)
	}
}
