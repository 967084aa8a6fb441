//go:build linux

package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/run/recorded"
	"claudemem/proof/fakeclaude"
)

// init makes the test binary be the host's CLI, where a test has put it under that
// name: it knows what concerns plugins, and its version.
func init() {
	if filepath.Base(os.Args[0]) != "claude" {
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("2.1.197 (Claude Code)")
		os.Exit(0)
	}
	os.Exit(fakeclaude.Run(filepath.Join(os.Getenv("HOME"), ".claude"), os.Args[1:], os.Stdout))
}

// newcomer is somebody with Go, git, make and a CLI, and a home where nothing of ours is.
type newcomer struct {
	*world.Memory
	clone, tmp string
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	for _, program := range []string{"git", "make", "script"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT TESTED, there is no %s", program)
		}
	}
	if _, err := os.Stat(world.Root(".git")); err != nil {
		t.Skip("NOT TESTED, there is nothing to clone")
	}
	m := world.NewMemory(t)
	n := &newcomer{Memory: m, clone: filepath.Join(m.Home, "claude-mem"), tmp: t.TempDir()}
	// As it is without our asking: in the home. No model there, and no fixed port, for
	// somebody's own worker may have it.
	if err := os.Rename(m.Dir, filepath.Join(m.Home, ".claude-mem")); err != nil {
		t.Fatal(err)
	}
	m.Dir = filepath.Join(m.Home, ".claude-mem")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(m.Home, "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(tools, "claude")); err != nil {
		t.Fatal(err)
	}
	m.Env = []string{"HOME=" + m.Home, "PATH=" + tools + ":" + os.Getenv("PATH"), "TMPDIR=" + n.tmp, "LANG=C.UTF-8", "TERM=dumb"}
	// What Go has in its caches it need not get and build again.
	for _, key := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN"} {
		value, err := exec.Command("go", "env", key).Output()
		if err != nil {
			t.Fatal(err)
		}
		m.Env = append(m.Env, key+"="+strings.TrimSpace(string(value)))
	}
	if out, err := exec.Command("git", "clone", "-q", world.Root(), n.clone).CombinedOutput(); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	return n
}

