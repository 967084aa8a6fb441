//go:build unix

package devices

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"claudemem/proof/acceptance/world"
)

// bare is a repository without a work tree.
type bare struct {
	t   *testing.T
	dir string
}

func (b bare) git(args ...string) []byte {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir", b.dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// commitText is the whole text of a commit.
var commitText = regexp.MustCompile(`^tree [0-9a-f]{40}\n(parent [0-9a-f]{40}\n)?author claude-mem <claude-mem@localhost> [0-9]+ \+0000\ncommitter claude-mem <claude-mem@localhost> [0-9]+ \+0000\n\nExchange records\n$`)

// search fails if an object of the repository, counted by no branch any more or not, has more than encrypted files with names that say
// nothing. It returns how many commits there are, and how many have no parents.
func (b bare) search(f *fleet) (commits, roots int) {
	b.t.Helper()
	f.secret("the log", b.git("log", "--all", "--format=fuller"))
	all := strings.Fields(string(b.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")))
	for _, id := range all {
		kind := strings.TrimSpace(string(b.git("cat-file", "-t", id)))
		content := b.git("cat-file", kind, id)
		f.secret(kind+" "+id, content)
		switch kind {
		case "commit":
			commits++
			if !bytes.Contains(content, []byte("\nparent ")) {
				roots++
			}
			if !commitText.Match(content) {
				b.t.Errorf("a commit says more than all others:\n%s", content)
			}
		case "tree":
			for name := range strings.Lines(string(b.git("ls-tree", "--format=%(objectmode) %(path)", id))) {
				if !regexp.MustCompile(`^100644 [0-9a-f]{32}\.cm\n$`).MatchString(name) {
					b.t.Errorf("a tree has %q", name)
				}
			}
		case "blob":
			if !bytes.HasPrefix(content, []byte("age-encryption.org/v1\n")) {
				b.t.Errorf("a blob is not encrypted: %.100q", content)
			}
		default:
			b.t.Errorf("there is a %s", kind)
		}
	}
	return commits, roots
}

// watchGit puts a git before the machine's own that notes what it is called for.
func (m *machine) watchGit() {
	m.T.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		m.T.Fatal(err)
	}
	dir := filepath.Join(m.Home, "watched")
	script := fmt.Sprintf("#!/bin/sh\nfor a; do case \"$a\" in ls-remote|fetch|cat-file|hash-object|mktree|push|update-ref|gc) echo \"$a\" >>%s/calls; break;; esac; done\nexec %s \"$@\"\n", dir, program)
	if err = os.Mkdir(dir, 0o700); err == nil {
		err = os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700)
	}
	if err != nil {
		m.T.Fatal(err)
	}
	m.Env = append(m.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "USER=planted-user", "LOGNAME=planted-user", "EMAIL=planted@example.com")
	config := "[user]\nname=Planted Person\nemail=planted@example.com\n[commit]\ngpgSign=true\n"
	if err := os.WriteFile(filepath.Join(m.Home, ".gitconfig"), []byte(config), 0o600); err != nil {
		m.T.Fatal(err)
	}
}

// lastCall returns what git was called for last, and forgets all calls.
func (m *machine) lastCall() string {
	calls := filepath.Join(m.Home, "watched", "calls")
	content, _ := os.ReadFile(calls) // there are none yet
	_ = os.Remove(calls)
	list := strings.Fields(string(content))
	if len(list) == 0 {
		return "nothing"
	}
	return list[len(list)-1]
}

// TestGit: three machines with a clone each of one repository capture, import, edit, pin, hide and forget, and push at once, while each is
// killed at any moment, and what is forgotten replaces the branch. In the end they have the same bytes; nothing is lost, doubled or back
// from the dead, and no object of a repository has a word, a path or a name of them.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	f := newFleet(t)
	remote := bare{t, filepath.Join(t.TempDir(), "remote.git")}
	remote.git("init", "--quiet", "--bare", remote.dir)
	for _, m := range f.machines {
		m.watchGit()
	}
	words := f.begin("sync", "init", f.machines[0].folder, "--git", remote.dir, "--name", "planted-machine", "--json")
	for _, m := range f.machines[1:] {
		m.join(words, "planted-machine", "--git", remote.dir)
	}
	within := map[string]int{}
	for f.step = 0; !f.enough(); f.step++ {
		for _, m := range f.machines {
			f.change(m)
		}
		f.atOnce(within)
	}
	b := f.machines[1]
	b.MustCommand("remember", "x-last. of all", "--project", b.project)
	f.written["x-last."], f.gone["x-last."] = true, true
	b.MustCommand("sync", "now")
	for _, r := range b.records() {
		if strings.HasPrefix(r.Title, "x-last.") {
			b.MustCommand("forget", fmt.Sprint(r.ID), "--yes")
		}
	}
	f.atOnce(within)
	for range 5 {
		for _, m := range f.machines {
			m.MustCommand("sync", "now")
		}
	}
	f.check()
	names := strings.Fields(string(remote.git("ls-tree", "--name-only", "claude-mem")))
	for _, m := range f.machines {
		var have []string
		for name := range filesOf(t, m.folder) {
			have = append(have, name)
		}
		if slices.Sort(have); !slices.Equal(have, names) {
			t.Errorf("the remote has\n%v, the folder\n%v", names, have)
		}
	}
	commits, roots := remote.search(f)
	for _, m := range f.machines {
		bare{t, filepath.Join(m.Dir, "devices.git")}.search(f)
	}
	if roots < 2 {
		t.Errorf("the branch was never replaced: %d commits, %d without parents", commits, roots)
	}
	for _, call := range []string{"fetch", "hash-object", "push"} {
		if within[call] == 0 && world.Scaled(0, 1) == 1 {
			t.Errorf("no kill was within git %s: %v", call, within)
		}
	}
	f.figure("by git")
	world.Figure(t, 1, "kills after the start of %v", within)
	world.Figure(t, 2, "%d commits, %d of which replaced the branch: no object has a planted text, path or name", commits, roots)
}

// atOnce has all machines sync at once, and kills some of them.
func (f *fleet) atOnce(within map[string]int) {
	f.t.Helper()
	var all sync.WaitGroup
	hit := make([]bool, len(f.machines))
	for i, m := range f.machines {
		m.lastCall()
		cmd, after, kill := m.Start("sync", "now"), 2+f.random.IntN(400), f.random.IntN(3) > 0
		all.Go(func() {
			if kill {
				hit[i] = m.killed(cmd, after)
			} else {
				_ = cmd.Wait() // one that fails is made up for
			}
		})
	}
	all.Wait()
	for i, m := range f.machines {
		if hit[i] {
			f.kills[m]++
			within[m.lastCall()]++
		}
	}
}
