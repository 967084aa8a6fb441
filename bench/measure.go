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
}

// measure runs every case in every round. The first is the empty program.
func measure(cases []*process, rounds, warmUp int) error {
	for round := range warmUp + rounds {
		for i := range cases {
			p := cases[(i+round)%len(cases)]
			s, err := p.once(round)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round >= warmUp {
				p.samples = append(p.samples, s)
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
func (p *process) at(share float64, of func(sample) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range p.samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

func cpu(s sample) time.Duration  { return s.cpu }
func wall(s sample) time.Duration { return s.wall }

// report prints a line a case and one a bar, and reports whether all bars hold.
func report(w io.Writer, cases []*process, worker string, rounds int, markdown bool) bool {
	line := "%-28s cpu %6.2f ms %5.2fx   wall %6.2f ms %5.2fx   p99 %6.2f ms\n"
	_, _ = fmt.Fprintf(w, "hook processes, %d rounds after warm-up, worker: %s, %s/%s, %d CPUs, %s\n", rounds, worker, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if markdown {
		_, _ = fmt.Fprint(w, "\n| process | CPU, median | × empty | wall, median | × empty | wall, p99 |\n|---|---|---|---|---|---|\n")
		line = "| %s | %.2f ms | %.2f | %.2f ms | %.2f | %.2f ms |\n"
	}
	met := true
	bars := ""
	empty := cases[0]
	emptyCPU, emptyWall := empty.at(.5, cpu), empty.at(.5, wall)
	for _, p := range cases {
		c, e := p.at(.5, cpu), p.at(.5, wall)
		cpuRatio, wallRatio := ratio(c, emptyCPU), ratio(e, emptyWall)
		_, _ = fmt.Fprintf(w, line, p.name, ms(c), cpuRatio, ms(e), wallRatio, ms(p.at(.99, wall)))
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
