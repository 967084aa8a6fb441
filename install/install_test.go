package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem"
	"claudemem/atomicfile"
	"claudemem/hook"
	"claudemem/install/fakeclaude"
	"claudemem/jsonscan"
)

// fakeCLI is the host's CLI in this process. It keeps the calls.
type fakeCLI struct {
	dir string
	// refuse makes every command fail without doing anything.
	refuse bool

	mu    sync.Mutex
	calls []string
}

func (f *fakeCLI) Run(_ context.Context, configDir string, args ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, strings.Join(args, " "))
	if configDir != "" {
		return "", fmt.Errorf("unexpected configuration directory %s", configDir)
	}
	if f.refuse {
		return "a line\nno plugins today\n", errors.New("exit status 1")
	}
	var out bytes.Buffer
	if code := fakeclaude.Run(f.dir, args, &out); code != 0 {
		return out.String(), fmt.Errorf("exit status %d", code)
	}
	return out.String(), nil
}

// place is a home with a host, a data directory and programs to install.
type place struct {
	t                      *testing.T
	root, config, data     string
	settings, program, twi string
	cli                    *fakeCLI
	opts                   Options
}

func newPlace(t *testing.T, settings string) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{
		t: t, root: root, config: filepath.Join(root, "home", ".claude"), data: filepath.Join(root, "home", ".claude-mem"),
		program: filepath.Join(root, "build", "claude-mem"), twi: filepath.Join(root, "build", "claude-mem-hook"),
	}
	p.settings = filepath.Join(p.config, "settings.json")
	p.put(p.program, "the program", 0o755)
	p.put(p.twi, "its twin", 0o755)
	if settings != "" {
		p.put(p.settings, settings, 0o640)
	}
	// A memory, which nothing may touch.
	p.put(filepath.Join(p.data, "memory.db"), "memory", 0o600)
	p.cli = &fakeCLI{dir: p.config}
	p.opts = Options{
		DataDir: p.data, ConfigDir: p.config, Program: p.program, HookProgram: p.twi, Version: "v1.2.3", CLI: p.cli, GOOS: "linux",
		LockWait: 20 * time.Second,
		Clock:    func() time.Time { return time.UnixMilli(1_700_000_000_000) },
		Plugin: fstest.MapFS{
			".claude-plugin/plugin.json": {Data: []byte(`{"name": "claude-mem", "version": "0.0.0"}` + "\n")},
			".mcp.json":                  {Data: []byte(`{"mcpServers": {"memory": {"command": "${CLAUDE_PLUGIN_ROOT}/../bin/claude-mem", "args": ["mcp"]}}}`)},
			"hooks/hooks.json":           {Data: []byte(`of another system`)},
			"skills/mem-search/SKILL.md": {Data: []byte("skill")},
		},
	}
	return p
}

func (p *place) put(path, text string, mode fs.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) get(path string) string {
	p.t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *place) install(wish Wish) *Plan {
	p.t.Helper()
	plan, err := New(p.opts).Install(p.t.Context(), wish)
	if err != nil {
		p.t.Fatalf("install: %v", err)
	}
	return plan
}

func (p *place) uninstall() *Removal {
	p.t.Helper()
	r, err := New(p.opts).Uninstall(p.t.Context())
	if err != nil {
		p.t.Fatalf("uninstall: %v", err)
	}
	return r
}

