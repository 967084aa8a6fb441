// Command bench times whole hook processes, each paired with an empty Go program
// that runs just before it, so that what the machine does beside them hits both
// alike; what counts is the ratio of the medians. The bars are for the lines of
// hooks.json with their shell, against the same lines with the empty program.
//
//	go run ./proof/bench                  a stand-in for the worker
//	go run ./proof/bench -worker=real     the real worker on a temporary data directory
//	go run ./proof/bench -only '500 KB'   the cases whose name matches
//
// It ends with exit code 1 when a bar of the specification is missed. It is not shipped.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"claudemem/proof/bench/process"
)

func main() {
	worker := flag.String("worker", "stub", "who answers the hooks: stub or real")
	rounds := flag.Int("rounds", 400, "measured rounds")
	warmUp := flag.Int("warmup", 20, "rounds before them")
	markdown := flag.Bool("markdown", false, "print a Markdown table")
	only := flag.String("only", "", "measure the cases whose names match this regular expression")
	keep := flag.Bool("no-bars", false, "report only: exit 0 whatever the figures")
	flag.Parse()
	met, err := bench(*worker, *only, *rounds, *warmUp, *markdown)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if !met && !*keep {
		os.Exit(1)
	}
}

func bench(worker, only string, rounds, warmUp int, markdown bool) (met bool, err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "cmbench") // short: a socket lies in it
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries, err := process.Build(filepath.Join(dir, "bin"))
	if err != nil {
		return false, err
	}
	s, err := newScene(dir, binaries)
	if err != nil {
		return false, err
	}
	stop, err := s.startWorker(worker)
	if err != nil {
		return false, err
	}
	defer stop()
	empty, cases := s.cases(worker == "real")
	cases = slices.DeleteFunc(cases, func(p *process.Process) bool { return !wanted.MatchString(p.Name) })
	if err := process.Measure(empty, cases, rounds, warmUp); err != nil {
		return false, err
	}
	if worker == "stub" && s.posted.Load() == 0 {
		return false, fmt.Errorf("no hook reached the stand-in")
	}
	return report(os.Stdout, empty, cases, worker, rounds, markdown), nil
}
