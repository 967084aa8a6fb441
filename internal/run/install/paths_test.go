package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claudemem/internal/capture/hook"
)

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

// TestMarketplaceDeclaredElsewhere checks that an install corrects the path of our
// marketplace in the user's settings, alone and together with an upgrade.
func TestMarketplaceDeclaredElsewhere(t *testing.T) {
	for _, version := range []string{"v1.2.3", "v1.2.4"} {
		t.Run(version, func(t *testing.T) {
			p := newPlace(t, userSettings["tabs"])
			p.install(Wish{Method: MethodPlugin})
			want := p.get(p.settings)
			shop := filepath.Join(p.data, "marketplace")
			p.put(p.settings, strings.Replace(want, shop, filepath.Join(p.root, "elsewhere"), 1), 0o640)
			p.opts.Version = version
			p.install(Wish{Method: MethodPlugin})
			if got := p.get(p.settings); got != want {
				t.Errorf("settings.json is\n%s\nwant\n%s", got, want)
			}
			if plan := p.install(Wish{Method: MethodPlugin}); !plan.Empty() {
				t.Errorf("still to do: %+v", plan)
			}
			p.uninstall()
			if got := p.get(p.settings); got != userSettings["tabs"] {
				t.Errorf("settings.json after uninstall is %q", got)
			}
			p.nothingOfOurs()
		})
	}
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
