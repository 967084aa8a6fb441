//go:build unix

package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
)

// The skill is prose that a model acts on: what it says has to be true. So every
// command in it is run, by these conventions of its Markdown:
//
//   - a line of a block marked sh is one command, of claude-mem or of curl; after
//     "# → " stands what it prints
//   - ID, ID2, SESSION and PROJECT are of the memory that skillMemory makes
//   - a block marked text is what the commands before it print, one marked json what
//     their curl form answers: ages and ids may differ, … stands for anything
//   - `claude-mem …`, `--flag` and `/api/…` in the text name what there is
var skillFolder = world.Root("plugin", "skills", "mem-search")

// Sizes in tokens. Front matter is in the context of every session; the others are
// read when they are needed.
var skillSizes = map[string][2]int{
	"front matter": {150, 300},
	"SKILL.md":     {900, 1600},
	"operations":   {250, 450},
	"principles":   {200, 450},
}

var operations = []string{
	"observations", "sessions", "prompts", "by-type", "by-file", "by-concept", "recent-context", "timeline",
	"timeline-by-query", "help", "formatting", "common-workflows",
}

// skillPage is one file of the skill.
type skillPage struct {
	path   string // below the skill's folder, with /
	text   string // without front matter
	front  string
	blocks []skillBlock
}

// skillBlock is a fenced block.
type skillBlock struct {
	line  int
	kind  string
	lines []string
}

// commands are the lines of a block with what each is to print.
func (b *skillBlock) commands() (out []skillCommand) {
	for i, line := range b.lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		text, want, _ := strings.Cut(line, " # → ")
		out = append(out, skillCommand{line: b.line + 1 + i, text: strings.TrimSpace(text), want: strings.TrimSpace(want)})
	}
	return out
}

type skillCommand struct {
	line       int
	text, want string
}

func (c *skillCommand) isCurl() bool { return strings.HasPrefix(c.text, "curl -s ") }

// form tells what is wrong with the command as a thing that can be run, "" if nothing.
func (c *skillCommand) form() string {
	own := strings.HasPrefix(c.text, "claude-mem ") || strings.HasPrefix(c.text, `"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem" `)
	switch {
	case !own && !c.isCurl():
		return "is neither claude-mem's nor curl's"
	case strings.HasSuffix(c.text, `\`):
		return "goes on in the next line"
	case strings.ContainsAny(c.text, "<>`"):
		return "has a placeholder or a redirection"
	default:
		return ""
	}
}

// readPage takes a file apart; what the conventions do not provide for is a problem.
func readPage(path, text string) (page skillPage, problems []string) {
	page.path = path
	skipped := 0
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		front, body, closed := strings.Cut(rest, "\n---\n")
		if !closed {
			return page, []string{path + ": the front matter does not end"}
		}
		page.front, text = front, body
		skipped = strings.Count(front, "\n") + 3
	}
	page.text = text
	open := -1
	for i, line := range strings.Split(text, "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open < 0:
			open = len(page.blocks)
			page.blocks = append(page.blocks, skillBlock{line: skipped + i + 1, kind: kind})
			if !slices.Contains([]string{"sh", "text", "json"}, kind) {
				problems = append(problems, fmt.Sprintf("%s:%d: a block of %q cannot be checked", path, skipped+i+1, kind))
			}
		case fence:
			open = -1
		case open >= 0:
			page.blocks[open].lines = append(page.blocks[open].lines, line)
		}
	}
	if open >= 0 {
		problems = append(problems, path+": a block does not end")
	}
	commands := 0
	for i := range page.blocks {
		b := &page.blocks[i]
		switch {
		case b.kind != "sh" && (i == 0 || !slices.ContainsFunc(page.blocks[:i], func(b skillBlock) bool { return b.kind == "sh" })):
			problems = append(problems, fmt.Sprintf("%s:%d: an example before any command", path, b.line))
		case b.kind == "sh":
			for _, c := range b.commands() {
				commands++
				if wrong := c.form(); wrong != "" {
					problems = append(problems, fmt.Sprintf("%s:%d: %s: %s", path, c.line, wrong, c.text))
				}
			}
		}
	}
	if commands == 0 {
		problems = append(problems, path+": no command")
	}
	return page, problems
}

