package setup

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claudemem/cmd/claude-mem/internal/print"
	"claudemem/internal/run/install"

	"github.com/google/go-cmp/cmp"
)

// update renews the golden files: read them before they are committed.
var update = flag.Bool("update", false, "renew the golden files")

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
	plans := map[string]func(*print.Printer){
		"install": func(p *print.Printer) {
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
		"upgrade": func(p *print.Printer) {
			showPlan(p, &install.Plan{
				Method: install.MethodPlugin, Version: "1.3.0", Replaces: "1.2.3", Directory: filepath.FromSlash("/data"), Unfinished: true,
				Plugin:   []install.Change{change("bin/claude-mem", install.DoReplace, 70_000_000), change("marketplace/claude-mem/skills/old.md", install.DoRemove, 0)},
				Commands: [][]string{{"plugin", "update", install.PluginID}},
			})
		},
		"settings": func(p *print.Printer) {
			showPlan(p, &install.Plan{Method: install.MethodSettings, Version: "1.2.3", Files: []install.Change{
				// One line without an end, and what a terminal must not be sent.
				edit(install.DoCreate, nil, []byte(`{"a":"`+"\x1b[31m"+strings.Repeat("x", 300)+`"}`)),
			}})
		},
		"uninstall": func(p *print.Printer) {
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
			show(&print.Printer{W: &out})
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
