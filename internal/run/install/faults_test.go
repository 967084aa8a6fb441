package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

var errKilled = errors.New("killed")

// steps returns the number of steps of an operation in a new place.
func steps(t *testing.T, prepare func(*place), run func(*Installer) error) int {
	p := newPlace(t, userSettings["four spaces"])
	prepare(p)
	in, n := New(p.opts), 0
	in.step = func(string) error { n++; return nil }
	if err := run(in); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestKilledInstall kills an install before each of its steps: the next install completes
// it, and an uninstall undoes it.
func TestKilledInstall(t *testing.T) {
	for _, method := range []Method{MethodPlugin, MethodSettings} {
		run := func(in *Installer) error { _, err := in.Install(t.Context(), Wish{Method: method}); return err }
		n := steps(t, func(*place) {}, run)
		if n < 5 {
			t.Fatalf("only %d steps", n)
		}
		for kill := 1; kill <= n; kill++ {
			for _, then := range []string{"install", "uninstall"} {
				t.Run(fmt.Sprintf("%s/%d/%s", method, kill, then), func(t *testing.T) {
					p := newPlace(t, userSettings["four spaces"])
					killAt(t, p, kill, run)
					if then == "install" {
						p.install(Wish{Method: method})
						if plan := p.install(Wish{Method: method}); !plan.Empty() {
							t.Errorf("still to do: %+v", plan)
						}
					}
					p.uninstall()
					if got := p.get(p.settings); got != userSettings["four spaces"] {
						t.Errorf("settings.json is %q", got)
					}
					p.nothingOfOurs()
				})
			}
		}
	}
}

func TestKilledUninstall(t *testing.T) {
	installed := func(p *place) { p.install(Wish{Method: MethodPlugin}) }
	run := func(in *Installer) error { _, err := in.Uninstall(t.Context()); return err }
	n := steps(t, installed, run)
	for kill := 1; kill <= n; kill++ {
		for _, then := range []string{"uninstall", "install"} {
			t.Run(fmt.Sprintf("%d/%s", kill, then), func(t *testing.T) {
				p := newPlace(t, userSettings["four spaces"])
				installed(p)
				killAt(t, p, kill, run)
				if then == "install" {
					p.install(Wish{Method: MethodPlugin})
					if plan := p.install(Wish{Method: MethodPlugin}); !plan.Empty() {
						t.Errorf("still to do: %+v", plan)
					}
				}
				p.uninstall()
				if got := p.get(p.settings); got != userSettings["four spaces"] {
					t.Errorf("settings.json is %q", got)
				}
				p.nothingOfOurs()
			})
		}
	}
}

func killAt(t *testing.T, p *place, kill int, run func(*Installer) error) {
	t.Helper()
	in, n := New(p.opts), 0
	in.step = func(string) error {
		if n++; n == kill {
			return errKilled
		}
		return nil
	}
	if err := run(in); !errors.Is(err, errKilled) {
		t.Fatalf("step %d: %v, want killed", kill, err)
	}
}

// TestDiskFull makes each write fail: settings.json is complete, the error names the
// cause, and the next run completes the install.
func TestDiskFull(t *testing.T) {
	for full := 1; ; full++ {
		p := newPlace(t, userSettings["crlf and BOM"])
		in, n := New(p.opts), 0
		in.write = func(path string, data []byte, mode fs.FileMode) error {
			if n++; n == full {
				return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
			}
			return writeFile(path, data, mode)
		}
		_, err := in.Install(t.Context(), Wish{Method: MethodPlugin})
		if n < full {
			if full < 4 {
				t.Fatalf("only %d writes", full)
			}
			return
		}
		if memory.CodeOf(err) != memory.CodeStorage || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("write %d: %v", full, err)
		}
		if _, err := jsonscan.Parse([]byte(p.get(p.settings))); err != nil {
			t.Errorf("write %d: settings.json is broken: %v", full, err)
		}
		p.install(Wish{Method: MethodPlugin})
		p.uninstall()
		if got := p.get(p.settings); got != userSettings["crlf and BOM"] {
			t.Errorf("write %d: settings.json is %q", full, got)
		}
	}
}

