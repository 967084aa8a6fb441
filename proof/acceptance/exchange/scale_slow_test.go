//go:build unix && slow

package exchange

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"claudemem/proof/acceptance/world"
)

// TestImportKilled kills commands that import, or the worker that does it for them, at random
// moments, and imports again: at the end each record of the file is there once, and what was
// captured meanwhile too.
func TestImportKilled(t *testing.T) {
	const observations = 3000
	for _, workerUp := range []bool{false, true} {
		t.Run(fmt.Sprintf("worker up %v", workerUp), func(t *testing.T) {
			m := world.NewMemory(t)
			file := filepath.Join(m.Home, "memory.jsonl")
			world.WriteExport(t, file, "/home/ada/tally", 0, observations)
			random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
			kills, captured := 0, 0
			for range 6 {
				if workerUp {
					m.MustCommand("worker", "start")
				}
				cmd := exec.Command(world.Binary("claude-mem"), "import", "--yes", file)
				cmd.Env, cmd.Dir = m.Env, m.Home
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(20+random.IntN(300)) * time.Millisecond)
				victim := cmd.Process
				if pid := m.WorkerPID(); workerUp && pid != 0 {
					m.Send("save", map[string]any{"hook_event_name": "PostToolUse", "session_id": "live", "cwd": m.Home, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", captured),
						"tool_input": map[string]any{"command": fmt.Sprint("make target-", captured)}, "tool_response": map[string]any{"stdout": "ok"}})
					captured++
					victim, _ = os.FindProcess(pid)
				}
				_ = victim.Kill() // it may have ended
				if cmd.Wait() != nil {
					kills++
				}
			}
			if workerUp {
				m.MustCommand("worker", "start")
			}
			m.MustCommand("import", "--yes", file)
			if out := m.MustCommand("import", "--yes", file, "--json"); !bytes.Contains(out, []byte(fmt.Sprintf(`"present": %d`, observations+9))) {
				t.Errorf("imported once more: %s", out)
			}
			if workerUp {
				m.Send("summary", map[string]any{"hook_event_name": "Stop", "session_id": "live", "cwd": m.Home, "last_assistant_message": "Made."})
				captured++
			}
			if books := m.Settle(30 * time.Second); books.Received != captured || !books.Balanced() {
				t.Errorf("%d events were captured: %+v", captured, books)
			}
			got := withoutHeader(t, m.MustCommand("export", "--until", "2025-10-31"))
			if want := withoutHeader(t, m.ReadFile(file)); !bytes.Equal(got, want) {
				t.Errorf("the export has %d bytes, want %d as imported", len(got), len(want))
			}
			if kills == 0 {
				t.Error("no import was killed")
			}
			world.Figure(t, 5, "%d of 6 imports killed (worker up %v), then complete, none doubled, %d captured meanwhile", kills, workerUp, captured)
		})
	}
}

// TestExportScale imports and exports EXPORT_RECORDS observations (a million) without a worker,
// and compares the two files. Neither process may hold more than a bounded part of them.
func TestExportScale(t *testing.T) {
	observations := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("EXPORT_RECORDS")); err == nil {
		observations = n
	}
	const most = 150 // MB of memory
	m := world.NewMemory(t)
	file, again := filepath.Join(m.Home, "memory.jsonl"), filepath.Join(m.Home, "again.jsonl")
	world.WriteExport(t, file, "/home/ada/tally", 0, observations)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", "--yes", file}, {"export", again}, {"import", "--yes", file}} {
		cmd := exec.Command(world.Binary("claude-mem"), args...)
		cmd.Env, cmd.Dir = m.Env, m.Home
		started := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // KB on Linux
		world.Figure(t, 5, "%s of %d observations (%d MB): %v, %d MB at most", args[0], observations, info.Size()>>20, time.Since(started).Round(time.Second), used)
		if used > most {
			t.Errorf("%v used %d MB of memory, want at most %d", args, used, most)
		}
	}
	if bodySum(t, file) != bodySum(t, again) {
		t.Error("what was exported is not what was imported")
	}
}

// bodySum returns the hash of a file without its first line.
func bodySum(t *testing.T, path string) (sum [32]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(head[:n], []byte("\n"))
	h := sha256.New()
	h.Write(rest)
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}
