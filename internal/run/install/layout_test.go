package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/capture/hook"
	"claudemem/internal/leaf/jsonscan"
)

// TestTree checks that the programs are installed once, and that all other files name
// them.
func TestTree(t *testing.T) {
	p := newPlace(t, "")
	p.install(Wish{Method: MethodPlugin})
	got := files(t, p.data)
	bin := filepath.Join(p.data, "bin")
	for name, want := range map[string]string{
		"bin/claude-mem":                                    "the program",
		"bin/claude-mem-hook":                               "its twin",
		"marketplace/claude-mem/bin/claude-mem":             "#!/bin/sh\nexec " + ShellWord(filepath.Join(bin, "claude-mem")) + " \"$@\"\n",
		"marketplace/claude-mem/bin/claude-mem-hook":        "#!/bin/sh\nexec " + ShellWord(filepath.Join(bin, "claude-mem-hook")) + " \"$@\"\n",
		"marketplace/claude-mem/hooks/hooks.json":           string(hook.HooksJSON("linux", filepath.Join(bin, "claude-mem-hook"))),
		"marketplace/claude-mem/skills/mem-search/SKILL.md": skillText,
		"marketplace/claude-mem/.claude-plugin/plugin.json": `{"name": "claude-mem", "version": "1.2.3"}` + "\n",
		"marketplace/claude-mem/.mcp.json":                  `{"mcpServers": {"memory": {"command": ` + quoted(filepath.Join(bin, "claude-mem")) + `, "args": ["mcp"]}}}`,
		"memory.db":                                         "memory",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	delete(got, "marketplace/.claude-plugin/marketplace.json")
	delete(got, "install.lock")
	for name := range got {
		if !strings.HasPrefix(name, "backups/") {
			t.Errorf("not expected: %s", name)
		}
	}
	for _, name := range []string{"bin/claude-mem", "marketplace/claude-mem/bin/claude-mem"} {
		if info, err := os.Stat(filepath.Join(p.data, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

func quoted(s string) string { return string(jsonscan.AppendQuote(nil, s)) }

// TestTreeOnWindows checks that hooks run the program itself, and that there are launchers
// for cmd.exe and for Git Bash.
func TestTreeOnWindows(t *testing.T) {
	for home, batch := range map[string]string{
		"Ada 100%": `Ada 100%%`,
		"Jürgen":   `%~dp0..\..\..\bin\claude-mem.exe`,
	} {
		p := newPlace(t, "")
		p.data = filepath.Join(p.root, home, ".claude-mem")
		p.put(filepath.Join(p.data, "memory.db"), "memory", 0o600)
		p.opts.DataDir, p.opts.GOOS = p.data, "windows"
		p.install(Wish{Method: MethodPlugin})
		got := files(t, p.data)
		program, hookProgram := filepath.Join(p.data, "bin", "claude-mem.exe"), filepath.Join(p.data, "bin", "claude-mem-hook.exe")
		if got["bin/claude-mem.exe"] != "the program" || got["bin/claude-mem-hook.exe"] != "its twin" {
			t.Errorf("programs: %v", got)
		}
		if text := got["marketplace/claude-mem/hooks/hooks.json"]; !strings.Contains(text, `"command": `+quoted(hookProgram)+`,`) || strings.Contains(text, "exit 0") {
			t.Errorf("hooks.json does not run %s: %s", hookProgram, text)
		}
		if text := got["marketplace/claude-mem/.mcp.json"]; !strings.Contains(text, quoted(program)) {
			t.Errorf(".mcp.json does not run %s: %s", program, text)
		}
		if text := got["marketplace/claude-mem/bin/claude-mem.cmd"]; !strings.Contains(text, batch) || !strings.HasPrefix(text, `@"`) || !strings.HasSuffix(text, "\" %*\r\n") {
			t.Errorf("claude-mem.cmd is %q, want it to have %s", text, batch)
		}
		if text := got["marketplace/claude-mem/bin/claude-mem"]; !strings.Contains(text, slashes(program)) {
			t.Errorf("the script for Git Bash is %q", text)
		}
		p.uninstall()
		p.nothingOfOurs()
	}
}

// earlierLayout is what versions before this one have installed: the programs in the
// plugin's directory.
func (p *place) earlierLayout(suffix string) {
	p.install(Wish{Method: MethodPlugin})
	if err := os.RemoveAll(filepath.Join(p.data, "bin")); err != nil {
		p.t.Fatal(err)
	}
	bin := filepath.Join(p.data, "marketplace", "claude-mem", "bin")
	if err := os.RemoveAll(bin); err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"claude-mem", "claude-mem-hook"} {
		p.put(filepath.Join(bin, name+suffix), "an earlier program", 0o700)
	}
}

// TestSessionOfEarlierVersion checks that the paths of an earlier version keep working,
// since a session runs them until it ends.
func TestSessionOfEarlierVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a script for sh")
	}
	p := newPlace(t, "{}")
	p.put(p.twi, "#!/bin/sh\necho the twin was run with $# arguments: $2\n", 0o755)
	p.earlierLayout("")
	p.install(Wish{Method: MethodPlugin})
	old := filepath.Join(p.data, "marketplace", "claude-mem", "bin", "claude-mem-hook")
	out, err := exec.Command(old, "save", "a b").CombinedOutput()
	if want := "the twin was run with 2 arguments: a b\n"; err != nil || string(out) != want {
		t.Errorf("the program of the earlier version prints %q, %v, want %q", out, err, want)
	}
	if size := len(p.get(old)); size > 1000 {
		t.Errorf("it has %d bytes", size)
	}
	p.uninstall()
	p.nothingOfOurs()
}

// TestSessionOfEarlierVersionOnWindows checks that the programs of an earlier version stay
// for a day: no launcher can replace an .exe.
func TestSessionOfEarlierVersionOnWindows(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.GOOS = "windows"
	now := time.Now()
	p.opts.Clock = func() time.Time { return now }
	p.earlierLayout(".exe")
	old := filepath.Join(p.data, "marketplace", "claude-mem", "bin", "claude-mem-hook.exe")
	p.install(Wish{Method: MethodPlugin})
	if plan := p.install(Wish{Method: MethodPlugin}); !plan.Empty() || p.get(old) != "an earlier program" {
		t.Errorf("%s is %q; still to do: %+v", old, p.get(old), plan.Plugin)
	}
	now = now.Add(25 * time.Hour)
	p.install(Wish{Method: MethodPlugin})
	if p.get(old) != "(none)" {
		t.Errorf("%s is still there after a day", old)
	}
}

// TestMovedHome checks that a hook of ours whose program no longer exists is replaced and
// removed like the others; a hook of another program, or found by PATH, stays.
func TestMovedHome(t *testing.T) {
	gone := strings.ReplaceAll(string(hook.HooksJSON("linux", "/no/such/home/.claude-mem/bin/claude-mem-hook")), "\n", "")
	p := newPlace(t, gone)
	p.install(Wish{Method: MethodSettings})
	if text := p.get(p.settings); strings.Contains(text, "/no/such/home") || strings.Count(text, "claude-mem-hook") != 8 {
		t.Errorf("settings.json is %s", text)
	}
	p.uninstall()
	if text := p.get(p.settings); strings.Contains(text, "claude-mem-hook") {
		t.Errorf("settings.json is %s", text)
	}

	const mine = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"claude-mem-hook summary"}]},{"hooks":[{"type":"command","command":"/no/such/program"}]}]}}`
	p = newPlace(t, mine)
	p.install(Wish{Method: MethodPlugin})
	p.uninstall()
	if got := p.get(p.settings); got != mine {
		t.Errorf("settings.json is %s, want %s", got, mine)
	}
}

func TestUpgrade(t *testing.T) {
	p := newPlace(t, userSettings["tabs"])
	p.install(Wish{Method: MethodPlugin})
	p.put(p.program, "a newer program", 0o755)
	p.opts.Version = "v1.3.0"
	p.cli.calls = nil
	plan := p.install(Wish{Method: MethodPlugin})
	if plan.Replaces != "1.2.3" || plan.Version != "1.3.0" {
		t.Errorf("the plan replaces %q by %q", plan.Replaces, plan.Version)
	}
	want := []string{"plugin marketplace update claude-mem-local", "plugin update claude-mem@claude-mem-local"}
	if diff := cmp.Diff(want, p.cli.calls); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if got := p.get(filepath.Join(p.data, "bin/claude-mem")); got != "a newer program" {
		t.Errorf("the program is %q", got)
	}
	p.uninstall()
	if got := p.get(p.settings); got != userSettings["tabs"] {
		t.Errorf("settings.json is %q", got)
	}
	p.nothingOfOurs()
}

// TestPluginVersion checks that two different builds of a working tree have different
// versions.
func TestPluginVersion(t *testing.T) {
	for _, c := range []struct{ version, hash, want string }{
		{"v1.2.3", "0123456789", "1.2.3"},
		{"1.2.3", "0123456789", "1.2.3"},
		{"v1.2.3-4-gabcdef", "0123456789", "1.2.3-4-gabcdef.h01234567"},
		{"0.1.0-dev", "89abcdef01", "0.1.0-dev.h89abcdef"},
		{"abcdef0-dirty", "89abcdef01", "0.0.0-dev.h89abcdef"},
		{"0.1.0-dev.20261122054029+6363387-dirty", "89abcdef01", "0.1.0-dev.20261122054029.h89abcdef"},
		{"1.2.3+6363387", "89abcdef01", "1.2.3-dev.h89abcdef"},
		{"", "89abcdef01", "0.0.0-dev.h89abcdef"},
	} {
		if got := pluginVersion(c.version, c.hash); got != c.want {
			t.Errorf("pluginVersion(%q) = %q, want %q", c.version, got, c.want)
		}
	}
}
