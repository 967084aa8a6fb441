//go:build unix

package recall

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/leaf/claudedir"
	"claudemem/internal/memory"
)

// subjects are what the records of TestHostFiles are about, each a line of its own.
var subjects = strings.Fields(`apples bridges candles dolphins engines forests gardens harbours islands jackets
	kettles ladders mirrors needles oceans pencils quarries rivers saddles tunnels violins windmills
	anchors baskets cushions drums`)

// ruled is how many of them have a learning.
const ruled = 22

// rule is a learning; two of them differ in enough letters not to be merged.
func rule(i int) string { return "Pack " + subjects[i] + " above " + subjects[(i+5)%len(subjects)] }

func bug(i int) string { return "Fixed the sorting of " + subjects[i] }

// hostFiles is a project with more learnings and records than a block has lines, and a
// configuration directory of the host.
type hostFiles struct {
	*world.Memory
	project, config string
}

func newHostFiles(t *testing.T) *hostFiles {
	t.Helper()
	m := world.NewMemory(t)
	home, err := filepath.EvalSymlinks(m.Home)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostFiles{m, filepath.Join(home, "till"), filepath.Join(home, "own config")}
	m.Env = append(m.Env, "CLAUDE_CONFIG_DIR="+h.config)
	for _, dir := range []string{filepath.Join(h.project, ".git"), h.config} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.write(filepath.Join(h.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	m.MustCommand("worker", "start")
	api := m.API()
	for i := range subjects {
		if i < ruled {
			m.MustCommand("learn", "add", "workflow", rule(i), "--project", h.project)
		}
		at := time.Now().Add(-time.Duration(i+1) * time.Hour).UTC().Format(time.RFC3339)
		if _, err := api.Add(world.Note{Project: h.project, Type: "bugfix", Title: bug(i), CreatedAt: at}); err != nil {
			t.Fatal(err)
		}
	}
	m.Indexed(30 * time.Second)
	return h
}

func (h *hostFiles) write(path, content string) {
	h.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.T.Fatal(err)
	}
}

// start gives a new session its block, as the hook prints it. A part that is late on a busy
// machine is left out, so it is a block with as many lines as that of a session before.
func (h *hostFiles) start(session string) string {
	h.T.Helper()
	before := 0
	text := world.InTime(func(n int) string {
		name := fmt.Sprint(session, "-", n)
		return world.InjectedText(h.T, h.Send("", map[string]any{
			"hook_event_name": "SessionStart", "source": "startup", "session_id": name, "cwd": h.project,
			"transcript_path": filepath.Join(h.config, "projects", "x", name+".jsonl")}))
	}, func(text string) bool {
		lines := len(h.lines(text))
		same := lines > 0 && lines == before
		before = lines
		return same
	})
	if text == "" {
		h.T.Fatalf("session %s got no block", session)
	}
	return text
}

// lines returns the list items of a block.
func (h *hostFiles) lines(block string) []string {
	var all []string
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "- ") {
			all = append(all, line)
		}
	}
	return all
}

