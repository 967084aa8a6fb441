package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"claudemem/bench/timing"
)

// bar is the most that the median of a kind may be at up to so many observations.
type bar struct {
	kind         string
	observations int
	p50          time.Duration
}

var bars = []bar{
	{"search", 100_000, 15 * time.Millisecond},
	{"search", 1_000_000, 60 * time.Millisecond},
	{"filter only", 100_000, 5 * time.Millisecond},
	{"by file", 100_000, 5 * time.Millisecond},
	{"timeline", 100_000, 5 * time.Millisecond},
}

const (
	// memoryBar is what a worker may have at up to 100,000 observations.
	memoryBar = 200 << 20
	// growthBar is how many times longer 100,000 observations may take than 10,000;
	// below growthFloor nobody notices and the noise is larger.
	growthBar   = 3
	growthFloor = time.Millisecond
)

func mb(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// report prints the figures of one size and reports whether its bars hold.
func report(w io.Writer, f *figures) bool {
	out := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	out("%d observations (%d documents, %d fragments), %s/%s, %d CPUs, %s\n",
		f.Observations, f.Documents, f.Fragments, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if f.Fill > 0 {
		out("  %-16s %8.1f s\n", "entered in", f.Fill.Seconds())
	}
	if f.Build > 0 {
		out("  %-16s %8.1f s   %6.0f documents/s   cpu %.1f s   peak %.0f MB\n", "index built in", f.Build.Seconds(),
			float64(f.Documents)/f.Build.Seconds(), f.BuildCPU.Seconds(), mb(f.BuildPeak))
	}
	out("  %-16s %8.0f ms\n", "opened in", timing.MS(f.Open))
	met := true
	for _, k := range f.Kinds {
		out("  %-16s p50 %7.2f ms   p95 %7.2f ms   longest %7.2f ms   cpu %7.2f ms   %.1f results\n",
			k.Name, timing.MS(k.P50), timing.MS(k.P95), timing.MS(k.Longest), timing.MS(k.CPU), k.Found)
	}
	if f.Served > 0 {
		out("  %-16s %8.0f MB after opening, %.0f MB after the requests (Go's heap %.0f MB), at most %.0f MB\n", "memory", mb(f.Opened), mb(f.Served), mb(f.Heap), mb(f.Peak))
	}
	for _, x := range f.Files {
		out("  %-16s %8.1f MB\n", x.Name, mb(x.Bytes))
	}
	for _, k := range f.Kinds {
		if b, ok := barOf(k.Name, f.Observations); ok {
			holds := k.P50 <= b.p50
			out("  bar: %s p50 %.2f ms, at most %.0f ms: %s\n", k.Name, timing.MS(k.P50), timing.MS(b.p50), timing.Verdict(holds))
			met = met && holds
		}
	}
	if f.Served > 0 && f.Observations <= 100_000 {
		holds := f.Served <= memoryBar
		out("  bar: memory %.0f MB, at most %.0f MB: %s\n", mb(f.Served), mb(memoryBar), timing.Verdict(holds))
		met = met && holds
	}
	return met
}

// barOf finds the bar for the smallest size that covers n.
func barOf(kind string, n int) (bar, bool) {
	for _, b := range bars { // in the order of their sizes
		if b.kind == kind && n <= b.observations {
			return b, true
		}
	}
	return bar{}, false
}

// reportGrowth compares 100,000 observations with 10,000.
func reportGrowth(w io.Writer, all []figures) bool {
	at := map[int]figures{}
	for _, f := range all {
		at[f.Observations] = f
	}
	small, large := at[10_000], at[100_000]
	if small.Kinds == nil || large.Kinds == nil {
		return true
	}
	met := true
	for i, k := range large.Kinds {
		if k.Part {
			continue
		}
		times := float64(k.P50) / float64(max(small.Kinds[i].P50, 1))
		holds := times <= growthBar || k.P50 <= growthFloor
		_, _ = fmt.Fprintf(w, "bar: %s takes %.1f times as long at 100,000 as at 10,000, at most %d times: %s\n", k.Name, times, growthBar, timing.Verdict(holds))
		met = met && holds
	}
	return met
}
