package glob

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The systems that can only be faked here.
var (
	linux = System{Home: "/home/me"}
	mac   = System{Home: "/Users/me", Fold: true, Resolve: linked("/tmp", "/private/tmp", "/Users/me/work", "/Volumes/Code/work")}
	win   = System{Home: `C:\Users\me`, Fold: true, Drives: true, Resolve: linked(`D:/link`, `E:/real`)}
)

// linked returns a Resolve for pairs of a link and its target.
func linked(pairs ...string) func(string) string {
	return func(p string) string {
		for i := 0; i < len(pairs); i += 2 {
			if link := pairs[i]; p == link || strings.HasPrefix(p, link+"/") {
				return pairs[i+1] + p[len(link):]
			}
		}
		return p
	}
}

func TestDir(t *testing.T) {
	for _, c := range []struct {
		system    System
		glob, dir string
		want      bool
	}{
		{linux, "/work/secret", "/work/secret", true},
		{linux, "/work/secret", "/work/secret/sub/dir", true},
		{linux, "/work/secret", "/work/secrets", false},
		{linux, "/work/secret/", "/work/secret", true},
		{linux, "/work/*", "/work/any", true},
		{linux, "/work/*", "/work", false},
		{linux, "/work/*/x", "/work/a/b/x", false},
		{linux, "/work/**/x", "/work/a/b/x", true},
		{linux, "/work/**/x", "/work/x/y", true},
		{linux, "/work/**/x/**/y", "/work/a/x/b/y/c", true},
		{linux, "/work/**/x/**/y", "/work/a/y/b/x/c", false},
		{linux, "**/vendor", "/a/b/vendor/c", true},
		{linux, "**/vendor", "/a/b/vendors/c", false},
		{linux, "/work/**", "/work/a", true},
		{linux, "/work/**", "/worker", false},
		{linux, "~/private", "/home/me/private/p", true},
		{linux, "~", "/home/me/p", true},
		{linux, "~/private", "/home/you/private", false},
		{linux, "/", "/anything", true},
		{linux, "**", "/anything", true},
		{linux, "client-*", "/work/client-x/src", true},
		{linux, "client-*", "/work/my-client-x", false},
		{linux, "clients/acme", "/work/clients/acme/api", true},
		{linux, "clients/acme", "/work/clients/other", false},
		{linux, "/work/../secret", "/secret/x", true},
		{linux, "/secret", "/work/../secret/x", true},
		{linux, "./build", "/work/build/x", true},
		{linux, "[", "/work/[", true},
		{linux, "[", "/work/a", false},
		{linux, "/app/[id]", "/app/[id]/x", true},
		{linux, "/work/[a-c]x", "/work/bx", true},
		{linux, "/work/[!a-c]x", "/work/bx", false},
		{linux, "/Work", "/work", false},
		{linux, "label", "label", true},
		{linux, " /work ", "/work/a", true},
		{linux, "", "/work", false},
		{linux, "/work", "", false},

		{mac, "/tmp/x", "/private/tmp/x/y", true},
		{mac, "/private/tmp/*", "/tmp/x", true},
		{mac, "/tmp/*", "/private/tmp/x", true},
		{mac, "~/Work", "/users/me/work/p", true},
		{mac, "~/work", "/Volumes/Code/work/p", true},
		{mac, "/Volumes/Code", "/Users/me/work", true},
		{mac, "~/BÜRO", "/Users/me/büro", true},
		{mac, "~/work2", "/Users/me/work", false},

		{win, `~\work`, `c:\users\ME\Work\p`, true},
		{win, "~/work", "C:/Users/me/work", true},
		{win, `C:\Work\*`, `c:\work\p`, true},
		{win, `C:\Work`, `D:\work`, false},
		{win, `\work`, `D:\work\p`, true},
		{win, "/work", `D:\work\p`, true},
		{win, `D:\work`, "/d/work/p", true},
		{win, "/d/work", `D:\work`, true},
		{win, `E:\real`, `D:\link\p`, true},
		{win, `\\server\share`, `\\Server\Share\p`, true},
		{win, "C:/secret", "C:/../secret/x", true},
		{win, "C:/../secret", "C:/secret/x", true},
		{System{Home: "/"}, "~", "/work", true},
		{System{Home: "/"}, "~/work", "/work/p", true},
		{win, "secret-?", `C:\x\Secret-1\y`, true},
		{linux, `C:\Work`, `C:\Work\p`, true}, // an event of another system
	} {
		if got := c.system.Compile([]string{c.glob}).Dir(c.dir); got != c.want {
			t.Errorf("home %s: %q on %q: %v, want %v", c.system.Home, c.glob, c.dir, got, c.want)
		}
	}
}

