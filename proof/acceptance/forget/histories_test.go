//go:build unix

package forget

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/sqlite"

	"pgregory.net/rapid"
)

// history is one memory and what a random sequence of commands did to it.
type history struct {
	*world.Memory
	rt       *rapid.T
	tmp      string
	n        int // numbers words, exports and copies
	words    []*sown
	exports  []string
	copies   []string
	counters *historyCounters
}

type historyCounters struct{ commands, forgets, kills, restores, named atomic.Int64 }

// sown is a word that stands in one record or session and nowhere else.
type sown struct {
	text, project, session, file, ulid string
	gone                               bool
	// files are those outside the data directory that have it and that claude-mem may know.
	files []string
}

func (h *history) run(args ...string) ([]byte, error) {
	h.counters.commands.Add(1)
	return h.Command(args...)
}

func (h *history) must(args ...string) []byte {
	h.rt.Helper()
	out, err := h.run(args...)
	if err != nil {
		h.rt.Fatal(err)
	}
	return out
}

func (h *history) project(name string) string {
	dir := filepath.Join(h.Home, "src", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.rt.Fatal(err)
	}
	return dir
}

func (h *history) newWord(project string) *sown {
	h.n++
	w := &sown{text: fmt.Sprintf("qzv%dnightjar", h.n), project: project}
	h.words = append(h.words, w)
	return w
}

func (h *history) live() (list []*sown) {
	for _, w := range h.words {
		if !w.gone {
			list = append(list, w)
		}
	}
	return list
}

func (h *history) remember() {
	w := h.newWord(h.project(rapid.SampledFrom([]string{"shop", "tally"}).Draw(h.rt, "project")))
	var out []byte
	world.Until(h.T, 30*time.Second, "something is remembered", func() bool { // a worker may be starting or stopping
		cmd := exec.Command(world.Binary("claude-mem"), "remember", "The "+w.text+" module needs care in the morning", "--json")
		cmd.Env, cmd.Dir = h.Env, w.project
		var err error
		out, err = cmd.Output()
		return err == nil
	})
	var said struct {
		ULID string `json:"ulid"`
	}
	if err := json.Unmarshal(out, &said); err != nil || said.ULID == "" {
		h.rt.Fatalf("remember says %s", out)
	}
	w.ulid = said.ULID
}

// session plays a session of one turn, and plants the transcript that the host would have.
func (h *history) session() {
	w := h.newWord(h.project(rapid.SampledFrom([]string{"shop", "tally"}).Draw(h.rt, "project")))
	w.session, w.file = "session-of-"+strconv.Itoa(h.n), "src/"+w.text+".go"
	base := func(event string) map[string]any {
		return map[string]any{"session_id": w.session, "hook_event_name": event, "prompt_id": w.session + "-p", "cwd": w.project, "transcript_path": filepath.Join(h.Home, "none.jsonl")}
	}
	p := base("UserPromptSubmit")
	p["prompt"] = "Why does the build of " + w.text + " fail since yesterday?"
	h.Send("new", p)
	p = base("PostToolUse")
	p["tool_name"], p["tool_use_id"] = "Edit", w.session+"-t"
	p["tool_input"] = map[string]any{"file_path": filepath.Join(w.project, w.file), "old_string": "a", "new_string": "b " + w.text}
	p["tool_response"] = map[string]any{"filePath": filepath.Join(w.project, w.file), "originalFile": "a"}
	h.Send("save", p)
	p = base("Stop")
	p["last_assistant_message"] = fmt.Sprintf("Fixed the build: the cause was a missing `%sCache` in %s.", w.text, w.file)
	h.Send("summary", p)
	folder := filepath.Join(h.Home, ".claude", "projects", strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, w.project))
	path := filepath.Join(folder, w.session+".jsonl")
	line := fmt.Sprintf(`{"type":"user","sessionId":%q,"message":{"role":"user","content":"Why does the build of %s fail since yesterday?"}}`+"\n", w.session, w.text)
	if err := os.MkdirAll(folder, 0o700); err == nil {
		err = os.WriteFile(path, []byte(line), 0o600)
		if err != nil {
			h.rt.Fatal(err)
		}
	}
	w.files = append(w.files, path)
}

func (h *history) export() {
	h.n++
	path := filepath.Join(h.Home, fmt.Sprintf("export-%d.jsonl", h.n))
	if _, err := h.run("export", path); err != nil {
		return // nothing is remembered yet
	}
	content, err := os.ReadFile(path)
	if err != nil {
		h.rt.Fatal(err)
	}
	h.exports = append(h.exports, path)
	for _, w := range h.words {
		if bytes.Contains(content, []byte(w.text)) {
			w.files = append(w.files, path)
		}
	}
}

