package devices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// gitOut runs git on a repository without anybody's configuration.
func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// shareByGit has machines share a memory by a bare repository, each with a folder of its own.
func shareByGit(t *testing.T, machines ...*machine) (bare string, sheet string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	bare = filepath.Join(t.TempDir(), "bare.git")
	gitOut(t, t.TempDir(), "init", "--quiet", "--bare", bare)
	for i, m := range machines {
		at := Place{Folder: filepath.Join(m.dir, "folder"), Remote: bare}
		if i == 0 {
			words, err := Init(t.Context(), m.dir, at, "first")
			m.must(err)
			sheet = strings.Join(words, " ")
		} else {
			m.must(Join(t.Context(), m.dir, at, fmt.Sprint("machine ", i+1), sheet))
		}
		m.sync()
	}
	return bare, sheet
}

// TestGitAtOnce: machines that exchange at once all push, and a machine that writes its records anew replaces the branch while
// another one has files that it has not pushed.
func TestGitAtOnce(t *testing.T) {
	a, b, c := newMachine(t, "ada"), newMachine(t, "bob"), newMachine(t, "eve")
	a.remember("first")
	bare, _ := shareByGit(t, a, b, c)
	var all sync.WaitGroup
	failed := make([]error, 3)
	for i, m := range []*machine{a, b, c} {
		for n := range 3 {
			m.remember(fmt.Sprintf("of %d, %d", i, n))
		}
		all.Go(func() { _, failed[i] = Sync(t.Context(), m.store, m.options) })
	}
	all.Wait()
	for _, err := range failed {
		a.must(err)
	}
	rounds(2, a, b, c)
	same(t, a, b, c)
	a.remember("a secret of a")
	rounds(2, a, b, c)
	before := gitOut(t, bare, "rev-parse", branch)
	b.remember("not pushed yet")
	a.forget("a secret")
	a.sync()
	if out := gitOut(t, bare, "rev-list", branch); strings.Contains(out, before) {
		t.Error("the branch has the commits from before something was forgotten")
	}
	rounds(3, b, c, a)
	same(t, a, b, c)
	if c.find("not pushed yet") == 0 || c.find("a secret") != 0 {
		t.Error("what was not pushed is lost, or what was forgotten is there")
	}
	if out := gitOut(t, bare, "log", "--format=%an %ae %cn %ce %ad %s%b", branch); strings.Trim(strings.ReplaceAll(out, "claude-mem claude-mem@localhost claude-mem claude-mem@localhost Thu Jan 1 00:00:00 1970 +0000 Exchange records", ""), "\n") != "" {
		t.Errorf("commits have more than the same author, time zone and message:\n%s", out)
	}
	for _, m := range []*machine{a, b, c} {
		if own, there := gitOut(t, filepath.Join(m.dir, cloneName), "cat-file", "--batch-all-objects", "--batch-check"), gitOut(t, bare, "rev-list", "--objects", branch); strings.Count(own, "\n") > strings.Count(there, "\n")+20 {
			t.Errorf("the clone keeps what was replaced: %d objects, %d count", strings.Count(own, "\n"), strings.Count(there, "\n"))
		}
	}
}

