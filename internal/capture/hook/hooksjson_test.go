package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHooksJSONMatchesPlugin keeps plugin/hooks/hooks.json generated: `go test
// ./internal/capture/hook -run HooksJSON -update` writes it.
func TestHooksJSONMatchesPlugin(t *testing.T) {
	path := filepath.Join("..", "..", "..", "plugin", "hooks", "hooks.json")
	want := HooksJSON("linux", CheckoutPath)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what HooksJSON generates; run the test with -update", path)
	}
}

// The names are written out here, because one too many disables the plugin on an older host.
func TestHooksJSONRegistersExactly(t *testing.T) {
	want := []string{"PostToolUse", "PostToolUseFailure", "PreCompact", "SessionEnd", "SessionStart", "Stop", "SubagentStop", "UserPromptSubmit"}
	timeouts := map[string]int{"SessionStart": 10, "SessionEnd": 2}
	for goos, path := range map[string]string{"linux": "/home/ada/$x/claude-mem-hook", "darwin": CheckoutPath, "windows": `C:\Users\Ada L\claude-mem-hook.exe`} {
		var file struct {
			Hooks map[string][]struct {
				Hooks []struct {
					Type, Command string
					Args          []string
					Timeout       int
					Async         *bool
				}
			}
		}
		if err := json.Unmarshal(HooksJSON(goos, path), &file); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name, groups := range file.Hooks {
			got = append(got, name)
			if len(groups) != 1 || len(groups[0].Hooks) != 1 {
				t.Fatalf("%s: %s has %d groups, want one hook", goos, name, len(groups))
			}
			h := groups[0].Hooks[0]
			wantTimeout := 5
			if other, ok := timeouts[name]; ok {
				wantTimeout = other
			}
			if h.Type != "command" || h.Timeout != wantTimeout || h.Async != nil {
				t.Errorf("%s: %s is %+v", goos, name, h)
			}
			if goos == "windows" {
				if len(h.Args) != 1 || h.Command != path {
					t.Errorf("windows: %s runs %q %q", name, h.Command, h.Args)
				}
			} else if h.Args != nil || !strings.HasPrefix(h.Command, map[string]string{
				"linux":  `trap 'exit 0' EXIT;"/home/ada/\$x/claude-mem-hook" `,
				"darwin": `trap 'exit 0' EXIT;"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook" `,
			}[goos]) || !strings.HasSuffix(h.Command, ` 2>/dev/null || exit 0`) {
				t.Errorf("%s: %s runs %q %q", goos, name, h.Command, h.Args)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s registers %q, want %q", goos, got, want)
		}
	}
}

func TestPluginManifest(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "plugin", ".claude-plugin", "plugin.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Name, Version, Description, License string
		Author                              struct{ Name string }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "claude-mem" || m.Version == "" || m.Description == "" || m.License != "Apache-2.0" || m.Author.Name == "" {
		t.Errorf("plugin.json lacks something: %+v", m)
	}
}

func TestProgramOf(t *testing.T) {
	for command, want := range map[string]string{
		`"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook" save`:                "${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook",
		shellLine("/home/a b/$x;'/bin/claude-mem-hook", string(VerbSave)): "/home/a b/$x;'/bin/claude-mem-hook",
		`"/home/a b/\$x/bin/claude-mem-hook" context`:                     "/home/a b/$x/bin/claude-mem-hook",
		`/opt/claude-mem-hook save`:                                       "/opt/claude-mem-hook",
		`claude-mem-hook`:                                                 "claude-mem-hook",
		`C:\Users\me\.claude-mem\bin\claude-mem-hook.exe`:                 `C:\Users\me\.claude-mem\bin\claude-mem-hook.exe`,
		`node worker.js`:                                                  "",
		``:                                                                "",
		`'/opt/my tools/claude-mem-hook' save`:                            "/opt/my tools/claude-mem-hook",
		`/x/claude-mem-hook-dir/bin/claude-mem-hook save --host x`:        "/x/claude-mem-hook-dir/bin/claude-mem-hook",
	} {
		if got, ok := ProgramOf(command); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", command, got, ok, want)
		}
	}
}
