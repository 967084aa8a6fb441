package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
	"claudemem/proof/fakeclaude"
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
			skillName:                    {Data: []byte(skillText)},
		},
	}
	return p
}

// skillText stands for the skill.
const skillText = "---\nname: mem-search\n---\n\n## Which operation\n\n| a table |\n\n## Notes\n\n- Not on the `PATH`: `\"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem\"`.\n"

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
	if _, err := New(p.opts).Plan(Wish{Method: MethodPlugin}); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("no CLI: %v", err)
	}
	p.opts.CLI = p.cli
	p.cli.refuse = true
	_, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin})
	if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "no plugins today") {
		t.Errorf("the CLI refuses: %v", err)
	}
	p.cli.refuse = false
	p.install(Wish{Method: MethodPlugin})
	if _, err := New(p.opts).Plan(Wish{Method: MethodSettings}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("both methods: %v", err)
	}
	p.uninstall()
	p.install(Wish{Method: MethodSettings})
	if _, err := New(p.opts).Plan(Wish{Method: MethodPlugin}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("both methods: %v", err)
	}
	p.opts.HookProgram = filepath.Join(p.root, "none")
	if _, err := New(p.opts).Plan(Wish{Method: MethodSettings}); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("no program: %v", err)
	}
}

// TestSilentFailure checks the error when the CLI reports success but has done nothing.
func TestSilentFailure(t *testing.T) {
	p := newPlace(t, "{}")
	p.opts.CLI = silentCLI{}
	if _, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin}); memory.CodeOf(err) != memory.CodeUnavailable {
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
	tries := 0
	err := writeOver(path, func() error { tries++; return fmt.Errorf("try %d", tries) })
	if err == nil || !strings.Contains(err.Error(), "try 1") || !strings.Contains(err.Error(), "try 2") || p.get(path) != "new" {
		t.Errorf("a write that fails twice: %v, it is %q", err, p.get(path))
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
