package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// git runs git in dir, apart from the user's own configuration.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tempDir is t.TempDir with its symlinks resolved, as Identify returns roots.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newRepository makes a repository with one commit on main and returns root and commit.
func newRepository(t testing.TB, dir string) (string, string) {
	t.Helper()
	mkdir(t, dir)
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir, git(t, dir, "rev-parse", "HEAD")
}

func TestIdentify(t *testing.T) {
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	if err := os.Unsetenv("GIT_DIR"); err != nil { // for git itself; put back below
		t.Fatal(err)
	}
	base := tempDir(t)
	plain := mkdir(t, base, "plain")
	mkdir(t, plain, "sub")
	main, first := newRepository(t, filepath.Join(base, "main"))
	sub := mkdir(t, main, "pkg", "deep")
	linked := filepath.Join(main, ".claude", "worktrees", "feat-x")
	git(t, main, "worktree", "add", "-q", "-b", "feat/x", linked)
	git(t, linked, "commit", "-q", "--allow-empty", "-m", "second")
	second := git(t, linked, "rev-parse", "HEAD")
	mkdir(t, linked, "inner")
	far := filepath.Join(base, "far")
	git(t, main, "worktree", "add", "-q", "--detach", far)

	packed, packedHead := newRepository(t, filepath.Join(base, "packed"))
	git(t, packed, "pack-refs", "--all")

	unborn := mkdir(t, base, "unborn")
	git(t, unborn, "init", "-q", "-b", "trunk")

	library, _ := newRepository(t, filepath.Join(base, "library"))
	super, superHead := newRepository(t, filepath.Join(base, "super"))
	git(t, super, "submodule", "add", "-q", library, "vendor/library")
	module := filepath.Join(super, "vendor", "library")
	moduleHead := git(t, module, "rev-parse", "HEAD")
	moduleTree := filepath.Join(base, "module-tree")
	git(t, module, "worktree", "add", "-q", "-b", "side", moduleTree)

	bare := filepath.Join(base, "x.git")
	git(t, base, "clone", "-q", "--bare", main, bare)
	bareTree := filepath.Join(base, "bare-tree")
	git(t, bare, "worktree", "add", "-q", "-b", "wt", bareTree)
	hub := mkdir(t, base, "hub")
	git(t, hub, "clone", "-q", "--bare", main, ".bare")
	write(t, filepath.Join(hub, ".git"), "gitdir: ./.bare\n")
	git(t, hub, "worktree", "add", "-q", "-b", "hub-a", "a")

	separate := mkdir(t, base, "separate")
	git(t, separate, "init", "-q", "-b", "main", "--separate-git-dir", filepath.Join(base, "separate-dir"))

	if runtime.GOOS != "windows" {
		if err := os.Symlink(main, filepath.Join(base, "alias")); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_DIR", filepath.Join(packed, ".git"))

	tests := []struct {
		name            string
		projectDir, cwd string
		want            Identity
	}{
		{"root", main, main, Identity{main, main, "main", first}},
		{"subdirectory", sub, sub, Identity{main, main, "main", first}},
		{"cwd below", main, sub, Identity{main, main, "main", first}},
		{"only cwd", "", sub, Identity{main, main, "main", first}},
		{"only project", sub, "", Identity{main, main, "main", first}},
		{"cwd in linked worktree", main, filepath.Join(linked, "inner"), Identity{main, linked, "feat/x", second}},
		{"started in linked worktree", linked, linked, Identity{main, linked, "feat/x", second}},
		{"detached worktree far away", far, far, Identity{main, far, "", first}},
		{"packed refs", packed, packed, Identity{packed, packed, "main", packedHead}},
		{"unborn branch", unborn, unborn, Identity{unborn, unborn, "trunk", ""}},
		{"superproject", super, super, Identity{super, super, "main", superHead}},
		{"submodule is a project of its own", module, module, Identity{module, module, "main", moduleHead}},
		{"cwd in submodule", super, module, Identity{super, module, "main", moduleHead}},
		{"worktree of a submodule", moduleTree, moduleTree, Identity{module, moduleTree, "side", moduleHead}},
		{"bare repository", bare, bare, Identity{Project: bare, WorktreeRoot: bare}},
		{"worktree of a bare repository", bareTree, bareTree, Identity{bare, bareTree, "wt", first}},
		{"worktree beside .bare", filepath.Join(hub, "a"), filepath.Join(hub, "a"), Identity{hub, filepath.Join(hub, "a"), "hub-a", first}},
		{"separate git dir", separate, separate, Identity{separate, separate, "main", ""}},
		{"no repository", plain, filepath.Join(plain, "sub"), Identity{Project: plain, WorktreeRoot: plain}},
		{"cwd outside the project", plain, main, Identity{plain, main, "main", first}},
		{"cwd outside every repository", main, plain, Identity{Project: main, WorktreeRoot: plain}},
		{"missing directory in a repository", filepath.Join(main, "gone"), filepath.Join(main, "gone"), Identity{main, main, "main", first}},
		{"missing directory", filepath.Join(plain, "gone"), "", Identity{Project: filepath.Join(plain, "gone"), WorktreeRoot: filepath.Join(plain, "gone")}},
		{"nothing", "", "", Identity{}},
	}
	if runtime.GOOS != "windows" {
		alias := filepath.Join(base, "alias")
		tests = append(tests, struct {
			name            string
			projectDir, cwd string
			want            Identity
		}{"by a symlink", alias, filepath.Join(alias, "pkg"), Identity{main, main, "main", first}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Identify(tt.projectDir, tt.cwd); got != tt.want {
				t.Errorf("Identify(%q, %q)\n got %+v\nwant %+v", tt.projectDir, tt.cwd, got, tt.want)
			}
		})
	}
}

// A .git that is none must not hide the repository around it, hang or fail.
func TestIdentifyBrokenGit(t *testing.T) {
	base := tempDir(t)
	outer, head := newRepository(t, filepath.Join(base, "outer"))
	want := Identity{outer, outer, "main", head}
	huge := strings.Repeat("x", 1<<20)

	tests := map[string]func(t *testing.T, dir string){
		"empty directory": func(t *testing.T, dir string) { mkdir(t, dir, ".git") },
		"empty file":      func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "") },
		"garbage file":    func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "\x00\xff nonsense") },
		"huge file":       func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: "+huge) },
		"pruned worktree": func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: /nowhere/at/all\n") },
		"itself":          func(t *testing.T, dir string) { write(t, filepath.Join(dir, ".git"), "gitdir: .git\n") },
		"HEAD missing":    func(t *testing.T, dir string) { mkdir(t, dir, ".git", "refs") },
		"HEAD empty":      func(t *testing.T, dir string) { write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "") },
		"HEAD huge": func(t *testing.T, dir string) {
			write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: refs/heads/"+huge)
		},
		"HEAD climbing": func(t *testing.T, dir string) {
			write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: refs/../../../etc/passwd")
		},
		"HEAD is a folder": func(t *testing.T, dir string) { mkdir(t, dir, ".git", "HEAD") },
	}
	if runtime.GOOS != "windows" {
		tests["symlink loop"] = func(t *testing.T, dir string) {
			if err := os.Symlink(".git", filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}
		tests["dangling symlink"] = func(t *testing.T, dir string) {
			if err := os.Symlink("nowhere", filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}
		tests["HEAD is a FIFO"] = func(t *testing.T, dir string) {
			makeFIFO(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"))
		}
		if os.Getuid() != 0 {
			tests["unreadable"] = func(t *testing.T, dir string) {
				write(t, filepath.Join(mkdir(t, dir, ".git"), "HEAD"), "ref: refs/heads/x")
				if err := os.Chmod(filepath.Join(dir, ".git", "HEAD"), 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, breakIt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := mkdir(t, outer, strings.ReplaceAll(name, " ", "-"))
			breakIt(t, dir)
			if got := Identify(dir, dir); got != want {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestIdentifyBrokenRefs(t *testing.T) {
	base := tempDir(t)
	fake := func(t *testing.T, head string) (string, string) {
		dir := mkdir(t, base, strings.ReplaceAll(t.Name(), "/", "-"))
		gitDir := mkdir(t, dir, ".git")
		mkdir(t, gitDir, "refs", "heads")
		write(t, filepath.Join(gitDir, "HEAD"), head)
		return dir, gitDir
	}
	id := strings.Repeat("ab", 20)
	t.Run("symbolic ref to a ref", func(t *testing.T) {
		dir, gitDir := fake(t, "ref: refs/heads/a\n")
		write(t, filepath.Join(gitDir, "refs/heads/a"), "ref: refs/heads/b\n")
		write(t, filepath.Join(gitDir, "refs/heads/b"), id+"\n")
		if got, want := Identify(dir, dir), (Identity{dir, dir, "a", id}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("refs in a circle", func(t *testing.T) {
		dir, gitDir := fake(t, "ref: refs/heads/a\n")
		write(t, filepath.Join(gitDir, "refs/heads/a"), "ref: refs/heads/a\n")
		if got, want := Identify(dir, dir), (Identity{dir, dir, "a", ""}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("garbage ref", func(t *testing.T) {
		dir, gitDir := fake(t, "ref: refs/heads/a\r\n")
		write(t, filepath.Join(gitDir, "refs/heads/a"), "?")
		if got, want := Identify(dir, dir), (Identity{dir, dir, "a", ""}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("reftable stub", func(t *testing.T) {
		dir, _ := fake(t, "ref: refs/heads/.invalid\n")
		if got, want := Identify(dir, dir), (Identity{dir, dir, "", ""}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("sha256 detached", func(t *testing.T) {
		long := strings.Repeat("0f", 32)
		dir, _ := fake(t, long)
		if got, want := Identify(dir, dir), (Identity{dir, dir, "", long}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func BenchmarkIdentify(b *testing.B) {
	root, _ := newRepository(b, filepath.Join(tempDir(b), "main"))
	dir := mkdir(b, root, "pkg", "deep")
	b.ReportAllocs()
	for b.Loop() {
		Identify(root, dir)
	}
}
