package repo_test

import (
	"os"
	"path/filepath"
	"testing"

	"claudemem/internal/capture/repo"
)

func TestNormalRemote(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/Ada/Tally.git":       "github.com/ada/tally",
		"https://ada:token@github.com/ada/tally": "github.com/ada/tally",
		"https://github.com/ada/tally/":          "github.com/ada/tally",
		"git@github.com:ada/tally.git":           "github.com/ada/tally",
		"ssh://git@GitHub.com:22/ada/tally.git":  "github.com/ada/tally",
		"ssh://git@[::1]:2222/ada/tally":         "[::1]/ada/tally",
		"git://example.org/a/b/c.git":            "example.org/a/b/c",
		"https://gitlab.example/group/sub/tally": "gitlab.example/group/sub/tally",
		"https://example.org/a/../b.git?token=x": "example.org/b",
		"/srv/git/tally.git":                     "",
		"../tally":                               "",
		`C:\git\tally`:                           "",
		"C:/git/tally":                           "",
		"file:///srv/git/tally.git":              "",
		"https://localhost:3000/ada/tally":       "",
		"https://github.com":                     "",
		"":                                       "",
		"https://":                               "",
		"./dir:with/colon":                       "",
	} {
		if got := repo.NormalRemote(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// TestRemote has the cases of repositories on two machines.
func TestRemote(t *testing.T) {
	dir := t.TempDir()
	write := func(path, content string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	clone := func(name, config string) {
		t.Helper()
		write(name+"/.git/HEAD", "ref: refs/heads/main\n")
		write(name+"/.git/config", "[core]\n\tbare = false\n"+config)
	}
	const https, ssh = "[remote \"origin\"]\n\turl = https://github.com/ada/tally\n", "[remote \"origin\"]\n\turl = git@github.com:ada/tally.git\n"
	clone("clone", https)
	clone("another/renamed", ssh)
	clone("fork", "[remote \"a-colleague\"]\n\turl = https://github.com/bob/tally\n"+https)
	clone("one-remote", "[remote \"upstream\"]\n\turl = https://github.com/ada/tally\n")
	clone("moved", "[remote \"origin\"]\n\turl = https://codeberg.org/ada/tally\n")
	clone("local", "[remote \"origin\"]\n\turl = /srv/tally.git\n")
	clone("none", "")
	write("worktree/.git", "gitdir: "+filepath.Join(dir, "clone/.git/worktrees/w")+"\n")
	write("clone/.git/worktrees/w/HEAD", "ref: refs/heads/fix\n")
	write("clone/.git/worktrees/w/commondir", "../..\n")
	write("clone/services/api/main.go", "")
	write("plain/file", "")
	for name, want := range map[string]string{
		"clone": "github.com/ada/tally", "another/renamed": "github.com/ada/tally", "fork": "github.com/ada/tally", "one-remote": "github.com/ada/tally",
		"worktree": "github.com/ada/tally", "clone/services/api": "github.com/ada/tally//services/api",
		"moved": "codeberg.org/ada/tally", "local": "", "none": "", "plain": "", "gone": "",
	} {
		if got := repo.Remote(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
