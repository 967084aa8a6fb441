// Command mcp times `claude-mem mcp` as a host meets it: from the start of the process
// to its answer to initialize, and to the first answer of a tool, with a worker and
// without one.
//
//	go run ./proof/bench/mcp
//
// It ends with exit code 1 when the bar of the specification is missed. It is not shipped.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"claudemem/internal/capture/wire"
	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
)

// bar is how long initialize may take: a host waits for it at each start.
const bar = 30 * time.Millisecond

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	save  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"save_memory","arguments":{"text":"Amounts are whole cents."}}}` + "\n"
	find  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"amounts in cents"}}}` + "\n"
)

func main() {
	rounds := flag.Int("rounds", 200, "measured processes of each kind")
	flag.Parse()
	met, err := bench(*rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/mcp:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

func bench(rounds int) (met bool, err error) {
	dir, err := os.MkdirTemp("", "cmmcp") // short: a socket lies in it
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries, err := process.Build(filepath.Join(dir, "bin"))
	if err != nil {
		return false, err
	}
	h := host{binary: binaries.Big, dataDir: filepath.Join(dir, "data")}
	if err := h.prepare(); err != nil {
		return false, err
	}
	fmt.Printf("claude-mem mcp, from the start of the process, %d processes each, %s/%s, %d CPUs, %s\n", rounds, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	met = true
	for _, worker := range []string{"up", "down"} {
		if worker == "down" {
			if err := h.command("worker", "stop"); err != nil {
				return false, err
			}
			// In the back-off of a start that failed: nobody starts one while this measures.
			for _, ago := range []time.Duration{4 * time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour, 0} {
				if _, err := wire.ClaimStart(h.dataDir, time.Now().Add(-ago), false); err != nil {
					return false, err
				}
			}
		}
		var hellos, finds []time.Duration
		for n := range timing.WarmUp + rounds {
			first, second, err := h.ask(find)
			if err != nil {
				return false, err
			}
			if n >= timing.WarmUp {
				hellos, finds = append(hellos, first), append(finds, second)
			}
		}
		for _, k := range []struct {
			name string
			took []time.Duration
		}{{"initialize", hellos}, {"and a search", finds}} {
			t := timing.Of(k.took)
			fmt.Printf("worker %-4s  %-12s  p50 %6.2f ms   p95 %6.2f ms   longest %6.2f ms\n", worker, k.name, timing.MS(t.P50), timing.MS(t.P95), timing.MS(t.Longest))
			if k.name != "initialize" {
				continue
			}
			verdict := "met"
			if t.P50 > bar {
				met, verdict = false, "MISSED"
			}
			fmt.Printf("bar: initialize, worker %s: %.1f ms of at most %.0f: %s\n", worker, timing.MS(t.P50), timing.MS(bar), verdict)
		}
	}
	return met, nil
}

// host starts the server as an agent's host does.
type host struct{ binary, dataDir string }

// prepare makes a memory with one record, and its worker.
func (h host) prepare() error {
	if err := os.MkdirAll(h.dataDir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.dataDir, "config.json"), []byte(`{"CLAUDE_MEM_WORKER_PORT":"0","CLAUDE_MEM_PROVIDER":"offline"}`), 0o600); err != nil {
		return err
	}
	if err := h.command("worker", "start"); err != nil {
		return err
	}
	_, _, err := h.ask(save)
	return err
}

func (h host) env() []string {
	return []string{"HOME=" + h.dataDir, "USERPROFILE=" + h.dataDir, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"CLAUDE_MEM_DATA_DIR=" + h.dataDir, "CLAUDE_PROJECT_DIR=" + h.dataDir}
}

func (h host) command(words ...string) error {
	cmd := exec.Command(h.binary, words...)
	cmd.Env = h.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, out)
	}
	return nil
}

// ask starts a server, says hello, calls a tool, and tells when each was answered.
func (h host) ask(call string) (first, second time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.binary, "mcp")
	cmd.Env = h.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	reader := bufio.NewReader(out)
	for i, line := range []string{hello, call} {
		if _, err := io.WriteString(in, line); err != nil {
			return 0, 0, err
		}
		answer, err := reader.ReadString('\n')
		if err != nil || !strings.Contains(answer, `"result"`) || strings.Contains(answer, `"isError":true`) {
			return 0, 0, fmt.Errorf("answer %q: %w", answer, err)
		}
		if i == 0 {
			first = time.Since(began)
		}
	}
	second = time.Since(began)
	_ = in.Close()
	return first, second, cmd.Wait()
}