// shell types a block of README's into a shell at a terminal, and "y" to whoever asks.
func (n *newcomer) shell(t *testing.T, block string) string {
	t.Helper()
	cmd := exec.Command("script", "-qec", "bash --noprofile --norc -e "+filepath.Join(n.Home, "block"), "/dev/null")
	if err := os.WriteFile(filepath.Join(n.Home, "block"), []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Env, cmd.Stdin = n.clone, append([]string{"SHELL=/bin/bash"}, n.Env...), strings.NewReader("y\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n--- printed\n%s", err, block, out)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// commandsOf returns the blocks of commands in the section of README.
func commandsOf(t *testing.T, readme, section string) (blocks []string) {
	t.Helper()
	_, rest, ok := strings.Cut(readme, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("README has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for paragraph := range strings.SplitSeq(rest, "\n\n") {
		if !strings.HasPrefix(strings.TrimLeft(paragraph, "\n"), "    ") {
			continue
		}
		var b strings.Builder
		for line := range strings.Lines(strings.Trim(paragraph, "\n") + "\n") {
			line = strings.TrimPrefix(line, "    ")
			if strings.Contains(line, "#") {
				t.Errorf("%q: not every shell takes a comment in a line that is pasted", line)
			}
			b.WriteString(line)
		}
		blocks = append(blocks, b.String())
	}
	return blocks
}

// work is a session in which the host runs the hooks that it has of the plugin.
func (n *newcomer) work(t *testing.T, name string) {
	t.Helper()
	session := world.Recorded(t, name)
	project := filepath.Join(n.Home, session.Project)
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := recorded.CopyFiles(project, session.Project); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(n.Dir, "marketplace", "claude-mem")
	var plugin struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "hooks", "hooks.json"))
	if err == nil {
		err = json.Unmarshal(b, &plugin)
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, p := range session.Payloads {
		payload := recorded.Render(p.Body, project, n.Home)
		var tool struct {
			Name string `json:"tool_name"`
		}
		if err := json.Unmarshal(payload, &tool); err != nil {
			t.Fatal(err)
		}
		for _, group := range plugin.Hooks[p.Event] {
			if tool.Name != "" && !regexp.MustCompile("^(?:"+cmp.Or(strings.ReplaceAll(group.Matcher, "*", ".*"), ".*")+")$").MatchString(tool.Name) {
				continue
			}
			for _, hook := range group.Hooks {
				cmd := exec.Command("sh", "-c", hook.Command)
				cmd.Dir, cmd.Env, cmd.Stdin = project, append([]string{"CLAUDE_PLUGIN_ROOT=" + root, "CLAUDE_PROJECT_DIR=" + project}, n.Env...), bytes.NewReader(payload)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				if _, err := cmd.Output(); err != nil || stderr.Len() > 0 {
					t.Errorf("%s: %s: %v %s", p.Name, hook.Command, err, stderr.Bytes())
				}
				ran++
			}
		}
	}
	if ran < 20 {
		t.Errorf("the host ran %d hooks of %d payloads", ran, len(session.Payloads))
	}
	n.Settle(60 * time.Second)
}

// TestNewcomer types the commands of README's first screen into a shell in a fresh
// clone and checks that they end in a working memory (accept-install, point 4).
func TestNewcomer(t *testing.T) {
	n := newNewcomer(t)
	readme, err := os.ReadFile(filepath.Join(n.clone, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	demo, use := commandsOf(t, string(readme), "First success"), commandsOf(t, string(readme), "Use it")
	if len(demo) != 1 || len(use) != 3 {
		t.Fatalf("README has %d and %d blocks of commands, this test knows what follows 1 and 3", len(demo), len(use))
	}
	if lines := strings.Count(string(readme[:strings.Index(string(readme), "\n## Proof")]), "\n"); lines > 50 {
		t.Errorf("the way to a working memory takes %d lines of README, a screen has 50", lines)
	}
	says := func(what, got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s does not say %q:\n%s", what, w, got)
			}
		}
	}
	before := treeOf(t, n.Dir)
	shown := n.shell(t, demo[0])
	says("the demo", shown, "Remembered:", "Context block of the next session", "TestBurstIsTheCeiling")
	n.viewDemo(t, shown)
	if _, err := os.Stat(filepath.Join(n.Home, ".claude")); err == nil || treeOf(t, n.Dir) != before {
		t.Error("the demo leaves something in the home")
	}

	says("install", n.shell(t, use[0]), "Go ahead?", "Installed")
	n.work(t, "ratelimit-burst")
	export := strings.Split(use[0], "\n")[1] + "\n" // the shell of the next block is the same
	if !strings.HasPrefix(export, "export ") {
		t.Fatalf("%q is not what a shell keeps", export)
	}
	look := n.shell(t, export+use[1])
	says("the first look", look, "TestBurstIsTheCeiling", "#1", "ratelimit")
	if !strings.Contains(look, "✓ plugin") || strings.Contains(look, "→") { // a finding has a line that mends it
		t.Errorf("the doctor is not content:\n%s", look)
	}

	says("uninstall", n.shell(t, export+use[2]), "is removed from Claude Code")
	if settings, err := os.ReadFile(filepath.Join(n.Home, ".claude", "settings.json")); !os.IsNotExist(err) {
		t.Errorf("settings.json was not there before: %v\n%s", err, settings)
	}
	if out, err := n.Command("recent", "--all"); err != nil || !strings.Contains(string(out), "#1 ratelimit") || !strings.Contains(string(out), "`refill` in bucket.go never capped the tokens") {
		t.Errorf("after uninstall: %v\n%s", err, out)
	}
	found := map[string]bool{}
	for _, id := range regexp.MustCompile(`#\d+`).FindAllString(look, -1) {
		found[id] = true
	}
	if t.Failed() {
		return
	}
	world.Figure(t, 4, "%d lines of README typed in a clean clone: demo, install, %d observations shown, doctor content, out again",
		strings.Count(demo[0]+strings.Join(use, ""), "\n"), len(found))
}

// viewDemo looks at the address with which a demo ended, and ends it: then nothing is left.
func (n *newcomer) viewDemo(t *testing.T, printed string) {
	t.Helper()
	roots, err := filepath.Glob(filepath.Join(n.tmp, "claude-mem-demo-*"))
	if err != nil || len(roots) != 1 {
		t.Fatalf("directories of a demo: %v %v", roots, err)
	}
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	resp, err := http.Get(strings.TrimSpace(lines[len(lines)-1]))
	if err != nil {
		t.Fatalf("the demo's last line: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(page, []byte("TestBurstIsTheCeiling")) {
		t.Errorf("the viewer does not show the demo's memory: %s %v\n%.2000s", resp.Status, err, page)
	}
	stop := exec.Command(filepath.Join(n.clone, "bin", "claude-mem"), "worker", "stop")
	stop.Env = append(slices.Clone(n.Env), "CLAUDE_MEM_DATA_DIR="+filepath.Join(roots[0], "memory"))
	if out, err := stop.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(roots[0]); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a demo that was ended leaves its files")
		}
	}
}

// treeOf lists a directory's files and sizes.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
