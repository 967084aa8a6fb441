package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
)

// report prints a line a case, with its ratio to its baseline in its own pairs, and one a bar, and reports whether all bars hold.
func report(w io.Writer, empty *process.Process, cases []*process.Process, worker string, rounds int, markdown bool) bool {
	line := "%-43s cpu %6.2f ms %5.2fx   wall %6.2f ms %5.2fx   p99 %6.2f ms\n"
	_, _ = fmt.Fprintf(w, "hook processes, %d rounds after warm-up, worker: %s, %s/%s, %d CPUs, %s\n", rounds, worker, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if markdown {
		_, _ = fmt.Fprint(w, "\n| process | CPU, median | × empty | wall, median | × empty | wall, p99 |\n|---|---|---|---|---|---|\n")
		line = "| %s | %.2f ms | %.2f | %.2f ms | %.2f | %.2f ms |\n"
	}
	met := true
	bars := ""
	empty.Paired = empty.Samples
	all := cases
	if len(empty.Samples) > 0 { // each case may have a baseline of its own
		all = append([]*process.Process{empty}, cases...)
	}
	for _, p := range all {
		c, e := process.At(.5, p.Samples, process.CPU), process.At(.5, p.Samples, process.Wall)
		cpuRatio, wallRatio := ratio(c, process.At(.5, p.Paired, process.CPU)), ratio(e, process.At(.5, p.Paired, process.Wall))
		_, _ = fmt.Fprintf(w, line, p.Name, timing.MS(c), cpuRatio, timing.MS(e), wallRatio, timing.MS(process.At(.99, p.Samples, process.Wall)))
		for _, b := range []struct {
			what     string
			got, bar float64
		}{{"CPU", cpuRatio, p.CPUBar}, {"wall", wallRatio, p.WallBar}} {
			if b.bar == 0 {
				continue
			}
			verdict := "met"
			if b.got > b.bar {
				verdict, met = "missed", false
			}
			bars += fmt.Sprintf("bar %s: %s, %s %.2fx of at most %.1fx\n", verdict, p.Name, b.what, b.got, b.bar)
		}
	}
	if markdown {
		bars = "\n" + bars
	}
	_, _ = io.WriteString(w, bars)
	return met
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
