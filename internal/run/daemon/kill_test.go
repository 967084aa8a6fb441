//go:build unix

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"claudemem/internal/capture/wire"
	"claudemem/internal/memory"
	"claudemem/internal/run/control"
	"claudemem/internal/serve/api"
)

// workerDirKey makes the test binary run as the worker of that data directory.
const workerDirKey = "CLAUDE_MEM_TEST_WORKER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerDirKey); dir != "" {
		limitFiles(os.Getenv(fileLimitKey))
		w, err := Open(context.Background(), config(dir))
		if err == nil {
			err = w.Run(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, memory.CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fileLimitKey makes that worker find the disk full when a file reaches so many bytes.
const fileLimitKey = "CLAUDE_MEM_TEST_FILE_LIMIT"

func limitFiles(text string) {
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // then writing fails with EFBIG
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startProcess runs a worker in a process of its own and waits until it answers.
func startProcess(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), workerDirKey+"="+dir), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if !eventually(func() bool {
		status, err := control.Look(t.Context(), dir)
		return err == nil && status.Running && status.PID == cmd.Process.Pid
	}) {
		t.Fatal("the worker process does not answer")
	}
	return cmd
}

// TestKilledWorker kills a worker process with SIGKILL while sessions deliver events, and
// spools what fails, as a hook does. Every event is processed exactly once.
func TestKilledWorker(t *testing.T) {
	dir := t.TempDir()
	const sessions, events, kills = 4, 60, 5
	process := startProcess(t, dir)
	spool := wire.SpoolOf(dir)

	var mu sync.Mutex
	sent := 0
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			for n := range events {
				kind := memory.KindTool
				switch n % 6 {
				case 0:
					kind = memory.KindPrompt
				case 5:
					kind = memory.KindStop
				}
				e := event(fmt.Sprint("s", i), kind)
				peer, err := api.FindWorker(dir)
				if err == nil {
					err = post(context.Background(), peer, e)
				}
				if err != nil {
					if err := spool.WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				sent++
				mu.Unlock()
			}
		})
	}
	for k := range kills {
		eventually(func() bool { mu.Lock(); defer mu.Unlock(); return sent >= (k+1)*sessions*events/(kills+1) })
		if err := process.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it was killed
		process = startProcess(t, dir)
	}
	wg.Wait()
	if err := process.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed

	w := open(t, config(dir))
	const all = sessions * events
	if !eventually(func() bool { b := booksOf(t, w); return b.Processed == all }) {
		t.Fatalf("books %+v, want %d processed", booksOf(t, w), all)
	}
	b := booksOf(t, w)
	if b.Received != all || b.Failed+b.Skipped+b.Pending+b.Processing != 0 || !b.Balanced() {
		t.Errorf("books %+v, want %d received and processed", b, all)
	}
	if complaints, err := w.store.Audit(t.Context()); err != nil || len(complaints) > 0 {
		t.Errorf("audit: %q, %v", complaints, err)
	}
	if names := spoolNames(t, spool); len(names) != 0 {
		t.Errorf("left in the spool: %v", names)
	}
	for i := range sessions {
		session, err := w.store.SessionByHost(t.Context(), memory.HostClaudeCode, fmt.Sprint("s", i))
		if err != nil {
			t.Fatal(err)
		}
		if session.PromptCount != events/6 {
			t.Errorf("session %d has %d prompts, want %d", i, session.PromptCount, events/6)
		}
		summaries, err := w.store.SessionSummaries(t.Context(), session.ID, 0)
		if err != nil || len(summaries) != events/6 {
			t.Errorf("session %d has %d summaries, %v, want one a turn: %d", i, len(summaries), err, events/6)
		}
	}
}

// TestTerminatedWorkerLeavesNothing checks that a worker exits with 0 after SIGTERM and
// leaves neither socket nor worker.json.
func TestTerminatedWorkerLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	process := startProcess(t, dir)
	if stopped, err := control.Stop(t.Context(), dir, stopTestLimit); err != nil || !stopped {
		t.Fatalf("stop: %t, %v", stopped, err)
	}
	if err := process.Wait(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"worker.sock", "worker.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

const stopTestLimit = CloseLimit

// TestReadOnlyDataDirectory opens a directory that its owner cannot write. root can write
// everywhere: then a process of another user opens it.
func TestReadOnlyDataDirectory(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "memory")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // so that it can be removed
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{workerDirKey + "=" + dir, "HOME=" + top}
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.Path = filepath.Join(top, "worker")
		program, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{top, filepath.Dir(top)} {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(said), "storage ") {
		t.Errorf("worker: %v, %q, want storage", err, said)
	}
}

// TestFullDisk fills the worker's disk: the worker refuses events with a reason and
// answers other requests; once there is space, it stores what was spooled.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	process := startProcess(t, dir, fileLimitKey+"=1500000")
	peer := peerOf(t, dir)
	spool := wire.SpoolOf(dir)
	const events = 60
	refused := 0
	for n := range events {
		kind := memory.KindTool
		if n%10 == 9 {
			kind = memory.KindPrompt
		}
		e := event("s", kind)
		e.ToolResponse = fmt.Appendf(nil, `{"stdout":%q}`, strings.Repeat(fmt.Sprintf("line %d of the output\n", n), 2000))
		if err := post(t.Context(), peer, e); err != nil {
			if memory.CodeOf(err) != memory.CodeStorage {
				t.Fatalf("event %d: %v (%s), want CodeStorage", n, err, memory.CodeOf(err))
			}
			refused++
			if err := spool.WriteEvent(e.DeliveryID, wire.EncodeEvent(&e)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if refused == 0 {
		t.Fatal("the disk was not full")
	}
	status, err := control.Look(t.Context(), dir)
	if err != nil || !status.Running || status.Stages["spool"] == "ok" {
		t.Errorf("status %+v, %v, want it running with trouble in the spool", status, err)
	}
	if _, err := control.Stop(t.Context(), dir, stopTestLimit); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it may complain that it could not write

	w := open(t, config(dir))
	if b := booksOf(t, w); b.Received != events || !b.Balanced() {
		t.Errorf("books %+v, want %d received", b, events)
	}
	if names := spoolNames(t, spool); len(names) != 0 {
		t.Errorf("left in the spool: %v", names)
	}
	if complaints, err := w.store.Audit(t.Context()); err != nil || len(complaints) > 0 {
		t.Errorf("audit: %q, %v", complaints, err)
	}
}
