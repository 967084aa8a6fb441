//go:build unix

package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// play is a session, or several of one project, that a memory without a model was once
// wrong about, in one wording. All texts are regular expressions, matched without case.
type play struct {
	name string
	act  func(s *script)
	// stored are found in what is stored, statement by statement; refused in no statement
	// of it, and neither in the next session's block.
	stored, refused []string
	// shown are found in the next session's block, outdated is not.
	shown, outdated []string
	// open says that this wording is still misunderstood: it is skipped, so that the
	// acceptance fails, until the rules know it.
	open bool
}

// script acts sessions of Claude Code in a git project of its own: edits change the files,
// and commands of git run for real.
type script struct {
	*codeProject
	sessions int
}

// playAll acts each play in one memory, with one worker, and compares what is stored;
// the memories of other tests beside it.
func playAll(t *testing.T, plays []play) {
	t.Helper()
	t.Parallel()
	m := world.NewMemory(t)
	m.MustCommand("worker", "start")
	home, err := filepath.EvalSymlinks(m.Home)
	world.Must(t, err)
	scripts := make([]*script, len(plays))
	for i, p := range plays {
		s := &script{codeProject: &codeProject{Memory: m, root: filepath.Join(home, fmt.Sprintf("project%02d", i))}}
		world.Must(t, os.Mkdir(s.root, 0o700))
		s.git("init -q -b main")
		s.git("config user.name dev")
		s.git("config user.email dev@example.com")
		s.begin()
		p.act(s)
		s.end()
		scripts[i] = s
	}
	m.Settle(time.Minute)
	for i, p := range plays {
		t.Run(p.name, func(t *testing.T) { p.check(t, scripts[i]) })
	}
}

func (p play) check(t *testing.T, s *script) {
	t.Helper()
	if p.open {
		t.Skip("not understood yet")
	}
	stored := s.stored(t)
	block := s.block(t, p.shown)
	for _, want := range p.stored {
		if !matches(want, stored) {
			t.Errorf("does not store %s", want)
		}
	}
	for _, want := range p.shown {
		if !matches(want, block) {
			t.Errorf("the block does not show %s", want)
		}
	}
	for _, refuse := range p.refused {
		if matches(refuse, append(stored, block...)) {
			t.Errorf("tells %s", refuse)
		}
	}
	for _, refuse := range p.outdated {
		if matches(refuse, block) {
			t.Errorf("the block still tells %s", refuse)
		}
	}
	if t.Failed() {
		t.Logf("stored:\n%s\nblock:\n%s", strings.Join(stored, "\n"), strings.Join(block, "\n"))
	}
}

