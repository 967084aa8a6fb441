//go:build unix

package install

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/keep/store/db"

	"golang.org/x/crypto/blake2b"
)

// upgradeAgents is how many agents are at work during the upgrades, and upgradeEvents how many
// events they report in all.
const upgradeAgents = 8

var upgradeEvents = world.Scaled(400, 2000)

// signer signs lists as minisign does.
type signer struct{ key ed25519.PrivateKey }

// packet returns what minisign puts into a line: two letters, the key's number, and data.
func packet(letters string, data []byte) string {
	return base64.StdEncoding.EncodeToString(append([]byte(letters+"number 1"), data...))
}

func (s signer) public() string { return packet("Ed", s.key.Public().(ed25519.PublicKey)) }

func (s signer) sign(list []byte) string {
	sum, comment := blake2b.Sum512(list), "claude-mem"
	signature := ed25519.Sign(s.key, sum[:])
	both := ed25519.Sign(s.key, append(signature[:len(signature):len(signature)], comment...))
	return "untrusted comment: signature\n" + packet("ED", signature) + "\ntrusted comment: " + comment + "\n" + base64.StdEncoding.EncodeToString(both) + "\n"
}

// release makes a release of these sources for this system in a folder whose files are at url: both
// programs, which look for newer ones at newest, their archive, the installer and the signed list.
func release(t *testing.T, s signer, folder, url, newest, version string, flags ...string) {
	t.Helper()
	module, err := exec.Command("go", "list", "-m").Output()
	world.Must(t, err)
	path, programs := strings.TrimSpace(string(module)), t.TempDir()
	variables := fmt.Sprintf("-s -w -X %[1]s/internal/capture/wire.Program=v%[2]s -X %[1]s/internal/run/upgrade.address=%[3]s -X %[1]s/internal/run/upgrade.key=%[4]s", path, version, newest, s.public())
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-ldflags", variables, "-o", programs + "/"}, flags...), "./cmd/claude-mem", "./cmd/claude-mem-hook")...)
	build.Dir, build.Env = world.Root(), append(os.Environ(), "CGO_ENABLED=0")
	must(t, build)
	world.Must(t, os.MkdirAll(folder, 0o700))
	archive := fmt.Sprintf("claude-mem_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	must(t, exec.Command("tar", "-C", programs, "-czf", filepath.Join(folder, archive), "./claude-mem", "./claude-mem-hook"))
	script, err := os.ReadFile(world.Root(".ci", "packages", "install.sh"))
	world.Must(t, err)
	text := strings.NewReplacer("@VERSION@", version, "@URL@", url, fmt.Sprintf("@SHA256:%s_%s@", runtime.GOOS, runtime.GOARCH), sumOf(t, folder, archive)).Replace(string(script))
	world.Must(t, os.WriteFile(filepath.Join(folder, "install.sh"), []byte(text), 0o600))
	list := []byte(sumOf(t, folder, archive) + "  " + archive + "\n" + sumOf(t, folder, "install.sh") + "  install.sh\n")
	world.Must(t, os.WriteFile(filepath.Join(folder, "checksums.txt"), list, 0o600))
	world.Must(t, os.WriteFile(filepath.Join(folder, "checksums.txt.minisig"), []byte(s.sign(list)), 0o600))
}

func sumOf(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	world.Must(t, err)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// newerSchema returns the flag that makes the build one with another migration.
func newerSchema(t *testing.T) string {
	t.Helper()
	dir, store := t.TempDir(), world.Root("internal", "keep", "store", "db")
	table := "CREATE TABLE upgraded (n INTEGER NOT NULL) STRICT;\n"
	replace := map[string]string{}
	for name, change := range map[string]func(string) string{
		fmt.Sprintf("migrations/%04d_upgraded.sql", db.SchemaVersion()+1): func(string) string { return table },
		"schema.sql": func(s string) string { return s + table },
		"structure.go": func(s string) string { // no digest: the objects are compared themselves
			return strings.Replace(s, "var digests = [...]string{", fmt.Sprintf("var digests = [...]string{%d: \"\",", db.SchemaVersion())+" 0:", 1)
		},
	} {
		was, err := os.ReadFile(filepath.Join(store, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(name))
		world.Must(t, os.WriteFile(path, []byte(change(string(was))), 0o600))
		replace[filepath.Join(store, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	world.Must(t, err)
	world.Must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	return "-overlay=" + filepath.Join(dir, "overlay.json")
}

// TestUpgradeOfRelease installs a release, and while eight agents are at work upgrades it to one of a newer
// schema, goes back, and upgrades again: no hook fails, no event is lost. A release that somebody
// else has made is refused.
func TestUpgradeOfRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds four programs")
	}
	m := world.NewMemory(t)
	served := t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(served)))
	t.Cleanup(server.Close)
	_, key, err := ed25519.GenerateKey(nil)
	world.Must(t, err)
	_, foreign, err := ed25519.GenerateKey(nil)
	world.Must(t, err)
	newest := filepath.Join(served, "newest")
	release(t, signer{key}, filepath.Join(served, "older"), server.URL+"/older", server.URL+"/newest", "1.0.0")
	release(t, signer{key}, filepath.Join(served, "newer"), server.URL+"/newer", server.URL+"/newest", "1.1.0", newerSchema(t))

	bin := filepath.Join(m.Home, ".local", "bin")
	script := func(version string) {
		t.Helper()
		cmd := exec.Command("sh", filepath.Join(served, version, "install.sh"))
		cmd.Dir, cmd.Env = m.Home, append(m.Env, "NO_INSTALL=1")
		must(t, cmd)
	}
	script("older")
	m.Programs = bin
	m.MustCommand("install", "--settings", "--yes")
	m.Programs = filepath.Join(m.Dir, "bin") // where the hooks are
	typed := func(args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(bin, "claude-mem"), args...)
		cmd.Dir, cmd.Env = m.Home, m.Env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	is := func(version string) {
		t.Helper()
		for _, dir := range []string{bin, m.Programs} {
			if out, err := exec.Command(filepath.Join(dir, "claude-mem"), "--version").Output(); err != nil || !strings.Contains(string(out), "v"+version) {
				t.Fatalf("in %s is %s, %v; want %s", dir, out, err, version)
			}
		}
	}

	// Nothing that does not bear the signature is run.
	world.Must(t, os.Symlink("newer", newest))
	list, err := os.ReadFile(filepath.Join(served, "newer", "checksums.txt"))
	world.Must(t, err)
	refused := func(why, name string, content []byte) {
		t.Helper()
		path := filepath.Join(served, "newer", name)
		was, err := os.ReadFile(path)
		world.Must(t, err)
		world.Must(t, os.WriteFile(path, content, 0o600))
		if out, err := typed("upgrade", "--yes"); err == nil {
			t.Errorf("%s was not refused: %s", why, out)
		}
		world.Must(t, os.WriteFile(path, was, 0o600))
		is("1.0.0")
	}
	refused("a changed list", "checksums.txt", append(list, "x\n"...))
	refused("somebody's signature", "checksums.txt.minisig", []byte(signer{foreign}.sign(list)))
	refused("another installer", "install.sh", []byte("touch harmed\n"))
	refused("a changed archive", fmt.Sprintf("claude-mem_1.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH), []byte("harmed"))

	check := exec.Command(filepath.Join(bin, "claude-mem"), "upgrade", "--check", "--json")
	check.Dir, check.Env = m.Home, m.Env
	checked, err := check.Output()
	var said struct {
		Version, Newest string
		Newer, Upgraded bool
	}
	if err != nil || json.Unmarshal(checked, &said) != nil || said.Version != "v1.0.0" || said.Newest != "v1.1.0" || !said.Newer || said.Upgraded {
		t.Errorf("--check: %v, %s", err, checked)
	}

	var sent, failed atomic.Int64
	var agents sync.WaitGroup
	for n := range upgradeAgents {
		agents.Go(func() {
			verbs, payloads := world.CrashPayloads(n, upgradeEvents/upgradeAgents)
			for i, payload := range payloads {
				body, err := json.Marshal(payload)
				if err != nil {
					t.Error(err)
					return
				}
				if r := m.Hook(verbs[i], body); r.Exit != 0 || len(r.Stderr) > 0 {
					failed.Add(1)
					t.Errorf("hook %s: exit %d, %s", verbs[i], r.Exit, r.Stderr)
				}
				sent.Add(1)
			}
		})
	}
	after := func(part int) {
		world.Until(t, 5*time.Minute, fmt.Sprintf("%d quarters of the events are sent", part), func() bool { return sent.Load() >= int64(upgradeEvents*part/4) })
	}
	upgraded := func() {
		t.Helper()
		if out, err := typed("upgrade", "--yes"); err != nil || !strings.Contains(out, "This is claude-mem v1.1.0 now.") {
			t.Fatalf("%v: %s", err, out)
		}
		is("1.1.0")
	}
	after(1)
	upgraded()
	after(2)
	m.Settle(time.Minute) // the newer worker has changed the schema
	script("older")
	_, err = typed("install", "--again")
	world.Must(t, err)
	is("1.0.0")
	if pid := m.WorkerPID(); pid != 0 {
		m.MustCommand("worker", "stop")
	}
	var exit *exec.ExitError
	if out, err := typed("worker", "start"); !errors.As(err, &exit) || exit.ExitCode() != 8 || !strings.Contains(out, "a newer claude-mem wrote it") {
		t.Errorf("the older program says %v, %s", err, out)
	}
	after(3)
	upgraded()
	agents.Wait()
	books := m.Settle(2 * time.Minute)
	if books.Received != upgradeEvents || books.Failed > 0 {
		t.Errorf("%+v, want %d events received", books, upgradeEvents)
	}
	if out, err := typed("upgrade"); err != nil || !strings.Contains(out, "v1.1.0 is the newest release") {
		t.Errorf("again: %v, %s", err, out)
	}
	world.Figure(t, 4, "%d agents reported %d events during an upgrade to a newer schema, the way back and another upgrade: %d hooks failed, %d events stored; 4 releases that somebody had changed were refused",
		upgradeAgents, sent.Load(), failed.Load(), books.Received)
}
