//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claudemem/internal/run/recorded"
)

// reportMain fails as long as there is no folder reports.
const reportMain = `// Command report writes how many requests the limits let through.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := filepath.Join("reports", "latest.txt")
	if err := os.WriteFile(out, []byte("5/s, burst 10: 18010 an hour\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}
`

// idle waits until the worker has observed all that it got and its index has it;
// what it says of itself is kept.
const idle = `
url=http://127.0.0.1:$(sed -n 's/.*"port": *\([0-9]*\).*/\1/p' "$HOME/.claude-mem/worker.json")
rest() {
  for i in $(seq 200); do
    curl -sf "$url/api/stats" >"$out/stats.json" || return 1
    grep -q '"pending":0,"processing":0,' "$out/stats.json" && grep -q '"behind":0[,}]' "$out/stats.json" && return 0
    sleep 0.1
  done
  echo "the worker does not come to rest" && return 1
}
rest || exit 1
`

// stages are what the scenario has done ahead of a prompt.
var stages = map[string]string{
	"settle": idle,
	// More memories of other work than a context block has lines.
	"seed": idle + `
while IFS= read -r memory; do
  curl -sf -H 'Content-Type: application/json' -d "$memory" "$url/api/observations" >/dev/null || exit 1
done <"$HOME/memories.jsonl"
rest`,
	// What is remembered when the session starts that asks.
	"ready": idle + `rm -f "$out/observations.jsonl"
for at in 0 100 200; do
  curl -sf "$url/api/observations?limit=100&offset=$at&format=full" >>"$out/observations.jsonl" && echo >>"$out/observations.jsonl" || exit 1
done`,
	// A model observes: the stand-in, which listens where nobody knew before the run.
	"model": `printf '{"CLAUDE_MEM_PROVIDER":"anthropic","CLAUDE_MEM_ANTHROPIC_API_KEY":"sk-test-0123456789abcdef","CLAUDE_MEM_ANTHROPIC_BASE_URL":"%s"}' \
  "$ANTHROPIC_BASE_URL" >"$HOME/.claude-mem/config.json"`,
	// The fix of cmd/report is undone: it fails as it did.
	"break": `git checkout -q -- cmd/report && rm -r reports`,
}

// scene is testdata/recall.json.
type scene struct {
	Sessions []struct {
		Name  string `json:"name"`
		Steps []struct {
			Do     string `json:"do"`
			Prompt string `json:"prompt"`
			// Observed is what the observer answers, where a model is asked.
			Observed string `json:"observed"`
			Turns    []struct {
				// Shows is what the request that gets this turn has that the one before had not.
				Shows   string          `json:"shows"`
				Text    string          `json:"text"`
				ToolUse json.RawMessage `json:"tool_use"`
			} `json:"turns"`
		} `json:"steps"`
	} `json:"sessions"`
}

func readScene(t *testing.T) (s scene) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "recall.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// moment is where in the scene a request belongs.
type moment struct {
	session, prompt string
	// turn of the prompt, 0 the first.
	turn  int
	shows string
}

// script makes the stand-in's scenario and the steps of the run.
func (s scene) script(t *testing.T) (scenario string, steps []string, moments []moment) {
	t.Helper()
	type reply struct {
		Text    string          `json:"text,omitempty"`
		ToolUse json.RawMessage `json:"tool_use,omitempty"`
	}
	type rule struct {
		Name    string  `json:"name"`
		Match   string  `json:"match"`
		NoTools bool    `json:"no_tools"`
		Replies []reply `json:"replies"`
	}
	script := struct {
		Shared bool    `json:"shared_turns"`
		Turns  []reply `json:"turns"`
		Rules  []rule  `json:"rules"`
	}{Shared: true}
	for i, session := range s.Sessions {
		if i > 0 {
			steps = append(steps, "--new-session")
		}
		for _, step := range session.Steps {
			if step.Do != "" {
				if stages[step.Do] == "" {
					t.Fatalf("no stage %q", step.Do)
				}
				steps = append(steps, "--between", stages[step.Do])
			}
			steps = append(steps, "--prompt", step.Prompt)
			answer := step.Observed
			if answer == "" {
				answer = `<observations/><skip_summary reason="nothing was done"/>`
			}
			script.Rules = append(script.Rules, rule{"observer", `<user_request number="\d+"[^>]*>` + regexp.QuoteMeta(step.Prompt), true, []reply{{Text: answer}}})
			for n, turn := range step.Turns {
				script.Turns = append(script.Turns, reply{turn.Text, turn.ToolUse})
				moments = append(moments, moment{session.Name, step.Prompt, n, turn.Shows})
			}
		}
	}
	scenario = filepath.Join(t.TempDir(), "scenario.json")
	b, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scenario, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return scenario, steps, moments
}

