package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claudemem/internal/run/install"
	"claudemem/proof/fakeclaude"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// init makes the test binary be claude too, where a scenario has put it under that name.
func init() {
	if name := filepath.Base(os.Args[0]); strings.TrimSuffix(name, ".exe") != "claude" {
		return
	}
	args := os.Args[1:]
	if log, err := os.OpenFile(os.Getenv("FAKE_CLAUDE_CALLS"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
		_, _ = fmt.Fprintln(log, strings.Join(args, " "))
		_ = log.Close()
	}
	dir := os.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".claude")
	}
	os.Exit(fakeclaude.Run(dir, args, os.Stdout))
}

// fakeClaude puts a stand-in for the host's CLI first in PATH and keeps any real
// one out of it; its calls are in the file calls. `! fakeclaude` takes it away.
func fakeClaude(ts *testscript.TestScript, neg bool, _ []string) {
	work := ts.Getenv("WORK")
	program, err := exec.LookPath("claude-mem")
	ts.Check(err)
	path := filepath.Dir(program)
	ts.Setenv("FAKE_CLAUDE_CALLS", filepath.Join(work, "calls"))
	ts.Check(os.RemoveAll(filepath.Join(work, "cli")))
	if !neg {
		ts.Check(os.MkdirAll(filepath.Join(work, "cli"), 0o700))
		program, err = filepath.EvalSymlinks(program)
		ts.Check(err)
		ts.Check(os.Link(program, filepath.Join(work, "cli", "claude"+filepath.Ext(program))))
		path = filepath.Join(work, "cli") + string(filepath.ListSeparator) + path
	}
	ts.Setenv("PATH", path)
}

