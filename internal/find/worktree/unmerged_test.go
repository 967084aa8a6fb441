package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// patience is more than git needs on the slowest machine.
const patience = time.Minute

// TestUnmerged plays what people do with branches. Each step returns what is
// checked out in the end, the record, and the label it should have.
func TestUnmerged(t *testing.T) {
	tests := []struct {
		name string
		play func(r *repository) memory.Observation
		want string
	}{
		{"made at the checked out commit", func(r *repository) memory.Observation { return r.observe() }, "-"},
		{"made at an earlier commit of this branch", func(r *repository) memory.Observation {
			o := r.observe()
			r.commit("second")
			return o
		}, "-"},
		{"committed on another branch", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic/limits")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			return o
		}, "topic/limits"},
		{"committed on another branch after it was observed", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.commit("more")
			r.git("checkout", "-q", "main")
			return o
		}, "topic"},
		{"committed on another branch after it was observed, main has new commits", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.commit("second")
			return o
		}, "topic"},
		{"record that only read files, commit made later", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			o.Files[0].Role = memory.FileRead
			r.commit("work")
			r.git("checkout", "-q", "main")
			return o
		}, "-"},
		{"record without files", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			o.Files = nil
			r.commit("work")
			r.git("checkout", "-q", "main")
			return o
		}, "topic"},
		{"work never committed", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.git("checkout", "-q", "main")
			return o
		}, "-"},
		{"the branch of the record is checked out", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			return o
		}, "-"},
		{"made on main, a branch without the commit is checked out", func(r *repository) memory.Observation {
			r.git("branch", "topic")
			r.commit("second")
			o := r.observe()
			r.git("checkout", "-q", "topic")
			return o
		}, "main"},
		{"merged", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.commit("second")
			r.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
			return o
		}, "-"},
		{"observed before its commit, merged", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.commit("second")
			r.git("merge", "-q", "-m", "merge", "topic")
			return o
		}, "-"},
		{"merged, the branch has newer commits", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
			r.git("checkout", "-q", "topic")
			r.commit("more")
			r.git("checkout", "-q", "main")
			return o
		}, "-"},
		{"fast-forward", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--ff-only", "topic")
			return o
		}, "-"},
		{"fast-forward and deleted", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--ff-only", "topic")
			r.git("branch", "-q", "-d", "topic")
			return o
		}, "-"},
		{"main merged into the branch", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.commit("second")
			r.git("checkout", "-q", "topic")
			r.git("merge", "-q", "-m", "catch up", "main")
			r.git("checkout", "-q", "main")
			return o
		}, "topic"},
		{"squashed, the branch still exists", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--squash", "topic")
			r.git("commit", "-q", "-m", "squashed")
			return o
		}, "topic"},
		{"squashed and deleted", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--squash", "topic")
			r.git("commit", "-q", "-m", "squashed")
			r.git("branch", "-q", "-D", "topic")
			return o
		}, "-"},
		{"branch deleted, commit removed by git gc", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.git("branch", "-q", "-D", "topic")
			r.git("reflog", "expire", "--expire=now", "--all")
			r.git("gc", "-q", "--prune=now")
			return o
		}, "-"},
		{"renamed", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.commit("more")
			r.git("branch", "-m", "topic", "heads/subject")
			r.git("checkout", "-q", "main")
			return o
		}, "heads/subject"},
		{"pushed, the local branch deleted", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("update-ref", "refs/remotes/origin/topic", "HEAD")
			r.git("checkout", "-q", "main")
			r.git("branch", "-q", "-D", "topic")
			return o
		}, "topic"},
		{"pushed to another remote under another name", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("update-ref", "refs/remotes/fork/mine", "HEAD")
			r.git("symbolic-ref", "refs/remotes/fork/HEAD", "refs/remotes/fork/mine")
			r.git("checkout", "-q", "main")
			r.git("branch", "-q", "-D", "topic")
			return o
		}, "fork/mine"},
		{"amended on this branch", func(r *repository) memory.Observation {
			r.commit("second")
			o := r.observe()
			r.git("commit", "-q", "--amend", "-m", "better")
			return o
		}, "-"},
		{"amended on the other branch", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("commit", "-q", "--amend", "-m", "better")
			r.git("checkout", "-q", "main")
			return o
		}, "topic"},
		{"rebased and merged", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.commit("second")
			r.git("checkout", "-q", "topic")
			r.git("rebase", "-q", "main")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--ff-only", "topic")
			return o
		}, "-"},
		{"committed to main by mistake, moved to a branch", func(r *repository) memory.Observation {
			r.commit("work")
			o := r.observe()
			r.git("branch", "topic")
			r.git("reset", "-q", "--hard", "HEAD~1")
			return o
		}, "topic"},
		{"HEAD is detached at an earlier commit", func(r *repository) memory.Observation {
			r.commit("second")
			o := r.observe()
			r.git("checkout", "-q", "HEAD~1")
			return o
		}, "main"},
		{"HEAD is detached at a later commit", func(r *repository) memory.Observation {
			o := r.observe()
			r.commit("second")
			r.git("checkout", "-q", "--detach")
			return o
		}, "-"},
		{"made on a detached HEAD, commit lost", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "--detach")
			r.commit("work")
			o := r.observe()
			r.git("checkout", "-q", "main")
			return o
		}, "-"},
		{"made on a detached HEAD, commit kept on a branch", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "--detach")
			r.commit("work")
			o := r.observe()
			r.git("branch", "kept")
			r.git("checkout", "-q", "main")
			return o
		}, "kept"},
		{"made on a detached HEAD, commit in the history now", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "--detach")
			o := r.observe()
			r.git("checkout", "-q", "main")
			r.commit("second")
			return o
		}, "-"},
		{"in a linked worktree", func(r *repository) memory.Observation {
			r.git("worktree", "add", "-q", "-b", "topic", "../"+filepath.Base(r.dir)+"-linked")
			linked := &repository{r.t, r.dir + "-linked"}
			r.t.Cleanup(func() { os.RemoveAll(linked.dir) })
			linked.commit("work")
			return linked.observe()
		}, "topic"},
		{"made in an unrelated history", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "--orphan", "pages")
			r.commit("index")
			o := r.observe()
			r.git("checkout", "-q", "main")
			return o
		}, "pages"},
		{"packed refs", func(r *repository) memory.Observation {
			r.git("checkout", "-q", "-b", "topic")
			o := r.observe()
			r.commit("work")
			r.git("checkout", "-q", "main")
			r.git("pack-refs", "--all")
			r.git("gc", "-q")
			return o
		}, "topic"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			if got := r.label(tt.play(r)); got != tt.want {
				t.Errorf("label %q, want %q", got, tt.want)
			}
		})
	}
}

