package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nextStep finds what a person can do about a mistake: a command or a flag to type, the words that are
// right, or an example.
var nextStep = regexp.MustCompile("`claude-mem [a-z-]|for example: claude-mem |give a text: claude-mem |did you mean |such as |--[a-z]+ |want |" +
	` is [a-z-]+, [a-z-]+| from 1 to |an observation is 12 or|the categories are|there are |write 2026|leave one of them out|name it by`)

// What people and agents mistype, each with the whole answer in testdata/mistakes.golden: it names
// the next step, as a command that there is or as the right word, and is no text of a library.
func TestMistakes(t *testing.T) {
	env, project := seeded(t)
	lines, err := os.ReadFile(filepath.Join("testdata", "mistakes.txt"))
	must(t, err)
	golden, err := filepath.Abs(filepath.Join("testdata", "mistakes.golden"))
	must(t, err)
	t.Chdir(project)
	config := filepath.Join(env["CLAUDE_MEM_DATA_DIR"], "config.json")
	must(t, os.WriteFile(config, []byte(`{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`), 0o600))
	must(t, os.WriteFile("notes.txt", []byte("hello\n"), 0o600))
	must(t, os.Mkdir("empty", 0o700))
	code, _, errs := command(t, env, "reindex")
	if code != 0 {
		t.Fatal(errs)
	}
	places := strings.NewReplacer(env["CLAUDE_MEM_DATA_DIR"], "DATA", project, "PROJECT", filepath.Base(project), "NAME", env["HOME"], "HOME")
	raw := regexp.MustCompile(`strconv|context canceled|unexpected EOF|no such file or directory|invalid argument|shorthand|json:|<nil>|%!`)
	var got strings.Builder
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(line)
		code, out, errs := command(t, env, shellWords(line)...)
		answer := places.Replace(out + errs)
		fmt.Fprintf(&got, "$ claude-mem %s\n%s[%d]\n\n", line, answer, code)
		if !nextStep.MatchString(answer) {
			t.Errorf("claude-mem %s: the answer names no next step:\n%s", line, answer)
		}
		if found := raw.FindString(answer); found != "" {
			t.Errorf("claude-mem %s: the answer has %q:\n%s", line, found, answer)
		}
		for _, m := range typed.FindAllStringSubmatch(answer, -1) {
			if wrong := checkTyped(t, m[1], true); wrong != nil {
				t.Errorf("claude-mem %s: the answer says %q: %v", line, m[0], wrong)
			}
		}
	}
	if *update {
		must(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("answers differ from %s (-want +got):\n%s", golden, diff)
	}
}
