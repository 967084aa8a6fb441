package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/capture/outline"
)

func TestRepositories(t *testing.T) {
	all, err := parseRepositories(repositoriesText)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range allLanguages {
		if !slices.ContainsFunc(all, func(r repository) bool { return r.language == language }) {
			t.Errorf("repositories.txt has none for %s", language)
		}
		if lineOf(countsText, language) == "" {
			t.Errorf("counts.txt has no line for %s", language)
		}
	}
	for _, r := range all {
		if len(r.commit) != 40 || strings.Count(r.name, "/") != 1 {
			t.Errorf("%+v: want OWNER/NAME and a whole commit", r)
		}
	}
	for _, wrong := range []string{"go cli/cli", "cobol a/b 0123", "go a/b 0123 more"} {
		if _, err := parseRepositories(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func TestRow(t *testing.T) {
	r := row{language: "python"}
	missed, extra := r.add([]function{{"a", 1, 2}, {"a", 1, 2}, {"b", 4, 5}}, []function{{"a", 1, 2}, {"b", 4, 6}})
	if len(missed) != 2 || len(extra) != 1 || r != (row{language: "python", files: 1, wanted: 3, exact: 1, extra: 1}) {
		t.Errorf("missed %v, extra %v, %+v", missed, extra, r)
	}
	r.add(nil, nil)
	if r.files != 1 {
		t.Errorf("a file without functions counts")
	}
	for _, tt := range []struct {
		row  row
		want bool
	}{
		{row{language: "c", files: 200, wanted: 100, exact: 97, extra: 9}, true},
		{row{language: "c", files: 199, wanted: 100, exact: 100}, false},
		{row{language: "c", files: 200, wanted: 100, exact: 96}, false},
		{row{language: "c", files: 200}, false},
		{row{language: "go", files: 200, wanted: 100, exact: 100}, true},
		{row{language: "go", files: 200, wanted: 100, exact: 99}, false},
		{row{language: "go", files: 200, wanted: 100, exact: 100, extra: 1}, false},
	} {
		if got := tt.row.met(leastFiles); got != tt.want {
			t.Errorf("%+v meets the bars: %v, want %v", tt.row, got, tt.want)
		}
	}
}

// TestCompareLanguage compares the files of a clone with the oracle of Go.
func TestCompareLanguage(t *testing.T) {
	clonesDir := t.TempDir()
	dir := filepath.Join(clonesDir, "a+b")
	write(t, dir, "a.go", "package a\n\nfunc (s *Set[K]) Add(k K) {\n}\n\nfunc b() {}\n")
	write(t, dir, "broken.go", "package a\n\nfunc (\n")
	write(t, dir, "types.go", "package a\n\ntype A int\n")
	write(t, dir, "a.py", "def c(): pass\n")
	commit := commitAll(t, dir)
	saved := repositoriesText
	t.Cleanup(func() { repositoriesText = saved })
	repositoriesText = "go a/b " + commit
	asked, err := newOracles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := compareLanguage(t.Context(), options{clones: clonesDir}, asked, "go", t.TempDir())
	if want := (row{language: "go", files: 1, unread: 1, wanted: 2, exact: 2}); err != nil || r != want {
		t.Errorf("got %+v, %v, want %+v", r, err, want)
	}
	repositoriesText = "go a/gone " + commit
	if _, err := compareLanguage(t.Context(), options{clones: clonesDir}, asked, "go", t.TempDir()); err == nil || !strings.Contains(err.Error(), "no clone of a/gone") {
		t.Errorf("a missing clone: %v", err)
	}
}

// TestNoOracle asserts that a language without its oracle is reported and not passed.
func TestNoOracle(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	asked, err := newOracles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"python", "typescript", "swift"} {
		if _, err := asked.ask(t.Context(), language, nil); !errors.Is(err, errNoOracle) {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func TestJoined(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	for _, tt := range []struct{ language, name, content, first string }{
		{"go", "a.go", "package b\n\nimport \"fmt\"\n\n// f does.\nfunc f() { fmt.Println() }\n", "package a\nfunc f"},
		{"php", "a.php", "<?php function f() {}", "<?php function f() {}\n?>\n<?php"},
		{"ruby", "a.rb", "def a; end\n__END__\ndata", "def a; end\ndef a"},
		{"c", "a.c", "int f() { return 1; }", "int f() { return 1; }\nint f"},
	} {
		large := joined(tt.language, []source{{tt.name, []byte(tt.content)}})
		if len(large.content) < largeFile || !strings.HasPrefix(string(large.content), tt.first) {
			t.Errorf("%s: %d bytes, begin with %.60q", tt.language, len(large.content), large.content)
		}
		if n := len(functionsOf(outline.Of(large.name, large.content))); n < 1000 {
			t.Errorf("%s: %d functions", tt.language, n)
		}
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commitAll makes a repository of dir and returns its commit.
func commitAll(t *testing.T, dir string) string {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	return git("rev-parse", "HEAD")
}
