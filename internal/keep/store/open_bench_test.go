//go:build unix

package store_test

import (
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"claudemem/internal/keep/store"
)

// BenchmarkOpenFresh makes new memories; cpu-ms/op is the time of all threads.
func BenchmarkOpenFresh(b *testing.B) {
	dir, n := b.TempDir(), 0
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for b.Loop() {
		n++
		s, err := store.Open(b.Context(), filepath.Join(dir, strconv.Itoa(n), "memory.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/1e6/float64(b.N), "cpu-ms/op")
}