// readSkill reads all files of the skill, in the order of their paths.
func readSkill(t *testing.T) (pages []skillPage) {
	t.Helper()
	err := filepath.WalkDir(skillFolder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(skillFolder, path)
		if err != nil {
			return err
		}
		page, problems := readPage(filepath.ToSlash(name), string(raw))
		for _, p := range problems {
			t.Error(p)
		}
		pages = append(pages, page)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestSkillPages: sizes, links, front matter.
func TestSkillPages(t *testing.T) {
	pages := readSkill(t)
	byPath := map[string]*skillPage{}
	for i := range pages {
		byPath[pages[i].path] = &pages[i]
	}
	hub := byPath["SKILL.md"]
	if hub == nil {
		t.Fatal("there is no SKILL.md")
	}
	for _, name := range operations {
		if byPath["operations/"+name+".md"] == nil {
			t.Errorf("there is no operation %s", name)
		}
	}
	size := func(what, name, text string) {
		tokens, want := memory.EstimateTokens(text), skillSizes[what]
		if tokens < want[0] || tokens > want[1] {
			t.Errorf("%s has %d tokens, want %d to %d", name, tokens, want[0], want[1])
		}
		t.Logf("%-36s %4d tokens", name, tokens)
	}
	size("front matter", "front matter", hub.front)
	if !strings.HasPrefix(hub.front, "name: mem-search\ndescription:") {
		t.Errorf("front matter: %s", hub.front)
	}
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	linked := map[string]bool{"SKILL.md": true}
	for i := range pages {
		page := &pages[i]
		folder, _, inFolder := strings.Cut(page.path, "/")
		size(folder, page.path, page.text)
		if inFolder && page.front != "" {
			t.Errorf("%s has front matter", page.path)
		}
		for _, m := range link.FindAllStringSubmatch(page.text, -1) {
			target := filepath.ToSlash(filepath.Join(filepath.Dir(page.path), m[1]))
			if byPath[target] == nil {
				t.Errorf("%s links to %s, which is not there", page.path, m[1])
			}
			linked[target] = true
		}
	}
	for path := range byPath {
		if !linked[path] {
			t.Errorf("nothing links to %s", path)
		}
	}
}

// TestReadPage: the test of the skill sees what it could not check.
func TestReadPage(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"none", "# Title\n", "no command"},
		{"only an example", "```text\nx\n```\n", "before any command"},
		{"other program", "```sh\nrm -rf x\n```\n", "neither claude-mem's nor curl's"},
		{"noisy curl", "```sh\ncurl http://localhost/\n```\n", "neither claude-mem's nor curl's"},
		{"continued", "```sh\nclaude-mem search \\\n  x\n```\n", "goes on"},
		{"placeholder of another form", "```sh\nclaude-mem show <id>\n```\n", "placeholder"},
		{"other language", "```sh\nclaude-mem recent\n```\n```python\nx\n```\n", "cannot be checked"},
		{"without a language", "```\nclaude-mem recent\n```\n", "cannot be checked"},
		{"open", "```sh\nclaude-mem recent\n", "does not end"},
		{"front matter", "---\nname: x\n", "does not end"},
		{"good", "---\nname: x\n---\n```sh\nclaude-mem recent # → #\n\ncurl -s http://localhost/\n```\n```json\n{}\n```\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, problems := readPage("p.md", tt.text)
			got := strings.Join(problems, "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("problems: %q, want %q", got, tt.want)
			}
			if tt.name == "good" {
				want := []skillCommand{{5, "claude-mem recent", "#"}, {7, "curl -s http://localhost/", ""}}
				if commands := page.blocks[0].commands(); !slices.Equal(commands, want) {
					t.Errorf("commands %v, want %v", commands, want)
				}
			}
		})
	}
}

// check tells what is wrong with what a command did, "" if nothing.
func (c *skillCommand) check(stdout, stderr string, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case stdout == "":
		return "prints nothing"
	case !strings.Contains(stdout+stderr, c.want):
		return fmt.Sprintf("does not print %q", c.want)
	case !c.isCurl() || strings.Contains(c.text, "|"):
		return ""
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		return err.Error()
	}
	if _, failed := answer["error"]; failed {
		return "is refused"
	}
	for _, list := range []string{"results", "timeline", "sessions", "observations"} {
		if string(answer[list]) == "[]" {
			return "finds nothing"
		}
	}
	return ""
}

var (
	agePattern = regexp.MustCompile(`just now|\d+[mhd] ago|\b\d{4}-\d\d-\d\d\b`)
	idPattern  = regexp.MustCompile(`(#|\bS)\d+`)
)