// files lists what is below a directory with the content of small files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// nothingOfOurs fails when the host's files or the data directory still have something of us.
func (p *place) nothingOfOurs() {
	p.t.Helper()
	for name, text := range files(p.t, p.config) {
		if strings.Contains(name, Marketplace) || strings.Contains(text, Marketplace) || strings.Contains(text, HookProgram) || strings.Contains(name, ".claude-mem-") {
			p.t.Errorf("%s still has something of ours: %s", name, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.config, "plugins", "*", "*"+Marketplace+"*")); len(left) > 0 {
		p.t.Errorf("the host still has %q", left)
	}
	for name := range files(p.t, p.data) {
		if strings.HasPrefix(name, "marketplace") || strings.HasPrefix(name, "bin") || strings.HasSuffix(name, "manifest.json") {
			p.t.Errorf("%s is left in the data directory", name)
		}
	}
	if got := p.get(filepath.Join(p.data, "memory.db")); got != "memory" {
		p.t.Errorf("the memory was touched: %q", got)
	}
}

// userSettings are settings in layouts that people have.
var userSettings = map[string]string{
	"none":         "",
	"empty":        "{}",
	"blank":        "\n",
	"four spaces":  "{\n    \"z\": 1,\n    \"a\": {\"b\": [1, 2]},\n    \"hooks\": {}\n}",
	"tabs":         "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(ls)\"\n\t\t]\n\t}\n}\n",
	"crlf and BOM": "\xef\xbb\xbf{\r\n  \"z\": 1.50,\r\n  \"a\": \"\\u00e9\"\r\n}\r\n",
	"one line":     `{"model":"m","env":{"A":"<b>&"}}`,
	"with others": `{
  "enabledPlugins": {
    "x@y": true
  },
  "extraKnownMarketplaces": {},
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
}
`,
}

func TestInstallAndUninstall(t *testing.T) {
	for name, settings := range userSettings {
		for _, method := range []Method{MethodPlugin, MethodSettings} {
			t.Run(name+"/"+string(method), func(t *testing.T) {
				p := newPlace(t, settings)
				if method == MethodSettings {
					p.opts.CLI = nil
				}
				before := files(t, p.config)
				shown, err := New(p.opts).Plan(Wish{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(before, files(t, p.config)); diff != "" || len(files(t, p.data)) != 1 {
					t.Fatalf("a plan changes something: %s %v", diff, files(t, p.data))
				}

				p.install(Wish{Method: method})
				if err := os.MkdirAll(filepath.Join(p.config, "plugins", "data", "claude-mem-claude-mem-local"), 0o700); err != nil { // as a session does
					t.Fatal(err)
				}
				if len(shown.Files) != 1 || p.get(p.settings) != string(shown.Files[0].After) {
					t.Errorf("settings.json is not what was shown:\n%s", p.get(p.settings))
				}
				h, err := readHost(p.config)
				if err != nil {
					t.Fatal(err)
				}
				want := entries{known: filepath.Join(p.data, "marketplace"), declared: true, version: "1.2.3", enabled: true}
				if method == MethodSettings {
					want = entries{hooks: 8}
				}
				if got := New(p.opts).entries(h); got != want || len(h.others()) > 0 {
					t.Errorf("entries %+v, want %+v; others %v, want none", got, want, h.others())
				}
				if settings != "" && runtime.GOOS != "windows" {
					if info, err := os.Stat(p.settings); err != nil || info.Mode().Perm() != 0o640 {
						t.Errorf("mode %v, %v; want 0640", info.Mode(), err)
					}
				}

				// A second one has nothing to do and runs nothing.
				p.cli.calls = nil
				after, ours := files(t, p.config), files(t, p.data)
				if plan := p.install(Wish{Method: method}); !plan.Empty() || p.cli.calls != nil {
					t.Errorf("a second install would do %+v and runs %q", plan, p.cli.calls)
				}
				if diff := cmp.Diff(after, files(t, p.config)); diff != "" {
					t.Errorf("a second install changes (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(ours, files(t, p.data)); diff != "" {
					t.Errorf("a second install changes (-want +got):\n%s", diff)
				}

				p.uninstall()
				if diff := cmp.Diff(before, files(t, p.config)); diff != "" {
					t.Errorf("uninstall does not give everything back (-want +got):\n%s", diff)
				}
				p.nothingOfOurs()
				if again := p.uninstall(); !again.Empty() {
					t.Errorf("a second uninstall would do %+v", again)
				}
			})
		}
	}
}

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
		"marketplace/claude-mem/skills/mem-search/SKILL.md": "skill",
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

// TestUninstallOfChangedFile checks that changes since the install stay.
func TestUninstallOfChangedFile(t *testing.T) {
	for _, method := range []Method{MethodPlugin, MethodSettings} {
		for _, cli := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/cli %v", method, cli), func(t *testing.T) {
				p := newPlace(t, userSettings["tabs"])
				p.install(Wish{Method: method})
				changed := strings.Replace(p.get(p.settings), "\"Bash(ls)\"", "\"Bash(ls)\",\n\t\t\t\"Bash(cat)\"", 1)
				p.put(p.settings, changed, 0o640)
				if !cli {
					p.opts.CLI = nil
				}
				p.uninstall()
				want := strings.Replace(userSettings["tabs"], "\"Bash(ls)\"", "\"Bash(ls)\",\n\t\t\t\"Bash(cat)\"", 1)
				if got := p.get(p.settings); got != want {
					t.Errorf("settings.json is\n%s\nwant\n%s", got, want)
				}
				p.nothingOfOurs()
			})
		}
	}
}

// TestUninstallOfIncomplete uninstalls with missing files, a failing CLI or without the
// manifest.
func TestUninstallOfIncomplete(t *testing.T) {
	for name, breakIt := range map[string]func(p *place){
		"marketplace gone":  func(p *place) { _ = os.RemoveAll(filepath.Join(p.data, "marketplace")) },
		"manifest gone":     func(p *place) { _ = os.RemoveAll(filepath.Join(p.data, "backups")) },
		"manifest broken":   func(p *place) { p.put(filepath.Join(backupsDir(p.data, p.config), "manifest.json"), "{", 0o600) },
		"backups gone":      func(p *place) { removeAll(backupsDir(p.data, p.config), "*-settings.json") },
		"CLI refuses":       func(p *place) { p.cli.refuse = true },
		"CLI gone":          func(p *place) { p.opts.CLI = nil },
		"settings gone":     func(p *place) { _ = os.Remove(p.settings) },
		"books gone":        func(p *place) { _ = os.RemoveAll(filepath.Join(p.config, "plugins")) },
		"host gone":         func(p *place) { _ = os.RemoveAll(p.config) },
		"uninstalled by it": func(p *place) { fakeclaude.Run(p.config, []string{"plugin", "uninstall", PluginID}, os.Stderr) },
		"data dir gone":     func(p *place) { _ = os.RemoveAll(p.data); p.put(filepath.Join(p.data, "memory.db"), "memory", 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, userSettings["with others"])
			p.install(Wish{Method: MethodPlugin})
			breakIt(p)
			p.uninstall()
			p.nothingOfOurs()
			if got := p.get(p.settings); got != "(none)" && !sameJSON([]byte(got), []byte(userSettings["with others"]), hostFiles[atSettings].empties...) {
				t.Errorf("settings.json is %s", got)
			}
			if again := p.uninstall(); !again.Empty() {
				t.Errorf("a second uninstall would do %+v", again)
			}
		})
	}
}

