//go:build unix

package doctor

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"claudemem/proof/acceptance/world"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/doctor"
)

func (p *patient) socket() string {
	return wire.SocketPath(p.Dir, func(key string) string {
		for _, v := range p.Env {
			if value, ok := strings.CutPrefix(v, key+"="); ok {
				return value
			}
		}
		return ""
	})
}

func (p *patient) check(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatal(err)
	}
}

func (p *patient) remove(path string) { p.T.Helper(); p.check(os.Remove(path)) }

func (p *patient) removeAll(path string) { p.T.Helper(); p.check(os.RemoveAll(path)) }

func (p *patient) chmod(path string, mode os.FileMode) { p.T.Helper(); p.check(os.Chmod(path, mode)) }

func (p *patient) close(c io.Closer) { p.T.Helper(); p.check(c.Close()) }

func (p *patient) hostSettings(v map[string]any) {
	p.writeJSON(filepath.Join(p.host, "settings.json"), v)
}

// copyOf puts a copy of its own in the place of a link, with another mode.
func (p *patient) copyOf(path string, mode os.FileMode) {
	p.T.Helper()
	b, err := os.ReadFile(path)
	p.check(err)
	p.remove(path)
	p.writeFile(path, string(b), mode)
}

// moveTo moves the memory.
func (p *patient) moveTo(dir string) {
	p.T.Helper()
	p.check(os.Rename(p.Dir, dir))
	p.without("CLAUDE_MEM_DATA_DIR")
	p.Dir = dir
	p.Env = append(p.Env, "CLAUDE_MEM_DATA_DIR="+dir)
	p.removeAll(p.host)
	p.removeAll(filepath.Join(dir, "marketplace"))
	p.installPlugin()
}

// spoolOne leaves a delivery in the spool, as a hook does whose worker is away.
func (p *patient) spoolOne() {
	p.T.Helper()
	e := memory.Event{
		DeliveryID: "01JTESTDELIVERY000000000001", Kind: memory.KindPrompt, Host: memory.HostClaudeCode, HostSessionID: "spooled",
		ProjectPath: "/nonexistent/project", Prompt: "Add a handler", OccurredAt: memory.MillisOf(time.Now()),
	}
	p.check(wire.SpoolOf(p.Dir).WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)))
}

// enqueue puts an event into the queue by the given clock; a buried one is a dead letter.
func (p *patient) enqueue(clock func() time.Time, buried bool) memory.SessionID {
	p.T.Helper()
	s := p.open(clock)
	defer p.close(s)
	now := memory.MillisOf(clock())
	_, err := s.Enqueue(p.T.Context(), memory.Arrival{Key: "broken-1", ReceivedAt: now, Event: memory.Event{
		DeliveryID: "broken-1", Kind: memory.KindTool, Host: memory.HostClaudeCode, HostSessionID: "broken", ProjectPath: "/nonexistent/project",
		ToolName: "Edit", ToolUseID: "t", ToolInput: []byte(`{"file_path":"/nonexistent/project/a.go"}`), ToolResponse: []byte(`{}`), OccurredAt: now,
	}})
	p.check(err)
	session, err := s.SessionByHost(p.T.Context(), memory.HostClaudeCode, "broken")
	p.check(err)
	if buried {
		claim, err := s.Claim(p.T.Context(), "worker", session.ID, 0, now)
		p.check(err)
		p.check(s.Bury(p.T.Context(), claim, "the answer made no sense"))
	}
	return session.ID
}

// write writes observations that no index has seen.
func (p *patient) write(n int) {
	p.T.Helper()
	s := p.open(nil)
	defer p.close(s)
	for i := range n {
		_, err := s.AddObservation(p.T.Context(), memory.NewObservation{
			ProjectPath: "/nonexistent/project", Type: memory.TypeDiscovery, Origin: memory.OriginUser, Title: fmt.Sprintf("The handler %d is slow", i),
		})
		p.check(err)
	}
}

// takePort holds a port as another program does.
func (p *patient) takePort() int {
	p.T.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	p.check(err)
	p.T.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

// startOlder starts the worker of an older version.
func (p *patient) startOlder() {
	p.T.Helper()
	older, err := world.OlderProgram()
	p.check(err)
	if out, err := p.exec(older, "worker", "start"); err != nil {
		p.T.Fatalf("%v\n%s", err, out)
	}
}

// scribble overwrites the middle of a file, past its first pages.
func (p *patient) scribble(name string) {
	p.T.Helper()
	path := filepath.Join(p.Dir, name)
	info, err := os.Stat(path)
	p.check(err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	p.check(err)
	defer p.close(f)
	_, err = f.WriteAt(bytes.Repeat([]byte("damage! "), 8192), info.Size()/3/4096*4096)
	p.check(err)
}

// olderDatabase is that of a released schema.
func (p *patient) olderDatabase() {
	p.T.Helper()
	b := world.ReleasedDatabase(p.T, 1)
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(p.Dir, "memory.db"+suffix))
	}
	p.writeFile(filepath.Join(p.Dir, "memory.db"), string(b), 0o600)
}

// refuseKey has a real worker ask a provider that refuses its key.
func (p *patient) refuseKey() { p.answerWith(http.StatusUnauthorized, "key-refused") }

// provider answers every request with a status.
func (p *patient) provider(status int) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
	}))
	p.T.Cleanup(server.Close)
	return server.URL
}

// answerWith has a real worker ask a provider that answers so, until the doctor
// has noticed.
func (p *patient) answerWith(status int, name string, settings ...string) {
	p.T.Helper()
	p.set(append([]string{"CLAUDE_MEM_PROVIDER", "anthropic", "CLAUDE_MEM_ANTHROPIC_BASE_URL", p.provider(status), "CLAUDE_MEM_ANTHROPIC_API_KEY", "sk-test-wrong"}, settings...)...)
	p.must("worker", "start")
	verbs, payloads := world.CrashPayloads(7, world.TurnTools+2)
	for i := range payloads {
		p.Send(verbs[i], payloads[i])
	}
	for deadline := time.Now().Add(60 * time.Second); world.Finding(p.examine(), name).Name == ""; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.T.Fatalf("%s is not noticed: %s", name, p.told())
		}
	}
}

// smallDisk runs the doctor on a memory on a small, full file system of its own,
// where the system lets a process mount one.
func (p *patient) smallDisk(program string) (doctor.Report, bool) {
	p.T.Helper()
	script := `set -e
mount -t tmpfs -o size=3m none "$0"
cp "$1"/memory.db "$1"/config.json "$0"/
head -c 9000000 /dev/zero >"$0"/filler 2>/dev/null || :
CLAUDE_MEM_DATA_DIR="$0" exec "$2" doctor --json`
	at := filepath.Join(p.Home, "small")
	p.check(os.Mkdir(at, 0o700))
	if err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "size=1m", "none", at).Run(); err != nil {
		p.T.Logf("no file system of one's own here: %v", err)
		return doctor.Report{}, false
	}
	return p.read("unshare", "-Urm", "/bin/sh", "-c", script, at, p.Dir, program), true
}