func TestFile(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{".env*", "/p/.env", true}, {".env*", ".env.local", true}, {".env*", "/p/.ENV", true}, {".env*", `C:\p\.env`, true},
		{".env*", "/p/.envrc", true}, {".env*", "/p/environment", false}, {".env*", "/p/x.env", false}, {".env*", "/p/.env/x", false},
		{"*.pem", "/p/tls/server.pem", true}, {"*.pem", "/p/server.pem.txt", false}, {"id_*", "/home/u/.ssh/id_ed25519", true},
		{".aws/credentials", "/home/u/.aws/credentials", true}, {".aws/credentials", "/home/u/x.aws/credentials", false},
		{".aws/credentials", "/home/u/aws/credentials", false}, {".aws/credentials", ".aws/credentials", true},
		{".aws/credentials", "credentials", false}, {"*.key", "/p/a.key", true}, {"*.key", "/p/keys.go", false}, {"*", "", false},
		{"b/*.txt", "/p/a/b/c.txt", true}, {"a/*.txt", "/p/a/b/c.txt", false}, {"**/secrets/*", "/x/secrets/a", true},
		{"./build", "build/x", true}, {"./build", "/p/build", true}, {"./build/", "/p/build/x", true}, {"build", "build/x", false},
		{"**/*.pem", "/x/a.pem", true}, {"**/*.pem", "/x/a.pem/b", false},
		{"secrets/", "/x/secrets/a/b", true}, {"secrets/**", "/x/secrets/a/b", true}, {"secrets/", "/x/my-secrets/a", false},
		{"~/vault", "/home/me/vault/a", true}, {"~/vault", "~/vault/a", true}, {"~/vault", "../vault/a", true}, {"~/vault", "a", false},
		{"/home/me/p", "a", true}, {"/HOME/me/p/*.txt", "x.TXT", true},
	} {
		if got := linux.Compile([]string{c.glob}).File(c.file, "/home/me/p"); got != c.want {
			t.Errorf("%q on %q: %v, want %v", c.glob, c.file, got, c.want)
		}
	}
	if !mac.Compile([]string{"/private/tmp/*.txt"}).File("/tmp/a.txt", "") {
		t.Error("a link in a file's path is not resolved")
	}
	dot := linux.Compile([]string{"*.key", ".env*", "/home/me/p"})
	if dot.DotFile(".key", "") || !dot.DotFile(".env", "") || !dot.DotFile(".key", "/home/me/p") {
		t.Error("a name with a dot needs a glob with one, or one that covers its directory")
	}
	if root := (System{Home: "/"}).Compile([]string{"~"}); !root.DotFile(".env", "/p") || !root.File("/p/a", "") {
		t.Error("a home directory at the root does not cover all files")
	}
	if !linux.Compile([]string{"./.env"}).MayMatch(".e*") {
		t.Error("a name behind ./ is no name")
	}
}

func TestProjects(t *testing.T) {
	for _, c := range []struct {
		excluded, included string
		dirs               []string
		want               bool
	}{
		{"", "", []string{"/x"}, true},
		{"~/work", "", []string{"/home/me/work/p"}, false},
		{"~/work", "", []string{"/x", "/x", "/home/me/work"}, false},
		{"", "~/work", []string{"/home/me/work/p"}, true},
		{"", "~/work", []string{"/x"}, false},
		{"", "~/work", []string{"", ""}, false},
		{"p", "~/work", []string{"/home/me/work/p"}, false},
	} {
		if got := linux.Projects([]string{c.excluded}, []string{c.included}).Captured(c.dirs...); got != c.want {
			t.Errorf("excluded %q, included %q, %q: %v", c.excluded, c.included, c.dirs, got)
		}
	}
}

// TestLocalLinks resolves real links, also of directories that do not exist (yet).
func TestLocalLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	s := Local(func(key string) string { return map[string]string{"HOME": home}[key] })
	for glob, dir := range map[string]string{
		"~/link":    filepath.Join(home, "real", "gone", "deep"),
		"~/real":    filepath.Join(home, "link", "gone"),
		"~/link/*":  filepath.Join(home, "real", "gone"),
		"~/**/gone": filepath.Join(home, "link", "gone"),
	} {
		if !s.Compile([]string{glob}).Dir(dir) {
			t.Errorf("%q does not match %q", glob, dir)
		}
	}
}

// TestLongPatterns: hostile patterns and paths are matched in a moment.
func TestLongPatterns(t *testing.T) {
	start := time.Now()
	set := linux.Compile([]string{"/" + strings.Repeat("**/a/", 200) + "b", strings.Repeat("*a", 200) + "b"})
	if set.Dir("/"+strings.Repeat("a/", 2000)) || set.Dir("/"+strings.Repeat("a", 4000)) {
		t.Error("matched")
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestDefaultGlobsAllocateNothing(t *testing.T) {
	set := linux.Compile([]string{".env*", "*.pem", "id_*", ".netrc", ".aws/credentials", "*.key"})
	if n := testing.AllocsPerRun(100, func() { set.File("/home/me/project/src/main.go", "/home/me/project") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true}, {"a", "a/b", false}, {"a/b", "a", false}, {"a/*", "a/b", true}, {"a/*", "a/b/c", false},
		{"**/a", "a", true}, {"**/a", "x/y/a", true}, {"**/a", "a/b", false}, {"a/**", "a", false}, {"a/**", "a/b/c", true},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"A", "a", false}, {"", "", true}, {"**", "", false},
	} {
		if got := Match(c.pattern, c.path); got != c.want {
			t.Errorf("%q on %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}