func TestOtherPlugins(t *testing.T) {
	settings := "{\n  \"enabledPlugins\": {\n    \"claude-mem@thedotmack\": true,\n    \"claude-mem@mine\": false,\n    \"other@thedotmack\": true\n  }\n}\n"
	for _, method := range []Method{MethodPlugin, MethodSettings} {
		t.Run(string(method), func(t *testing.T) {
			p := newPlace(t, settings)
			books := `{"version":2,"plugins":{"claude-mem@thedotmack":[{"scope":"user","version":"13.15.3"}]}}`
			p.put(filepath.Join(p.config, "plugins", "installed_plugins.json"), books, 0o600)
			p.put(filepath.Join(p.data, "claude-mem.db"), "node", 0o600)
			plan := p.install(Wish{Method: method})
			want := []Other{{ID: NodePluginID, Enabled: true, Installed: true}, {ID: "claude-mem@mine"}}
			if diff := cmp.Diff(want, plan.Others); diff != "" || !plan.NodeData {
				t.Errorf("others (-want +got):\n%s", diff)
			}
			enabled := func() string {
				d, err := jsonscan.Parse([]byte(p.get(p.settings)))
				if err != nil {
					t.Fatal(err)
				}
				return string(d.Get("enabledPlugins", NodePluginID))
			}
			if enabled() != "true" || len(plan.Disable) != 0 {
				t.Fatalf("it was disabled without being asked: %s", p.get(p.settings))
			}
			p.install(Wish{Method: method, DisableOthers: true})
			if enabled() != "false" {
				t.Fatalf("it is still enabled: %s", p.get(p.settings))
			}
			if plan := p.install(Wish{Method: method, DisableOthers: true}); !plan.Empty() {
				t.Errorf("a second one would do %+v", plan)
			}
			p.uninstall()
			if got := p.get(p.settings); got != settings {
				t.Errorf("settings.json is\n%s", got)
			}
			if got := p.get(filepath.Join(p.config, "plugins", "installed_plugins.json")); got != books {
				t.Errorf("the host's book of plugins is %s", got)
			}
			if got := p.get(filepath.Join(p.data, "claude-mem.db")); got != "node" {
				t.Errorf("its memory is %q", got)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.CLI = nil
	if _, err := New(p.opts).Plan(Wish{Method: MethodPlugin}); claudemem.CodeOf(err) != claudemem.CodeNotFound {
		t.Errorf("no CLI: %v", err)
	}
	p.opts.CLI = p.cli
	p.cli.refuse = true
	_, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin})
	if claudemem.CodeOf(err) != claudemem.CodeUnavailable || !strings.Contains(err.Error(), "no plugins today") {
		t.Errorf("the CLI refuses: %v", err)
	}
	p.cli.refuse = false
	p.install(Wish{Method: MethodPlugin})
	if _, err := New(p.opts).Plan(Wish{Method: MethodSettings}); claudemem.CodeOf(err) != claudemem.CodeConflict {
		t.Errorf("both methods: %v", err)
	}
	p.uninstall()
	p.install(Wish{Method: MethodSettings})
	if _, err := New(p.opts).Plan(Wish{Method: MethodPlugin}); claudemem.CodeOf(err) != claudemem.CodeConflict {
		t.Errorf("both methods: %v", err)
	}
	p.opts.HookProgram = filepath.Join(p.root, "none")
	if _, err := New(p.opts).Plan(Wish{Method: MethodSettings}); claudemem.CodeOf(err) != claudemem.CodeNotFound {
		t.Errorf("no program: %v", err)
	}
}

// TestSilentFailure checks the error when the CLI reports success but has done nothing.
func TestSilentFailure(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.CLI = silentCLI{}
	if _, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin}); claudemem.CodeOf(err) != claudemem.CodeUnavailable {
		t.Errorf("install: %v, want unavailable", err)
	}
	p.uninstall()
	if got := p.get(p.settings); got != "{}" {
		t.Errorf("settings.json is %q", got)
	}
	p.nothingOfOurs()
}