// matches reports whether one of the statements matches.
func matches(pattern string, statements []string) bool {
	re := regexp.MustCompile("(?is)" + pattern)
	for _, s := range statements {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// stored returns what the project's memory holds, a statement each: of an observation its
// type, title and subtitle, its narrative and its facts; of a summary its fields but the
// request, which only repeats the prompt; and the learnings.
func (s *script) stored(t *testing.T) (statements []string) {
	t.Helper()
	var sessions struct{ Results []struct{ ID int } }
	s.read(t, &sessions, "sessions", "list", "--project", s.root, "--json")
	for _, session := range sessions.Results {
		var shown []struct {
			Observations []struct {
				Type, Title, Subtitle, Narrative string
				Facts                            []string
			}
			Summaries []struct {
				Investigated, Learned, Completed, Notes string
				NextSteps                               string `json:"next_steps"`
			}
		}
		s.read(t, &shown, "show", fmt.Sprintf("S%d", session.ID), "--json")
		for _, one := range shown {
			for _, o := range one.Observations {
				statements = append(statements, o.Type+": "+o.Title+": "+o.Subtitle, o.Narrative)
				statements = append(statements, o.Facts...)
			}
			for _, x := range one.Summaries {
				statements = append(statements, "investigated: "+x.Investigated, "learned: "+x.Learned, "completed: "+x.Completed, "next: "+x.NextSteps, x.Notes)
			}
		}
	}
	var learnings struct{ Results []struct{ Content string } }
	s.read(t, &learnings, "learn", "list", "--project", s.root, "--json")
	for _, l := range learnings.Results {
		statements = append(statements, "learning: "+l.Content)
	}
	return statements
}

func (s *script) read(t *testing.T, dest any, args ...string) {
	t.Helper()
	world.Must(t, json.Unmarshal(s.MustCommand(args...), dest))
}

// repeatedPrompt matches the request in a line of the block, and what follows it: the
// session's number with the marks behind it.
var repeatedPrompt = regexp.MustCompile(`(?im) ?\(?\basked: .*?( \(S\d+[,)].*|$)`)

// withoutPrompts returns a block without the requests that its lines repeat.
func withoutPrompts(block string) string { return repeatedPrompt.ReplaceAllString(block, "$1") }

func TestWithoutPrompts(t *testing.T) {
	block := "- [1h ago] Moved the till to cents (asked: make (all of) it count) (S1, #7) (superseded by #9)\n" +
		"- [2h ago] Asked: why does it drift? (S2) [not merged]\n- [now] Fixed it (asked: fix it)\n- Totals are cents (#3)"
	want := "- [1h ago] Moved the till to cents (S1, #7) (superseded by #9)\n- [2h ago] (S2) [not merged]\n- [now] Fixed it\n- Totals are cents (#3)"
	if got := withoutPrompts(block); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// block returns the lines of the next session's block, without the prompts that they repeat:
// of the first one that shows each of the wanted statements, if there is one.
func (s *script) block(t *testing.T, wanted []string) []string {
	t.Helper()
	lines := func(text string) []string { return strings.Split(withoutPrompts(text), "\n") }
	return lines(world.InTime(func(n int) string {
		s.session = fmt.Sprint("later-", n, s.root)
		return world.InjectedText(t, s.tell("SessionStart", map[string]any{"source": "startup"}))
	}, func(text string) bool {
		shown := lines(text)
		return text != "" && !slices.ContainsFunc(wanted, func(want string) bool { return !matches(want, shown) })
	}))
}

// begin starts a session; what happened before it is distilled by then.
func (s *script) begin() {
	s.sessions++
	s.prompts = 0
	s.session = fmt.Sprintf("%s-%d", filepath.Base(s.root), s.sessions)
	s.tell("SessionStart", map[string]any{"source": "startup"})
}

func (s *script) end() { s.tell("SessionEnd", map[string]any{"reason": "prompt_input_exit"}) }

// nextSession ends the session and starts another one.
func (s *script) nextSession() {
	s.end()
	s.Settle(time.Minute)
	s.begin()
}

// have commits files that were there before.
func (s *script) have(files map[string]string) {
	s.T.Helper()
	for name, content := range files {
		s.put(name, content)
	}
	s.git("add -A")
	s.git("commit -q -m begin")
}

func (s *script) ask(prompt string) {
	s.T.Helper()
	s.prompts++
	s.tell("UserPromptSubmit", map[string]any{"prompt_id": s.promptID(), "permission_mode": "acceptEdits", "prompt": prompt})
}

// say is the agent's closing message, which ends the turn.
// tell is a hook of the session. What a hook could not deliver in time is taken in before the
// next one: on a loaded machine the end of a session would otherwise overtake its last turn.
func (s *script) tell(event string, more map[string]any) world.HookResult {
	s.T.Helper()
	s.delivered()
	result := s.codeProject.tell(event, more)
	s.delivered()
	return result
}

// delivered waits until no event is in the spool.
func (s *script) delivered() {
	s.T.Helper()
	for deadline := time.Now().Add(time.Minute); s.Spooled() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.T.Fatalf("%d events are still spooled", s.Spooled())
		}
	}
}

func (s *script) say(message string) {
	s.T.Helper()
	s.tell("Stop", map[string]any{"prompt_id": s.promptID(), "stop_hook_active": false, "last_assistant_message": message})
}

// compact is a compaction in the midst of a turn.
func (s *script) compact() {
	s.T.Helper()
	s.tell("PreCompact", map[string]any{"prompt_id": s.promptID(), "trigger": "auto", "custom_instructions": nil})
	s.Settle(time.Minute)
	s.tell("SessionStart", map[string]any{"source": "compact"})
}

// run reports a command that succeeded, fail one that did not.
func (s *script) run(command, output string) {
	s.T.Helper()
	s.used("Bash", map[string]any{"command": command},
		map[string]any{"stdout": output, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
}

func (s *script) fail(command string, code int, output string) {
	s.T.Helper()
	s.calls++
	s.tell("PostToolUseFailure", map[string]any{"prompt_id": s.promptID(), "tool_name": "Bash", "tool_use_id": fmt.Sprint(s.session, s.calls),
		"tool_input": map[string]any{"command": command}, "error": fmt.Sprintf("Exit code %d\n%s", code, output), "is_interrupt": false})
}

// git runs a command of git in the project and returns what it says.
func (s *script) git(args string) string {
	s.T.Helper()
	cmd := exec.Command("sh", "-c", "git "+args+" 2>&1")
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || err != nil && strings.HasPrefix(args, "init") {
		s.T.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// runGit runs a command of git and reports it as the agent's.
func (s *script) runGit(args string) {
	s.T.Helper()
	s.run("git "+args, s.git(args))
}

// view reports a reading of lines of a file, all of them if lines is 0.
func (s *script) view(name string, from, lines int) {
	s.T.Helper()
	path := filepath.Join(s.root, name)
	raw, err := os.ReadFile(path)
	world.Must(s.T, err)
	all := strings.SplitAfter(string(raw), "\n")
	input := map[string]any{"file_path": path}
	piece := all
	if lines > 0 {
		input["offset"], input["limit"] = from, lines
		piece = all[from-1 : min(len(all), from-1+lines)]
	}
	s.used("Read", input, map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": strings.Join(piece, ""),
		"numLines": len(piece), "startLine": max(from, 1), "totalLines": len(all)}})
}

// delegate reports a subagent, with the answer that it gave.
func (s *script) delegate(kind, description, answer string) {
	s.T.Helper()
	id := fmt.Sprint("a", s.calls)
	s.tell("SubagentStop", map[string]any{"prompt_id": s.promptID(), "agent_id": id, "agent_type": kind, "stop_hook_active": false, "last_assistant_message": answer})
	s.used("Agent", map[string]any{"description": description, "prompt": description, "subagent_type": kind},
		map[string]any{"status": "completed", "prompt": description, "agentId": id, "agentType": kind,
			"content": []any{map[string]any{"type": "text", "text": answer}}, "totalDurationMs": 41000, "totalTokens": 21000, "totalToolUseCount": 2})
}

// must runs a program in the project that is not reported.
func (s *script) must(program string, args ...string) {
	s.T.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = s.root
	world.Must(s.T, cmd.Run())
}
