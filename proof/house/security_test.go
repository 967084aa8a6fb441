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
func TestSecurityDocument(t *testing.T) { checkNamedTests(t, "security.md", 20) }

// TestStatedFacts checks that each test that docs/stated-facts.md names exists, and that each of its
// facts has one.
func TestStatedFacts(t *testing.T) {
	document := checkNamedTests(t, "stated-facts.md", 250)
	facts, _, _ := strings.Cut(document, "## Decided otherwise")
	rows := 0
	for line := range strings.Lines(facts) {
		if !strings.HasPrefix(line, "| ") || line == "| fact | test |\n" {
			continue
		}
		rows++
		if cells := strings.Split(line, " | "); !strings.Contains(cells[len(cells)-1], "`Test") {
			t.Errorf("no test: %s", line)
		}
	}
	if rows < 100 {
		t.Errorf("docs/stated-facts.md has %d facts", rows)
	}
}

// checkNamedTests returns a document of docs, and fails the test unless it names at least so many
// tests, all of which exist.
func checkNamedTests(t *testing.T, name string, least int) string {
	t.Helper()
	inRoot(t)
	document, err := os.ReadFile(filepath.Join("docs", name))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
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
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(document, -1)
	if len(named) < least {
		t.Errorf("docs/%s names %d tests", name, len(named))
	}
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("docs/%s names %s, which does not exist", name, m[1])
		}
	}
	return string(document)
}
