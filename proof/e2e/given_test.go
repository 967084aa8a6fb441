//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/keep/store/accounts"
	"claudemem/internal/memory"
	"claudemem/internal/run/recorded"
	"claudemem/internal/serve/api"
)

// judging thumbs the decision down and the bug up, as a person does on the page.
const judging = `
verdict() { # VERDICT TYPE WORD: of the first record of the sessions that has the word
  id=$(tr '{' '\n' <"$out/observations.jsonl" | grep '"origin":"offline"' | grep "\"type\":\"$2\"" | grep "$3" | sed -n 's/.*"id":\([0-9]*\),.*/\1/p' | head -1)
  curl -sf -H 'Content-Type: application/json' -d "{\"record\":\"#$id\",\"verdict\":\"$1\",\"origin\":\"user\"}" "$url/api/given/judge" >>"$out/verdicts.jsonl" && echo >>"$out/verdicts.jsonl"
}
verdict down decision Redis && verdict up bugfix bucket.go`

// keepGiven keeps what the API, the page and the command tell of what was given.
const keepGiven = `
curl -sf "$url/api/given?limit=100" >"$out/given.json" && curl -sf "$url/given" >"$out/given.html" &&
"$plugin/../bin/claude-mem" given --all -n 100 >"$out/given.txt"`

// TestGiven checks what the page tells of a session that recall has told something at its start, a prompt, a file and a
// failure: all four with their words and fates. In a session after that, a record that was thumbed down is not told.
func TestGiven(t *testing.T) {
	plugin := buildPlugin(t)
	project, home, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := recorded.CopyFiles(project, "ratelimit"); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(project, "cmd", "report", "main.go"): reportMain,
		filepath.Join(home, ".claude-mem", "config.json"): `{"CLAUDE_MEM_PROVIDER":"offline"}`, filepath.Join(home, "memories.jsonl"): string(memories(t, filepath.Join(out, "project")))} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stages["judge"] = idle + judging
	s := readScene(t)
	again := s.Sessions[len(s.Sessions)-1]
	again.Name, again.Steps = "asking again", slices.Clone(again.Steps)
	for i := range again.Steps {
		again.Steps[i].Do = "" // the report fails as before
	}
	again.Steps[0].Do = "judge"
	s.Sessions = append(s.Sessions, again)
	scenario, steps, _ := s.script(t)
	args := append([]string{"--plugin", plugin, "--scenario", scenario, "--project", project, "--home", home, "--out", out, "--one-process", "--timeout", "120",
		"--env", "GOCACHE=" + goEnv(t, "GOCACHE"), "--env", "GOFLAGS=-count=1 -buildvcs=false", "--env", "GOTOOLCHAIN=local"}, steps...)
	args = append(args, "--after", idle+keepGiven)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("traces of the run:", traces(args))
		}
	})
	script(t, args...)
	checkHooks(t, "given", out)

	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var all api.Page[accounts.Given]
	if err := json.Unmarshal([]byte(read("given.json")), &all); err != nil {
		t.Fatal(err)
	}
	var sessions []memory.SessionID // those of which something was given, the newest first
	for _, g := range all.Results {
		if !slices.Contains(sessions, g.Session) {
			sessions = append(sessions, g.Session)
		}
	}
	verdicts := readLines[api.Judgement](t, filepath.Join(out, "verdicts.jsonl"))
	if len(sessions) < 2 || len(verdicts) != 2 {
		t.Fatalf("sessions %v, verdicts %+v", sessions, verdicts)
	}
	down, up := verdicts[0].Record, verdicts[1].Record
	// Blanks are one on a page and in a terminal, and the page cuts long lines.
	plain := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	page, printed := plain(html.UnescapeString(read("given.html"))), plain(read("given.txt"))
	places := map[memory.SessionID]map[string]int{}
	for _, g := range all.Results {
		if places[g.Session] == nil {
			places[g.Session] = map[string]int{}
		}
		for _, l := range g.Lines {
			if l.Words == "" || l.Why == "" {
				t.Errorf("S%d %s: a line without words or reason: %+v", g.Session, g.Place, l)
			}
			places[g.Session][g.Place]++
			if l.Record == down {
				places[g.Session]["down"]++
			}
			if g.Session == sessions[1] && l.Record != "" && (l.Record == down && l.Person != memory.Down || l.Record == up && l.Person != memory.Up) {
				t.Errorf("verdict of %s: %d", l.Record, l.Person)
			}
			if g.Session == sessions[0] && l.Record == up && !strings.Contains(l.Why, ", thumbed up") {
				t.Errorf("%s after its thumb up: %q", up, l.Why)
			}
			if g.Session == sessions[1] && g.Place == "file" && l.Touched == nil {
				t.Errorf("it is not known whether the file of %s was touched", l.Record)
			}
			begins := plain(l.Words)
			begins = begins[:min(len(begins), 40)]
			if !strings.Contains(printed, begins) {
				t.Errorf("the command does not print %q", l.Words)
			}
			if g.Session == sessions[0] && !strings.Contains(page, begins) {
				t.Errorf("the page does not show %q", l.Words)
			}
		}
	}
	for _, place := range []string{"block", "prompt", "file", "failure"} {
		if places[sessions[1]][place] == 0 {
			t.Errorf("S%d was given nothing at a %s: %v", sessions[1], place, places[sessions[1]])
		}
	}
	if places[sessions[1]]["down"] == 0 || places[sessions[0]]["down"] != 0 {
		t.Errorf("%s was told %d times before the thumb down and %d times after it", down, places[sessions[1]]["down"], places[sessions[0]]["down"])
	}
	if places[sessions[0]]["block"] == 0 {
		t.Error("the session after the verdicts is told nothing at its start")
	}
	if !t.Failed() {
		t.Log(fmt.Sprintf("given: block, prompt, file and failure of S%d with words, reasons and fates; %s silenced in S%d, %s thumbed up", sessions[1], down, sessions[0], up))
	}
}
