package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"claudemem/proof/bench/process"
	"claudemem/proof/bench/timing"
)

// bars are the most that the medians may be at up to 100,000 observations: the host waits for
// each answer.
var bars = []struct {
	kind string
	p50  time.Duration
}{
	{"context, startup", 20 * time.Millisecond},
	{"new, given", 25 * time.Millisecond},
	{"new, silent", 25 * time.Millisecond},
}

const (
	// fallBackBar is what a whole hook may take, on the wall, when it reads the memory itself.
	fallBackBar = 60 * time.Millisecond
	// barSize is up to how many observations the bars hold.
	barSize = 100_000
	// enough requests make a median; with fewer a bar counts as missed.
	enough = 20
)

// report prints the figures of one size and reports whether its bars hold.
func report(w io.Writer, f figures) bool {
	out := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	out("%d observations, %s/%s, %d CPUs, %s\n", f.observations, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	named := map[string]timing.Kind{}
	for _, k := range f.kinds {
		named[k.Name] = k
		if k.Requests == 0 {
			continue
		}
		cpu := ""
		if k.CPU > 0 {
			cpu = fmt.Sprintf("   cpu %6.2f ms", timing.MS(k.CPU))
		}
		out("  %-24s p50 %7.2f ms   p95 %7.2f ms   longest %7.2f ms   %4d requests%s\n",
			k.Name, timing.MS(k.P50), timing.MS(k.P95), timing.MS(k.Longest), k.Requests, cpu)
	}
	var alone time.Duration
	for _, p := range append([]*process.Process{f.empty}, f.processes...) {
		wall := process.At(.5, p.Samples, process.Wall)
		times := ""
		if len(p.Paired) > 0 {
			times = fmt.Sprintf("   %5.1f times an empty Go program", float64(wall)/float64(process.At(.5, p.Paired, process.Wall)))
		}
		out("  process %-20s wall p50 %7.2f ms   p95 %7.2f ms   cpu p50 %7.2f ms%s\n", p.Name, timing.MS(wall),
			timing.MS(process.At(.95, p.Samples, process.Wall)), timing.MS(process.At(.5, p.Samples, process.CPU)), times)
		if p.Name == fallBack {
			alone = wall
		}
	}
	if f.observations > barSize {
		return true
	}
	met := true
	for _, b := range bars {
		k := named[b.kind]
		holds := k.Requests >= enough && k.P50 <= b.p50
		out("  bar: %s p50 %.2f ms of %d requests, at most %.0f ms: %s\n", b.kind, timing.MS(k.P50), k.Requests, timing.MS(b.p50), timing.Verdict(holds))
		met = met && holds
	}
	holds := alone > 0 && alone <= fallBackBar
	out("  bar: %s, whole process p50 %.2f ms, at most %.0f ms: %s\n", fallBack, timing.MS(alone), timing.MS(fallBackBar), timing.Verdict(holds))
	return met && holds
}
