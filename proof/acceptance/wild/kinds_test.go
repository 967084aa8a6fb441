//go:build unix

package wild

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reported are the kinds of faults that people have reported, by the names of the cases; bothWays
// says whether such a fault can come by hooks as well as from what an agent has stored.
var reported = []struct {
	kind     string
	bothWays bool
}{
	{"ide-prompt", true}, {"teammate", true}, {"fork-forkedFrom", false}, {"forgotten-fork", false}, {"torn-lines", true}, {"fork-mtime", false},
	{"gemini-empty-prompt", true}, {"node-orphan-project", false}, {"gone-worktree", true}, {"windows-import", false}, {"node-broken-index", false},
	{"emoji-search", false}, {"relative-data-dir", false}, {"bom-export", false}, {"compaction-agent", true}, {"warmup", true},
	{"codex-resume-elsewhere", true}, {"nfd-path", true},
}

// fewest is how many further forms a kind has at least, and those that come both ways in both.
const fewest = 2

// TestKinds: each kind of fault that was reported stays away in other forms too, and what hooks capture of
// a session is what is imported of it.
func TestKinds(t *testing.T) {
	all, further := forms(), 0
	for _, k := range reported {
		n, heard := 0, 0
		for _, f := range all {
			if f.kind == k.kind {
				n++
				heard += min(len(f.heard), 1)
			}
		}
		if n < fewest || k.bothWays && heard < fewest {
			t.Errorf("%s has %d further forms, %d of them both ways: %d are the least", k.kind, n, heard, fewest)
		}
		further += n
	}
	if further != len(all) || len(reported) != 18 {
		t.Errorf("%d kinds with %d of %d forms", len(reported), further, len(all))
	}

	live, read, shared := newUser(t), newUser(t), newUser(t)
	live.worktrees("api", ".claude/worktrees/calm-owl", ".gemini/worktrees/brave-fox")
	for _, f := range all {
		for _, s := range f.heard {
			live.hear(s)
		}
		for _, s := range f.before {
			read.hear(s)
		}
		read.store(slices.Concat(f.heard, f.stored), f.files)
	}
	read.Settle(20 * time.Second)
	read.importAll()
	for _, f := range all {
		for _, id := range f.forget {
			read.forgetSession(id, f.remove)
		}
		read.store(f.later, nil)
	}
	read.importAll()
	captured, imported, equal := live.state(), read.state(), 0
	read.importAll()
	if diff := cmp.Diff(imported, read.state()); diff != "" {
		t.Errorf("imported again: -before +after:\n%s", diff)
	}

	for _, f := range all {
		t.Run(f.kind+"/"+f.name, func(t *testing.T) {
			if f.play != nil {
				shared.T = t
				f.play(shared)
				return
			}
			want, got := strings.Split(f.want, "|"), imported.of(f.before, f.heard, f.stored, f.later)
			if diff := cmp.Diff(want, got.told()); diff != "" {
				t.Errorf("imported: -want +got:\n%s", diff)
			}
			ways := []*user{read}
			if len(f.heard) > 0 {
				if diff := cmp.Diff(captured.of(f.heard), got); diff != "" {
					t.Errorf("-captured +imported:\n%s", diff)
				}
				ways = append(ways, live)
			}
			for _, u := range ways {
				if u.T = t; f.check != nil {
					f.check(u)
				}
			}
			if !t.Failed() {
				equal += len(ways) - 1
			}
		})
	}
	live.T, read.T, shared.T = t, t, t
	live.nothing("heron")
	read.nothing("heron")
	t.Logf("point 1: %d kinds of faults with %d further forms, %d of them the same by hooks and by an import", len(reported), further, equal)
}

// home returns a text with the home directory for "~".
func (u *user) home(text string) string { return strings.ReplaceAll(text, "~/", u.Home+"/") }

// hear runs the hooks of a session.
func (u *user) hear(s *session) {
	u.T.Helper()
	for _, p := range s.hooks {
		if r := u.Hook(p.command, []byte(u.home(encode(p.members))), u.home(p.env)); r.Exit != 0 || len(r.Stderr) > 0 {
			u.T.Errorf("%s: exit %d: %s", s.id, r.Exit, r.Stderr)
		}
	}
}

// store writes the transcripts of sessions, each written to an hour before the one behind it, and other files.
func (u *user) store(sessions []*session, others map[string]string) {
	u.T.Helper()
	write := func(name, content string, at time.Time) {
		path := filepath.Join(u.Home, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(u.home(content)), 0o600)
		}
		if err == nil {
			err = os.Chtimes(path, at, at)
		}
		if err != nil {
			u.T.Fatal(err)
		}
	}
	for i, s := range sessions {
		if len(s.lines) == 0 {
			continue
		}
		for name, content := range s.files(u.Home) {
			write(name, content, time.Now().Add(-time.Duration(i)*time.Hour))
		}
	}
	for name, content := range others {
		write(name, content, time.Now())
	}
}

