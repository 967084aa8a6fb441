package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

// repository is a real one, on branch main with one commit.
type repository struct {
	t   testing.TB
	dir string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{t, dir}
	r.git("init", "-q", "-b", "main")
	r.commit("first")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	return r.feed("", args...)
}

// feed runs git with something on its standard input.
func (r *repository) feed(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Stdin = strings.NewReader(stdin)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@localhost")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit adds a file of its own, so that branches merge without a conflict.
func (r *repository) commit(name string) string {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(name), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", name)
	r.git("commit", "-q", "-m", name)
	return r.head()
}

func (r *repository) head() string { return r.git("rev-parse", "HEAD") }

func (r *repository) checkout() memory.Checkout {
	branch := r.git("rev-parse", "--abbrev-ref", "HEAD")
	if branch == "HEAD" {
		branch = ""
	}
	return memory.Checkout{Root: r.dir, Branch: branch, HeadCommit: r.head()}
}

// observe is a record of an edit, made now.
func (r *repository) observe() memory.Observation {
	c := r.checkout()
	return memory.Observation{ID: 1, Branch: c.Branch, HeadCommit: c.HeadCommit,
		Files: []memory.FileRef{{Path: "a.go", Role: memory.FileModified}}}
}

// label asks a new Tree, which remembers nothing; "-" is for a record at hand.
func (r *repository) label(o memory.Observation) string {
	r.t.Helper()
	return labelOf(r.t, New(Options{GitTime: patience}), r.checkout(), o)
}

func labelOf(t testing.TB, tree *Tree, c memory.Checkout, o memory.Observation) string {
	t.Helper()
	found, err := tree.Unmerged(context.Background(), c, []memory.Observation{o})
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := found[o.ID]; ok {
		return name
	}
	return "-"
}
