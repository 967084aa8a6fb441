//go:build unix

package world

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
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"claudemem/internal/keep/sqlite"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/run/doctor"
)

// Memory is one user's claude-mem: a data directory and the environment that
// the binaries are run in.
type Memory struct {
	T    testing.TB
	Dir  string
	Home string
	Env  []string
	// Programs is the directory of the programs that are run, "" for those of these sources.
	Programs string
	// user is whose processes run, nil for the test's own.
	User *syscall.Credential
}

// NewMemory makes an empty memory whose worker opens no TCP port and is
// stopped when the test ends.
func NewMemory(t testing.TB) *Memory {
	t.Helper()
	NeedBinaries(t)
	home, err := os.MkdirTemp("", "claude-mem-home-")
	if err == nil {
		err = os.Chmod(home, 0o755) //nolint:gosec // some tests run commands as another user
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &Memory{T: t, Dir: filepath.Join(home, "memory"), Home: home}
	m.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"CLAUDE_MEM_DATA_DIR=" + m.Dir,
		"CLAUDE_MEM_SLACK=10s", // no outcome shall depend on how busy the machine is
	}
	if err := os.Mkdir(m.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Offline, whatever is installed here: what a test asks a model for it names.
	settings := `{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`
	if err := os.WriteFile(filepath.Join(m.Dir, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = control.Stop(context.Background(), m.Dir, 60*time.Second)
		if pid := m.WorkerPID(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		// A worker that a hook had started and that waited for the lock may begin only now. It
		// ends when the directory is gone.
		Until(t, 10*time.Second, "the memory is removed", func() bool { return os.RemoveAll(m.Dir) == nil && os.RemoveAll(home) == nil })
	})
	return m
}

// program returns the path of one of the two programs that are run.
func (m *Memory) program(name string) string {
	if m.Programs != "" {
		return filepath.Join(m.Programs, name)
	}
	return Binary(name)
}

// HookResult is what a run of the hook binary gave.
type HookResult struct {
	Stdout, Stderr []byte
	Exit           int
	Took           time.Duration
}

// HookCommand returns a run of the hook binary as a host starts it.
func (m *Memory) HookCommand(verb string, payload []byte, env ...string) *exec.Cmd {
	cmd := exec.Command(m.program("claude-mem-hook"), strings.Fields(verb)...)
	cmd.Env = append(append([]string(nil), m.Env...), env...)
	cmd.Dir = m.Home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.User}
	cmd.Stdin = bytes.NewReader(payload)
	return cmd
}

// Hook runs the hook binary to its end.
func (m *Memory) Hook(verb string, payload []byte, env ...string) HookResult {
	cmd := m.HookCommand(verb, payload, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r := HookResult{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Took: time.Since(start)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.Exit = exit.ExitCode()
	} else if err != nil {
		m.T.Errorf("run hook: %v", err)
	}
	return r
}

// Send runs the hook and fails the test unless it kept to its contract.
func (m *Memory) Send(verb string, payload map[string]any) HookResult {
	b, err := json.Marshal(payload)
	if err != nil {
		m.T.Fatal(err)
	}
	r := m.Hook(verb, b)
	if r.Exit != 0 || len(r.Stderr) != 0 {
		m.T.Errorf("hook %s: exit %d, stderr %q", verb, r.Exit, r.Stderr)
	}
	return r
}

// Command runs claude-mem and returns its standard output.
func (m *Memory) Command(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.program("claude-mem"), args...)
	cmd.Env = m.Env
	cmd.Dir = m.Home
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.User}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("claude-mem %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// MustCommand is Command, but fails the test on an error.
func (m *Memory) MustCommand(args ...string) []byte {
	m.T.Helper()
	out, err := m.Command(args...)
	if err != nil {
		m.T.Fatal(err)
	}
	return out
}

// WorkerPID reads the pid of a running worker from worker.json, 0 if none runs.
func (m *Memory) WorkerPID() int {
	b, err := os.ReadFile(filepath.Join(m.Dir, "worker.json"))
	if err != nil {
		return 0
	}
	var info struct{ PID int }
	if json.Unmarshal(b, &info) != nil || info.PID == 0 || syscall.Kill(info.PID, 0) != nil {
		return 0
	}
	return info.PID
}

// Books returns the counts of the queue.
func (m *Memory) Books() memory.Books {
	m.T.Helper()
	var stats struct {
		Queue memory.Books `json:"queue"`
	}
	if err := json.Unmarshal(m.MustCommand("stats", "--json"), &stats); err != nil {
		m.T.Fatal(err)
	}
	return stats.Queue
}

// Settle starts the worker if need be and waits until nothing is left to do.
func (m *Memory) Settle(limit time.Duration) memory.Books {
	m.T.Helper()
	m.MustCommand("worker", "start")
	deadline := time.Now().Add(limit)
	for {
		m.awaitIdle(time.Second)
		spooled := m.Spooled() // first: what is taken in meanwhile is then in the books
		b := m.Books()
		if b.Pending+b.Processing == 0 && spooled == 0 {
			return b
		}
		if time.Now().After(deadline) {
			m.T.Fatalf("still busy after %v: %+v, %d spooled", limit, b, m.Spooled())
		}
	}
}

// awaitIdle waits, at most for limit, while the spool has deliveries or the database, as it lies on
// disk, events that wait. It spares Settle commands, each of which costs what a hundred looks cost.
func (m *Memory) awaitIdle(limit time.Duration) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.Dir, "memory.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return
	}
	defer db.Close()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var busy bool
		err := db.QueryRow("SELECT EXISTS (SELECT 1 FROM events WHERE outcome IN ('pending', 'processing'))").Scan(&busy)
		if m.Spooled() == 0 && (err != nil || !busy) {
			return
		}
	}
}

