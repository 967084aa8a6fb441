// Package process times whole processes, each paired with an empty Go program that
// runs just before it, so that what the machine does beside them hits both alike;
// what counts is the ratio of the medians.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Sample is what one process cost.
type Sample struct{ CPU, Wall time.Duration }

// Process is a case: one kind of process, started once a round.
type Process struct {
	Name string
	Path string
	Args []string
	Env  []string
	// Baseline is what the case is compared with; nil: the empty program of Measure.
	Baseline *Process
	// Input makes standard input; n is different in each round.
	Input func(n int) []byte
	// CPUBar and WallBar are the most that the median may be, in times the baseline's; 0 = none.
	CPUBar, WallBar float64

	Samples []Sample
	// Paired are the baseline's, each run just before one of Samples.
	Paired []Sample
}

// settle is the pause after each process. A host runs its hooks seconds apart:
// what a worker still does with one event must not be billed to the next process.
const settle = 5 * time.Millisecond

// pipeSize is what a pipe takes in before anybody reads, on Linux and macOS.
const pipeSize = 64 << 10

// Measure runs each case in turn with its baseline, pair by pair, so that
// both meet the same machine. A case does not share its rounds with the others:
// they would leave it a cold cache and a busy disk, as no host does.
func Measure(empty *Process, cases []*Process, rounds, warmUp int) error {
	for _, p := range cases {
		baseline := p.Baseline
		if baseline == nil {
			baseline = empty
		}
		for round := range warmUp + rounds {
			time.Sleep(settle)
			b, err := baseline.Once(round)
			if err != nil {
				return fmt.Errorf("%s: %w", baseline.Name, err)
			}
			time.Sleep(settle)
			s, err := p.Once(round)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if round >= warmUp {
				p.Paired = append(p.Paired, b)
				p.Samples = append(p.Samples, s)
				baseline.Samples = append(baseline.Samples, b)
			}
		}
	}
	return nil
}

// Once runs the process and returns what it cost.
func (p *Process) Once(n int) (Sample, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return Sample{}, err
	}
	defer func() { _ = in.Close() }() // the child has its own
	var input []byte
	if p.Input != nil {
		input = p.Input(n)
	}
	written := make(chan struct{})
	feed := func() {
		_, _ = out.Write(input) // an empty program does not read it
		_ = out.Close()
		close(written)
	}
	if len(input) <= pipeSize {
		feed()
	} else {
		defer func() {
			_ = in.Close()
			<-written
		}()
	}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Stdin, cmd.Env = in, p.Env
	began := time.Now()
	if len(input) > pipeSize {
		go feed() // as a host does: while the process reads
	}
	if err := cmd.Run(); err != nil {
		return Sample{}, err
	}
	wall := time.Since(began)
	return Sample{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall}, nil
}

// At returns the duration that a share of the samples does not exceed.
func At(share float64, samples []Sample, of func(Sample) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

// CPU and Wall are what At may be asked of.
func CPU(s Sample) time.Duration  { return s.CPU }
func Wall(s Sample) time.Duration { return s.Wall }
