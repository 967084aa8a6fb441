package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inRoot lets the test work in the root of the repository, whose files it reads.
func inRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

// modulePath returns the path of the module, which go.mod alone knows.
func modulePath(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(path)
		}
	}
	t.Fatal("go.mod names no module")
	return ""
}

// TestModulePath checks that nothing but imports and the lines of go.mod files repeats the
// path of the module, so that `make rename` finds all of them.
func TestModulePath(t *testing.T) {
	inRoot(t)
	path := regexp.MustCompile(`[" ]` + regexp.QuoteMeta(modulePath(t)) + `/`)
	importLine := regexp.MustCompile(`^\s*(import )?([\w.]+ )?"[^"]*"\s*$`)
	err := filepath.WalkDir(".", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.Contains(filepath.ToSlash(file), "/testdata/") {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if path.MatchString(line) && !importLine.MatchString(line) {
				t.Errorf("%s repeats the path of the module: %s", file, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
