package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSecurityDocument checks that each test that docs/security.md names exists.
func TestSecurityDocument(t *testing.T) { checkNamedTests(t, "security.md", 20) }

// TestStatedFacts checks that each test that docs/stated-facts.md names exists, and that each of its
// facts has one.
func TestStatedFacts(t *testing.T) {
	document, declared := checkNamedTests(t, "stated-facts.md", 250)
	facts, _, _ := strings.Cut(document, "## Decided otherwise")
	rows := 0
	for line := range strings.Lines(facts) {
		if !strings.HasPrefix(line, "| ") || line == "| fact | test |\n" {
			continue
		}
		rows++
		if cells := strings.Split(line, " | "); !strings.Contains(cells[len(cells)-1], "`Test") && !strings.Contains(line, "measured by `make ") {
			t.Errorf("no test: %s", line)
		}
	}
	// A name that several packages have says which one.
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`(?: \\(`([\\w/]+)`\\))?").FindAllStringSubmatch(facts, -1) {
		in := declared[m[1]]
		if m[2] == "" && len(in) > 1 || m[2] != "" && !slices.ContainsFunc(in, func(dir string) bool { return strings.HasSuffix("/"+dir, "/"+m[2]) }) {
			t.Errorf("%s (%s) is declared in %q", m[1], m[2], in)
		}
	}
	if rows < 100 {
		t.Errorf("docs/stated-facts.md has %d facts", rows)
	}
}

// checkNamedTests returns a document of docs, and fails the test unless it names at least so many
// tests, all of which exist. It returns the folders that declare each test, too.
func checkNamedTests(t *testing.T, name string, least int) (string, map[string][]string) {
	t.Helper()
	inRoot(t)
	document, err := os.ReadFile(filepath.Join("docs", name))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(content, -1) {
			if dir := filepath.ToSlash(filepath.Dir(path)); !slices.Contains(tests[string(m[1])], dir) {
				tests[string(m[1])] = append(tests[string(m[1])], dir)
			}
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
		if tests[string(m[1])] == nil {
			t.Errorf("docs/%s names %s, which does not exist", name, m[1])
		}
	}
	return string(document), tests
}