// TestHostFiles: with a CLAUDE.md and a MEMORY.md that say half of the block, nothing is
// said twice and what is new takes the free places; by the worker, without it, and in the
// preview, which names the files. They are only read.
func TestHostFiles(t *testing.T) {
	t.Parallel()
	h := newHostFiles(t)
	whole := h.start("whole")

	rules := []string{"# The till", "", "Always use whole cents.", "", "<!-- claude-mem:begin -->", "- " + rule(5), "<!-- claude-mem:end -->", "",
		"- Never pack " + strings.TrimPrefix(rule(3), "Pack ")}
	notes := []string{}
	said := map[string]string{} // by statement: the file
	for i := 0; i < len(subjects); i += 2 {
		if i < ruled {
			rules = append(rules, "- **"+rule(i)+"**.")
			said[rule(i)] = "CLAUDE.md"
		}
		notes = append(notes, "- [Sorting]("+subjects[i]+".md) — fixed the sorting of `"+subjects[i]+"`")
		said[bug(i)] = "MEMORY.md"
	}
	claudeFile, memoryFile := filepath.Join(h.project, "CLAUDE.md"), claudedir.MemoryFile(h.config, h.project)
	h.write(claudeFile, strings.Join(rules, "\n")+"\n")
	h.write(memoryFile, strings.Join(notes, "\n")+"\n")
	before := h.state(claudeFile, memoryFile)

	freed := 0
	for statement := range said {
		if strings.Contains(whole, statement) {
			freed++
		}
	}
	check := func(name, block string) {
		t.Helper()
		for statement, file := range said {
			if strings.Contains(block, statement) {
				t.Errorf("%s: said twice, in %s too: %s", name, file, statement)
			}
		}
		got, want := h.lines(block), h.lines(whole)
		if len(got) != len(want) {
			t.Errorf("%s: %d lines, %d without the files", name, len(got), len(want))
		}
		fresh := 0
		for _, line := range got {
			if !slices.Contains(want, line) {
				fresh++
			}
		}
		if fresh < freed*9/10 {
			t.Errorf("%s: %d new lines for %d that the files say", name, fresh, freed)
		}
		// What our own block in CLAUDE.md says, and what is denied there, is not said there.
		for _, s := range []string{rule(5), rule(3)} {
			if !strings.Contains(block, s) {
				t.Errorf("%s: %q is missing", name, s)
			}
		}
	}
	check("worker", h.start("worker"))
	h.sameBytes()
	h.preview(said)

	h.MustCommand("worker", "stop")
	release := h.HoldLock()
	check("no worker", h.start("no-worker"))
	release()
	h.MustCommand("worker", "start") // the hook has started one: it must not outlive the test
	if after := h.state(claudeFile, memoryFile); after != before {
		t.Errorf("the files are now %s, before %s", after, before)
	}
	if freed < 8 {
		t.Errorf("the files say %d lines of the block, too few to tell", freed)
	}
	world.Figure(t, 5, "%d of %d lines said by CLAUDE.md and MEMORY.md: none given, as many new ones", freed, len(h.lines(whole)))
}

// state describes files by content and time.
func (h *hostFiles) state(paths ...string) string {
	h.T.Helper()
	var b strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(path)
		info, failed := os.Stat(path)
		if err != nil || failed != nil {
			h.T.Fatal(err, failed)
		}
		fmt.Fprintln(&b, path, info.ModTime(), string(content))
	}
	return b.String()
}

// sameBytes starts sessions within one minute and compares their blocks.
func (h *hostFiles) sameBytes() {
	h.T.Helper()
	for round := range 5 {
		minute := time.Now().Truncate(time.Minute)
		first, second := h.start(fmt.Sprint("first-", round)), h.start(fmt.Sprint("second-", round))
		if time.Now().Truncate(time.Minute).Equal(minute) {
			if first != second {
				h.T.Errorf("two blocks of one minute differ:\n%s\n%s", first, second)
			}
			return
		}
	}
	h.T.Error("each round fell into two minutes")
}

// preview checks that the preview gives the reason for each line that is left out.
func (h *hostFiles) preview(said map[string]string) {
	h.T.Helper()
	var preview struct {
		Skipped []memory.LayerCost   `json:"skipped"`
		LeftOut []memory.ContextLine `json:"left_out"`
	}
	if err := json.Unmarshal(h.MustCommand("context", "--preview", "--json", "--project", h.project), &preview); err != nil {
		h.T.Fatal(err)
	}
	named := map[string]int{}
	for _, l := range preview.LeftOut {
		found := false
		for statement, file := range said {
			found = found || strings.Contains(l.Text, statement) && l.Why == "said in "+file
		}
		if !found {
			h.T.Errorf("left out without cause: %+v", l)
		}
		named[l.Why]++
	}
	for _, s := range preview.Skipped {
		if n := named[s.Reason]; n != 0 && n != s.Items {
			h.T.Errorf("%+v, but %d lines", s, n)
		}
	}
	text := string(h.MustCommand("context", "--preview", "--project", h.project))
	for _, reason := range []string{"said in CLAUDE.md (", "said in MEMORY.md ("} {
		if named[strings.TrimSuffix(reason, " (")] == 0 || !strings.Contains(text, reason) {
			h.T.Errorf("%q is not among what is left out:\n%s", reason, text)
		}
	}
	for _, l := range preview.LeftOut {
		if l.Observation != 0 {
			why := string(h.MustCommand("context", "--preview", "--project", h.project, "--why", fmt.Sprintf("#%d", l.Observation)))
			if !strings.Contains(why, "said in MEMORY.md") || !strings.Contains(why, "left out") {
				h.T.Errorf("--why #%d: %s", l.Observation, why)
			}
			return
		}
	}
}