type silentCLI struct{}

func (silentCLI) Run(context.Context, string, ...string) (string, error) { return "", nil }

// TestTwoConfigDirs checks that the programs stay while another configuration directory
// uses them.
func TestTwoConfigDirs(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.CLI = nil
	p.install(Wish{Method: MethodSettings})
	second := p.opts
	second.ConfigDir = filepath.Join(p.root, "work")
	if _, err := New(second).Install(t.Context(), Wish{Method: MethodSettings}); err != nil {
		t.Fatal(err)
	}
	r := p.uninstall()
	if len(r.Elsewhere) != 1 || r.Elsewhere[0] != second.ConfigDir {
		t.Errorf("elsewhere %q", r.Elsewhere)
	}
	if p.get(filepath.Join(p.data, "marketplace/claude-mem/bin/claude-mem")) == "(none)" {
		t.Error("the programs that the other one uses are gone")
	}
	if _, err := New(second).Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.nothingOfOurs()
}

// TestWorkerIsStopped checks that the worker is stopped before its program is removed.
func TestWorkerIsStopped(t *testing.T) {
	p := newPlace(t, "{}")
	program := filepath.Join(p.data, "bin/claude-mem")
	stopped := 0
	p.opts.StopWorker = func(context.Context) error {
		if stopped++; p.get(program) == "(none)" {
			t.Error("the program is gone before the worker is")
		}
		return nil
	}
	p.install(Wish{Method: MethodPlugin})
	p.uninstall()
	p.uninstall()
	if stopped != 1 {
		t.Errorf("the worker was stopped %d times", stopped)
	}
}

