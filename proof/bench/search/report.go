package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"claudemem/proof/bench/timing"
)

// A measure is a figure of a kind of requests.
type measure struct {
	name string
	of   func(timing.Kind) time.Duration
}

var (
	p50 = measure{"p50", func(k timing.Kind) time.Duration { return k.P50 }}
	p95 = measure{"p95", func(k timing.Kind) time.Duration { return k.P95 }}
)

// bar is the most that a figure of a kind may be at up to so many observations.
type bar struct {
	kind         string
	measure      measure
	observations int
	most         time.Duration
}

var bars = []bar{
	{search, p50, 100_000, 8 * time.Millisecond},
	{search, p50, 1_000_000, 60 * time.Millisecond},
	{filtered, p95, 100_000, 20 * time.Millisecond},
	{filterOnlyKind, p50, 100_000, 3 * time.Millisecond},
	{filterOnlyKind, p95, 100_000, 10 * time.Millisecond},
	{byFileKind, p50, 100_000, 3 * time.Millisecond},
	{byFileKind, p95, 100_000, 10 * time.Millisecond},
	{timelineKind, p50, 100_000, 3 * time.Millisecond},
	{timelineKind, p95, 100_000, 10 * time.Millisecond},
}

const (
	// barredObservations is the size up to which the bars of memory, disk and opening hold.
	barredObservations = 100_000
	// memoryBar is what a worker may have, diskBar what all files may, after a checkpoint.
	memoryBar = 130 << 20
	diskBar   = 420 << 20
	// openBar bounds the opening of the index.
	openBar = 200 * time.Millisecond
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
	out("  %-16s %8.0f ms   store %.0f ms\n", "index opened in", timing.MS(f.Open), timing.MS(f.OpenStore))
	for _, k := range f.Kinds {
		out("  %-16s p50 %7.2f ms   p95 %7.2f ms   longest %7.2f ms   cpu %7.2f ms   %.1f results\n",
			k.Name, timing.MS(k.P50), timing.MS(k.P95), timing.MS(k.Longest), timing.MS(k.CPU), k.Found)
	}
	if f.Served > 0 {
		out("  %-16s %8.0f MB after opening, %.0f MB after the requests (Go's heap %.0f MB, its runtime %.0f MB, the program %.0f MB, the rest SQLite's), at most %.0f MB\n",
			"memory", mb(f.Opened), mb(f.Served), mb(f.Heap), mb(f.Runtime), mb(f.Mapped), mb(f.Peak))
	}
	for _, x := range f.Files {
		out("  %-16s %8.1f MB   %6.0f bytes a record\n", x.Name, mb(x.Bytes), float64(x.Bytes)/float64(f.Observations))
	}
	if f.Swap > 0 {
		out("  %-16s %8.1f s   at most %.0f MB of memory, the index %.0f MB of disk\n", "table trained in", f.Swap.Seconds(), mb(f.SwapPeak), mb(f.SwapDisk))
	}
	met := true
	say := func(holds bool, format string, args ...any) {
		out("  %s: %s\n", verdict(holds), fmt.Sprintf(format, args...))
		met = met && holds
	}
	for _, k := range f.Kinds {
		for _, b := range barsOf(k.Name, f.Observations) {
			took := b.measure.of(k)
			say(took <= b.most, "%s %s %.2f ms, at most %.0f ms", strings.TrimSpace(k.Name), b.measure.name, timing.MS(took), timing.MS(b.most))
		}
	}
	if f.Observations <= barredObservations {
		say(f.Open <= openBar, "index opened in %.0f ms, at most %.0f ms", timing.MS(f.Open), timing.MS(openBar))
		disk := int64(0)
		for _, x := range f.Files {
			disk += x.Bytes
		}
		say(disk <= diskBar, "disk %.0f MB, at most %.0f MB", mb(disk), mb(diskBar))
		if f.Served > 0 {
			say(f.Served <= memoryBar, "memory %.0f MB, at most %.0f MB", mb(f.Served), mb(memoryBar))
		}
	}
	return met
}

// verdict begins a bar's line.
func verdict(holds bool) string {
	if holds {
		return "bar met"
	}
	return "bar missed"
}

// barsOf returns, for each measure of a kind, the bar for the smallest size that covers n.
func barsOf(kind string, n int) (found []bar) {
	seen := map[string]bool{}
	for _, b := range bars { // in the order of their sizes
		if b.kind == kind && n <= b.observations && !seen[b.measure.name] {
			seen[b.measure.name] = true
			found = append(found, b)
		}
	}
	return found
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
		_, _ = fmt.Fprintf(w, "%s: %s takes %.1f times as long at 100,000 as at 10,000, at most %d times\n", verdict(holds), k.Name, times, growthBar)
		met = met && holds
	}
	return met
}
