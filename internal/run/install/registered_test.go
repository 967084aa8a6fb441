package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/capture/hook"
)

// TestReadRegistered reads files as Claude Code and users write them, and broken ones.
func TestReadRegistered(t *testing.T) {
	const ours = "claude-mem@claude-mem-local"
	shop := filepath.Join(t.TempDir(), "shop")
	at := func(path string) string { return filepath.ToSlash(path) }
	for name, test := range map[string]struct {
		files map[string]string
		want  Registered
	}{
		"nothing": {},
		"ours, in place": {
			files: map[string]string{
				"settings.json":                   `{"enabledPlugins":{"` + ours + `":true,"other@shop":true}}`,
				"plugins/installed_plugins.json":  `{"version":2,"plugins":{"` + ours + `":[{"scope":"user","version":"1.2.3","installPath":"/cache"}]}}`,
				"plugins/known_marketplaces.json": `{"claude-mem-local":{"source":{"source":"directory","path":"` + at(shop) + `"}}}`,
			},
			want: Registered{Ours: []Registration{{ID: ours, Plugin: true, Enabled: true, Version: "1.2.3", Root: filepath.Join(shop, "claude-mem")}}},
		},
		"an older book, switched off": {
			files: map[string]string{
				"settings.json":                  `{"enabledPlugins":{"` + ours + `":false}}`,
				"plugins/installed_plugins.json": `{"version":1,"plugins":{"` + ours + `":{"version":"1.0.0","installPath":"/cache"}}}`,
			},
			want: Registered{Ours: []Registration{{ID: ours, Plugin: true, Version: "1.0.0", Root: "/cache"}}},
		},
		"the Node program's": {
			files: map[string]string{"settings.json": `{"enabledPlugins":{"claude-mem@thedotmack":true}}`},
			want:  Registered{Others: []Registration{{ID: "claude-mem@thedotmack", Plugin: true, Enabled: true}}},
		},
		"plain hooks and no hooks": {
			files: map[string]string{
				"settings.json":       "\xef\xbb\xbf" + `{"disableAllHooks":true}`,
				"settings.local.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/claude-mem-hook summary"}]}],"Odd":7}}`,
			},
			want: Registered{
				Ours:          []Registration{{ID: "DIR/settings.local.json", Enabled: true, Hook: "/opt/claude-mem-hook"}},
				HooksDisabled: "DIR/settings.json",
			},
		},
		"broken and absurd": {
			files: map[string]string{
				"settings.json":                   `{"enabledPlugins":[]}`,
				"plugins/installed_plugins.json":  `{"plugins":{"` + ours + `":"yes"}`,
				"plugins/known_marketplaces.json": ``,
			},
			want: Registered{Unreadable: []string{"DIR/settings.json", "DIR/plugins/installed_plugins.json"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeText(t, filepath.Join(shop, ".claude-plugin", "marketplace.json"), `{"plugins":[{"name":"claude-mem","source":"./claude-mem"}]}`)
			for file, content := range test.files {
				writeText(t, filepath.Join(dir, file), content)
			}
			got := ReadRegistered(dir)
			short := func(path string) string { return filepath.ToSlash(strings.Replace(path, dir, "DIR", 1)) }
			got.HooksDisabled = short(got.HooksDisabled)
			for i := range got.Ours {
				got.Ours[i].ID = short(got.Ours[i].ID)
			}
			for i := range got.Unreadable {
				got.Unreadable[i] = short(got.Unreadable[i])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPluginPrograms(t *testing.T) {
	root := t.TempDir()
	if _, err := PluginPrograms(root); err == nil {
		t.Error("programs without a hooks.json")
	}
	for _, hooks := range []string{hook.CheckoutPath, "${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook", filepath.Join(root, "a b", "claude-mem-hook")} {
		writeText(t, filepath.Join(root, "hooks", "hooks.json"), string(hook.HooksJSON("linux", hooks)))
		writeText(t, filepath.Join(root, ".mcp.json"), `{"mcpServers":{"memory":{"command":"${CLAUDE_PLUGIN_ROOT}/../bin/claude-mem"}}}`)
		want := []string{filepath.FromSlash(strings.ReplaceAll(hooks, "${CLAUDE_PLUGIN_ROOT}", root)), filepath.FromSlash(root + "/../bin/claude-mem")}
		if got, err := PluginPrograms(root); err != nil || !slices.Equal(got, want) {
			t.Errorf("programs %q, %v, want %q", got, err, want)
		}
	}
}

func writeText(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
