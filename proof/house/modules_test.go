package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// readModule returns the versions that a go.mod file requires, by module.
func readModule(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions
}

// TestModulesInside: a module inside this one that uses it asks for no older version of a module than this one does; its tests,
// which need downloads, would say so only late.
func TestModulesInside(t *testing.T) {
	inRoot(t)
	own := readModule(t, "go.mod")
	inside := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" || path == "go.mod" || strings.Contains(path, "testdata") {
			return err
		}
		inside++
		for module, version := range readModule(t, path) {
			if newer := own[module]; newer != "" && semver.Compare(version, newer) < 0 {
				t.Errorf("%s requires %s %s, go.mod %s: run go mod tidy in %s", path, module, version, newer, filepath.Dir(path))
			}
		}
		return nil
	})
	if err != nil || inside == 0 {
		t.Fatalf("%d modules inside, %v", inside, err)
	}
}