// given is a text that a hook has put into a conversation.
type given struct {
	hook, text string
	// after is what stands ahead of it: a tool's result or what the user wrote.
	after string
	// result says that it is the former.
	result bool
}

var givenRE = regexp.MustCompile(`(?s)(\w+)(?::\w+)? hook additional context: <claude-mem-context>(.*?)</claude-mem-context>`)

// givenIn lists what hooks have put into a request's conversation, in its order.
func givenIn(t *testing.T, r request) (all []given) {
	t.Helper()
	var body struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	var before given
	take := func(text, kind string) {
		found := givenRE.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			all = append(all, given{m[1], m[2], before.after, before.result})
		}
		if len(found) == 0 {
			before.after, before.result = text, kind == "tool_result"
		}
	}
	for _, m := range body.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			take(text, "text")
			continue
		}
		var blocks []struct {
			Type    string          `json:"type"`
			Text    string          `json:"text"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(m.Content, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				b.Text = strings.Join(texts(t, b.Content), "\n")
			}
			take(b.Text, b.Type)
		}
	}
	return all
}

// remembered is a record as the worker gives it back.
type remembered struct {
	ID        int      `json:"id"`
	Type      string   `json:"type"`
	Title     string   `json:"title"`
	Subtitle  string   `json:"subtitle"`
	Narrative string   `json:"narrative"`
	Facts     []string `json:"facts"`
	Files     []string `json:"files_modified"`
	Origin    string   `json:"origin"`
}

func (r remembered) mark() string { return fmt.Sprintf("(#%d)", r.ID) }

// memories are the lines that the stage seed posts: our own relevance corpus, less
// the projects that know a rate limiter.
func memories(t *testing.T, project string) []byte {
	t.Helper()
	type doc struct {
		Kind     string   `json:"kind"`
		Project  string   `json:"project"`
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Text     string   `json:"text"`
		Facts    []string `json:"facts"`
		Concepts []string `json:"concepts"`
		Files    []string `json:"files"`
	}
	var out []byte
	n := 0
	for _, d := range readLines[doc](t, filepath.Join("..", "eval", "testdata", "relevance", "docs.jsonl")) {
		if d.Kind != "observation" || !slices.Contains([]string{"orchard", "ferrite", "beacon", "lumen", "halfpipe"}, d.Project) {
			continue
		}
		line, err := json.Marshal(map[string]any{"project": project, "type": d.Type, "title": d.Title, "narrative": d.Text,
			"facts": d.Facts, "concepts": d.Concepts, "files": d.Files})
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
		n++
	}
	if n < 150 {
		t.Fatalf("only %d memories of other work", n)
	}
	return out
}

// TestRecall checks that a record of an earlier session is given when a session is
// about its subject, beside the prompt, file or failure that it fits, and only once
// (accept-recall, point 4).
func TestRecall(t *testing.T) {
	plugin := buildPlugin(t)
	for _, observer := range []string{"offline", "model"} {
		t.Run(observer, func(t *testing.T) { playRecall(t, plugin, observer) })
	}
}

func playRecall(t *testing.T, plugin, observer string) {
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := recorded.CopyFiles(project, "ratelimit"); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(project, "cmd", "report", "main.go"), reportMain)
	write(filepath.Join(home, ".claude-mem", "config.json"), `{"CLAUDE_MEM_PROVIDER":"offline"}`)
	write(filepath.Join(home, "memories.jsonl"), string(memories(t, filepath.Join(out, "project"))))
	s := readScene(t)
	scenario, steps, moments := s.script(t)
	if observer == "model" {
		steps = append([]string{"--between", stages["model"]}, steps...)
	}
	args := append([]string{"--plugin", plugin, "--scenario", scenario, "--project", project, "--home", home, "--out", out, "--one-process", "--timeout", "120",
		"--env", "GOCACHE=" + goEnv(t, "GOCACHE"), "--env", "GOFLAGS=-count=1 -buildvcs=false", "--env", "GOTOOLCHAIN=local",
	}, steps...)
	args = append(args, "--after", settled)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)
	checkHooks(t, "recall", out)
	checkMoments(t, out, moments, keyRecords(t, out, map[string]string{"offline": "offline", "model": "observer"}[observer]))
	if b := readStats(t, out); !b.balanced() || b.Queue.Failed != 0 {
		t.Errorf("books %+v", b.Queue)
	}
}

// keyRecords are the records that the scene is about, by the names it has for them.
func keyRecords(t *testing.T, out, origin string) map[string]remembered {
	t.Helper()
	key := map[string]remembered{}
	total := 0
	for _, page := range readLines[struct {
		Results []remembered `json:"results"`
	}](t, filepath.Join(out, "observations.jsonl")) {
		for _, r := range page.Results {
			total++
			if r.Origin != origin {
				continue
			}
			t.Logf("#%d %s: %s | %s | %s | %q", r.ID, r.Type, r.Title, r.Subtitle, r.Narrative, r.Facts)
			switch {
			case r.Type == "decision" && strings.Contains(r.Title+r.Narrative, "Redis"):
				key["decision"] = r
			case r.Type == "bugfix" && slices.Contains(r.Files, "bucket.go"):
				key["bug"] = r
			case r.Type == "bugfix" && slices.Contains(r.Files, "cmd/report/main.go"):
				key["failure"] = r
			}
		}
	}
	if len(key) != 3 {
		t.Fatalf("of the records that the scene is about there are only %v", key)
	}
	t.Logf("%d memories", total)
	return key
}

// says is what a session must be able to read in what it is given of a record.
var says = map[string]*regexp.Regexp{
	"decision": regexp.MustCompile(`(?i)each instance.*Redis`),
	"bug":      regexp.MustCompile(`(?i)refill|burst`),
	"failure":  regexp.MustCompile(`(?i)(MkdirAll|did not make the folder).*no such file|no such file.*MkdirAll`),
}

// carriers are the hooks that bring them.
var carriers = map[string]string{"decision": "UserPromptSubmit", "bug": "PostToolUse", "failure": "PostToolUseFailure"}

func checkMoments(t *testing.T, out string, moments []moment, key map[string]remembered) {
	t.Helper()
	shown := map[string]int{}
	session, had, silent := "", []given(nil), 0
	var told []string
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if r.Kind == "side" && r.Name == "summary" {
			had, shown = nil, map[string]int{} // the conversation is compacted: what it was given is gone from it
			continue
		}
		if r.Kind != "turn" {
			continue
		}
		n, err := strconv.Atoi(r.Name)
		if err != nil || n >= len(moments) {
			t.Fatalf("turn %q of %d", r.Name, len(moments))
		}
		m := moments[n]
		if m.session != session {
			session, had, shown = m.session, nil, map[string]int{}
		}
		where := fmt.Sprintf("%s, turn %d of %q", m.session, m.turn, m.prompt)
		all := givenIn(t, r)
		if len(all) < len(had) {
			t.Errorf("%s: %d texts given so far, the request before had %d", where, len(all), len(had))
			had = nil
		}
		fresh := slices.DeleteFunc(slices.Clone(all[len(had):]), func(g given) bool { return g.hook == "SessionStart" })
		for _, g := range all[len(had):] {
			for name, record := range key {
				if strings.Contains(g.text, record.mark()) {
					shown[name]++
					if g.hook == "SessionStart" && m.session == "asking" {
						t.Logf("%s: the block at its start shows the %s", where, name)
					}
				}
			}
		}
		had = all
		switch {
		case m.shows == "" && len(fresh) == 0:
			silent++
		case m.shows == "":
			t.Errorf("%s: given %+v, want silence", where, fresh)
		case len(fresh) != 1:
			t.Errorf("%s: given %+v, want the %s", where, fresh, m.shows)
		default:
			checkGiven(t, where, m, fresh[0], key[m.shows])
			told = append(told, m.shows)
		}
		for name, times := range shown {
			if times > 1 {
				t.Errorf("%s: the %s is shown %d times", where, name, times)
			}
		}
	}
	if t.Failed() {
		return
	}
	t.Logf("point 4: %s: %s each beside what made them come up, nothing else at %d moments, nothing twice",
		filepath.Base(t.Name()), strings.Join(told, ", "), silent)
}

func checkGiven(t *testing.T, where string, m moment, g given, record remembered) {
	t.Helper()
	if g.hook != carriers[m.shows] {
		t.Errorf("%s: %s brought it, want %s", where, g.hook, carriers[m.shows])
	}
	if !strings.Contains(g.text, record.mark()) || !says[m.shows].MatchString(g.text) {
		t.Errorf("%s: given %q, want %s %s", where, g.text, record.mark(), says[m.shows])
	}
	if lines := strings.Count(g.text, "\n- "); lines != 1 {
		t.Errorf("%s: given %d lines, want only the %s: %s", where, lines, m.shows, g.text)
	}
	if g.result == (m.turn == 0) {
		t.Errorf("%s: it stands after %q", where, g.after)
	}
	if m.turn == 0 && !strings.Contains(g.after, m.prompt) {
		t.Errorf("%s: it stands after %q, not after the prompt", where, g.after)
	}
	t.Logf("%s: %s after %.40q: %s", where, g.hook, g.after, strings.TrimSpace(g.text))
}