// importAll imports what the agents have stored.
func (u *user) importAll() {
	u.T.Helper()
	for _, dir := range []string{".claude/projects", ".codex/sessions", ".gemini/tmp"} {
		u.MustCommand("import", filepath.Join(u.Home, dir), "--yes")
	}
	u.Settle(20 * time.Second)
}

// forgetSession forgets a session, and removes its file.
func (u *user) forgetSession(id string, remove bool) {
	u.T.Helper()
	n := u.QueryOne("SELECT id FROM sessions WHERE host_session_id = ?", id)
	if out, err := u.Command("forget", "--session", "S"+strconv.Itoa(n), "--yes"); err != nil && !strings.Contains(err.Error(), "a transcript of the host has") {
		u.T.Fatal(string(out), err)
	}
	if !remove {
		return
	}
	files, err := filepath.Glob(filepath.Join(u.Home, ".codex/sessions/*/*/*/*"+id+".jsonl"))
	if err != nil || len(files) != 1 {
		u.T.Fatal(files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		u.T.Fatal(err)
	}
}

// worktrees makes the repository ~/depot with directories, of which those of agents are worktrees.
func (u *user) worktrees(dirs ...string) {
	u.T.Helper()
	depot := filepath.Join(u.Home, "depot")
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": ""}
	for _, dir := range dirs {
		files[dir+"/api/x"] = ""
		if name := filepath.Base(dir); strings.Contains(dir, "worktrees") {
			files[dir+"/.git"] = "gitdir: " + depot + "/.git/worktrees/" + name + "\n"
			files[".git/worktrees/"+name+"/HEAD"] = "ref: refs/heads/" + name + "\n"
			files[".git/worktrees/"+name+"/commondir"] = "../..\n"
		}
	}
	for name, content := range files {
		path := filepath.Join(depot, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			u.T.Fatal(err)
		}
	}
}

// state is what a memory has of sessions, by their ids: lines of prompts, files of records, and numbers of
// events; then titles and what summaries are of, which begin with a blank.
type state map[string][]string

// ownShop is the directory of a session.
var ownShop = regexp.MustCompile(`shop-[a-z]+[0-9]+`)

// state waits until all is distilled.
func (u *user) state() state {
	u.T.Helper()
	u.Settle(20 * time.Second)
	all := state{}
	u.Query(func(r *sql.Rows) error {
		var id, line string
		err := r.Scan(&id, &line)
		all[id] = append(all[id], ownShop.ReplaceAllString(strings.ReplaceAll(line, u.Home+"/", ""), "shop"))
		return err
	}, `WITH lines (session, part, n, line) AS (
			SELECT session_id, 1, number, 'asked: ' || text FROM prompts
			UNION ALL SELECT o.session_id, 2, 0, 'record of ' || o.project || ': ' || coalesce((SELECT group_concat(f.path, ', ' ORDER BY f.path) FROM observation_files f WHERE f.observation_id = o.id), 'no file')
				FROM observations o WHERE o.deleted_at IS NULL
			UNION ALL SELECT session_id, 3, 0, sum(kind = 'tool') || ' calls, ' || sum(kind = 'stop') || ' ends' FROM events WHERE outcome = 'processed' GROUP BY session_id
			UNION ALL SELECT session_id, 4, 0, ' title: ' || title || ': ' || subtitle FROM observations WHERE deleted_at IS NULL
			UNION ALL SELECT session_id, 5, prompt_number, ' summary of ' || project || ': ' || request FROM session_summaries)
		SELECT s.host_session_id, line FROM lines JOIN sessions s ON s.id = session ORDER BY part, n, line`)
	return all
}

// of returns the lines of some sessions.
func (all state) of(lists ...[]*session) (lines stateLines) {
	seen := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		if !seen[s.id] {
			lines = append(lines, all[s.id]...)
		}
		seen[s.id] = true
	}
	return lines
}

type stateLines []string

// told returns the lines that forms tell, one empty line for none.
func (l stateLines) told() []string {
	told := slices.DeleteFunc(slices.Clone(l), func(line string) bool { return strings.HasPrefix(line, " ") })
	if len(told) == 0 {
		return []string{""}
	}
	return told
}

// lists fails the test unless a command lists n records.
func (u *user) lists(n int, args ...string) {
	u.T.Helper()
	if titles := u.of(args...); len(titles) != n {
		u.T.Errorf("%q lists %q, want %d", args, titles, n)
	}
}