// TestSetAside checks that a running program, which Windows cannot overwrite, is renamed
// and removed later.
func TestSetAside(t *testing.T) {
	p := newPlace(t, "{}")
	p.install(Wish{Method: MethodPlugin})
	aside := filepath.Join(p.data, "bin/claude-mem"+asideSuffix+"0")
	p.put(aside, "ran", 0o700)
	if plan, err := New(p.opts).Plan(Wish{Method: MethodPlugin}); err != nil || !plan.Empty() {
		t.Errorf("a program set aside is something to do: %+v, %v", plan, err)
	}
	p.install(Wish{Method: MethodPlugin})
	if p.get(aside) != "(none)" {
		t.Error("the program set aside is still there")
	}

	dir := t.TempDir()
	path := filepath.Join(dir, "there")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil { // cannot be renamed over
		t.Fatal(err)
	}
	if err := writeOver(path, func() error { return atomicfile.Write(path, []byte("new"), 0o600) }); err != nil {
		t.Fatal(err)
	}
	if got := p.get(path); got != "new" {
		t.Errorf("it is %q", got)
	}
}

// TestUninstallByTheProgram checks that the running program, which Windows cannot remove,
// is renamed and removed by the next install.
func TestUninstallByTheProgram(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.GOOS = "windows"
	p.install(Wish{Method: MethodPlugin})
	program := filepath.Join(p.data, "bin", "claude-mem.exe")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	p.put(filepath.Join(program, "locked"), "", 0o600) // a directory with a file in it cannot be removed, but renamed
	p.uninstall()
	if p.get(filepath.Join(program, "locked")) != "(none)" || p.get(filepath.Join(program+asideSuffix+"0", "locked")) != "" {
		t.Errorf("it was not set aside: %v", files(t, p.data))
	}
	if again := p.uninstall(); !again.Empty() {
		t.Errorf("a second uninstall would do %+v", again)
	}
}

func TestConfigDir(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		env, home, want string
		moved           bool
	}{
		{"", dir, filepath.Join(dir, ".claude"), false},
		{filepath.Join(dir, "c"), dir, filepath.Join(dir, "c"), true},
		{"", "", "", false},
	} {
		got, moved := ConfigDir(func(key string) string {
			if key == "CLAUDE_CONFIG_DIR" {
				return c.env
			}
			return ""
		}, c.home)
		if got != c.want || moved != c.moved {
			t.Errorf("ConfigDir(%q, %q) = %q, %v", c.env, c.home, got, moved)
		}
	}
}