func (h *history) backups() []string {
	list, _ := filepath.Glob(filepath.Join(h.Dir, "backups", "memory-*.db"))
	return list
}

// jump gives the names and times of the backups those of a clock that is years off.
func (h *history) jump() {
	year := rapid.SampledFrom([]string{"1999", "2099"}).Draw(h.rt, "year")
	for _, path := range h.backups() {
		name := filepath.Base(path)
		to := filepath.Join(filepath.Dir(path), "memory-"+year+name[len("memory-2026"):])
		if err := os.Rename(path, to); err != nil {
			h.rt.Fatal(err)
		}
		at, _ := time.Parse("2006", year)
		_ = os.Chtimes(to, at, at)
	}
}

// copyBackup keeps a backup elsewhere.
func (h *history) copyBackup() {
	if list := h.backups(); len(list) > 0 {
		h.n++
		to := filepath.Join(h.Home, fmt.Sprintf("copy-%d.db", h.n))
		content, err := os.ReadFile(rapid.SampledFrom(list).Draw(h.rt, "backup"))
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err != nil {
			h.rt.Fatal(err)
		}
		h.copies = append(h.copies, to)
	}
}

// olds are all databases that can be restored.
func (h *history) olds() []string {
	aside, _ := filepath.Glob(filepath.Join(h.Dir, "aside", "*", "memory.db"))
	return append(append(h.backups(), h.copies...), aside...)
}

func (h *history) restore(path string) {
	if _, err := os.Stat(path); err != nil {
		return // a backup that was replaced meanwhile
	}
	h.counters.restores.Add(1)
	h.must("restore", path, "--yes", "--json")
	h.check("after the restore of " + path)
}

// forget forgets words in one of the ways, and may be killed.
func (h *history) forget() {
	live := h.live()
	if len(live) == 0 {
		return
	}
	w := rapid.SampledFrom(live).Draw(h.rt, "word")
	how := rapid.SampledFrom([]string{"query", "query", "record", "record", "file", "project", "time"}).Draw(h.rt, "how")
	args, gone := []string{"--query", strings.ToUpper(w.text)}, []*sown{w}
	switch {
	case how == "record" && w.session != "":
		args = []string{"--session", w.session}
	case how == "record":
		args = []string{w.ulid}
	case how == "file" && w.session != "":
		args, gone = []string{"--file", filepath.Join(w.project, w.file)}, nil // words without the path stay
	case how == "project", how == "time":
		args, gone = []string{"--project", w.project}, nil
		if how == "time" {
			args = []string{"--since", "2020-01-01"}
		}
		for _, other := range live {
			if how == "time" || other.project == w.project {
				gone = append(gone, other)
			}
		}
	}
	gone = slices.DeleteFunc(gone, func(w *sown) bool { // a copy from before the word was restored
		return !h.holds(filepath.Join(h.Dir, "memory.db"), w.text) && !h.holds(filepath.Join(h.Dir, "memory.db-wal"), w.text)
	})
	h.counters.forgets.Add(1)
	args = append([]string{"forget", "--yes", "--json"}, args...)
	if rapid.IntRange(0, 3).Draw(h.rt, "killed") == 3 {
		h.killed(rapid.IntRange(0, 80).Draw(h.rt, "after ms"), args)
		// The next worker completes it; it may not have begun.
		h.must("worker", "start")
		h.settled()
		out, err := h.run(args...)
		if !json.Valid(out) && !strings.Contains(fmt.Sprint(err), `"not_found"`) {
			h.rt.Fatalf("%v: %v", args, err)
		}
		h.forgotten(gone, out, false)
		return
	}
	out, err := h.run(args...)
	if !json.Valid(out) {
		if strings.Contains(fmt.Sprint(err), `"not_found"`) {
			return // a restored copy does not have it
		}
		h.rt.Fatalf("%v: %v %s", args, err, out)
	}
	h.forgotten(gone, out, true)
}

// settled waits until the worker has taken in what was spooled.
func (h *history) settled() {
	world.Until(h.T, 20*time.Second, "the spool is taken in", func() bool { return h.Spooled() == 0 })
}

