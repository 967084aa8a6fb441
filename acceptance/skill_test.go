//go:build unix

package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem"
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
var skillFolder = filepath.Join("..", "plugin", "skills", "mem-search")

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
		tokens, want := claudemem.EstimateTokens(text), skillSizes[what]
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

// skillMemory is the memory that the skill's examples speak of: the session of the
// demo, and what a few weeks before left. It is where a user's is, in HOME.
type skillMemory struct {
	*memory
	project string // directory
	values  *strings.Replacer
	curl    bool
	tcp     bool
}

func newSkillMemory(t *testing.T) *skillMemory {
	m := newMemory(t)
	// As the agent's shell has it: the plugin's bin on the PATH.
	root := t.TempDir()
	if err := os.Symlink(binDir, filepath.Join(root, "bin")); err != nil {
		t.Fatal(err)
	}
	m.env = []string{
		"HOME=" + m.home, "PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + m.home,
		"CLAUDE_PLUGIN_ROOT=" + root, "NO_COLOR=1",
	}
	var demo struct {
		DataDir string `json:"data_dir"`
	}
	if err := json.Unmarshal(m.mustCommand("demo", "--keep", "--json"), &demo); err != nil || demo.DataDir == "" {
		t.Fatalf("demo: %v, %q", err, demo.DataDir)
	}
	m.dir = filepath.Join(m.home, ".claude-mem")
	if err := os.Rename(demo.DataDir, m.dir); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	m.mustCommand("config", "set", "WORKER_PORT", fmt.Sprint(port))
	m.mustCommand("worker", "start")

	s := &skillMemory{memory: m}
	client := m.api()
	var projects struct {
		Results []struct {
			Label string `json:"project"`
			Path  string `json:"project_path"`
		}
	}
	client.get(t, "/api/projects", nil, &projects)
	if len(projects.Results) != 1 {
		t.Fatalf("projects of the demo: %+v", projects)
	}
	s.project = projects.Results[0].Path
	for _, n := range []note{
		{
			Type: "decision", Title: "Token bucket instead of a sliding window", Subtitle: "A sliding window needs a timestamp per request",
			Narrative: "A sliding window keeps a timestamp per request and client, a bucket two numbers. The burst that it lets through is wanted.",
			Facts:     []string{"Limiter keeps the tokens and the time of the last refill"},
			Concepts:  []string{"trade-off", "why-it-exists"}, Files: []string{"bucket.go"}, CreatedAt: daysAgo(12),
		},
		{
			Type: "discovery", Title: "The limiter must take its time from the injected clock", Subtitle: "time.Now in refill made the tests depend on the machine",
			Narrative: "refill called time.Now itself, so that the tests slept and failed on a slow machine. Every use of time goes through Limiter.now.",
			Concepts:  []string{"gotcha", "how-it-works"}, Files: []string{"bucket.go"}, CreatedAt: daysAgo(9),
		},
		{
			Type: "bugfix", Title: "Fix panic of Middleware on an empty client key", Subtitle: "Requests without an address shared the key of nobody",
			Narrative: "A request without a remote address had an empty key, for which there was no bucket. It gets one of its own now.",
			Concepts:  []string{"problem-solution"}, Files: []string{"middleware.go"}, CreatedAt: lastWeek(),
		},
	} {
		n.Project = s.project
		if _, err := client.add(n); err != nil {
			t.Fatal(err)
		}
	}
	m.indexed(60 * time.Second)

	var fix found
	client.get(t, "/api/search/by-type", map[string][]string{"type": {"bugfix"}, "query": {"TestBurstIsTheCeiling"}, "limit": {"1"}}, &fix)
	var next found
	client.get(t, "/api/search/by-type", map[string][]string{"type": {"decision"}, "limit": {"1"}}, &next)
	var sessions struct {
		Results []struct {
			ID claudemem.SessionID `json:"id"`
		}
	}
	client.get(t, "/api/sessions", map[string][]string{"project": {s.project}}, &sessions)
	if len(fix.Results) != 1 || len(next.Results) != 1 || len(sessions.Results) == 0 {
		t.Fatalf("the memory lacks what the examples are of: %v %v %v", fix, next, sessions)
	}
	var info struct {
		Socket string
		Port   int
	}
	m.readJSON("worker.json", &info)
	values := []string{
		"ID2", fmt.Sprint(next.observations(t)[0]), "ID", fmt.Sprint(fix.observations(t)[0]),
		// The session that hooks told of is the first; the last one holds what was written down by hand.
		"SESSION", fmt.Sprintf("S%d", sessionOfHooks),
		"PROJECT", projects.Results[0].Label, "localhost:37777", fmt.Sprintf("localhost:%d", info.Port),
	}
	s.values = strings.NewReplacer(values...)
	_, err := exec.LookPath("curl")
	// A temporary directory may be too deep for a socket; HOME is not. Elsewhere than
	// on Linux, TCP needs the token.
	s.curl = err == nil && info.Socket == filepath.Join(m.dir, "worker.sock")
	s.tcp = info.Port != 0 && runtime.GOOS == "linux"
	if !s.curl && runtime.GOOS == "linux" && os.Getenv("CI") != "" {
		t.Fatalf("the curl form cannot be tried: %v, socket %s", err, info.Socket)
	}
	return s
}

// sessionOfHooks is the demo's session: the first of a new memory.
const sessionOfHooks = 1

func daysAgo(n int) string {
	return time.Now().AddDate(0, 0, -n).Add(-time.Hour).UTC().Format(time.RFC3339)
}

