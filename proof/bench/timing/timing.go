// Package timing measures what benchmarks ask, and says whether a bar holds.
package timing

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what the requests of a kind took.
type Kind struct {
	Name string `json:"name"`
	// Part marks those that are a part of another kind and have no bar of their own.
	Part     bool          `json:"part,omitempty"`
	Requests int           `json:"requests"`
	P50      time.Duration `json:"p50"`
	P95      time.Duration `json:"p95"`
	Longest  time.Duration `json:"longest"`
	// CPU is the mean, of all threads of this process; 0 where the system does not tell.
	CPU   time.Duration `json:"cpu"`
	Found float64       `json:"found"` // results a request, on average
}

// WarmUp requests of each kind are not counted: they fetch pages from the disk.
const WarmUp = 30

// Asker asks request n of a kind and says how many results came.
type Asker func(ctx context.Context, n int) (int, error)

// Measure asks a number of times after warming up, one request after the other.
func Measure(ctx context.Context, rounds int, ask Asker) (k Kind, err error) {
	var took []time.Duration
	found := 0
	var before time.Duration
	for n := range WarmUp + rounds {
		if n == WarmUp {
			before = CPU()
			found = 0
		}
		began := time.Now()
		results, err := ask(ctx, n)
		if err != nil {
			return k, err
		}
		if n >= WarmUp {
			took = append(took, time.Since(began))
			found += results
		}
	}
	k = Of(took)
	k.CPU, k.Found = (CPU()-before)/time.Duration(rounds), float64(found)/float64(rounds)
	return k, nil
}

// Of describes measured durations.
func Of(took []time.Duration) Kind {
	if len(took) == 0 {
		return Kind{}
	}
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[min(int(share*float64(len(took))), len(took)-1)] }
	return Kind{Requests: len(took), P50: at(.5), P95: at(.95), Longest: at(1)}
}

// MS is a duration in milliseconds.
func MS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Verdict is the last word of a bar's line.
func Verdict(holds bool) string {
	if holds {
		return "met"
	}
	return "MISSED"
}

// MemoryOf reads a line of /proc/self/status, in bytes; 0 where there is none.
func MemoryOf(name string) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name+":" {
			kb, _ := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// CPUOf is what another process has used so far, of all processors, in steps of
// 10 ms; 0 where the system does not tell.
func CPUOf(pid int) time.Duration {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// Behind the program's name, which may hold anything, utime and stime are the 12th and 13th.
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on all that have it
}