func (h *history) killed(ms int, args []string) {
	h.counters.kills.Add(1)
	cmd := exec.Command(world.Binary("claude-mem"), args...)
	cmd.Env, cmd.Dir = h.Env, h.Home
	if err := cmd.Start(); err != nil {
		h.rt.Fatal(err)
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// forgotten checks that the words are gone, and that what claude-mem cannot erase was named.
func (h *history) forgotten(gone []*sown, out []byte, named bool) {
	var said struct{ Left []string }
	_ = json.Unmarshal(out, &said)
	for _, w := range gone {
		w.gone = true
		if !named {
			continue // the one that was killed has named them, or the next worker
		}
		for _, path := range w.files {
			h.counters.named.Add(1)
			if !strings.Contains(strings.Join(said.Left, "\n"), path) {
				h.rt.Fatalf("%s has %s and is not named in %q", path, w.text, said.Left)
			}
		}
		aside, _ := filepath.Glob(filepath.Join(h.Dir, "aside", "*", "memory.db"))
		for _, path := range aside {
			if h.holds(path, w.text) && !strings.Contains(strings.Join(said.Left, "\n"), path) {
				h.rt.Fatalf("%s has %s and is not named in %q", path, w.text, said.Left)
			}
		}
	}
	h.check("after " + string(out))
}

// holds reports whether a file has a text, packed or not.
func (h *history) holds(path, text string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		return false // gone meanwhile
	}
	if bytes.Contains(bytes.ToLower(content), []byte(text)) {
		return true
	}
	if !strings.Contains(filepath.Base(path), ".db") {
		return false
	}
	for _, packed := range sqlite.PackedTexts(content) {
		if strings.Contains(strings.ToLower(packed), text) {
			return true
		}
	}
	return false
}

// check looks for the words that are gone in all files of the data directory, of the projects
// and of the temporary folder. Databases that were set aside are named by forget, and stay.
func (h *history) check(when string) {
	h.rt.Helper()
	for _, root := range []string{h.Dir, filepath.Join(h.Home, "src"), h.tmp} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(h.Dir, "aside")) {
				return nil //nolint:nilerr // it is gone
			}
			for _, w := range h.words {
				if w.gone && h.holds(path, w.text) {
					h.rt.Fatalf("%s: %s has %s", when, path, w.text)
				}
			}
			return nil
		})
	}
}

// playHistory plays one random history in a memory of its own.
func playHistory(t *testing.T, rt *rapid.T, counters *historyCounters) {
	home, err := os.MkdirTemp("", "history")
	if err != nil {
		rt.Fatal(err)
	}
	h := &history{Memory: &world.Memory{T: t, Dir: filepath.Join(home, "memory"), Home: home}, rt: rt, tmp: filepath.Join(home, "tmp"), counters: counters}
	h.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + h.tmp, "CLAUDE_MEM_DATA_DIR=" + h.Dir}
	defer func() {
		_, _ = h.Command("worker", "stop")
		if pid := h.WorkerPID(); pid != 0 {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
		world.Until(t, 10*time.Second, "the memory is removed", func() bool { return os.RemoveAll(home) == nil })
	}()
	for _, dir := range []string{h.Dir, h.tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			rt.Fatal(err)
		}
	}
	settings := `{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`
	if err := os.WriteFile(filepath.Join(h.Dir, "config.json"), []byte(settings), 0o600); err != nil {
		rt.Fatal(err)
	}
	h.remember()
	actions := map[string]func(){
		"remember": h.remember, "remember again": h.remember, "session": h.session, "export": h.export,
		"import": func() {
			if len(h.exports) > 0 {
				_, _ = h.run("import", "--yes", rapid.SampledFrom(h.exports).Draw(rt, "export")) // what is forgotten is left out
				h.check("after an import")
			}
		},
		"backup":   func() { h.must("backup") },
		"backup 2": func() { h.must("backup") },
		"copy":     h.copyBackup,
		"jump":     h.jump,
		"restore": func() {
			if olds := h.olds(); len(olds) > 0 {
				h.restore(rapid.SampledFrom(olds).Draw(rt, "database"))
			}
		},
		"forget": h.forget, "forget again": h.forget, "forget more": h.forget,
		"start": func() { h.must("worker", "start") },
		"stop":  func() { h.must("worker", "stop") },
		"kill": func() {
			if pid := h.WorkerPID(); pid != 0 {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		},
	}
	names := slices.Sorted(maps.Keys(actions))
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 5, 12).Draw(rt, "actions") {
		actions[name]()
	}
	h.forget()
	for _, path := range h.olds() {
		h.restore(path)
	}
}

// playHistories plays n random histories.
func playHistories(t *testing.T, n int) {
	world.NeedBinaries(t)
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	var c historyCounters
	rapid.Check(t, func(rt *rapid.T) { playHistory(t, rt, &c) })
	world.Figure(t, 1, "%d histories: %d commands, %d forgets (%d killed), %d restores, %d files named; no forgotten word in a file", n,
		c.commands.Load(), c.forgets.Load(), c.kills.Load(), c.restores.Load(), c.named.Load())
}

// TestFewForgetHistories is TestForgetHistories in small.
func TestFewForgetHistories(t *testing.T) { playHistories(t, 5) }
