// Command mcp times how long a client of `claude-mem mcp` waits for the answer to
// `initialize`: from the start of the process to the last byte of the answer, each
// paired with a whole run of an empty Go program just before it.
//
//	go run ./bench/mcp
//
// It ends with exit code 1 when the bar of the specification is missed. It is not shipped.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"claudemem/bench/process"
)

// bar is what SPEC 9 allows, at the median.
const bar = 30 * time.Millisecond

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

func main() {
	rounds := flag.Int("rounds", 200, "measured rounds")
	flag.Parse()
	met, err := bench(*rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/mcp:", err)
		os.Exit(1)
	}
	if !met {
		os.Exit(1)
	}
}

func bench(rounds int) (met bool, err error) {
	dir, err := os.MkdirTemp("", "cmbench") // short: a socket lies in it
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries, err := process.Build(filepath.Join(dir, "bin"))
	if err != nil {
		return false, err
	}
	memory := filepath.Join(dir, "memory")
	if err := os.Mkdir(memory, 0o700); err != nil {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(memory, "settings.json"), []byte(`{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`), 0o600); err != nil {
		return false, err
	}
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH"), "CLAUDE_MEM_DATA_DIR=" + memory}

	// Whoever has the lock keeps workers from running.
	lock := flock.New(filepath.Join(memory, "worker.lock"))
	if held, err := lock.TryLock(); err != nil || !held {
		return false, fmt.Errorf("hold the worker's lock: %w", err)
	}
	away, err := measure("no worker", binaries, env, rounds)
	if err != nil {
		return false, err
	}
	if err := lock.Unlock(); err != nil {
		return false, err
	}
	worker := func(verb string) error {
		cmd := exec.Command(binaries.Big, "worker", verb)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("worker %s: %w: %s", verb, err, out)
		}
		return nil
	}
	if err := worker("start"); err != nil {
		return false, err
	}
	defer func() { _ = worker("stop") }()
	up, err := measure("worker up", binaries, env, rounds)
	return away && up, err
}

// measure prints a line and reports whether the bar was met.
func measure(name string, binaries process.Binaries, env []string, rounds int) (met bool, err error) {
	var took, empty []time.Duration
	for round := range rounds + 10 {
		e, err := emptyRun(binaries.Empty)
		if err != nil {
			return false, err
		}
		d, err := initialize(binaries.Big, env)
		if err != nil {
			return false, err
		}
		if round >= 10 { // the first ones fetch the program from the disk
			took, empty = append(took, d), append(empty, e)
		}
	}
	slices.Sort(took)
	slices.Sort(empty)
	median := took[len(took)/2]
	verdict := "MISSED"
	if met = median <= bar; met {
		verdict = "met"
	}
	fmt.Printf("bar: initialize, %s: %.1f ms of %.0f (p99 %.1f; an empty program %.1f): %s\n", name, ms(median), ms(bar),
		ms(took[len(took)*99/100]), ms(empty[len(empty)/2]), verdict)
	return met, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func emptyRun(path string) (time.Duration, error) {
	began := time.Now()
	err := exec.Command(path).Run()
	return time.Since(began), err
}

// initialize is one process's: its start to its answer.
func initialize(path string, env []string) (time.Duration, error) {
	cmd := exec.Command(path, "mcp")
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, writing := stdin.Write([]byte(hello))
	line, reading := bufio.NewReader(stdout).ReadBytes('\n')
	took := time.Since(began)
	_ = stdin.Close() // which ends the process
	if err := cmd.Wait(); err != nil {
		return 0, fmt.Errorf("claude-mem mcp: %w: %s", err, stderr.Bytes())
	}
	if writing != nil || reading != nil || !bytes.Contains(line, []byte(`"serverInfo"`)) {
		return 0, fmt.Errorf("no answer to initialize: %q", line)
	}
	return took, nil
}
