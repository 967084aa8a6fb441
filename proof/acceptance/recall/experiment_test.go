//go:build unix

package recall

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/find/trial"
	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
	"claudemem/proof/acceptance/world"
)

// TestExperiment starts 20 sessions of an experiment with a worker, and all of them again without
// one, resumed and compacted, and after the worker was killed: each is given what its arm says,
// each time the same, with the same line for the user; and each is logged in its arm.
func TestExperiment(t *testing.T) {
	m := world.NewMemory(t)
	project := filepath.Join(m.Home, "till")
	m.MustCommand("worker", "start")
	for _, said := range []string{"Amounts are whole cents, floats lose some", "The ledger is append only since the audit"} {
		if _, err := m.API().Add(world.Note{Project: project, Type: "decision", Title: said, Narrative: said + ".", Files: []string{"basket.go"}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.API().Add(world.Note{Project: project, Type: "bugfix", Title: "Fix: basket.go lost a cent of each total", Narrative: "basket.go summed floats. It sums cents now.", Files: []string{"basket.go"}}); err != nil {
		t.Fatal(err)
	}
	m.Indexed(30 * time.Second)
	m.MustCommand("experiment", "on", "--share", "40", "--placebo", "30")
	if out, err := m.Command("experiment", "on"); err == nil {
		t.Errorf("a second experiment begins: %s", out)
	}
	start := func(session, source string) (arm memory.Arm, userLine string) {
		t.Helper()
		r := m.Send("context", map[string]any{"session_id": session, "cwd": project, "hook_event_name": "SessionStart", "source": source})
		var reply struct{ SystemMessage string }
		if len(r.Stdout) > 0 {
			if err := json.Unmarshal(r.Stdout, &reply); err != nil {
				t.Fatal(err)
			}
		}
		switch text := world.InjectedText(t, r); {
		case strings.Contains(text, "whole cents"):
			arm = memory.ArmMemory
		case strings.Contains(text, "does one thing"):
			arm = memory.ArmPlacebo
			if strings.Contains(text, "cents") || strings.Contains(text, "till") {
				t.Errorf("the placebo of %s speaks of the project: %s", session, text)
			}
		case text == "":
			arm = memory.ArmNothing
		default:
			t.Errorf("%s is given %q", session, text)
		}
		return arm, reply.SystemMessage
	}
	arms, count := map[string]memory.Arm{}, map[memory.Arm]int{}
	lines := map[string]bool{}
	for i := range 20 {
		name := fmt.Sprint("session-", i)
		arm, line := start(name, "startup")
		arms[name] = arm
		count[arm]++
		lines[line] = true
	}
	for name := range arms {
		m.Send("new", map[string]any{"session_id": name, "cwd": project, "hook_event_name": "UserPromptSubmit", "prompt_id": name, "prompt": "Why are amounts whole cents, and what of the ledger?"})
	}
	if len(lines) != 1 || lines[""] {
		t.Errorf("the arms have other lines for the user: %v", lines)
	}
	if count[memory.ArmMemory]*count[memory.ArmNothing]*count[memory.ArmPlacebo] == 0 {
		t.Logf("an arm has no session: %v", count) // one run of 60 has none of the placebo
	}
	again := func(how, source string) {
		t.Helper()
		of := map[memory.Arm]int{}
		for name, was := range arms {
			// Without a worker a hook waits for one as long as the slack allows.
			if of[was]++; of[was] > 2 && source == "clear" {
				continue
			}
			if arm, _ := start(name, source); arm != was {
				t.Errorf("%s is in the arm %s %s, and was in %s", name, arm, how, was)
			}
		}
	}
	again("after a compaction", "compact")
	world.Must(t, syscall.Kill(m.WorkerPID(), syscall.SIGKILL))
	again("after a kill", "startup")
	m.MustCommand("worker", "stop")
	release := m.HoldLock() // so that none can start
	again("without a worker", "clear")
	release()
	m.MustCommand("worker", "start")
	m.Settle(30 * time.Second)
	logged := 0
	m.Query(func(row *sql.Rows) error {
		var name string
		var arm memory.Arm
		if err := row.Scan(&name, &arm); err != nil {
			return err
		}
		logged++
		if arms[name] != arm {
			t.Errorf("%s is logged in the arm %q, and was given that of %q", name, arm, arms[name])
		}
		return nil
	}, "SELECT DISTINCT host_session_id, arm FROM injections WHERE hook_event = 'SessionStart'")
	if logged != len(arms) {
		t.Errorf("%d sessions and arms are logged, want %d", logged, len(arms))
	}
	if n := m.QueryOne("SELECT count(*) FROM injections i JOIN given_lines l ON l.injection_id = i.id WHERE i.arm IN ('nothing', 'placebo') AND l.observation_id <> 0"); n != 0 {
		t.Errorf("%d lines of records are booked as given to sessions that were given none", n)
	}
	// Lines at prompts are withheld, too.
	for name, arm := range arms {
		n := m.QueryOne("SELECT count(*) FROM injections WHERE host_session_id = ? AND hook_event = 'UserPromptSubmit'", name)
		if arm != memory.ArmMemory && n != 0 {
			t.Errorf("%s of the arm %s was given lines at a prompt", name, arm)
		}
	}
	// A fork begins with a start of its original, and has another name from its first prompt on: its lines follow the original's arm.
	forks := map[memory.Arm]int{}
	for name, arm := range arms {
		if got, _ := start(name, "resume"); got != arm && got != memory.ArmNothing { // what was given before is not given again
			t.Errorf("%s is resumed in the arm %s, and was in %s", name, got, arm)
		}
		world.Until(t, 30*time.Second, "the start of "+name+" is booked", func() bool { // a person types later
			return m.QueryOne("SELECT count(*) FROM injections WHERE host_session_id = ? AND source = 'resume'", name) > 0
		})
		fork := "fork-of-" + name
		m.Send("new", map[string]any{"session_id": fork, "cwd": project, "hook_event_name": "UserPromptSubmit", "prompt_id": fork, "prompt": "Go on"})
		reply := m.Send("save", map[string]any{"session_id": fork, "cwd": project, "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "call-" + fork,
			"tool_input": map[string]any{"file_path": filepath.Join(project, "basket.go")}, "tool_response": map[string]any{"type": "text"}})
		if world.InjectedText(t, reply) != "" {
			forks[arm]++
		}
	}
	if forks[memory.ArmMemory] != count[memory.ArmMemory] || forks[memory.ArmNothing]+forks[memory.ArmPlacebo] != 0 {
		t.Errorf("of forks %v are given lines, and the arms have %v", forks, count)
	}
	// A person ends it for one session: it is given its block, then lines too, and counts where it was assigned.
	lifted := ""
	for name, arm := range arms {
		if arm == memory.ArmNothing {
			lifted = name
		}
	}
	env := m.Env
	m.Env = append(slices.Clone(env), "CLAUDE_CODE_SESSION_ID="+lifted)
	if out := string(m.MustCommand("context", "--now", "--project", project)); !strings.Contains(out, "whole cents") {
		t.Errorf("context --now gives: %s", out)
	}
	m.Env = env
	if arm, _ := start(lifted, "compact"); arm != memory.ArmMemory {
		t.Errorf("after context --now %s is given what the arm %s is given", lifted, arm)
	}
	if n := m.QueryOne("SELECT count(DISTINCT arm) FROM injections WHERE host_session_id = ? AND arm = 'nothing'", lifted); n != 1 {
		t.Errorf("%s counts in other arms than its own", lifted)
	}
	var found api.Impact
	if err := json.Unmarshal(m.MustCommand("impact", "--json"), &found); err != nil {
		t.Fatal(err)
	}
	if !found.Trial.Runs() || found.Running != 20 || len(found.Outcomes) != 2*len(trial.Outcomes) || found.Outcomes[0].Low != nil {
		t.Errorf("impact says %+v", found)
	}
	m.MustCommand("experiment", "off")
	for name := range arms {
		if arm, _ := start(name, "startup"); arm != memory.ArmMemory {
			t.Errorf("%s is still in the arm %s", name, arm)
		}
	}
	world.Figure(t, 4, "20 sessions, %v: the same arm with a worker, without, compacted, after a kill, and as forks; %d logged", count, logged)
}

// TestExperimentOnMoments reads a file with a history in 30 sessions, while lines are held back: they come in those that the
// lot has left, a hook that is told again changes nothing, and what was held back is booked beside what was given.
func TestExperimentOnMoments(t *testing.T) {
	m := world.NewMemory(t)
	project := filepath.Join(m.Home, "till")
	m.MustCommand("worker", "start")
	if _, err := m.API().Add(world.Note{Project: project, Type: "bugfix", Title: "Fix: basket.go lost a cent of each total", Narrative: "basket.go summed floats. It sums cents now.", Files: []string{"basket.go"}}); err != nil {
		t.Fatal(err)
	}
	m.Indexed(30 * time.Second)
	m.MustCommand("experiment", "on", "--share", "0", "--moments", "50")
	reads := func(session string) string {
		return world.InjectedText(t, m.Send("save", map[string]any{"session_id": session, "cwd": project, "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "call-" + session,
			"tool_input": map[string]any{"file_path": filepath.Join(project, "basket.go")}, "tool_response": map[string]any{"type": "text"}}))
	}
	given := map[string]bool{}
	const n = 30
	for i := range n {
		session := fmt.Sprint("moment-", i)
		given[session] = strings.Contains(reads(session), "lost a cent")
		if text := reads(session); text != "" {
			t.Errorf("%s is told again: %s", session, text)
		}
	}
	for range 200 { // booked after the hook has its answer
		if m.QueryOne("SELECT count(*) FROM injections WHERE hook_event = 'PostToolUse'") == n {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	booked, held := 0, 0
	m.Query(func(row *sql.Rows) error {
		var session string
		var arm memory.Arm
		var share, lines, tokens int
		if err := row.Scan(&session, &arm, &share, &lines, &tokens); err != nil {
			return err
		}
		booked++
		if arm == memory.ArmHeld {
			held++
		}
		if given[session] != (arm == memory.ArmMemory) || share != 50 || lines != 1 || (tokens == 0) == given[session] {
			t.Errorf("%s, given %v, is booked as %s of %d %%, with %d lines of %d tokens", session, given[session], arm, share, lines, tokens)
		}
		return nil
	}, "SELECT host_session_id, arm, held, (SELECT count(*) FROM given_lines l WHERE l.injection_id = i.id AND l.observation_id = 1), tokens FROM injections i WHERE hook_event = 'PostToolUse'")
	if booked != n || held < 5 || held > 25 {
		t.Errorf("%d moments are booked, %d held back, want %d, about half", booked, held, n)
	}
	var found api.Impact
	if err := json.Unmarshal(m.MustCommand("impact", "--json"), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Outcomes) != 6 || found.Trial.Moments != 50 || found.Outcomes[0].Against != memory.ArmHeld || found.Outcomes[0].Sessions != 0 {
		t.Errorf("impact says %+v", found) // of moments of less than a day ago nothing
	}
	listed := 0
	for range strings.SplitSeq(string(m.MustCommand("given", "--all", "--limit", "100")), "lost a cent") {
		listed++
	}
	if listed-1 != n-held {
		t.Errorf("%d texts are listed as given, want %d", listed-1, n-held)
	}
	world.Figure(t, 4, "%d moments, %d held back by lot, each booked as it was given, with a hook told twice", n, held)
}