// TestGitFaults: a remote that is gone or refuses is told, and what was written goes later; locks, a damaged clone, files that
// were deleted in the folder and a branch that is gone are made good.
func TestGitFaults(t *testing.T) {
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("first")
	bare, sheet := shareByGit(t, a, b)
	rounds(2, a, b)
	fault := func(m *machine, want string) {
		t.Helper()
		if _, err := Sync(t.Context(), m.store, m.options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if s, err := ReadStatus(t.Context(), m.store, m.dir); err != nil || !strings.Contains(s.Fault, want) {
			t.Errorf("the status says %q, %v, want %q", s.Fault, err, want)
		}
	}
	arrives := func(what string) {
		t.Helper()
		a.sync()
		b.sync()
		if b.find(what) == 0 {
			t.Errorf("%q did not arrive", what)
		}
		rounds(2, a, b)
	}
	away := filepath.Join(filepath.Dir(bare), "away")
	a.must(os.Rename(bare, away))
	a.remember("while it is gone")
	fault(a, "git ls-remote")
	if !strings.Contains(a.canonical(), "while it is gone") {
		t.Error("it is not kept here")
	}
	a.must(os.Rename(away, bare))
	arrives("while it is gone")

	gitOut(t, bare, "config", "receive.denyNonFastForwards", "true")
	a.remember("a plan")
	arrives("a plan")
	a.forget("a plan")
	a.remember("while it refuses")
	fault(a, "denying non-fast-forward")
	gitOut(t, bare, "config", "receive.denyNonFastForwards", "false")
	arrives("while it refuses")

	clone := filepath.Join(a.dir, cloneName)
	for _, lock := range []string{"HEAD.lock", "refs/heads/claude-mem.lock", "packed-refs.lock", "gc.pid"} {
		a.must(os.WriteFile(filepath.Join(clone, filepath.FromSlash(lock)), nil, 0o600))
	}
	a.remember("in spite of locks")
	arrives("in spite of locks")

	a.must(os.RemoveAll(filepath.Join(clone, "objects")))
	a.remember("in spite of damage")
	_, _ = Sync(t.Context(), a.store, a.options) // it may need a second exchange
	arrives("in spite of damage")

	a.must(os.RemoveAll(filepath.Join(a.dir, "folder")))
	a.must(os.Mkdir(filepath.Join(a.dir, "folder"), 0o700))
	a.remember("in spite of an empty folder")
	arrives("in spite of an empty folder")

	gitOut(t, bare, "update-ref", "-d", branch)
	a.remember("after the branch")
	arrives("after the branch")
	c := newMachine(t, "eve")
	c.must(Join(t.Context(), c.dir, Place{Folder: filepath.Join(c.dir, "folder"), Remote: bare}, "eve", sheet))
	rounds(2, c, a, b)
	same(t, a, b, c)

	if _, err := Init(t.Context(), newMachine(t, "dan").dir, Place{Folder: t.TempDir(), Remote: bare}, "dan"); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a memory is begun where one is: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	a.remember("without git")
	fault(a, "there is no git on the PATH")
}

// TestGitSlow: a push that does not end is ended and told, the records are kept, and go with a later one.
func TestGitSlow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the slow git is a script")
	}
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.remember("first")
	shareByGit(t, a, b)
	real, err := GitProgram()
	a.must(err)
	dir, path := t.TempDir(), os.Getenv("PATH")
	a.must(os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\nfor a; do [ \"$a\" = push ] && sleep 1000; done\nexec "+real+" \"$@\"\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	a.remember("late")
	a.options.TransferTime = 100 * time.Millisecond
	if _, err := Sync(t.Context(), a.store, a.options); err == nil || !strings.HasPrefix(err.Error(), "git push: it was ended after up to 100ms") {
		t.Errorf("a push that does not end: %v", err)
	}
	a.options.TransferTime = 0
	t.Setenv("PATH", path)
	rounds(2, a, b)
	same(t, a, b)
	if b.find("late") == 0 {
		t.Error("it does not arrive later")
	}
}

// TestGitStrangers: configuration, hooks, filters and signing of the user and of the remote do not run; files of strangers in the branch
// are refused or left alone, and what was changed in it is told and mended.
func TestGitStrangers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hooks are scripts")
	}
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	script := filepath.Join(home, "script")
	a, b := newMachine(t, "ada"), newMachine(t, "bob")
	a.must(os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n"), 0o700))
	a.must(os.MkdirAll(filepath.Join(home, "hooks"), 0o700))
	for _, hook := range []string{"pre-push", "reference-transaction", "post-checkout", "pre-auto-gc", "pre-receive", "update", "post-receive", "post-update"} {
		a.must(os.Symlink(script, filepath.Join(home, "hooks", hook)))
	}
	config := fmt.Sprintf("[core]\nhooksPath=%[1]s/hooks\nfsmonitor=%[2]s\nsshCommand=%[2]s\nattributesFile=%[1]s/attributes\nalternateRefsCommand=%[2]s\n[commit]\ngpgSign=true\n[push]\ngpgSign=true\n"+
		"[gpg]\nprogram=%[2]s\n[filter \"x\"]\nclean=%[2]s\nsmudge=%[2]s\nrequired=true\n[credential]\nhelper=%[2]s\n[uploadpack]\npackObjectsHook=%[2]s\n[user]\nname=Ada Planted\nemail=ada@planted\n", home, script)
	a.must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600))
	a.must(os.WriteFile(filepath.Join(home, "attributes"), []byte("* filter=x\n"), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("GIT_AUTHOR_NAME", "Ada Planted")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("GIT_ASKPASS", script)
	a.remember("first")
	bare, _ := shareByGit(t, a, b)
	for _, hook := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction"} {
		a.must(os.Symlink(script, filepath.Join(bare, "hooks", hook)))
	}
	a.remember("second")
	rounds(2, a, b)
	same(t, a, b)
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("programs of strangers ran:\n%s", said)
	}
	if out := gitOut(t, bare, "log", "--format=fuller", branch); strings.Contains(out, "Planted") {
		t.Errorf("a commit has the user's name:\n%s", out)
	}

	// Somebody changes a file in the branch, and adds others.
	work := filepath.Join(t.TempDir(), "work")
	gitOut(t, home, "clone", "--quiet", "--branch", "claude-mem", bare, work)
	changed, all := "", contentOf(t, work)
	for name, content := range all { // the largest: one without records may be replaced by the next exchange
		if len(content) > len(all[changed]) {
			changed = name
		}
	}
	all[changed][len(all[changed])/2] ^= 1
	a.must(os.WriteFile(filepath.Join(work, changed), all[changed], 0o600))
	for _, name := range []string{"README.md", "0bad.cm", "not ours.cm", ".gitattributes", "f/1.cm"} {
		a.must(os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o700))
		a.must(os.WriteFile(filepath.Join(work, name), []byte("* filter=x\n"), 0o600))
	}
	a.must(os.Symlink("/etc/passwd", filepath.Join(work, "0c.cm")))
	gitOut(t, work, "add", "-A")
	gitOut(t, work, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")
	gitOut(t, work, "push", "-q", "origin", "HEAD:claude-mem")
	a.remember("third")
	refused := append(a.sync().Refused, b.sync().Refused...)
	count := map[string]int{}
	for _, r := range refused {
		if !r.Quiet {
			count[r.Name]++
		}
	}
	if len(count) != 1 || count["0bad.cm"] != 2 {
		t.Errorf("refused %+v; who has the right copy of %s keeps it", refused, changed)
	}
	c := newMachine(t, "eve")
	cfg, err := Load(a.dir)
	a.must(err)
	words := cfg.current().secret().words()
	c.must(Join(t.Context(), c.dir, Place{Folder: filepath.Join(c.dir, "folder"), Remote: bare}, "eve", strings.Join(words, " ")))
	told := map[string]bool{}
	for _, r := range c.sync().Refused {
		told[r.Name] = true
	}
	if !told[changed] || !told["0bad.cm"] || len(told) != 2 {
		t.Errorf("a new machine is told of %v, want %s and 0bad.cm", told, changed)
	}
	rounds(3, c, a, b) // who wrote it is told, and writes its records anew
	same(t, a, b, c)
	if names := gitOut(t, bare, "ls-tree", "-r", "--name-only", branch); !strings.Contains(names, "README.md") || !strings.Contains(names, "f/1.cm") {
		t.Errorf("files that are not ours have gone:\n%s", names)
	}
	if _, err := os.Lstat(filepath.Join(c.dir, "folder", "0c.cm")); err == nil {
		t.Error("a link of the branch is in the folder")
	}
}

// TestGitAddress: what can be the address of a repository.
func TestGitAddress(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	clone := t.TempDir()
	gitOut(t, clone, "init", "--quiet")
	gitOut(t, clone, "remote", "add", "origin", "git@example.com:ada/m.git")
	for _, tt := range []struct{ folder, given, want string }{
		{"x", "git@example.com:ada/m.git", "git@example.com:ada/m.git"},
		{"x", "https://ada@example.com/m.git", "https://ada@example.com/m.git"},
		{"x", clone, clone},
		{clone, "", "git@example.com:ada/m.git"},
		{t.TempDir(), "", ""},
		{"x", "https://ada:token@example.com/m.git", ""},
		{"x", "--upload-pack=touch /tmp/x", ""},
		{"x", "a\nb", ""},
	} {
		got, err := GitAddress(t.Context(), tt.folder, tt.given)
		if got != tt.want || (err == nil) != (tt.want != "") || err != nil && memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("GitAddress(%q, %q) = %q, %v; want %q", tt.folder, tt.given, got, err, tt.want)
		}
	}
}
