//go:build unix

package doctor

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/store"
	"claudemem/internal/run/doctor"
)

// patient is an installation that a test breaks: a memory with a session in it,
// and a Claude Code that has our plugin.
type patient struct {
	*world.Memory
	host string // Claude Code's directory
	// bin is where the two binaries are run from.
	bin string
	// as is the user that commands run as, nil for the test's own.
	as *syscall.Credential
}

// seeded is a memory that a session was captured into, its worker stopped: made
// once, copied for each patient.
var seeded struct {
	once sync.Once
	dir  string
}

func seed(t *testing.T) string {
	t.Helper()
	seeded.once.Do(func() {
		m := world.NewMemory(t)
		verbs, payloads := world.CrashPayloads(0, 2*(world.TurnTools+2))
		for i := range payloads {
			m.Send(verbs[i], payloads[i])
		}
		m.Settle(30 * time.Second)
		m.AwaitIndex()
		m.MustCommand("worker", "stop")
		dir := filepath.Join(world.BinDir(), "seeded")
		if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
			t.Fatal(err)
		}
		seeded.dir = dir
	})
	if seeded.dir == "" {
		t.Fatal("there is no seed")
	}
	return seeded.dir
}

// newPatient makes a healthy installation in a directory of its own that other
// users can reach.
func newPatient(t *testing.T) *patient {
	t.Helper()
	world.NeedBinaries(t)
	from := seed(t)
	home, err := os.MkdirTemp("", "cm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	p := &patient{
		Memory: &world.Memory{T: t, Dir: filepath.Join(home, "memory"), Home: home},
		host:   filepath.Join(home, ".claude"), bin: world.BinDir(),
	}
	if err := os.CopyFS(p.Dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	p.modes()
	p.writeFile(filepath.Join(home, "bin", "claude"), "#!/bin/sh\necho '2.1.197 (Claude Code)'\n", 0o755)
	p.Env = []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + world.BinDir() + ":/usr/bin:/bin", "TMPDIR=" + os.TempDir(),
		"CLAUDE_MEM_DATA_DIR=" + p.Dir,
	}
	p.installPlugin()
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(world.BinDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.as = nil
		_, _ = p.run("worker", "stop")
		if pid := p.WorkerPID(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return p
}

// modes gives the copy of a memory the modes that it had.
func (p *patient) modes() {
	p.T.Helper()
	err := filepath.WalkDir(p.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		p.T.Fatal(err)
	}
}

// installPlugin registers the plugin as Claude Code keeps it in its files.
func (p *patient) installPlugin() {
	shop := filepath.Join(p.Dir, "marketplace")
	root := filepath.Join(shop, "claude-mem")
	p.writeJSON(filepath.Join(shop, ".claude-plugin", "marketplace.json"), map[string]any{
		"name": "claude-mem-local", "plugins": []any{map[string]any{"name": "claude-mem", "source": "./claude-mem"}},
	})
	p.writeFile(filepath.Join(root, "hooks", "hooks.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"\"${CLAUDE_PLUGIN_ROOT}/bin/claude-mem-hook\" summary"}]}]}}`, 0o600)
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o700); err != nil {
		p.T.Fatal(err)
	}
	if err := os.Symlink(world.Binary("claude-mem-hook"), filepath.Join(root, "bin", "claude-mem-hook")); err != nil {
		p.T.Fatal(err)
	}
	p.writeJSON(filepath.Join(p.host, "settings.json"), map[string]any{"enabledPlugins": map[string]any{"claude-mem@claude-mem-local": true}})
	p.writeJSON(filepath.Join(p.host, "plugins", "known_marketplaces.json"), map[string]any{
		"claude-mem-local": map[string]any{"source": map[string]any{"source": "directory", "path": shop}},
	})
	p.writeJSON(filepath.Join(p.host, "plugins", "installed_plugins.json"), map[string]any{
		"version": 2, "plugins": map[string]any{"claude-mem@claude-mem-local": []any{map[string]any{
			"scope": "user", "installPath": filepath.Join(p.host, "plugins", "cache"), "version": "0.1.0",
			"installedAt": time.Now().Add(-72 * time.Hour).UTC().Format(time.RFC3339),
		}}},
	})
}

func (p *patient) writeFile(path, content string, mode os.FileMode) {
	p.T.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), mode)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		p.T.Fatal(err)
	}
}

func (p *patient) writeJSON(path string, v any) {
	p.T.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		p.T.Fatal(err)
	}
	p.writeFile(path, string(b), 0o600)
}

// set writes settings beside those of every test.
func (p *patient) set(pairs ...string) {
	settings := map[string]string{"CLAUDE_MEM_WORKER_PORT": "0", "CLAUDE_MEM_PROVIDER": "offline"}
	for i := 0; i+1 < len(pairs); i += 2 {
		settings[pairs[i]] = pairs[i+1]
	}
	p.writeJSON(filepath.Join(p.Dir, "config.json"), settings)
}

// ownBinaries copies the binaries to where a test may break them.
func (p *patient) ownBinaries() {
	p.T.Helper()
	bin := filepath.Join(p.Home, "programs")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		p.T.Fatal(err)
	}
	for _, name := range []string{"claude-mem", "claude-mem-hook"} {
		if err := os.Link(world.Binary(name), filepath.Join(bin, name)); err != nil {
			b, err := os.ReadFile(world.Binary(name))
			if err != nil {
				p.T.Fatal(err)
			}
			p.writeFile(filepath.Join(bin, name), string(b), 0o755)
		}
	}
	p.bin = bin
	for i, v := range p.Env {
		if strings.HasPrefix(v, "PATH=") {
			p.Env[i] = "PATH=" + filepath.Join(p.Home, "bin") + ":" + bin + ":/usr/bin:/bin"
		}
	}
}

// without drops variables of the environment.
func (p *patient) without(names ...string) {
	var kept []string
	for _, v := range p.Env {
		name, _, _ := strings.Cut(v, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			kept = append(kept, v)
		}
	}
	p.Env = kept
}

// mere gives everything to a user who is not root, whom modes do not bind.
func (p *patient) mere() {
	p.T.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	err := filepath.WalkDir(p.Home, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		p.T.Fatal(err)
	}
	p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
}

// run runs claude-mem as the patient's user.
func (p *patient) run(args ...string) ([]byte, error) {
	return p.exec(append([]string{filepath.Join(p.bin, "claude-mem")}, args...)...)
}

func (p *patient) exec(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir = p.Env, p.Home
	if p.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		err = errors.Join(err, errors.New(errs.String()))
	}
	return out.Bytes(), err
}

func (p *patient) must(args ...string) {
	p.T.Helper()
	if out, err := p.run(args...); err != nil {
		p.T.Fatalf("claude-mem %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// examine runs the doctor, by a line of the shell when one is given.
func (p *patient) examine(flags ...string) doctor.Report {
	p.T.Helper()
	return p.read(append([]string{filepath.Join(p.bin, "claude-mem"), "doctor", "--json"}, flags...)...)
}

// read decodes what a run of the doctor prints and holds it to its exit code.
func (p *patient) read(args ...string) doctor.Report {
	p.T.Helper()
	out, err := p.exec(args...)
	var report doctor.Report
	if failed := json.Unmarshal(out, &report); failed != nil {
		p.T.Fatalf("%v: %v, %v\n%s", args, failed, err, out)
	}
	want := 0
	if report.Status == doctor.Fail {
		want = 9
	}
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if code != want {
		p.T.Errorf("exit %d with status %s, want %d", code, report.Status, want)
	}
	return report
}

// open opens the memory as its worker would.
func (p *patient) open(clock func() time.Time) *store.Store {
	p.T.Helper()
	s, err := store.Open(p.T.Context(), filepath.Join(p.Dir, "memory.db"), store.Options{Clock: clock})
	if err != nil {
		p.T.Fatal(err)
	}
	return s
}

// pid is that of the running worker.
func (p *patient) pid() int {
	p.T.Helper()
	pid := p.WorkerPID()
	if pid == 0 {
		p.T.Fatal("there is no worker")
	}
	return pid
}

// kill ends the worker as a power cut would.
func (p *patient) kill() {
	p.T.Helper()
	pid := p.pid()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		p.T.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			break // a zombie of nobody's: it holds nothing any more
		}
	}
}

// sql changes the database as nobody should.
func (p *patient) sql(statements ...string) {
	p.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.Dir, "memory.db"))
	if err != nil {
		p.T.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range append(statements, "PRAGMA wal_checkpoint(TRUNCATE)") {
		if _, err := db.Exec(s); err != nil {
			p.T.Fatalf("%s: %v", s, err)
		}
	}
}