// lastWeek is in the calendar week before this one, whatever day it is.
func lastWeek() string {
	sinceMonday := (int(time.Now().Weekday()) + 6) % 7
	return daysAgo(sinceMonday + 2)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// run runs a command of the skill as an agent's shell does, in the project.
func (s *skillMemory) run(text string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", s.values.Replace(text))
	cmd.Dir, cmd.Env = s.project, s.env
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	err = cmd.Run()
	return out.String(), notes.String(), err
}

// TestSkill runs every command of the skill and compares every example.
func TestSkill(t *testing.T) {
	pages := readSkill(t)
	s := newSkillMemory(t)
	ran := map[bool]int{}
	for i := range pages {
		page := &pages[i]
		t.Run(page.path, func(t *testing.T) {
			var printed, answered []string // by the block of commands before
			for i := range page.blocks {
				b := &page.blocks[i]
				switch b.kind {
				case "sh":
					printed, answered = nil, nil
					for _, c := range b.commands() {
						if c.isCurl() && !s.curl || strings.Contains(c.text, ":37777") && !s.tcp {
							continue
						}
						ran[c.isCurl()]++
						stdout, stderr, err := s.run(c.text)
						if wrong := c.check(stdout, stderr, err); wrong != "" {
							t.Errorf("%s:%d: %s\n%s\n%.600s%s", page.path, c.line, wrong, c.text, stdout, stderr)
						}
						if c.isCurl() {
							answered = append(answered, stdout)
						} else {
							printed = append(printed, stdout)
						}
					}
				case "text":
					if !slices.ContainsFunc(printed, func(out string) bool { return prints(out, b.lines) }) {
						t.Errorf("%s:%d: the example is not what the commands before it print:\n%s\nbut\n%s",
							page.path, b.line, strings.Join(b.lines, "\n"), strings.Join(printed, "\n"))
					}
				case "json":
					if !s.curl {
						continue
					}
					wrong := "there is no curl form before it"
					for _, out := range answered {
						if wrong = shaped(out, strings.Join(b.lines, "\n")); wrong == "" {
							break
						}
					}
					if wrong != "" {
						t.Errorf("%s:%d: the example is not what the API answers: %s", page.path, b.line, wrong)
					}
				}
			}
		})
	}
	if s.curl && ran[true] < len(pages)-1 {
		t.Errorf("%d curl forms on %d pages", ran[true], len(pages))
	}
	t.Logf("ran %d commands and %d curl forms", ran[false], ran[true])
	t.Run("named", func(t *testing.T) { s.checkNames(t, pages) })
	t.Run("tokens", s.checkTokens)
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

var (
	spanPattern = regexp.MustCompile("`([^`\n]+)`")
	flagPattern = regexp.MustCompile(`^--?[a-z][a-z-]*$`)
)

// checkNames: what the prose names in backticks is there.
func (s *skillMemory) checkNames(t *testing.T, pages []skillPage) {
	var help strings.Builder
	for _, command := range []string{"search", "show", "timeline", "recent", "sessions"} {
		help.Write(s.mustCommand(command, "--help"))
	}
	var api struct {
		Paths map[string]any `json:"paths"`
	}
	s.api().get(t, "/api/openapi.json", nil, &api)
	for i := range pages {
		for _, m := range spanPattern.FindAllStringSubmatch(pages[i].text, -1) {
			words := strings.Fields(m[1])
			switch {
			case len(words) > 1 && words[0] == "claude-mem":
				if out, err := s.command("help", words[1]); err != nil || !bytes.Contains(out, []byte("claude-mem "+words[1])) {
					t.Errorf("%s: `%s`: there is no such command", pages[i].path, m[1])
				}
			case strings.HasPrefix(m[1], "/api/"):
				if api.Paths[m[1]] == nil {
					t.Errorf("%s: there is no route %s", pages[i].path, m[1])
				}
			case len(words) > 0 && flagPattern.MatchString(words[0]):
				if !regexp.MustCompile(`(?m)^ .*` + regexp.QuoteMeta(words[0]) + `\b`).MatchString(help.String()) {
					t.Errorf("%s: there is no flag %s", pages[i].path, words[0])
				}
			}
		}
	}
}

// checkTokens: what the skill says things cost.
func (s *skillMemory) checkTokens(t *testing.T) {
	tokens := func(command string) int {
		stdout, stderr, err := s.run(command)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return claudemem.EstimateTokens(stdout + stderr)
	}
	const index = "claude-mem search 'limiter burst refill' -k observation -n 5"
	for _, c := range []struct {
		what          string
		got, min, max int
	}{
		{"a line of the index", tokens(index) / 5, 35, 65},
		{"two full records", tokens("claude-mem show ID ID2"), 2 * 100, 2 * 750},
		{"a turn of a session", tokens("claude-mem show SESSION") / 5, 50, 300},
		{"the list of routes, in hundreds", claudemem.EstimateTokens(s.routes(t)) / 100, 41, 51},
	} {
		t.Logf("%-32s %5d tokens", c.what, c.got)
		if c.got < c.min || c.got > c.max {
			t.Errorf("%s costs %d tokens, want %d to %d as the skill says", c.what, c.got, c.min, c.max)
		}
	}
	if plain, asJSON := tokens(index), tokens(index+" --json"); asJSON <= 2*plain {
		t.Errorf("--json costs %d tokens, the plain form %d: not more than twice as much", asJSON, plain)
	} else {
		t.Logf("five results: %d tokens plain, %d with --json", plain, asJSON)
	}
}

func (s *skillMemory) routes(t *testing.T) string {
	t.Helper()
	status, body, err := s.api().send("GET", "/api/search/help", nil)
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
	return string(body)
}
