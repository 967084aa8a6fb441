package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityDocument checks that each test that docs/security.md names exists.
func TestSecurityDocument(t *testing.T) {
	inRoot(t)
	document, err := os.ReadFile(filepath.Join("docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(content, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(document, -1)
	if len(named) < 20 {
		t.Errorf("docs/security.md names %d tests", len(named))
	}
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("docs/security.md names %s, which does not exist", m[1])
		}
	}
}