// prints reports whether the lines of an example stand in an output, in their order.
func prints(out string, example []string) bool {
	lines := strings.Split(out, "\n")
	for _, want := range example {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(plain(want)), "…", ".*")
		i := slices.IndexFunc(lines, func(line string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(plain(line)) })
		if i < 0 {
			return false
		}
		lines = lines[i+1:]
	}
	return true
}

// plain is a line without what differs from run to run.
func plain(line string) string {
	line = agePattern.ReplaceAllString(line, "AGE")
	return strings.Join(strings.Fields(idPattern.ReplaceAllString(line, "${1}0")), " ")
}

// shaped tells what of an example an answer lacks or has as another kind of value, "" if nothing.
func shaped(answer, example string) string {
	var got, want any
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal([]byte(example), &want); err != nil {
		return "the example: " + err.Error()
	}
	return differs("", got, want)
}

func differs(at string, got, want any) string {
	if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
		return fmt.Sprintf("%s is a %T, not a %T", at, got, want)
	}
	switch want := want.(type) {
	case map[string]any:
		for key, value := range want {
			have, ok := got.(map[string]any)[key]
			if !ok {
				return fmt.Sprintf("there is no %s.%s", at, key)
			}
			if wrong := differs(at+"."+key, have, value); wrong != "" {
				return wrong
			}
		}
	case []any:
		items := got.([]any)
		if len(want) > 0 && len(items) == 0 {
			return at + " is empty"
		}
		// One element that is as the example's is enough: only one is the anchor.
		for _, value := range want {
			wrong := ""
			if !slices.ContainsFunc(items, func(item any) bool { wrong = differs(at+"[]", item, value); return wrong == "" }) {
				return wrong
			}
		}
	}
	return ""
}

// TestSkillExamples: an example that is not so is seen.
func TestSkillExamples(t *testing.T) {
	const out = "  just now  ● Fix it #7\n            go test passes; edited a.go\n   12d ago  ⚖ Why S3\n"
	for example, want := range map[string]bool{
		" 2d ago  ● Fix it #1":                   true,
		"2d ago ● Fix … #1\n9d ago ⚖ Why S1":     true,
		"2d ago ● Fix it S1":                     false,
		"2d ago ● Fix it":                        false,
		"2d ago ◆ Fix it #1":                     false,
		"9d ago ⚖ Why S1\n2d ago ● Fix it #1":    false,
		"2d ago ● Fix it #1\n2d ago ● Fix it #1": false,
	} {
		if got := prints(out, strings.Split(example, "\n")); got != want {
			t.Errorf("%q: %v, want %v", example, got, want)
		}
	}
	const answer = `{"total": 2, "results": [{"id": 1}, {"id": 2, "title": "x", "is_anchor": true}], "next": null, "none": []}`
	for example, want := range map[string]string{
		`{"total": 9, "results": [{"id": 5, "is_anchor": true}]}`: "",
		`{"total": "9"}`:                   "is a float64",
		`{"results": [{"id": 5, "z": 1}]}`: "no .results[].z",
		`{"next": {"id": 1}}`:              "is a <nil>",
		`{"none": [1]}`:                    "is empty",
		`{"results": {}}`:                  "is a []interface",
		`{`:                                "the example",
	} {
		if got := shaped(answer, example); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", example, got, want)
		}
	}
	curl, own := skillCommand{text: "curl -s x"}, skillCommand{text: "claude-mem x", want: "●"}
	for _, tt := range []struct {
		command        skillCommand
		stdout, stderr string
		err            error
		want           string
	}{
		{own, "● x", "", nil, ""},
		{own, "x", "● noted", nil, ""},
		{own, "x", "", nil, "does not print"},
		{own, "", "Nothing found. ●", nil, "prints nothing"},
		{own, "● x", "", context.DeadlineExceeded, "deadline"},
		{curl, answer, "", nil, ""},
		{curl, `{"error": {"code": "invalid"}}`, "", nil, "refused"},
		{curl, `{"results": []}`, "", nil, "finds nothing"},
		{curl, `<html>`, "", nil, "invalid character"},
	} {
		if got := tt.command.check(tt.stdout, tt.stderr, tt.err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s, %s%s: %q, want %q", tt.command.text, tt.stdout, tt.stderr, got, tt.want)
		}
	}
}
