package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

// sample is what one process cost.
type sample struct{ cpu, wall time.Duration }

// process is a case: one kind of process, started once a round.
type process struct {
	name string
	path string
	args []string
	env  []string
	// input makes standard input; n is different in each round.
	input func(n int) []byte
	// cpuBar and wallBar are the most that the median may be, in times the empty program's; 0 = none.
	cpuBar, wallBar float64

	samples []sample
	// paired are the empty program's, each run just before one of samples.
	paired []sample
}

// settle is the pause after each process. A host runs its hooks seconds apart:
// what a worker still does with one event must not be billed to the next process.
const settle = 5 * time.Millisecond

// measure runs each case in turn with the empty program, pair by pair, so that
// both meet the same machine. A case does not share its rounds with the others:
// they would leave it a cold cache and a busy disk, as no host does.
func measure(empty *process, cases []*process, rounds, warmUp int) error {
	for _, p := range cases {
		for round := range warmUp + rounds {
			time.Sleep(settle)
			e, err := empty.once(round)
			if err != nil {
				return fmt.Errorf("%s: %w", empty.name, err)
			}
			time.Sleep(settle)
			s, err := p.once(round)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round >= warmUp {
				p.paired = append(p.paired, e)
				p.samples = append(p.samples, s)
				empty.samples = append(empty.samples, e)
			}
		}
	}
	return nil
}

func (p *process) once(n int) (sample, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = in.Close() }() // the child has its own
	if p.input != nil {
		if _, err := out.Write(p.input(n)); err != nil { // fits into the pipe
			return sample{}, err
		}
	}
	if err := out.Close(); err != nil {
		return sample{}, err
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Stdin, cmd.Env = in, p.env
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, err
	}
	wall := time.Since(began)
	return sample{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall}, nil
}

// at returns the duration that a share of the samples does not exceed.
func at(share float64, samples []sample, of func(sample) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

func cpu(s sample) time.Duration  { return s.cpu }
func wall(s sample) time.Duration { return s.wall }

// report prints a line a case, with its ratio to the empty program of its own pairs, and one a bar, and reports whether all bars hold.
func report(w io.Writer, empty *process, cases []*process, worker string, rounds int, markdown bool) bool {
	line := "%-28s cpu %6.2f ms %5.2fx   wall %6.2f ms %5.2fx   p99 %6.2f ms\n"
	_, _ = fmt.Fprintf(w, "hook processes, %d rounds after warm-up, worker: %s, %s/%s, %d CPUs, %s\n", rounds, worker, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if markdown {
		_, _ = fmt.Fprint(w, "\n| process | CPU, median | × empty | wall, median | × empty | wall, p99 |\n|---|---|---|---|---|---|\n")
		line = "| %s | %.2f ms | %.2f | %.2f ms | %.2f | %.2f ms |\n"
	}
	met := true
	bars := ""
	empty.paired = empty.samples
	for _, p := range append([]*process{empty}, cases...) {
		c, e := at(.5, p.samples, cpu), at(.5, p.samples, wall)
		cpuRatio, wallRatio := ratio(c, at(.5, p.paired, cpu)), ratio(e, at(.5, p.paired, wall))
		_, _ = fmt.Fprintf(w, line, p.name, ms(c), cpuRatio, ms(e), wallRatio, ms(at(.99, p.samples, wall)))
		for _, b := range []struct {
			what     string
			got, bar float64
		}{{"CPU", cpuRatio, p.cpuBar}, {"wall", wallRatio, p.wallBar}} {
			if b.bar == 0 {
				continue
			}
			verdict := "met"
			if b.got > b.bar {
				verdict, met = "missed", false
			}
			bars += fmt.Sprintf("bar %s: %s, %s %.2fx of at most %.1fx\n", verdict, p.name, b.what, b.got, b.bar)
		}
	}
	if markdown {
		bars = "\n" + bars
	}
	_, _ = io.WriteString(w, bars)
	return met
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
func ms(d time.Duration) float64       { return float64(d) / float64(time.Millisecond) }