// What a person is shown before anything is changed.
func TestShownPlans(t *testing.T) {
	before := []byte("{\n\t\"model\": \"m\"\n}\n")
	after := []byte("{\n\t\"model\": \"m\",\n\t\"enabledPlugins\": {\n\t\t\"claude-mem@claude-mem-local\": true\n\t}\n}\n")
	change := func(path, do string, size int64) install.Change {
		return install.Change{Path: filepath.FromSlash("/data/" + path), Do: do, Size: size}
	}
	edit := func(do string, before, after []byte) install.Change {
		return install.Change{Path: "/home/dev/.claude/settings.json", Do: do, Before: before, After: after}
	}
	plans := map[string]func(*printer){
		"install": func(p *printer) {
			showPlan(p, &install.Plan{
				Method: install.MethodPlugin, Version: "1.2.3", Directory: filepath.FromSlash("/data"),
				Plugin: []install.Change{
					change("bin/claude-mem", install.DoCreate, 70_000_000), change("bin/claude-mem-hook", install.DoCreate, 2_300_000),
					change("marketplace/claude-mem/.mcp.json", install.DoCreate, 100), change("marketplace/claude-mem/hooks/hooks.json", install.DoCreate, 2000),
				},
				Files:    []install.Change{edit(install.DoEdit, before, after)},
				Commands: [][]string{{"plugin", "marketplace", "add", "/data dir/marketplace"}, {"plugin", "install", install.PluginID}},
			})
		},
		"upgrade": func(p *printer) {
			showPlan(p, &install.Plan{
				Method: install.MethodPlugin, Version: "1.3.0", Replaces: "1.2.3", Directory: filepath.FromSlash("/data"), Unfinished: true,
				Plugin:   []install.Change{change("bin/claude-mem", install.DoReplace, 70_000_000), change("marketplace/claude-mem/skills/old.md", install.DoRemove, 0)},
				Commands: [][]string{{"plugin", "update", install.PluginID}},
			})
		},
		"settings": func(p *printer) {
			showPlan(p, &install.Plan{Method: install.MethodSettings, Version: "1.2.3", Files: []install.Change{
				// One line without an end, and what a terminal must not be sent.
				edit(install.DoCreate, nil, []byte(`{"a":"`+"\x1b[31m"+strings.Repeat("x", 300)+`"}`)),
			}})
		},
		"uninstall": func(p *printer) {
			showRemoval(p, &install.Removal{
				Files: []install.Change{
					edit(install.DoEdit, after, before),
					{Path: "/home/dev/.claude/plugins/installed_plugins.json", Do: install.DoEdit, Before: after, After: before},
				},
				Restored:    []string{"/home/dev/.claude/settings.json"},
				Commands:    [][]string{{"plugin", "marketplace", "remove", install.Marketplace}},
				Directories: []string{"/data/marketplace", "/data/bin"},
				Enable:      []string{install.NodePluginID},
			})
		},
	}
	for name, show := range plans {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			show(&printer{w: &out})
			got := filepath.ToSlash(out.String())
			golden := filepath.Join("testdata", "install", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("shown differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// The choice of the observer is shown with what it costs and how to change it.
func TestObserverChoice(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("PATH", bin)
	must(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".claude", ".credentials.json"), []byte(`{"claudeAiOauth":{"accessToken":"a","refreshToken":"b"}}`), 0o600))
	for _, c := range []struct {
		provider  string
		cli       bool
		who, cost string
		change    string
	}{
		{"auto", true, "your claude command with haiku", "2,000,000 tokens a day", "PROVIDER offline"},
		{"auto", false, "no claude command was found", "nothing", "PROVIDER anthropic"},
		{"offline", true, "no model", "nothing", "PROVIDER auto"},
		{"anthropic", true, "CLAUDE_MEM_ANTHROPIC_API_KEY", "provider's price", "PROVIDER offline"},
		{"ollama", false, "on this machine", "no money", "PROVIDER offline"},
	} {
		t.Run(fmt.Sprint(c.provider, c.cli), func(t *testing.T) {
			name := filepath.Join(bin, "claude")
			if runtime.GOOS == "windows" {
				name += ".exe"
			}
			_ = os.Remove(name)
			if c.cli {
				if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			a, _, _ := testApp(t, map[string]string{"HOME": home, "CLAUDE_MEM_DATA_DIR": t.TempDir(), "CLAUDE_MEM_PROVIDER": c.provider})
			got := a.observerChoice()
			if got.Provider != c.provider || !strings.Contains(got.Who, c.who) || !strings.Contains(got.Cost, c.cost) || !strings.Contains(got.Change, c.change) {
				t.Errorf("got %+v, want %+v", got, c)
			}
		})
	}
}

// A question takes one line, so that the next one gets the next.
func TestOneLineAQuestion(t *testing.T) {
	r := strings.NewReader("y\nno\n")
	for _, want := range []string{"y\n", "no\n"} {
		got := make([]byte, 16)
		n := 0
		for n == 0 || got[n-1] != '\n' {
			m, err := oneByte{r}.Read(got[n:])
			if err != nil || m > 1 {
				t.Fatalf("read %d bytes, %v", m, err)
			}
			n += m
		}
		if string(got[:n]) != want {
			t.Errorf("got %q, want %q", got[:n], want)
		}
	}
	if _, err := (oneByte{r}).Read(make([]byte, 4)); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// TestObserverOfAuto: install says what auto does with the login of Claude Code.
func TestObserverOfAuto(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the login may be in a keychain")
	}
	for name, test := range map[string]struct{ variable, settings, who, cost, change string }{
		"no login":            {who: "the claude command has no login", cost: "nothing", change: "/login"},
		"a key in the shell":  {variable: "ANTHROPIC_API_KEY", who: "ANTHROPIC_API_KEY of your shell is not used", cost: "nothing", change: "CLAUDE_MEM_PROVIDER anthropic"},
		"Bedrock":             {variable: "CLAUDE_CODE_USE_BEDROCK", who: "CLAUDE_CODE_USE_BEDROCK of your shell is not used", cost: "nothing", change: "settings.json"},
		"a helper":            {settings: `{"apiKeyHelper":"get"}`, who: "with apiKeyHelper of its settings", cost: "charged to that account", change: "PROVIDER offline"},
		"a key beside helper": {variable: "ANTHROPIC_API_KEY", settings: `{"apiKeyHelper":"get"}`, who: "its own login (ANTHROPIC_API_KEY of your shell is not used)", cost: "charged", change: "PROVIDER offline"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if test.settings != "" {
				must(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
				must(t, os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(test.settings), 0o600))
			}
			a, _, _ := testApp(t, map[string]string{"HOME": home, test.variable: "1"})
			c := observerChoice{Change: "claude-mem config set PROVIDER offline"}
			c.auto(a, "haiku", "caps")
			if !strings.Contains(c.Who, test.who) || !strings.Contains(c.Cost, test.cost) || !strings.Contains(c.Change, test.change) {
				t.Errorf("got %+v, want %+v", c, test)
			}
		})
	}
}