// Many records are answered at once, and as each would be alone.
func TestUnmergedMany(t *testing.T) {
	r := newRepository(t)
	var all []memory.Observation
	want := map[memory.ObservationID]string{}
	for i := range 8 {
		branch := fmt.Sprintf("topic-%d", i)
		r.git("checkout", "-q", "-b", branch, "main")
		for range 2 {
			o := r.observe()
			o.ID = memory.ObservationID(len(all) + 1)
			all = append(all, o)
			if i%2 == 0 {
				want[o.ID] = branch
			}
			r.commit(fmt.Sprintf("work-%d-%d", i, len(all)))
		}
		r.git("checkout", "-q", "main")
		if i%2 == 1 {
			r.git("merge", "-q", "--no-ff", "-m", "merge", branch)
		}
	}
	got, err := New(Options{GitTime: patience}).Unmerged(context.Background(), r.checkout(), all)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

// What git cannot tell is no label and no error.
func TestUnmergedWithoutAnswer(t *testing.T) {
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.commit("work")
	o := r.observe()
	r.git("checkout", "-q", "main")
	here := r.checkout()
	if got := r.label(o); got != "topic" {
		t.Fatalf("label %q: the cases below prove nothing", got)
	}
	unknown := strings.Repeat("0123456789", 4)

	with := func(change func(c *memory.Checkout, o *memory.Observation)) (memory.Checkout, memory.Observation) {
		c, o := here, o
		change(&c, &o)
		return c, o
	}
	outside := t.TempDir()
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, ".git"), []byte("gitdir: nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "shallow")
	r.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+r.dir, cut)
	noGit := func() (string, error) { return "", errors.New("not installed") }
	tests := []struct {
		name    string
		options Options
		change  func(c *memory.Checkout, o *memory.Observation)
	}{
		{"record without a commit", Options{}, func(_ *memory.Checkout, o *memory.Observation) { o.HeadCommit = "" }},
		{"unknown commit", Options{}, func(_ *memory.Checkout, o *memory.Observation) { o.HeadCommit = unknown }},
		{"unknown commit on an unknown branch", Options{}, func(_ *memory.Checkout, o *memory.Observation) { o.HeadCommit, o.Branch = unknown, "no-such" }},
		{"commit of another length", Options{}, func(_ *memory.Checkout, o *memory.Observation) { o.HeadCommit = o.HeadCommit[:12] }},
		{"no commit but a file's content", Options{}, func(_ *memory.Checkout, o *memory.Observation) {
			o.HeadCommit = r.git("rev-parse", "topic:work")
		}},
		{"an option as the commit", Options{}, func(_ *memory.Checkout, o *memory.Observation) { o.HeadCommit = "--all" }},
		{"unknown HEAD", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.HeadCommit = unknown }},
		{"no HEAD", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.HeadCommit = "" }},
		{"no root", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = "" }},
		{"root is relative", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = "." }},
		{"root is gone", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = filepath.Join(outside, "gone") }},
		{"no repository", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = outside }},
		{"broken repository", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = broken }},
		{"shallow clone", Options{}, func(c *memory.Checkout, _ *memory.Observation) { c.Root = cut }},
		{"no git", Options{Git: noGit}, func(*memory.Checkout, *memory.Observation) {}},
		{"git cannot be started", Options{Git: func() (string, error) { return outside, nil }}, func(*memory.Checkout, *memory.Observation) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.GitTime = patience
			c, o := with(tt.change)
			if got := labelOf(t, New(tt.options), c, o); got != "-" {
				t.Errorf("label %q, want none", got)
			}
		})
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := New(Options{}).Unmerged(ended, here, []memory.Observation{o}); len(got) != 0 || err != nil {
		t.Errorf("nobody waits: got %v, %v", got, err)
	}
}

