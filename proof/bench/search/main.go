// Command search times what a memory of many observations answers: search, filters,
// lists by file and timelines, and how long its index takes to build.
//
//	go run ./proof/bench/search                          100,000 observations
//	go run ./proof/bench/search -n 10000,100000          and how the times grow
//	go run ./proof/bench/search -n 1000000 -dir /big     keeps memory and index for the next run
//
// The memory is made by package corpus and entered as a host's sessions are:
// prompts, turns, what came of them. Three processes work one after the other, so
// that the memory measured is that of one that only serves: one fills the store, one
// builds the index, one asks. It ends with exit code 1 when a bar of the
// specification is missed. It is not shipped.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"claudemem/proof/bench/dataset"
	"claudemem/proof/bench/timing"
)

// run is what the processes are told, as JSON.
type run struct {
	dataset.Memory
	Rounds  int    `json:"rounds"`
	Rebuild bool   `json:"rebuild,omitempty"`
	Swap    bool   `json:"swap,omitempty"`
	Profile string `json:"profile,omitempty"`
}

func main() {
	sizes := flag.String("n", "100000", "numbers of observations, separated by commas")
	rounds := flag.Int("rounds", 400, "measured requests of each kind")
	dir := flag.String("dir", "", "where the memories are kept for the next run; none: a temporary directory")
	rebuild := flag.Bool("rebuild", false, "build the index anew that an earlier run kept")
	seed := flag.Uint64("seed", 1, "of the corpus")
	swaps := flag.Bool("swap", false, "also train the table of vectors, on a copy of the index, and report the peak of memory and disk")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of the process that serves; one of its allocations goes to the same name with .allocs")
	keep := flag.Bool("no-bars", false, "report only: exit 0 whatever the figures")
	phase := flag.String("phase", "", "internal: what this process is for")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	met := true
	var err error
	if *phase != "" {
		err = work(ctx, *phase)
	} else {
		met, err = bench(ctx, *sizes, run{Memory: dataset.Memory{Dir: *dir, Seed: *seed}, Rounds: *rounds, Rebuild: *rebuild, Swap: *swaps, Profile: *profile})
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/search:", err)
		os.Exit(1)
	}
	if !met && !*keep {
		os.Exit(1)
	}
}

// bench measures each size and reports whether all bars hold.
func bench(ctx context.Context, sizes string, r run) (met bool, err error) {
	if r.Dir == "" {
		if r.Dir, err = os.MkdirTemp("", "cmsearch"); err != nil {
			return false, err
		}
		defer func() { _ = os.RemoveAll(r.Dir) }()
	}
	base := r.Dir
	met = true
	var all []figures
	for size := range strings.SplitSeq(sizes, ",") {
		if r.Observations, err = strconv.Atoi(strings.TrimSpace(size)); err != nil || r.Observations < 1 {
			return false, fmt.Errorf("-n %q: numbers of observations, separated by commas", sizes)
		}
		r.Dir = filepath.Join(base, fmt.Sprintf("%d-%d", r.Observations, r.Seed))
		f := figures{Observations: r.Observations}
		phases := []string{"fill", "build", "serve"}
		if r.Swap {
			phases = append(phases, "swap")
		}
		for _, phase := range phases {
			if err := inProcess(ctx, phase, r, &f); err != nil {
				return false, err
			}
		}
		met = report(os.Stdout, &f) && met
		all = append(all, f)
	}
	return reportGrowth(os.Stdout, all) && met, nil
}

// inProcess runs a phase in a process of its own and adds its figures to f.
func inProcess(ctx context.Context, phase string, r run, f *figures) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := json.Marshal(r)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-phase="+phase)
	cmd.Stdin = strings.NewReader(string(in))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", phase, err)
	}
	return json.Unmarshal(out, f)
}

// work is what such a process does.
func work(ctx context.Context, phase string) error {
	var r run
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return err
	}
	phases := map[string]func(context.Context, run) (figures, error){"fill": fill, "build": build, "serve": serve, "swap": swap}
	do := phases[phase]
	if do == nil {
		return fmt.Errorf("unknown phase %q", phase)
	}
	f, err := do(ctx, r)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

func fill(ctx context.Context, r run) (f figures, err error) {
	f.Fill, err = r.Fill(ctx)
	return f, err
}

func build(ctx context.Context, r run) (f figures, err error) {
	b, err := r.Build(ctx, r.Rebuild)
	f.Build, f.BuildCPU, f.Documents, f.Fragments = b.Took, b.CPU, b.Documents, b.Fragments
	if b.Took > 0 {
		f.BuildPeak = timing.MemoryOf("VmHWM")
	}
	return f, err
}
