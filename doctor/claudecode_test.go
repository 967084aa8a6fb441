package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What Claude Code's files say, as it and others write them.
func TestLook(t *testing.T) {
	const ours = "claude-mem@claude-mem-local"
	shop := filepath.Join(t.TempDir(), "shop")
	at := func(path string) string { return filepath.ToSlash(path) }
	for name, test := range map[string]struct {
		files map[string]string
		want  Installation
	}{
		"nothing": {},
		"ours, in place": {
			files: map[string]string{
				"settings.json":                   `{"enabledPlugins":{"` + ours + `":true,"other@shop":true}}`,
				"plugins/installed_plugins.json":  `{"version":2,"plugins":{"` + ours + `":[{"scope":"user","version":"1.2.3","installPath":"/cache"}]}}`,
				"plugins/known_marketplaces.json": `{"claude-mem-local":{"source":{"source":"directory","path":"` + at(shop) + `"}}}`,
			},
			want: Installation{Ours: []Registration{{ID: ours, Plugin: true, Enabled: true, Version: "1.2.3", Root: filepath.Join(shop, "claude-mem")}}},
		},
		"an older book, switched off": {
			files: map[string]string{
				"settings.json":                  `{"enabledPlugins":{"` + ours + `":false}}`,
				"plugins/installed_plugins.json": `{"version":1,"plugins":{"` + ours + `":{"version":"1.0.0","installPath":"/cache"}}}`,
			},
			want: Installation{Ours: []Registration{{ID: ours, Plugin: true, Version: "1.0.0", Root: "/cache"}}},
		},
		"the Node program's": {
			files: map[string]string{"settings.json": `{"enabledPlugins":{"claude-mem@thedotmack":true}}`},
			want:  Installation{Node: []Registration{{ID: "claude-mem@thedotmack", Plugin: true, Enabled: true}}},
		},
		"plain hooks and no hooks": {
			files: map[string]string{
				"settings.json":       "\xef\xbb\xbf" + `{"disableAllHooks":true}`,
				"settings.local.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/claude-mem-hook summary"}]}],"Odd":7}}`,
			},
			want: Installation{
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
			want: Installation{Unreadable: []string{"DIR/settings.json", "DIR/plugins/installed_plugins.json"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(shop, ".claude-plugin", "marketplace.json"), `{"plugins":[{"name":"claude-mem","source":"./claude-mem"}]}`)
			for file, content := range test.files {
				write(t, filepath.Join(dir, file), content)
			}
			got, err := ClaudeCode{Dir: dir}.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
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

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzLook: whatever is in the host's files, there is an answer.
func FuzzLook(f *testing.F) {
	f.Add(`{"enabledPlugins":{"claude-mem@x":true},"hooks":{"Stop":[{"hooks":[{"command":"claude-mem-hook"}]}]}}`, `{"plugins":{"claude-mem@x":[{"installPath":"/a"}]}}`, `{"x":{"source":{"source":"directory","path":"/a"}}}`)
	f.Add("\xef\xbb\xbf{}", `[]`, `null`)
	f.Fuzz(func(t *testing.T, settings, installed, known string) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "settings.json"), settings)
		write(t, filepath.Join(dir, "plugins", "installed_plugins.json"), installed)
		write(t, filepath.Join(dir, "plugins", "known_marketplaces.json"), known)
		seen, err := ClaudeCode{Dir: dir}.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := Examine(t.Context(), Config{HostDir: dir, Plugins: fixed{seen}, Getenv: func(string) string { return "" }})
		for _, f := range r.Findings {
			if f.Name == "check-failed" || strings.ContainsAny(f.Text, "\n\r\x1b") {
				t.Errorf("%s: %q", f.Name, f.Text)
			}
		}
	})
}

type fixed struct{ seen Installation }

func (f fixed) Look(context.Context) (Installation, error) { return f.seen, nil }
