//go:build e2e && linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/find/hostfiles"
	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"
)

// marked are files with a statement of their own each; {memory} is Claude Code's memory
// of the project.
var marked = map[string]string{
	"project/CLAUDE.md":                  "The first rule is about apples.\n@docs/imported.md\nSee @docs/inline.md for `@docs/code.md`.\n```\n@docs/fenced.md\n```\n@../outside.md\n<!-- The hidden rule is about ghosts. -->\n",
	"project/docs/imported.md":           "The second rule is about bridges.\n@nested.md\n",
	"project/docs/nested.md":             "The third rule is about candles.\n",
	"project/docs/inline.md":             "The fourth rule is about dolphins.\n",
	"project/docs/code.md":               "The fifth rule is about engines.\n",
	"project/docs/fenced.md":             "The sixth rule is about forests.\n",
	"project/.claude/CLAUDE.md":          "The seventh rule is about gardens.\n",
	"project/CLAUDE.local.md":            "The eighth rule is about harbours.\n",
	"project/AGENTS.md":                  "The ninth rule is about islands.\n",
	"project/sub/CLAUDE.md":              "The tenth rule is about jackets.\n",
	"CLAUDE.md":                          "The eleventh rule is about kettles.\n",
	"outside.md":                         "The twelfth rule is about ladders.\n",
	"home/.claude/CLAUDE.md":             "The thirteenth rule is about mirrors.\n",
	"home/elsewhere/CLAUDE.md":           "The fourteenth rule is about needles.\n",
	"{memory}/MEMORY.md":                 strings.Repeat("- filler\n", 198) + "- The fifteenth rule is about oceans\n- The sixteenth rule is about pencils\n- The seventeenth rule is about quarries\n",
	"{memory}/topic.md":                  "The eighteenth rule is about rivers.\n",
	"project/.claude/skills/x/CLAUDE.md": "The nineteenth rule is about saddles.\n",
}

// compared is how many of their statements package hostfiles takes for loaded. The rest
// is just what a block has lines for.
const compared = 10

// TestHostFilesOfTheCLI: what package hostfiles takes for loaded is loaded by the real
// CLI, and what the block would say of it is not in the request a second time.
func TestHostFilesOfTheCLI(t *testing.T) {
	plugin := buildPlugin(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	project, config := filepath.Join(out, "project"), filepath.Join(out, "home", ".claude")
	for name, content := range marked {
		name = strings.Replace(name, "{memory}", strings.TrimPrefix(filepath.Dir(claudedir.MemoryFile(config, project)), out), 1)
		writeFile(t, filepath.Join(out, name), content)
	}
	writeFile(t, filepath.Join(out, "home", ".claude-mem", "config.json"), `{"CLAUDE_MEM_PROVIDER":"offline"}`)
	script(t, "--plugin", plugin, "--scenario", filepath.Join("testdata", "host-files.json"), "--out", out, "--timeout", "90",
		"--between", `while read -r rule; do "$plugin/../bin/claude-mem" learn add convention "$rule" || exit 1; done <<END
`+strings.Join(rules(), "\n")+`
END`,
		"--prompt", "Hello")

	var sent string
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if r.Kind == "turn" {
			sent = strings.Join(texts(t, r.Body), "\n")
		}
	}
	who := hostfiles.New(time.Now).Load(context.Background(), memory.ContextRequest{Host: memory.HostClaudeCode,
		ProjectPath: project, Checkout: memory.Checkout{Root: project}, StartDir: project, ConfigDir: config})
	own := blockRE.FindStringSubmatch(sent)
	if own == nil || who == nil {
		t.Fatalf("no block in the request:\n%s", sent)
	}
	host := strings.Replace(sent, own[0], "", 1)
	known := 0
	for _, rule := range rules() {
		loaded, inBlock := strings.Contains(host, rule), strings.Contains(own[1], rule)
		file := who(rule)
		switch {
		case file != "" && !loaded:
			t.Errorf("%s: said in %s, which the CLI does not load", rule, file)
		case file != "" && inBlock:
			t.Errorf("%s: in %s and in the block", rule, file)
		case file == "" && !inBlock:
			t.Errorf("%s: not in the block (loaded: %v)", rule, loaded)
		}
		if file != "" {
			known++
		} else if loaded {
			t.Logf("%s: loaded, not compared", rule)
		}
	}
	if known != compared {
		t.Errorf("%d of the statements are taken for loaded, want %d", known, compared)
	}
}

// rules returns the statements of marked, a line each.
func rules() []string {
	var all []string
	for i, number := range strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth") {
		subject := strings.Fields("apples bridges candles dolphins engines forests gardens harbours islands jackets kettles ladders mirrors needles oceans pencils quarries rivers saddles")[i]
		all = append(all, fmt.Sprintf("The %s rule is about %s", number, subject))
	}
	return append(all, "The hidden rule is about ghosts")
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
