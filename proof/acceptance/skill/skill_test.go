//go:build unix

package skill

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"claudemem/proof/acceptance/world"

	"claudemem/internal/memory"
)

// skillMemory is the memory that the skill's examples speak of: the session of the
// demo, and what a few weeks before left. It is where a user's is, in HOME.
type skillMemory struct {
	*world.Memory
	project string // directory
	values  *strings.Replacer
	curl    bool
	tcp     bool
}

func newSkillMemory(t *testing.T) *skillMemory {
	m := world.NewMemory(t)
	// As the agent's shell has it: the plugin's bin on the PATH.
	root := t.TempDir()
	if err := os.Symlink(world.BinDir(), filepath.Join(root, "bin")); err != nil {
		t.Fatal(err)
	}
	m.Env = []string{
		"HOME=" + m.Home, "PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + m.Home,
		"CLAUDE_PLUGIN_ROOT=" + root, "NO_COLOR=1",
	}
	if zone, set := os.LookupEnv("TZ"); set {
		m.Env = append(m.Env, "TZ="+zone) // last week is the same week for all
	}
	var demo struct {
		DataDir string `json:"data_dir"`
	}
	if err := json.Unmarshal(m.MustCommand("demo", "--keep", "--json"), &demo); err != nil || demo.DataDir == "" {
		t.Fatalf("demo: %v, %q", err, demo.DataDir)
	}
	m.Dir = filepath.Join(m.Home, ".claude-mem")
	if err := os.Rename(demo.DataDir, m.Dir); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	m.MustCommand("config", "set", "WORKER_PORT", fmt.Sprint(port))
	m.MustCommand("worker", "start")

	s := &skillMemory{Memory: m}
	client := m.API()
	var projects struct {
		Results []struct {
			Label string `json:"project"`
			Path  string `json:"project_path"`
		}
	}
	client.Get(t, "/api/projects", nil, &projects)
	if len(projects.Results) != 1 {
		t.Fatalf("projects of the demo: %+v", projects)
	}
	s.project = projects.Results[0].Path
	for _, n := range []world.Note{
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
		if _, err := client.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	m.Indexed(60 * time.Second)

	var fix world.Found
	client.Get(t, "/api/search/by-type", map[string][]string{"type": {"bugfix"}, "query": {"TestBurstIsTheCeiling"}, "limit": {"1"}}, &fix)
	var next world.Found
	client.Get(t, "/api/search/by-type", map[string][]string{"type": {"decision"}, "limit": {"1"}}, &next)
	var sessions struct {
		Results []struct {
			ID memory.SessionID `json:"id"`
		}
	}
	client.Get(t, "/api/sessions", map[string][]string{"project": {s.project}}, &sessions)
	if len(fix.Results) != 1 || len(next.Results) != 1 || len(sessions.Results) == 0 {
		t.Fatalf("the memory lacks what the examples are of: %v %v %v", fix, next, sessions)
	}
	var info struct {
		Socket string
		Port   int
	}
	m.ReadJSON("worker.json", &info)
	values := []string{
		"ID2", fmt.Sprint(next.Observations(t)[0]), "ID", fmt.Sprint(fix.Observations(t)[0]),
		// The session that hooks told of is the first; the last one holds what was written down by hand.
		"SESSION", fmt.Sprintf("S%d", sessionOfHooks),
		"PROJECT", projects.Results[0].Label, "localhost:37777", fmt.Sprintf("localhost:%d", info.Port),
	}
	s.values = strings.NewReplacer(values...)
	_, err := exec.LookPath("curl")
	// A temporary directory may be too deep for a socket; HOME is not. Elsewhere than
	// on Linux, TCP needs the token.
	s.curl = err == nil && info.Socket == filepath.Join(m.Dir, "worker.sock")
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
	cmd.Dir, cmd.Env = s.project, s.Env
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

var (
	spanPattern = regexp.MustCompile("`([^`\n]+)`")
	flagPattern = regexp.MustCompile(`^--?[a-z][a-z-]*$`)
	toolPattern = regexp.MustCompile(`^(search|get|save|forget)_[a-z]+(_[a-z]+)*$`)
)

// checkNames: what the prose names in backticks is there.
func (s *skillMemory) checkNames(t *testing.T, pages []skillPage) {
	var help strings.Builder
	for _, command := range []string{"search", "show", "timeline", "recent", "sessions", "changes", "given"} {
		help.Write(s.MustCommand(command, "--help"))
	}
	var api struct {
		Paths map[string]any `json:"paths"`
	}
	s.API().Get(t, "/api/openapi.json", nil, &api)
	for i := range pages {
		for _, m := range spanPattern.FindAllStringSubmatch(pages[i].text, -1) {
			words := strings.Fields(m[1])
			switch {
			case len(words) > 1 && words[0] == "claude-mem":
				if out, err := s.Command("help", words[1]); err != nil || !bytes.Contains(out, []byte("claude-mem "+words[1])) {
					t.Errorf("%s: `%s`: there is no such command", pages[i].path, m[1])
				}
			case strings.HasPrefix(m[1], "/api/"):
				if api.Paths[m[1]] == nil {
					t.Errorf("%s: there is no route %s", pages[i].path, m[1])
				}
			case toolPattern.MatchString(m[1]):
				if _, err := os.Stat(world.Root("internal", "serve", "mcpserver", "tools", m[1]+".md")); err != nil {
					t.Errorf("%s: there is no tool %s", pages[i].path, m[1])
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
		return memory.EstimateTokens(stdout + stderr)
	}
	const index = "claude-mem search 'limiter burst refill' -k observation -n 5"
	for _, c := range []struct {
		what          string
		got, min, max int
	}{
		{"a line of the index", tokens(index) / 5, 35, 65},
		{"two full records", tokens("claude-mem show ID ID2"), 2 * 100, 2 * 750},
		{"a turn of a session", tokens("claude-mem show SESSION") / 5, 50, 300},
		{"the list of routes, in hundreds", memory.EstimateTokens(s.routes(t)) / 100, 41, 51},
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
	status, body, err := s.API().Send("GET", "/api/search/help", nil)
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
	return string(body)
}
