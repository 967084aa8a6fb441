package repo

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRelative(t *testing.T) {
	tests := []struct{ name, root, cwd, file, want string }{
		{"inside", "/p", "/p", "/p/a/b.go", "a/b.go"},
		{"unclean", "/p/", "/p", "/p//a/./c/../b.go", "a/b.go"},
		{"relative to root", "/p", "/p", "a.go", "a.go"},
		{"relative to cwd", "/p", "/p/sub", "a.go", "sub/a.go"},
		{"relative upward", "/p", "/p/sub", "../a.go", "a.go"},
		{"relative out", "/p", "/p/sub", "../../q/a.go", "/q/a.go"},
		{"no cwd", "/p", "", "a.go", "a.go"},
		{"outside", "/p", "/p", "/q/a.go", "/q/a.go"},
		{"same prefix outside", "/p", "/p", "/pp/a.go", "/pp/a.go"},
		{"dots out of the root", "/p", "/p", "/p/../q", "/q"},
		{"root itself", "/p", "/p", "/p", "."},
		{"file system root", "/", "/", "/etc/x", "etc/x"},
		{"no root", "", "/c", "a", "/c/a"},
		{"no path", "/p", "/p", "", ""},
		{"backslash in a name", "/p", "/p", `/p/a\b`, `a\b`},
		{"drive", `C:\p`, `C:\p`, `C:\p\a\b.go`, "a/b.go"},
		{"drive in other case", `C:\Users\Me\p`, `C:\`, `c:/users/me/P/a.go`, "a.go"},
		{"drive relative to cwd", `C:\p`, `C:\p\sub`, `..\a.go`, "a.go"},
		{"other drive", `C:\p`, `C:\p`, `D:\p\a.go`, "D:/p/a.go"},
		{"drive root", `C:\`, `C:\`, `C:\a.go`, "a.go"},
		{"share", `\\host\s\p`, `\\host\s\p`, `\\host\s\p\a.go`, "a.go"},
		{"root decomposed, file composed", "/cafe\u0301", "/cafe\u0301", "/caf\u00e9/men\u00fc.go", "men\u00fc.go"},
		{"root composed, file decomposed", "/p/\ud55c", "/p/\ud55c", "/p/\u1112\u1161\u11ab/a.go", "a.go"},
		{"another accent", "/cafe", "/cafe", "/caf\u00e9/a.go", "/caf\u00e9/a.go"},
		{"other share", `C:\p`, `C:\p`, `\\host\s\a.go`, "//host/s/a.go"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Relative(tt.root, tt.cwd, tt.file); got != tt.want {
				t.Errorf("Relative(%q, %q, %q) = %q, want %q", tt.root, tt.cwd, tt.file, got, tt.want)
			}
		})
	}
}

// A temporary directory often has two names (/tmp and /private/tmp).
func TestRelativeThroughSymlink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege on Windows")
	}
	base := tempDir(t)
	realRoot := mkdir(t, base, "real")
	mkdir(t, realRoot, "sub")
	alias := filepath.Join(base, "alias")
	if err := os.Symlink(realRoot, alias); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(realRoot, "link-out")
	if err := os.Symlink(base, outside); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ root, file, want string }{
		{realRoot, filepath.Join(alias, "sub", "a.go"), "sub/a.go"},
		{alias, filepath.Join(realRoot, "sub", "a.go"), "sub/a.go"},
		{realRoot, filepath.Join(alias, "not", "there", "yet.go"), "not/there/yet.go"},
		{realRoot, filepath.Join(base, "other"), filepath.Join(base, "other")},
		// A link inside that leads out keeps the name under which the host used it.
		{realRoot, filepath.Join(outside, "x"), "link-out/x"},
	}
	for _, tt := range tests {
		if got := Relative(tt.root, tt.root, tt.file); got != tt.want {
			t.Errorf("Relative(%q, %q) = %q, want %q", tt.root, tt.file, got, tt.want)
		}
	}
}

func TestHolds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	t.Setenv("HOME", home)
	root, other := filepath.Join(home, "p"), filepath.Join(dir, "other")
	for _, d := range []string{filepath.Join(root, "sub", "deep"), filepath.Join(root, "third", "lib", ".git"), filepath.Join(other, "x"), filepath.Join(root, ".git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		filepath.Join(root, "out"): other, filepath.Join(root, "down"): filepath.Join(other, "x"),
		filepath.Join(dir, "in"): root, filepath.Join(root, "within"): filepath.Join(root, "sub"),
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cwd, file string
		want      bool
	}{
		{root, "a.go", true},
		{root, "", true},
		{root, filepath.Join(root, "gone.go"), true},
		{filepath.Join(root, "sub"), "../a.go", true},
		{filepath.Join(root, "sub"), "../../q", false},
		{root, "/etc/hosts", false},
		{root, root + "-2/a.go", false},
		{root, "out/a.go", false},
		{root, "within/a.go", true},
		{root, "down/../secret", false},
		{dir, "in/a.go", true},
		{dir, "a.go", false},
		{root, "third/lib/a.go", false},
		{root, "third/lib", false},
		{root, "third", true},
		{root, ".git/config", true},
		{root, "~/p/a.go", true},
		{root, "~/q", false},
		{root, "~root/x", false},
		{"", "a.go", false},
		{root, `C:\p\a.go`, false},
	} {
		_, in, rel := NewTree(tt.cwd, root).Find(tt.file)
		if got := in == root && !Enters(in, rel, ".git"); got != tt.want {
			t.Errorf("Find(%q, %q) = %q, %q, want it in the project: %v", tt.cwd, tt.file, in, rel, tt.want)
		}
	}
	for _, tree := range []*Tree{NewTree(root), NewTree(root, "")} {
		if real, in, _ := tree.Find("a.go"); in != "" || real != filepath.Join(root, "a.go") {
			t.Errorf("without a root: %q in %q", real, in)
		}
	}
	if _, in, rel := NewTree(root, other, root).Find("a.go"); in != root || rel != "a.go" {
		t.Error("a file of the second root does not count")
	}
}

// TestGone: a directory that is not here is a project by its path, unless Claude Code made it as a
// worktree of one.
func TestGone(t *testing.T) {
	for _, c := range []struct{ start, cwd, project, worktree string }{
		{"/w/shop", "/w/shop", "/w/shop", "/w/shop"},
		{"/w/shop", "/w/shop/api", "/w/shop", "/w/shop"},
		{"/w/shop", "/w/shopping", "/w/shop", "/w/shopping"},
		{"/w/shop", "/tmp", "/w/shop", "/tmp"},
		{"/w/shop/.claude/worktrees/brave-fox", "/w/shop/.claude/worktrees/brave-fox/api", "/w/shop", "/w/shop/.claude/worktrees/brave-fox"},
		{`C:\w\shop`, `C:\w\shop\api`, `C:\w\shop`, `C:\w\shop`},
		{`C:\w\shop`, `c:\W\Shop\api`, `C:\w\shop`, `C:\w\shop`},
		{`C:\w\shop`, `D:\tmp`, `C:\w\shop`, `D:\tmp`},
		{`C:\w\shop\.claude\worktrees\owl`, `C:\w\shop\.claude\worktrees\owl`, `C:\w\shop`, `C:\w\shop\.claude\worktrees\owl`},
		{"c:/w/shop/.claude/worktrees/owl/api", "C:/w/shop/.claude/worktrees/owl/api", `C:\w\shop`, `C:\w\shop\.claude\worktrees\owl`},
		{"/w/shop/.gemini/worktrees/fox", "/w/shop/.gemini/worktrees/fox/api", "/w/shop", "/w/shop/.gemini/worktrees/fox"},
		{`\\files\dev\shop`, `\\files\dev\shop\api`, `\\files\dev\shop`, `\\files\dev\shop`},
		{"", "", "", ""},
	} {
		if id := Gone(c.start, c.cwd); id.Project != c.project || id.WorktreeRoot != c.worktree {
			t.Errorf("%s, %s: %s, %s", c.start, c.cwd, id.Project, id.WorktreeRoot)
		}
	}
}
