//go:build unix

package devices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/run/recorded"
	"claudemem/proof/acceptance/world"
)

// machine is a memory with a folder of its own, which travels to the others.
type machine struct {
	*world.Memory
	folder, project string
	// transcripts is a directory with the transcript of a session in a second project, the same on all machines.
	transcripts string
}

// run runs a command; its failure is no fault: a record may be gone, or say what another one says.
func (m *machine) run(args ...string) []byte {
	out, _ := m.Command(args...)
	return out
}

// killed kills a command after some milliseconds. It reports whether it was still running.
func (m *machine) killed(cmd *exec.Cmd, after int) bool {
	time.Sleep(time.Duration(after) * time.Millisecond)
	_ = cmd.Process.Kill()
	var exit *exec.ExitError
	if !errors.As(cmd.Wait(), &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// join joins the memory whose words these are, by the machine's folder.
func (m *machine) join(words []string, name string, args ...string) {
	m.T.Helper()
	join := exec.Command(world.Binary("claude-mem"), append([]string{"sync", "join", m.folder, "--name", name}, args...)...)
	join.Env, join.Dir, join.Stdin = m.Env, m.project, strings.NewReader(strings.Join(words, " "))
	if out, err := join.CombinedOutput(); err != nil {
		m.T.Fatalf("%v: %s", err, out)
	}
}

type record struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// records returns the observations that are shown.
func (m *machine) records() []record {
	var page struct{ Results []record }
	_ = json.Unmarshal(m.run("recent", "--all", "-n", "100", "--json"), &page)
	return page.Results
}

// capture has hooks report a session with a prompt, an edit of a file and a stop.
func (m *machine) capture(name string) {
	m.T.Helper()
	about := map[string]any{"session_id": "captured-" + name, "cwd": m.project, "prompt_id": name + "-prompt"}
	send := func(verb string, change map[string]any) {
		for key, value := range about {
			change[key] = value
		}
		m.Send(verb, change)
	}
	file := filepath.Join(m.project, name+".go")
	send("new", map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": name + ". planted prompt"})
	send("save", map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": name + "-tool",
		"tool_input":    map[string]any{"file_path": file, "old_string": "a", "new_string": "planted line"},
		"tool_response": map[string]any{"filePath": file, "oldString": "a", "newString": "planted line"}})
	send("summary", map[string]any{"hook_event_name": "Stop", "last_assistant_message": "Added planted lines to " + name + ".go."})
	m.settle()
}

// importTranscripts imports the transcripts, again where it has them.
func (m *machine) importTranscripts() {
	m.T.Helper()
	m.MustCommand("import", "--yes", m.transcripts, "--json")
	m.settle()
}

// settle has the worker distil what was captured, and then ends it: so a kill of `sync now` is one of the sync itself.
func (m *machine) settle() {
	m.T.Helper()
	m.Settle(2 * world.SettleLimit)
	if pid := m.WorkerPID(); pid != 0 && pid%2 == 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	} else {
		m.MustCommand("worker", "stop")
	}
}

// fleet is three machines that have one memory, and what was done on them.
type fleet struct {
	t        *testing.T
	random   *rand.Rand
	machines []*machine
	step     int
	kills    map[*machine]int
	// written are the titles that were written once, gone those of them that were hidden or forgotten, captured the names of sessions.
	written, gone map[string]bool
	captured      []string
	imports       int
	// imported counts the records of the transcripts by kind.
	imported map[string]int
}

// newFleet returns three machines. Two of them have imported the same transcripts.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := &fleet{t: t, random: rand.New(rand.NewPCG(seed, 1)), kills: map[*machine]int{}, written: map[string]bool{}, gone: map[string]bool{}}
	session := world.Recorded(t, "linkcheck-survey")
	for range 3 {
		m := &machine{Memory: world.NewMemory(t)}
		m.folder = filepath.Join(m.Home, "folder")
		p := world.NewProject(t, m.Memory)
		m.project = p.Dir
		p.Git("remote", "add", "origin", "git@github.com:ada/planted-name.git")
		second := world.ProjectOf(t, m.Home, session)
		p.Git("-C", second, "remote", "add", "origin", "git@github.com:ada/planted-second.git")
		m.transcripts = filepath.Join(m.Home, "transcripts")
		body, err := os.ReadFile(world.Root("internal", "run", "recorded", "sessions", session.Name, "transcript.jsonl"))
		if err == nil {
			err = os.Mkdir(m.transcripts, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(m.transcripts, "session.jsonl"), recorded.Render(body, second, m.Home), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.machines = append(f.machines, m)
	}
	for _, m := range f.machines[:2] {
		m.importTranscripts()
	}
	f.imported = imported(f.machines[0].MustCommand("export", "--canonical"))
	if f.imported["prompt"] == 0 || f.imported["observation"] == 0 {
		t.Fatalf("nothing is imported: %v", f.imported)
	}
	return f
}

// imported counts the records of the sessions of an export that came with transcripts, by kind, and these.
func imported(export []byte) map[string]int {
	type about struct {
		ULID, Session, Host string
		ID                  string `json:"host_session_id"`
	}
	count, of := map[string]int{}, map[string]bool{}
	for line := range bytes.Lines(export) {
		var r map[string]about
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		if s, found := r["session"]; found && s.Host == "claude-code" && !strings.HasPrefix(s.ID, "captured") {
			of[s.ULID] = true
			count["session"]++
		}
	}
	for line := range bytes.Lines(export) {
		var r map[string]about
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		for kind, a := range r {
			if of[a.Session] {
				count[kind]++
			}
		}
	}
	return count
}

// begin shares the first machine's memory, and returns the words of the sheet.
func (f *fleet) begin(args ...string) []string {
	f.t.Helper()
	a := f.machines[0]
	a.MustCommand("remember", "x-first. of all", "--project", a.project)
	var made struct{ Words []string }
	if err := json.Unmarshal(a.MustCommand(args...), &made); err != nil || len(made.Words) == 0 {
		f.t.Fatal(err, made)
	}
	return made.Words
}

// enough reports whether each machine was killed as often as is wanted.
func (f *fleet) enough() bool {
	return !slices.ContainsFunc(f.machines, func(m *machine) bool { return f.kills[m] < world.Scaled(5, 50) })
}

// change does something at random on a machine.
func (f *fleet) change(m *machine) {
	f.t.Helper()
	switch n := f.random.IntN(14); {
	case n < 6:
		title := fmt.Sprintf("x%d.", f.step)
		if f.random.IntN(3) == 0 {
			title = fmt.Sprintf("c%d.", f.random.IntN(8)) // on several of them
		} else {
			f.written[title] = true
		}
		m.run("remember", title+" planted words", "--project", m.project)
	case n < 10:
		f.edit(m)
	case n < 12:
		m.run("learn", "add", "gotcha", fmt.Sprintf("Learning %d holds.", f.random.IntN(6)), "--project", m.project)
	case n == 12:
		name := fmt.Sprintf("captured%d", f.step)
		m.capture(name)
		f.captured = append(f.captured, name)
	case f.random.IntN(2) == 0:
		m.importTranscripts()
		f.imports++
	}
}

// edit edits, pins, hides or forgets a record of a machine.
func (f *fleet) edit(m *machine) {
	f.t.Helper()
	list := m.records()
	if len(list) == 0 {
		return
	}
	r := list[f.random.IntN(len(list))]
	title, _, _ := strings.Cut(r.Title, " ")
	id, mayGo := fmt.Sprint(r.ID), strings.HasPrefix(title, "x") && f.random.IntN(3) == 0
	switch f.random.IntN(5) {
	case 0, 1:
		m.run("edit", id, "--title", fmt.Sprintf("%s edited at %d", title, f.step))
	case 2:
		m.run([]string{"pin", "unpin"}[f.random.IntN(2)], id)
	case 3:
		if mayGo {
			m.MustCommand("forget", id, "--yes")
			f.gone[title] = true
		}
	default:
		if mayGo {
			m.run("hide", id)
			f.gone[title] = true
		}
	}
}

// check fails unless the machines have the same, with what was written and not what is gone, and their folders say nothing.
func (f *fleet) check() {
	t := f.t
	t.Helper()
	common := f.machines[0].MustCommand("export", "--canonical")
	for _, m := range f.machines[1:] {
		if got := m.MustCommand("export", "--canonical"); !bytes.Equal(got, common) {
			t.Fatalf("the machines differ:\n%s\n\n%s", common, got)
		}
	}
	titles, prompts, files := map[string]int{}, map[string]int{}, map[string]int{}
	for line := range bytes.Lines(common) {
		var r struct {
			Observation *struct {
				Title  string `json:"title"`
				Hidden int64  `json:"hidden_at"`
				Files  []struct{ Path string }
			}
			Prompt *struct{ Session, Text string }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Observation != nil:
			if title, _, _ := strings.Cut(r.Observation.Title, " "); r.Observation.Hidden == 0 {
				titles[title]++
			}
			for _, file := range r.Observation.Files {
				files[file.Path]++
			}
		case r.Prompt != nil:
			name, _, _ := strings.Cut(r.Prompt.Text, ".")
			prompts[name]++
		}
	}
	for title := range f.written {
		if want := map[bool]int{true: 0, false: 1}[f.gone[title]]; titles[title] != want {
			t.Errorf("%s is there %d times, want %d", title, titles[title], want)
		}
	}
	for _, name := range f.captured {
		if prompts[name] != 1 || files[name+".go"] != 1 {
			t.Errorf("of %s, which was captured once, there are %d prompts and %d observations", name, prompts[name], files[name+".go"])
		}
	}
	if got := imported(common); fmt.Sprint(got) != fmt.Sprint(f.imported) {
		t.Errorf("of the transcripts there is %v, want %v", got, f.imported)
	}
	for _, m := range f.machines {
		for name, content := range filesOf(t, m.folder) {
			f.secret(name, content)
		}
	}
}

// secret fails if a content or its name has a text, path or name of the machines.
func (f *fleet) secret(name string, content []byte) {
	f.t.Helper()
	planted := []string{"planted", "Learning", "edited at", "captured", "linkcheck", "github.com"}
	for _, m := range f.machines {
		planted = append(planted, m.Home)
	}
	for _, p := range planted {
		if bytes.Contains(content, []byte(p)) || strings.Contains(name, p) {
			f.t.Errorf("%q is in %s", p, name)
		}
	}
}

func (f *fleet) figure(how string) {
	f.t.Helper()
	a, b, c := f.machines[0], f.machines[1], f.machines[2]
	world.Figure(f.t, 1, "%s: %d, %d and %d kills, %d captured sessions, %d imports, %d records on each machine, the same bytes", how, f.kills[a], f.kills[b], f.kills[c],
		len(f.captured), 2+f.imports, len(a.records()))
}
