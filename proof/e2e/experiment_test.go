//go:build e2e && linux

package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"claudemem/internal/memory"
	"claudemem/internal/serve/api"
)

// begins has the memory something to give, and begins an experiment.
const begins = `cd "$out/project" && "$plugin/../bin/claude-mem" remember 'The limiter is per instance until Redis is there.' --type decision &&
"$plugin/../bin/claude-mem" experiment on --share 40 --placebo 30`

// TestExperiment plays twenty sessions through the real CLI, with a worker, without one and with one that is killed. Each
// is given what its arm is given, as logged, and stays in the arm when it is resumed, compacted or forked; one that a
// person has ended it for counts where it was assigned.
func TestExperiment(t *testing.T) {
	plugin := buildPlugin(t)
	id := func(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }
	const sessions, fork = 20, 100
	const again = resume + " Once more."
	steps := []string{"--one-process", "--between", begins}
	for n := 1; n <= sessions; n++ {
		switch n {
		case 12:
			steps = append(steps, "--between", `"$plugin/../bin/claude-mem" worker stop`, "--between", holdLock)
		case 15:
			steps = append(steps, "--between", releaseLock)
		case 17:
			steps = append(steps, "--between", settled, "--between", kill9)
		}
		steps = append(steps, "--new-session", "--session-id", id(n), "--prompt", resume)
		if n >= 18 {
			steps = append(steps, "--prompt", "/compact", "--prompt", again)
		}
	}
	for n := 1; n <= 3; n++ {
		steps = append(steps, "--resume", id(n), "--prompt", again, "--resume", id(n), "--fork", id(fork+n), "--prompt", again)
	}
	steps = append(steps, "--between", settled)
	const lifted = 4 // sessions, for which a person ends it
	for n := 4; n < 4+lifted; n++ {
		steps = append(steps, "--between", `cd "$out/project" && CLAUDE_CODE_SESSION_ID=`+id(n)+` "$plugin/../bin/claude-mem" context --now >"$out/now-`+id(n)+`"`)
	}
	out := play(t, plugin, append(steps, "--between", settled, "--after", `"$plugin/../bin/claude-mem" impact --json >"$out/impact.json"`)...)
	if t.Failed() {
		return
	}

	given := map[string]memory.Arm{} // by what the model was sent
	for _, r := range readLines[request](t, filepath.Join(out, "requests.jsonl")) {
		if len(r.Body) == 0 || r.Session == "" {
			continue
		}
		text, blocks := block(t, r)
		arm := memory.ArmNothing
		switch {
		case strings.Contains(text, "per instance until Redis"):
			arm = memory.ArmMemory
		case strings.Contains(text, "does one thing"):
			arm = memory.ArmPlacebo
		case blocks > 0:
			t.Errorf("%s was sent a block of neither: %.600s", r.Session, text)
		}
		if was, ok := given[r.Session]; ok && was != arm {
			t.Errorf("%s was sent what the arm %q gets, and then what %q gets", r.Session, was, arm)
		}
		given[r.Session] = arm
	}
	count := map[string]int{}
	for n := 1; n <= sessions; n++ {
		arm, ok := given[id(n)]
		if !ok {
			t.Fatalf("no request of %s", id(n))
		}
		count[string(arm)]++
	}
	for n := 1; n <= 3; n++ {
		if was, is := given[id(n)], given[id(fork+n)]; was != is {
			t.Errorf("the fork of a session of the arm %q was sent what %q gets", was, is)
		}
	}

	logged := map[string]memory.Arm{}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(out, "home", ".claude-mem", "memory.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query("SELECT DISTINCT host_session_id, arm FROM injections WHERE hook_event = 'SessionStart' AND arm <> ''")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var arm memory.Arm
		if err := rows.Scan(&name, &arm); err != nil {
			t.Fatal(err)
		}
		if was, twice := logged[name]; twice {
			t.Errorf("%s is logged in the arms %q and %q", name, was, arm)
		}
		logged[name] = arm
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= sessions; n++ {
		if logged[id(n)] != given[id(n)] {
			t.Errorf("%s is logged in the arm %q and was sent what %q gets", id(n), logged[id(n)], given[id(n)])
		}
	}

	exposed := 0
	for n := 4; n < 4+lifted; n++ {
		now, err := os.ReadFile(filepath.Join(out, "now-"+id(n)))
		if err != nil {
			t.Fatal(err)
		}
		if given[id(n)] != memory.ArmMemory {
			exposed++
			if !strings.Contains(string(now), "per instance until Redis") {
				t.Errorf("context --now gives a session of the arm %q %q", given[id(n)], now)
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(out, "impact.json"))
	if err != nil {
		t.Fatal(err)
	}
	var found api.Impact
	if err := json.Unmarshal(raw, &found); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(found.Sessions, count) || found.Running != 0 || found.Exposed != exposed {
		t.Errorf("impact counts %v, %d going on, %d exposed; want %v, none, %d", found.Sessions, found.Running, found.Exposed, count, exposed)
	}
	t.Logf("point 4: %d sessions of the real CLI, %v: each was sent what it is logged with, without a worker, after a kill, resumed, compacted and forked; %d for which a person ended it count where they were assigned", sessions, count, exposed)
}
