//go:build unix

package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// unmergedRecord is a repository on main with a record of a branch that is not merged.
func unmergedRecord(t *testing.T) (*repository, memory.Observation) {
	t.Helper()
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.commit("work")
	o := r.observe()
	r.git("checkout", "-q", "main")
	return r, o
}

// A repository that names programs everywhere it can has none of them run, also
// where git would have to fetch to answer.
func TestGitRunsNothing(t *testing.T) {
	r, o := unmergedRecord(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := r.checkout()
	lost := o
	lost.ID, lost.HeadCommit, lost.Branch = 2, strings.Repeat("12", 20), "no-such"
	config := fmt.Sprintf(`[core]
	repositoryformatversion = 1
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	gitProxy = %[1]s
	askPass = %[1]s
	alternateRefsCommand = %[1]s
	hooksPath = %[2]s
[extensions]
	partialClone = origin
[remote "origin"]
	promisor = true
	url = ext::%[1]s
	uploadpack = %[1]s
[remote "ssh"]
	promisor = true
	url = ssh://localhost/x
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[pager]
	rev-list = %[1]s
	cat-file = %[1]s
	name-rev = %[1]s
[alias]
	rev-list = !%[1]s
	cat-file = !%[1]s
	name-rev = !%[1]s
[credential]
	helper = %[1]s
[log]
	showSignature = true
[gpg]
	program = %[1]s
[diff]
	external = %[1]s
`, script, filepath.Dir(script))
	file, err := os.OpenFile(filepath.Join(r.dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(config); err != nil {
		t.Fatal(err)
	}
	file.Close()
	found, err := New(Options{GitTime: patience}).Unmerged(context.Background(), c, []memory.Observation{o, lost})
	if err != nil || found[1] != "topic" || len(found) != 1 {
		t.Errorf("got %v, %v; want topic for the first", found, err)
	}
	if log, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs were run:\n%s", log)
	}
}

// Variables of the worker's environment lead git nowhere else.
func TestGitEnvironment(t *testing.T) {
	r, o := unmergedRecord(t)
	other := newRepository(t)
	trace := filepath.Join(t.TempDir(), "trace")
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(other.dir, ".git"), "GIT_WORK_TREE": other.dir, "GIT_OBJECT_DIRECTORY": filepath.Join(other.dir, ".git", "objects"),
		"GIT_TRACE": trace, "GIT_TRACE2": trace, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "nonsense",
		"GIT_NAMESPACE": "elsewhere", "GIT_EXEC_PATH": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	// The helpers of the test clean their environment of these too.
	if got := r.label(o); got != "topic" {
		t.Errorf("label %q, want topic", got)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("git wrote a trace")
	}
}

// A git that never ends is killed with what it started, and the repository is
// left alone for a while.
func TestGitKilled(t *testing.T) {
	r, o := unmergedRecord(t)
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	slow := filepath.Join(dir, "git")
	// The FIFO has no writer: reading it waits for ever, in a process of its own.
	makeFIFO(t, filepath.Join(dir, "fifo"))
	script := "#!/bin/sh\necho $$ >>" + pids + "\n(sh -c 'echo $$ >>" + pids + "; read x <" + dir + "/fifo')\n"
	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	c := r.checkout()
	var tree *Tree
	// On a loaded machine the time can end before both shells have started: then once
	// more with four times the time.
	for limit := 200 * time.Millisecond; ; limit *= 4 {
		runs := 0
		tree = New(Options{
			Git:     func() (string, error) { runs++; return slow, nil },
			GitTime: limit,
			Clock:   func() time.Time { return now },
		})
		for range 2 {
			if got := labelOf(t, tree, c, o); got != "-" {
				t.Errorf("label %q, want none", got)
			}
		}
		if runs != 1 {
			t.Errorf("git was run %d times, want once and then a rest", runs)
		}
		list, _ := os.ReadFile(pids)
		if len(strings.Fields(string(list))) == 2 || limit > patience {
			break
		}
		_ = os.Remove(pids)
	}
	// They have been killed; on a busy machine they take a moment to notice.
	left := stillRunning(t, pids)
	for until := time.Now().Add(10 * time.Second); left != "" && time.Now().Before(until); left = stillRunning(t, pids) {
		time.Sleep(time.Millisecond)
	}
	if left != "" {
		t.Errorf("still running: %s", left)
	}
	now = now.Add(restAfter)
	tree.opts.Git, tree.opts.GitTime = gitOnPath, patience
	if got := labelOf(t, tree, c, o); got != "topic" {
		t.Errorf("after the rest: label %q, want topic", got)
	}
}

// stillRunning names the processes of a list that live; there must be two in it.
func stillRunning(t *testing.T, pids string) string {
	t.Helper()
	list, err := os.ReadFile(pids)
	if err != nil || len(strings.Fields(string(list))) != 2 {
		t.Fatalf("processes %q (%v), want git and what it started", list, err)
	}
	var left []string
	for _, pid := range strings.Fields(string(list)) {
		if _, err := os.Stat("/proc/self"); err != nil {
			t.Skip("no /proc to look for processes")
		}
		// Where nobody reaps orphans a killed one stays as a zombie.
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			continue
		}
		if _, state, _ := strings.Cut(string(stat), ") "); !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X") {
			left = append(left, string(stat))
		}
	}
	return strings.Join(left, " ")
}

// A repository whose files block or are garbage costs its labels only.
func TestGitBroken(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, gitDir string)
	}{
		{"configuration includes a FIFO", func(t *testing.T, gitDir string) {
			makeFIFO(t, filepath.Join(gitDir, "fifo"))
			write(t, filepath.Join(gitDir, "config"), "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = fifo\n")
		}},
		{"packed refs are a FIFO", func(t *testing.T, gitDir string) {
			makeFIFO(t, filepath.Join(gitDir, "packed-refs"))
		}},
		{"broken configuration", func(t *testing.T, gitDir string) { write(t, filepath.Join(gitDir, "config"), "[core\x00") }},
		{"no objects", func(t *testing.T, gitDir string) {
			if err := os.RemoveAll(filepath.Join(gitDir, "objects")); err != nil {
				t.Fatal(err)
			}
		}},
		{"HEAD is a FIFO", func(t *testing.T, gitDir string) {
			if err := os.Remove(filepath.Join(gitDir, "HEAD")); err != nil {
				t.Fatal(err)
			}
			makeFIFO(t, filepath.Join(gitDir, "HEAD"))
		}},
		{"shallow is a FIFO", func(t *testing.T, gitDir string) { makeFIFO(t, filepath.Join(gitDir, "shallow")) }},
		{"commondir is a FIFO", func(t *testing.T, gitDir string) { makeFIFO(t, filepath.Join(gitDir, "commondir")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, o := unmergedRecord(t)
			c := r.checkout()
			tt.damage(t, filepath.Join(r.dir, ".git"))
			if got := labelOf(t, New(Options{GitTime: 200 * time.Millisecond}), c, o); got != "-" {
				t.Errorf("label %q, want none", got)
			}
		})
	}
}
