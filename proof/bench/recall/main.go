// Command recall times what a session waits for: the context block at its start,
// from the worker and without one, and prompts and tool calls beside which the
// worker looks into the memory.
//
//	go run ./proof/bench/recall                          100,000 observations
//	go run ./proof/bench/recall -n 10000,100000 -dir /dev/shm/bench
//
// The memory is made by package corpus, as for proof/bench/search, and copied for the
// run. The worker is the real one, asked over its socket by a connection for each
// request, as hooks ask. It answers first with recall off, for comparison, then
// with recall on. Then it is stopped, and whole processes are paired with an empty
// Go program. Exit code 1 when a bar of the specification is missed. Not shipped.
//
// The projects' folders are not there: comparing files and commits costs nothing here.
// The host's own memory and the user's CLAUDE.md are, and are compared with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"claudemem/proof/bench/dataset"
	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
)

func main() {
	sizes := flag.String("n", "100000", "numbers of observations, separated by commas")
	rounds := flag.Int("rounds", 300, "measured requests of each kind")
	processes := flag.Int("processes", 40, "measured processes of each kind")
	dir := flag.String("dir", "", "where the memories are kept for the next run; none: a temporary directory")
	seed := flag.Uint64("seed", 1, "of the corpus")
	keep := flag.Bool("no-bars", false, "report only: exit 0 whatever the figures")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	met, err := bench(ctx, *sizes, dataset.Memory{Dir: *dir, Seed: *seed}, *rounds, *processes)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/recall:", err)
		os.Exit(1)
	}
	if !met && !*keep {
		os.Exit(1)
	}
}

// bench measures each size and reports whether all bars hold.
func bench(ctx context.Context, sizes string, m dataset.Memory, rounds, processes int) (met bool, err error) {
	// Short: a socket lies in it. Beside the memories, so that it is on the same disk.
	scratch, err := os.MkdirTemp(m.Dir, "cmrecall")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if m.Dir == "" {
		m.Dir = scratch
	}
	binaries, err := process.Build(filepath.Join(scratch, "bin"))
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(binaries.Big); err != nil {
		return false, errors.New("claude-mem does not build")
	}
	base := m.Dir
	met = true
	for size := range strings.SplitSeq(sizes, ",") {
		if m.Observations, err = strconv.Atoi(strings.TrimSpace(size)); err != nil || m.Observations < 1 {
			return false, fmt.Errorf("-n %q: numbers of observations, separated by commas", sizes)
		}
		m.Dir = filepath.Join(base, fmt.Sprintf("%d-%d", m.Observations, m.Seed))
		if _, err := m.Fill(ctx); err != nil {
			return false, fmt.Errorf("fill memory: %w", err)
		}
		if _, err := m.Build(ctx, false); err != nil {
			return false, fmt.Errorf("build index: %w", err)
		}
		f, err := measure(ctx, m, binaries, filepath.Join(scratch, size), rounds, processes)
		if err != nil {
			return false, err
		}
		met = report(os.Stdout, f) && met
	}
	return met, nil
}

// figures are what was measured at one size.
type figures struct {
	observations int
	kinds        []timing.Kind
	empty        *process.Process
	processes    []*process.Process
}

func measure(ctx context.Context, m dataset.Memory, binaries process.Binaries, dir string, rounds, processes int) (f figures, err error) {
	f.observations = m.Observations
	if err := m.Copy(dir, "*.*"); err != nil {
		return f, fmt.Errorf("copy memory: %w", err)
	}
	h := newHost(m, dir, binaries)
	if err := h.writeHostFiles(); err != nil {
		return f, fmt.Errorf("write the host's files: %w", err)
	}
	for _, on := range []bool{false, true} {
		stop, err := h.startWorker(ctx, on)
		if err != nil {
			return f, err
		}
		kinds, err := h.requests(ctx, rounds, on)
		f.kinds = append(f.kinds, kinds...)
		if err == nil && on {
			f.empty, f.processes, err = h.served(processes)
		}
		if err := errors.Join(err, stop()); err != nil {
			return f, err
		}
	}
	alone, err := h.alone(f.empty, processes)
	f.processes = append(f.processes, alone...)
	return f, err
}