// ReadJSON decodes a file of the data directory.
func (m *Memory) ReadJSON(name string, dest any) {
	m.T.Helper()
	b, err := os.ReadFile(filepath.Join(m.Dir, name))
	if err == nil {
		err = json.Unmarshal(b, dest)
	}
	if err != nil {
		m.T.Fatal(err)
	}
}

// HoldLock keeps every worker from starting, as another process that holds the
// lock would, until release is called.
func (m *Memory) HoldLock() (release func()) {
	m.T.Helper()
	release, ok := m.TryLock()
	if !ok {
		m.T.Fatal("worker.lock is held")
	}
	return release
}

// TryLock is holdLock, but returns false if another process holds the lock.
func (m *Memory) TryLock() (release func(), ok bool) {
	m.T.Helper()
	held, err := openfile.TryLock(filepath.Join(m.Dir, "worker.lock"))
	if err != nil {
		m.T.Fatal(err)
	}
	return func() {
		if err := held.Close(); err != nil {
			m.T.Fatal(err)
		}
	}, held != nil
}

// Spooled counts the deliveries in the spool.
func (m *Memory) Spooled() int {
	entries, _ := filepath.Glob(filepath.Join(m.Dir, "spool", "*.json"))
	return len(entries)
}

// Query reads the database as it lies on disk.
func (m *Memory) Query(dest func(*sql.Rows) error, query string, args ...any) {
	m.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.Dir, "memory.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		m.T.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		m.T.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := dest(rows); err != nil {
			m.T.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		m.T.Fatal(err)
	}
}

// EachFile calls f with the bytes of every regular file in the data directory, and the packed
// texts of a database.
func (m *Memory) EachFile(f func(path string, content []byte)) {
	m.T.Helper()
	err := filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
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
		m.T.Fatal(err)
	}
}

// Scaled returns how much is tried: usual with every other test, full with the tag slow.
func Scaled(usual, full int) int {
	if fullCount {
		return full
	}
	return usual
}

// Figure prints what `make accept-SUBJECT` shows for a point.
func Figure(t testing.TB, point int, format string, args ...any) {
	t.Helper()
	t.Logf("point %d: %s", point, fmt.Sprintf(format, args...))
}

// Getenv looks a variable up in the environment of the memory's programs.
func (m *Memory) Getenv(key string) string {
	for _, entry := range slices.Backward(m.Env) {
		if value, ok := strings.CutPrefix(entry, key+"="); ok {
			return value
		}
	}
	return ""
}

// Start runs claude-mem, with its output dropped.
func (m *Memory) Start(args ...string) *exec.Cmd {
	m.T.Helper()
	cmd := exec.Command(Binary("claude-mem"), args...)
	cmd.Env, cmd.Dir = m.Env, m.Home
	if err := cmd.Start(); err != nil {
		m.T.Fatal(err)
	}
	return cmd
}

// SettleLimit is what a few calls may take, the real CLI's start included.
const SettleLimit = 60 * time.Second

// QueryOne returns the number that a query yields.
func (m *Memory) QueryOne(query string, args ...any) (n int) {
	m.T.Helper()
	m.Query(func(r *sql.Rows) error { return r.Scan(&n) }, query, args...)
	return n
}

// ReadFile returns the content of a file, and fails the test if there is none.
func (m *Memory) ReadFile(path string) []byte {
	m.T.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		m.T.Fatal(err)
	}
	return b
}

// AwaitIndex waits until everything that is kept can be found.
func (m *Memory) AwaitIndex() {
	m.T.Helper()
	m.Indexed(30 * time.Second)
	for deadline := time.Now().Add(30 * time.Second); ; {
		var report doctor.Report
		out, _ := m.Command("doctor", "--json")
		if json.Unmarshal(out, &report) == nil {
			// Not "being built", not "N changes behind".
			if f := Finding(report, "index"); f.Status == doctor.OK && strings.HasSuffix(f.Text, " records") {
				return
			}
		}
		if time.Now().After(deadline) {
			m.T.Fatal("the index does not catch up")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Finding is the report's finding of a name, the zero one for none.
func Finding(r doctor.Report, name string) doctor.Finding {
	for _, f := range r.Findings {
		if f.Name == name {
			return f
		}
	}
	return doctor.Finding{}
}
