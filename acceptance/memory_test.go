//go:build unix

package acceptance

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"claudemem"
	"claudemem/lock"
	"claudemem/sqlite"
)

// binDir holds the two binaries, built once for the package.
var binDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if raceDetector {
		return m.Run() // needBinaries skips the tests of the binaries
	}
	dir, err := os.MkdirTemp("", "claude-mem-acceptance-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	build := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator),
		"claudemem/cmd/claude-mem", "claudemem/cmd/claude-mem-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "acceptance: build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// needBinaries skips a test that drives the binaries, under the race detector.
func needBinaries(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("the race detector sees nothing of other processes")
	}
}

func binary(name string) string { return filepath.Join(binDir, name) }

// memory is one user's claude-mem: a data directory and the environment that
// the binaries are run in.
type memory struct {
	t    testing.TB
	dir  string
	home string
	env  []string
	// user is whose processes run, nil for the test's own.
	user *syscall.Credential
}

// newMemory makes an empty memory whose worker opens no TCP port and is
// stopped when the test ends.
func newMemory(t testing.TB) *memory {
	t.Helper()
	needBinaries(t)
	home := t.TempDir()
	m := &memory{t: t, dir: filepath.Join(home, "memory"), home: home}
	m.env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"CLAUDE_MEM_DATA_DIR=" + m.dir,
	}
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Offline, whatever is installed here: what a test asks a model for it names.
	settings := `{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`
	if err := os.WriteFile(filepath.Join(m.dir, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = m.command("worker", "stop")
		if pid := m.workerPID(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		// A worker that a hook had started and that waited for the lock may begin only now. It
		// ends when the directory is gone.
		until(t, 10*time.Second, "the memory is removed", func() bool { return os.RemoveAll(m.dir) == nil })
	})
	return m
}

type hookResult struct {
	stdout, stderr []byte
	exit           int
	took           time.Duration
}

// hookCommand returns a run of the hook binary as a host starts it.
func (m *memory) hookCommand(verb string, payload []byte, env ...string) *exec.Cmd {
	cmd := exec.Command(binary("claude-mem-hook"), strings.Fields(verb)...)
	cmd.Env = append(append([]string(nil), m.env...), env...)
	cmd.Dir = m.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.user}
	cmd.Stdin = bytes.NewReader(payload)
	return cmd
}

// hook runs the hook binary to its end.
func (m *memory) hook(verb string, payload []byte, env ...string) hookResult {
	cmd := m.hookCommand(verb, payload, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r := hookResult{stdout: stdout.Bytes(), stderr: stderr.Bytes(), took: time.Since(start)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.exit = exit.ExitCode()
	} else if err != nil {
		m.t.Errorf("run hook: %v", err)
	}
	return r
}

// send runs the hook and fails the test unless it kept to its contract.
func (m *memory) send(verb string, payload map[string]any) hookResult {
	b, err := json.Marshal(payload)
	if err != nil {
		m.t.Fatal(err)
	}
	r := m.hook(verb, b)
	if r.exit != 0 || len(r.stderr) != 0 {
		m.t.Errorf("hook %s: exit %d, stderr %q", verb, r.exit, r.stderr)
	}
	return r
}

// command runs claude-mem and returns its standard output.
func (m *memory) command(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary("claude-mem"), args...)
	cmd.Env = m.env
	cmd.Dir = m.home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.user}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("claude-mem %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

func (m *memory) mustCommand(args ...string) []byte {
	m.t.Helper()
	out, err := m.command(args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// workerPID reads the pid of a running worker from worker.json, 0 if none runs.
func (m *memory) workerPID() int {
	b, err := os.ReadFile(filepath.Join(m.dir, "worker.json"))
	if err != nil {
		return 0
	}
	var info struct{ PID int }
	if json.Unmarshal(b, &info) != nil || info.PID == 0 || syscall.Kill(info.PID, 0) != nil {
		return 0
	}
	return info.PID
}

func (m *memory) books() claudemem.Books {
	m.t.Helper()
	var stats struct {
		Queue claudemem.Books `json:"queue"`
	}
	if err := json.Unmarshal(m.mustCommand("stats", "--json"), &stats); err != nil {
		m.t.Fatal(err)
	}
	return stats.Queue
}

// settle starts the worker if need be and waits until nothing is left to do.
func (m *memory) settle(limit time.Duration) claudemem.Books {
	m.t.Helper()
	m.mustCommand("worker", "start")
	deadline := time.Now().Add(limit)
	for {
		spooled := m.spooled() // first: what is taken in meanwhile is then in the books
		b := m.books()
		if b.Pending+b.Processing == 0 && spooled == 0 {
			return b
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("still busy after %v: %+v, %d spooled", limit, b, m.spooled())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// readJSON decodes a file of the data directory.
func (m *memory) readJSON(name string, dest any) {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, name))
	if err == nil {
		err = json.Unmarshal(b, dest)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// holdLock keeps every worker from starting, as another process that holds the
// lock would, until release is called.
func (m *memory) holdLock() (release func()) {
	m.t.Helper()
	release, ok := m.tryLock()
	if !ok {
		m.t.Fatal("worker.lock is held")
	}
	return release
}

// tryLock is holdLock, but returns false if another process holds the lock.
func (m *memory) tryLock() (release func(), ok bool) {
	m.t.Helper()
	held, err := lock.Try(filepath.Join(m.dir, "worker.lock"))
	if err != nil {
		m.t.Fatal(err)
	}
	return func() {
		if err := held.Close(); err != nil {
			m.t.Fatal(err)
		}
	}, held != nil
}

// spooled counts the deliveries in the spool.
func (m *memory) spooled() int {
	entries, _ := filepath.Glob(filepath.Join(m.dir, "spool", "*.json"))
	return len(entries)
}

// query reads the database as it lies on disk.
func (m *memory) query(dest func(*sql.Rows) error, query string, args ...any) {
	m.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.dir, "memory.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := dest(rows); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
}

// eachFile calls f with the bytes of every regular file in the data directory, and the packed
// texts of a database.
func (m *memory) eachFile(f func(path string, content []byte)) {
	m.t.Helper()
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a spool file that was taken in meanwhile
		}
		if err == nil {
			if strings.HasPrefix(filepath.Base(path), "memory") {
				for _, text := range sqlite.PackedTexts(b) {
					b = append(append(b, '\n'), text...)
				}
			}
			f(path, b)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// scaled returns how much is tried: usual with every other test, full with the tag slow.
func scaled(usual, full int) int {
	if fullCount {
		return full
	}
	return usual
}

// figure prints what `make accept-SUBJECT` shows for a point.
func figure(t testing.TB, point int, format string, args ...any) {
	t.Helper()
	t.Logf("point %d: %s", point, fmt.Sprintf(format, args...))
}