// TestLetterCase fakes file systems that ignore letter case: hooks and a marketplace
// that name the data directory in another case are recognized as ours, on Linux not.
func TestLetterCase(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the file system here may ignore letter case itself")
	}
	for goos, want := range map[string]bool{"windows": true, "darwin": true, "linux": false} {
		for _, method := range []Method{MethodSettings, MethodPlugin} {
			t.Run(goos+"/"+string(method), func(t *testing.T) {
				p := newPlace(t, "{}")
				p.opts.GOOS = goos
				p.install(Wish{Method: method})
				other := strings.Replace(p.data, ".claude-mem", ".Claude-Mem", 1)
				for _, path := range []string{p.settings, filepath.Join(p.config, "plugins", "known_marketplaces.json")} {
					if method == MethodPlugin || path == p.settings {
						p.put(path, strings.ReplaceAll(p.get(path), p.data, other), 0o640)
					}
				}
				// With the other spelling, this file system finds other files; a link
				// stands in for one that finds the same.
				if goos == "darwin" {
					if err := os.Symlink(p.data, other); err != nil {
						t.Fatal(err)
					}
				} else {
					p.put(filepath.Join(other, "bin", programName("claude-mem-hook", goos)), "its twin", 0o700)
				}
				plan, err := New(p.opts).Plan(Wish{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				commands := len(plan.Commands) > 0
				h, err := readHost(p.config)
				if err != nil {
					t.Fatal(err)
				}
				if method == MethodSettings {
					if got := New(p.opts).entries(h).hooks > 0; got != want {
						t.Errorf("the hooks are ours: %v, want %v", got, want)
					}
				} else if commands == want {
					t.Errorf("commands %q; the marketplace is ours: want %v", plan.Commands, want)
				}
			})
		}
	}
}

func programName(name, goos string) string {
	if goos == "windows" {
		return name + ".exe"
	}
	return name
}

// TestSamePath compares paths that do not exist by their names.
func TestSamePath(t *testing.T) {
	for _, c := range []struct {
		goos, a, b string
		want       bool
	}{
		{"linux", "/none/a/../b", "/none/b", true},
		{"linux", "/none/a", "/none/A", false},
		{"darwin", "/none/a", "/none/A", true},
		{"windows", "C:/none/Ä", "c:/none/ä", true},
		{"windows", "C:/none/a", "D:/none/a", false},
	} {
		if got := New(Options{GOOS: c.goos}).samePath(c.a, c.b); got != c.want {
			t.Errorf("%s: samePath(%q, %q) = %v", c.goos, c.a, c.b, got)
		}
	}
}

// TestShellPaths installs below a directory whose name has the shell's special characters.
func TestShellPaths(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.DataDir = filepath.Join(p.root, "a $b `c` \"d\"")
	if runtime.GOOS == "windows" {
		p.opts.DataDir = filepath.Join(p.root, "a $b `c`")
	}
	p.install(Wish{Method: MethodSettings})
	var s struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	if err := json.Unmarshal([]byte(p.get(p.settings)), &s); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(p.opts.DataDir, "bin", "claude-mem-hook")
	command := s.Hooks["SessionStart"][0].Hooks[0].Command
	if got, ok := hook.ProgramOf(command); !ok || got != want || !strings.Contains(command, `\$b`) {
		t.Errorf("the command %s runs %q, want %q", command, got, want)
	}
	if runtime.GOOS != "windows" {
		p.put(want, "#!/bin/sh\necho $1\n", 0o700)
		launcher := filepath.Join(p.opts.DataDir, "marketplace", "claude-mem", "bin", "claude-mem-hook")
		for _, line := range [][]string{{"sh", "-c", command}, {launcher, "context"}} {
			if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil || string(out) != "context\n" {
				t.Errorf("%q prints %q, %v", line, out, err)
			}
		}
		p.put(want, "its twin", 0o700)
	}
	if plan := p.install(Wish{Method: MethodSettings}); !plan.Empty() {
		t.Errorf("a second one would do %+v", plan)
	}
	p.uninstall()
	if got := p.get(p.settings); got != "{}" {
		t.Errorf("settings.json is %q", got)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b": "/a/b", "/a b": "'/a b'", "": "''", "/it's": `'/it'\''s'`, "/$HOME/x": "'/$HOME/x'", "/ä": "'/ä'",
	} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
