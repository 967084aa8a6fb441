//go:build unix

package observer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claudemem/internal/run/recorded"
	"claudemem/proof/acceptance/world"
)

// told is an answer of the usual length, whose observation says which request it is of.
func told(n int) string {
	return fmt.Sprintf(`<observation><type>discovery</type><title>What request %d was about, and what came of it</title><subtitle>The reason, in one sentence of the usual length</subtitle>`+
		`<facts><fact>A statement with a name and the number %d</fact></facts><narrative>Two sentences on how it works. They stand for what a model writes.</narrative></observation>`+
		`<summary><request>What the user wanted</request><learned>What turned out</learned><completed>What is done now</completed></summary>`, n, n)
}

// toldTurn is a recorded turn with what its request has to hold.
type toldTurn struct {
	session, prompt string
	facts           []string
}

// hookPayload is what is read of a recorded payload.
type hookPayload struct {
	Prompt    string `json:"prompt"`
	Message   string `json:"last_assistant_message"`
	Tool      string `json:"tool_name"`
	Error     string `json:"error"`
	ToolInput struct {
		Command string `json:"command"`
		Content string `json:"content"`
	} `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
}

// factsOf returns the turns of a recorded session, each with the lines of its prompt and of its closing
// message, the first two of its failing commands with the last three of their errors, the changed lines
// of its edits with the first twelve of new files, and, if it was closed, of the last command that
// succeeded the first line and what it printed last, unless that is routine. Paths are relative to the
// project. Turns whose prompt is private are left out.
func factsOf(t *testing.T, s recorded.Session) []*toldTurn {
	t.Helper()
	var turns []*toldTurn
	var last []string // of the command that ran last
	for _, p := range s.Payloads {
		body := strings.ReplaceAll(string(p.Body), recorded.ProjectPlaceholder+"/", "")
		var e hookPayload
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatal(err)
		}
		if p.Event == "UserPromptSubmit" {
			turns, last = append(turns, &toldTurn{session: s.Name, prompt: e.Prompt, facts: lines(e.Prompt, 100)}), nil
		}
		if len(turns) == 0 {
			continue
		}
		turn := turns[len(turns)-1]
		add := func(facts ...string) { turn.facts = append(turn.facts, facts...) }
		switch {
		case p.Event == "Stop":
			add(last...)
			add(lines(e.Message, 100)...)
		case p.Event == "PostToolUseFailure":
			add(lines(e.ToolInput.Command, 2)...)
			all := lines(e.Error, 100)
			add(all[max(0, len(all)-3):]...)
		case p.Event == "PostToolUse" && e.Tool == "Bash":
			var out struct{ Stdout string }
			if err := json.Unmarshal(e.Response, &out); err != nil {
				t.Fatal(err)
			}
			last = lines(e.ToolInput.Command, 1)
			if all := lines(out.Stdout, 100); len(all) > 0 && !routine.MatchString(e.ToolInput.Command) {
				last = append(last, all[len(all)-1])
			}
		case p.Event == "PostToolUse" && (e.Tool == "Edit" || e.Tool == "Write"):
			var out struct {
				Patch []struct{ Lines []string } `json:"structuredPatch"`
			}
			if err := json.Unmarshal(e.Response, &out); err != nil {
				t.Fatal(err)
			}
			add(lines(e.ToolInput.Content, 12)...) // of a new file
			for _, h := range out.Patch {
				for _, line := range h.Lines {
					if line[0] != ' ' {
						add(lines(line, 1)...)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(turns, func(t *toldTurn) bool { return strings.HasPrefix(t.prompt, "<private>") })
}

// routine matches commands whose output a request need not show.
var routine = regexp.MustCompile(`^(ls|cat|head|tail|wc|git (status|log|diff|show))\b`)

// lines returns the first n lines of s that are not blank, without the space around them.
func lines(s string, n int) []string {
	var all []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && len(all) < n {
			all = append(all, line)
		}
	}
	return all
}

// TestRequests plays the recorded sessions to a model: the requests of each turn hold the facts of
// factsOf, and all requests have at most 9,500 bytes on average.
func TestRequests(t *testing.T) {
	t.Parallel()
	n := 0
	api := world.NewStandIn(t, func(*world.Asked) world.Reply { n++; return world.Reply{Text: told(n)} })
	m := world.NewMemory(t)
	m.Configure(api.With("anthropic", "SESSION_TOKEN_CAP", "0", "DAILY_TOKEN_CAP", "0"))
	m.MustCommand("worker", "start")
	m.Play(recorded.Sessions(), func(recorded.Payload) bool { return false })
	calls := api.Calls()

	turns, facts, missing := 0, 0, 0
	for _, s := range recorded.Sessions() {
		for _, turn := range factsOf(t, s) {
			turns++
			shown := ""
			for _, c := range calls {
				if strings.Contains(c.Prompt, ">"+turn.prompt+"</user_request ") {
					shown += strings.ReplaceAll(c.Prompt, filepath.Join(m.Home, s.Project)+"/", "")
				}
			}
			for _, fact := range turn.facts {
				if facts++; !strings.Contains(shown, fact) {
					missing++
					t.Errorf("%s: %q: the request does not hold %q", s.Name, turn.prompt, fact)
				}
			}
		}
	}
	if turns < 30 || facts < 10*turns {
		t.Errorf("%d facts of %d turns were looked for", facts, turns)
	}
	sizes := make([]int, len(calls))
	total := 0
	for i, c := range calls {
		sizes[i] = len(c.Body)
		total += sizes[i]
	}
	mean := total / len(sizes)
	if mean > 9500 {
		t.Errorf("requests have %d bytes on average, want at most 9,500", mean)
	}
	logParts(t, calls)
	world.Figure(t, 4, "%d requests of %d turns hold %d of %d facts; mean %d bytes, largest %d", len(calls), turns, facts-missing, facts, mean, slices.Max(sizes))
}

var observedEvent = regexp.MustCompile(`(?s)<observed_from_primary_session>\s*<what_happened>(\w+).*?</observed_from_primary_session>`)

// logParts logs what requests consist of, in bytes on average. KEEP_REQUESTS=DIR writes each to a file.
func logParts(t *testing.T, calls []world.Asked) {
	t.Helper()
	parts := map[string]int{}
	for i, c := range calls {
		var q struct {
			Messages []struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(c.Body, &q); err != nil {
			t.Fatal(err)
		}
		whole := c.System
		for _, h := range q.Messages {
			whole += "\n===\n" + h.Content[0].Text
		}
		if dir := os.Getenv("KEEP_REQUESTS"); dir != "" {
			if err := os.WriteFile(fmt.Sprintf("%s/%02d.txt", dir, i+1), []byte(whole), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		parts["system"] += len(c.System)
		parts["history"] += len(whole) - len(c.System) - len(c.Prompt)
		parts["instructions"] += len(c.Prompt) - max(0, strings.LastIndex(c.Prompt, "The agent has finished"))
		for _, e := range observedEvent.FindAllStringSubmatch(c.Prompt, -1) {
			parts[cmp.Or(e[1], "?")] += len(e[0])
		}
		for _, name := range []string{"user_request", "last_message_of_the_agent"} {
			parts[name] += len(regexp.MustCompile(`(?s)<` + name + ` .*</` + name + ` \w+>`).FindString(c.Prompt))
		}
	}
	for name, bytes := range parts {
		t.Logf("%s: %d bytes", name, bytes/len(calls))
	}
}

// TestRequestAfterANo: where the user says no, in English, German or French, the request has the number
// of the session's record before it, which the answer may supersede; where the work goes on it has not.
func TestRequestAfterANo(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]bool{
		"No, one minute is enough.": true, "nein, eine Minute reicht": true, "non, une minute suffit": true, "Now add a test.": false,
	} {
		n := 0
		api := world.NewStandIn(t, func(*world.Asked) world.Reply { n++; return world.Reply{Text: told(n)} })
		m := world.NewMemory(t)
		m.Configure(api.With("anthropic"))
		m.MustCommand("worker", "start")
		h := &world.Host{M: m, ID: "no"}
		for _, p := range []string{"Cache the rates for five minutes.", prompt} {
			h.Prompt(p)
			h.Edit("rates.go", "ttl")
			h.Stop()
			m.Settle(world.SettleLimit)
		}
		calls := api.Calls()
		if len(calls) != 2 {
			t.Fatalf("%d calls", len(calls))
		}
		if got := strings.Contains(calls[1].Prompt, "<earlier_records>\n#1 discovery: What request 1 was about"); got != want {
			t.Errorf("%s: the record's number is shown: %v, want %v", prompt, got, want)
		}
	}
}