func TestReadOnlyHome(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		// Modes do not bind root: a file in the directory's place does.
		p := newPlace(t, userSettings["tabs"])
		p.opts.DataDir = filepath.Join(p.program, "data")
		in := New(p.opts)
		if _, err := in.Install(t.Context(), Wish{Method: MethodPlugin}); memory.CodeOf(err) != memory.CodeStorage {
			t.Errorf("install: %v, want storage", err)
		}
		if got := p.get(p.settings); got != userSettings["tabs"] || p.cli.calls != nil {
			t.Errorf("settings.json is %q, commands %q", got, p.cli.calls)
		}
		return
	}
	p := newPlace(t, userSettings["tabs"])
	for _, dir := range []string{p.config, p.data} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		if _, err := New(p.opts).Install(t.Context(), Wish{Method: MethodSettings}); memory.CodeOf(err) != memory.CodeStorage {
			t.Errorf("install: %v, want storage", err)
		}
		_ = os.Chmod(dir, 0o700)
	}
	if got := p.get(p.settings); got != userSettings["tabs"] {
		t.Errorf("settings.json is %q", got)
	}
}

// TestBrokenFiles checks that with a file that cannot be parsed nothing is changed.
func TestBrokenFiles(t *testing.T) {
	for name, c := range map[string]struct{ file, text string }{
		"half":                  {"settings.json", `{"a": 1,`},
		"comment":               {"settings.json", "{\n  // mine\n  \"a\": 1\n}"},
		"list":                  {"settings.json", `[]`},
		"null":                  {"settings.json", `null`},
		"two":                   {"settings.json", `{} {}`},
		"enabledPlugins a list": {"settings.json", `{"enabledPlugins": []}`},
		"the host's books":      {"plugins/known_marketplaces.json", `{`},
	} {
		for _, method := range []Method{MethodPlugin, MethodSettings} {
			if name == "enabledPlugins a list" && method == MethodSettings {
				continue // hooks are not there
			}
			t.Run(name+"/"+string(method), func(t *testing.T) {
				p := newPlace(t, "{}")
				path := filepath.Join(p.config, filepath.FromSlash(c.file))
				p.put(path, c.text, 0o600)
				_, err := New(p.opts).Install(t.Context(), Wish{Method: method})
				var e *memory.Error
				if !errors.As(err, &e) || e.Code != memory.CodeInvalid || e.Hint == "" || !strings.Contains(e.Message, filepath.Base(path)) {
					t.Fatalf("install: %v", err)
				}
				if p.get(path) != c.text || p.cli.calls != nil {
					t.Errorf("%s is %q, commands %q", c.file, p.get(path), p.cli.calls)
				}
				for name := range files(t, p.data) {
					if name != "memory.db" && name != "install.lock" {
						t.Errorf("%s was written", name)
					}
				}
			})
		}
	}
}

// TestLinkedSettings installs into a settings.json that is a link, as people have it who
// keep it in a repository.
func TestLinkedSettings(t *testing.T) {
	for _, dangling := range []bool{false, true} {
		for _, method := range []Method{MethodPlugin, MethodSettings} {
			t.Run(fmt.Sprintf("%s/dangling %v", method, dangling), func(t *testing.T) {
				p := newPlace(t, "")
				real := filepath.Join(p.root, "dotfiles", "claude.json")
				p.put(real, userSettings["tabs"], 0o644)
				if dangling {
					_ = os.Remove(real)
				}
				if err := os.MkdirAll(p.config, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join("..", "..", "dotfiles", "claude.json"), p.settings); err != nil {
					t.Skip(err)
				}
				p.install(Wish{Method: method})
				if !strings.Contains(p.get(real), "claude-mem") {
					t.Errorf("the linked file is %s", p.get(real))
				}
				p.uninstall()
				want := userSettings["tabs"]
				if dangling {
					want = "(none)"
				}
				if got := p.get(real); got != want {
					t.Errorf("the linked file is %q", got)
				}
				if info, err := os.Lstat(p.settings); err != nil || info.Mode()&fs.ModeSymlink == 0 {
					t.Errorf("the link is gone: %v", err)
				}
			})
		}
	}
}

func TestHugeSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and about nothing concurrent")
	}
	var b strings.Builder
	b.WriteString("{\n  \"permissions\": {\n    \"allow\": [\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "      \"Bash(command number %d)\",\n", i)
	}
	b.WriteString("      \"Bash(ls)\"\n    ]\n  }\n}\n")
	p := newPlace(t, b.String())
	p.install(Wish{Method: MethodSettings})
	p.uninstall()
	if p.get(p.settings) != b.String() {
		t.Error("a huge settings.json is not given back")
	}

	f, err := os.Create(p.settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(largestFile+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := New(p.opts).Plan(Wish{Method: MethodSettings}); memory.CodeOf(err) != memory.CodeTooLarge {
		t.Errorf("plan: %v, want too large", err)
	}
}

// TestTwoAtOnce runs two installs at once: they share no step, and the second has nothing
// to do.
func TestTwoAtOnce(t *testing.T) {
	p := newPlace(t, userSettings["tabs"])
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin}); err != nil {
				t.Errorf("install: %v", err)
			}
		})
	}
	wg.Wait()
	want := []string{"plugin marketplace add " + filepath.Join(p.data, "marketplace"), "plugin install " + PluginID}
	if diff := cmp.Diff(want, p.cli.calls); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	p.uninstall()
	if got := p.get(p.settings); got != userSettings["tabs"] {
		t.Errorf("settings.json is %q", got)
	}
}

func TestLockIsHeld(t *testing.T) {
	p := newPlace(t, "")
	holder := New(p.opts)
	unlock, err := holder.takeLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	p.opts.LockWait = time.Millisecond
	if _, err := New(p.opts).Install(t.Context(), Wish{Method: MethodPlugin}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("install: %v, want conflict", err)
	}
	if _, err := New(p.opts).Uninstall(t.Context()); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("uninstall: %v, want conflict", err)
	}
}

// TestLeftoversOfKilledCopies checks that the temporary files of a run that was killed
// while it wrote are removed, so that an uninstall leaves no directory of programs.
func TestLeftoversOfKilledCopies(t *testing.T) {
	p := newPlace(t, "{}")
	left := []string{
		filepath.Join(p.data, "bin", ".claude-mem.claude-mem-123"),
		filepath.Join(p.data, "bin", ".claude-mem-hook.claude-mem-456"),
		filepath.Join(filepath.Dir(p.config), "..claude.json.claude-mem-789"),
	}
	for name, run := range map[string]func(){
		"install":   func() { p.install(Wish{Method: MethodPlugin}) },
		"uninstall": func() { p.uninstall() },
	} {
		p.install(Wish{Method: MethodPlugin})
		for _, path := range left {
			p.put(path, "half a pro", 0o600)
		}
		run()
		for _, path := range left {
			if openfile.Exists(path) {
				t.Errorf("%s leaves %s", name, path)
			}
		}
	}
	p.uninstall()
	if openfile.Exists(filepath.Join(p.data, "bin")) {
		t.Error("the directory of the programs is left")
	}
}

// TestChangeAfterKilledUninstall changes settings.json after an uninstall was killed: what
// the user changed stays, and so does the backup, which is the only copy of the old bytes.
func TestChangeAfterKilledUninstall(t *testing.T) {
	const before = "{\n    \"model\": \"a\"\n}\n"
	killed := func(t *testing.T) *place {
		p := newPlace(t, before)
		p.opts.CLI = nil
		p.install(Wish{Method: MethodSettings})
		in := New(p.opts)
		in.step = func(name string) error {
			if name == "restore settings.json" {
				return errKilled
			}
			return nil
		}
		if _, err := in.Uninstall(t.Context()); !errors.Is(err, errKilled) {
			t.Fatalf("uninstall: %v, want it killed", err)
		}
		return p
	}
	t.Run("uninstall", func(t *testing.T) {
		p := killed(t)
		p.put(p.settings, strings.Replace(p.get(p.settings), `"a"`, `"b"`, 1), 0o600)
		p.uninstall()
		if got, want := p.get(p.settings), strings.Replace(before, `"a"`, `"b"`, 1); got != want {
			t.Errorf("settings.json is %q, want %q", got, want)
		}
		backups := files(t, backupsDir(p.data, p.config))
		if len(backups) != 1 || !slices.Contains(slices.Collect(maps.Values(backups)), before) {
			t.Errorf("backups %q, want that of settings.json", backups)
		}
	})
	t.Run("install and uninstall", func(t *testing.T) {
		p := killed(t)
		p.install(Wish{Method: MethodSettings})
		p.put(p.settings, strings.Replace(p.get(p.settings), `    "model": "a"`, `  "model":  "a"`, 1), 0o600)
		p.uninstall()
		if got, want := p.get(p.settings), strings.Replace(before, `    "model": "a"`, `  "model":  "a"`, 1); got != want {
			t.Errorf("settings.json is %q, want the user's layout %q", got, want)
		}
	})
}