// A branch's name that could not be one is as good as none; the commit counts.
func TestUnmergedHostileBranch(t *testing.T) {
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.commit("work")
	o := r.observe()
	r.git("checkout", "-q", "main")
	for _, name := range []string{"--all", "topic\n^main", "topic^{/x}", "topic:work", "a b", "../../x", "x.lock", "@{-1}", strings.Repeat("x", 5000), "\x00"} {
		o.Branch = name
		if got := r.label(o); got != "topic" {
			t.Errorf("branch %.20q: label %q, want topic", name, got)
		}
	}
}

func TestUnmergedRemembers(t *testing.T) {
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.commit("work")
	o := r.observe()
	r.git("checkout", "-q", "main")

	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	runs := 0
	tree := New(Options{
		GitTime: patience,
		Clock:   func() time.Time { return now },
		Git:     func() (string, error) { runs++; return gitOnPath() },
	})
	ask := func(want string, wantRuns int) {
		t.Helper()
		if got := labelOf(t, tree, r.checkout(), o); got != want || runs != wantRuns {
			t.Errorf("label %q after asking %d times, want %q after %d", got, runs, want, wantRuns)
		}
	}
	ask("topic", 1)
	ask("topic", 1)
	r.git("merge", "-q", "--ff-only", "topic") // HEAD moves: another question
	ask("-", 2)
	ask("-", 2)
	r.git("reset", "-q", "--hard", "HEAD~1")
	ask("topic", 3) // the branches moved
	ask("topic", 3)
	now = now.Add(answerLife)
	ask("topic", 4)
	now = now.Add(-time.Hour) // set back
	ask("topic", 5)
	r.git("pack-refs", "--all")
	ask("topic", 6)
	r.git("branch", "-q", "-D", "topic")
	ask("-", 7)
	ask("-", 7)
	r.git("branch", "again", o.HeadCommit)
	ask("again", 8)
}

func TestUnmergedAtOnce(t *testing.T) {
	r := newRepository(t)
	r.git("checkout", "-q", "-b", "topic")
	r.commit("work")
	o := r.observe()
	r.git("checkout", "-q", "main")
	c := r.checkout()
	tree := New(Options{GitTime: patience})
	var wg sync.WaitGroup
	for range 3 * atOnce {
		wg.Go(func() {
			if got := labelOf(t, tree, c, o); got != "topic" {
				t.Errorf("label %q, want topic", got)
			}
		})
	}
	wg.Wait()
}

func TestBranchName(t *testing.T) {
	tests := map[string]bool{
		"main": true, "feature/x-1": true, "größe": true, "a.b": true, "a@b": true, "]x": true,
		"": false, "@": false, "-x": false, "a..b": false, "a b": false, "a\tb": false, "a~1": false, "a^": false, "a:b": false,
		"a?": false, "a*": false, "a[b": false, `a\b`: false, "/a": false, "a/": false, "a//b": false, "a.": false,
		".a": false, "a/.b": false, "a.lock": false, "a.lock/b": false, "a@{1}": false, "a\x7f": false,
	}
	for name, want := range tests {
		if got := branchName(name); got != want {
			t.Errorf("branchName(%q) = %v, want %v", name, got, want)
		}
	}
}
