package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// writePages writes the manual pages and returns their directory.
func writePages(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man1")
	if exit, out, errs := command(t, nil, "man", dir); exit != 0 || out != "" {
		t.Fatalf("exit %d, %s%s", exit, out, errs)
	}
	return dir
}

// pages writes the manual pages and returns them by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	dir := writePages(t)
	files, err := os.ReadDir(dir)
	must(t, err)
	all := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must(t, err)
		all[file.Name()] = string(raw)
	}
	return all
}

// There is a page for each command, the same every time, in ASCII, and its requests
// are those of a manual page: what a help says is never taken for one.
func TestManPages(t *testing.T) {
	all := pages(t)
	if diff := cmp.Diff(all, pages(t)); diff != "" {
		t.Errorf("written again (-first +second):\n%s", diff)
	}
	a, _, _ := testApp(t, nil)
	for _, cmd := range allCommands(a.rootCommand()) {
		if name := manName(cmd) + ".1"; !cmd.Hidden && cmd.Name() != "help" && all[name] == "" {
			t.Errorf("no page %s", name)
		}
	}
	request := regexp.MustCompile(`^\.(TH|SH|TP|B|BR|nf|fi)( |$)`)
	for name, page := range all {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") && !request.MatchString(strings.TrimSpace(line)) || strings.HasPrefix(line, "'") {
				t.Errorf("%s: a request that is none: %q", name, line)
			}
			for _, r := range line {
				if r > 126 {
					t.Errorf("%s: %q is not ASCII", name, line)
				}
			}
		}
	}
	search := all["claude-mem-search.1"]
	for _, want := range []string{".SH NAME\nclaude\\-mem\\-search \\- ", ".SH SYNOPSIS\n", ".SH FLAGS\n", ".B \\-n, \\-\\-limit int\n", ".SH EXAMPLES\n", ".BR claude\\-mem (1)\n"} {
		if !strings.Contains(search, want) {
			t.Errorf("claude-mem-search.1 has no %q", want)
		}
	}
}

// What roff would take for its own is text.
func TestRoffText(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", ".TH in front": `\&.TH in front`, "'quoted'": `\(aqquoted\(aq`, `a\b`: `a\eb`, "--flag": `\-\-flag`, "`x`": `\(gax\(ga`, "a…": `a\[u2026]`,
	} {
		if got := roffText(text); got != want {
			t.Errorf("roffText(%q) = %q, want %q", text, got, want)
		}
	}
	page := manPage(&cobra.Command{Use: "x", Short: "s", Long: ".so /etc/passwd\n'br\n\\n(yr"})
	if !strings.Contains(page, "\n\\&.so /etc/passwd\n\\(aqbr\n\\en(yr\n") {
		t.Errorf("got %s", page)
	}
}

// The programs that show manual pages have nothing to say against ours, but that
// mandoc misses a date.
func TestManPagesAreShown(t *testing.T) {
	dir := writePages(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	must(t, err)
	linters := map[string][]string{"groff": {"-man", "-ww", "-z"}, "mandoc": {"-T", "lint", "-W", "error"}}
	found := false
	for program, args := range linters {
		path, err := exec.LookPath(program)
		if err != nil {
			continue
		}
		found = true
		if out, err := exec.Command(path, append(args, files...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", program, err, out)
		}
	}
	if !found {
		t.Skip("neither groff nor mandoc is here")
	}
}
