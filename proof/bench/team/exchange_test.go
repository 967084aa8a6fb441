//go:build unix

package team_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
	"claudemem/internal/move/team"
)

const (
	// day is how many records an author shares in a day: 10,000 in two years of 250 days.
	day = 20
	// pushed is how many records are shared at once.
	pushed = 1000
)

// TestLarge is TestSearch and TestExchange with one server.
func TestLarge(t *testing.T) {
	b := serve(t)
	t.Run("search", b.search)
	t.Run("exchange", b.exchange)
}

func TestExchange(t *testing.T) { serve(t).exchange(t) }

// exchange measures a first pull, one of what comes in a day, one of nothing, and a push.
func (b *bench) exchange(t *testing.T) {
	b.T = t
	s, dir := b.Server, t.TempDir()
	path := filepath.Join(dir, "memory.db")
	m, err := store.Open(t.Context(), path, store.Options{})
	b.must(err)
	t.Cleanup(func() { _ = m.Close() })
	cfg, err := team.Join(t.Context(), dir, s.Address("alice"))
	b.must(err)
	all := *rows / authors * authors
	if *pulled > 0 {
		cfg.Since = timeOf(all - *pulled + 1) // as of team pull --since
		b.must(cfg.Save(dir))
		all = *pulled
	}
	o := team.Options{Pull: true, Options: joined.Options{DataDir: dir, Identify: func(project string) string { return "github.com/acme" + project },
		Now: func() memory.Millis { return memory.MillisOf(time.Now()) }, Sharing: care.Sharing{Captured: func(string) bool { return true }, Redact: func(*memory.Portable) bool { return true }, Note: func(*care.Erasure) error { return nil }}}}
	exchange := func(what string, want func(r *team.Report) int, n int) {
		t.Helper()
		runtime.GC()
		before, peak, stop := heap(), uint64(0), make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					peak = max(peak, heap())
				}
			}
		}()
		begun, cpu := time.Now(), spent()
		r, err := team.Sync(t.Context(), m, o)
		took, worked := time.Since(begun), spent()-cpu
		close(stop)
		<-done
		b.must(err)
		if got := want(&r); got != n || len(r.Refused) > 0 {
			t.Fatalf("%s: %d records, want %d; %v", what, got, n, r.Refused)
		}
		each := ""
		if n > 0 {
			each = fmt.Sprintf(", %.2f ms each, %.2f of CPU here", float64(took.Microseconds())/1000/float64(n), float64(worked.Microseconds())/1000/float64(n))
		}
		t.Logf("point 4: %-28s %7d records %9v%s, heap at most %d MB more", what, n, took.Round(time.Millisecond), each, (max(peak, before)-before)>>20)
	}
	added := func(r *team.Report) int { return r.Added }
	empty := sizeOf(path)
	exchange("first pull", added, all)
	t.Logf("point 4: memory.db %d MB, %.1f KB a record", sizeOf(path)>>20, float64(sizeOf(path)-empty)/1024/float64(all))
	exchange("next exchange", added, 0)
	b.add(*rows/authors, *rows/authors+day)
	exchange("daily pull of 100 authors", added, day*authors)
	exchange("pull of nothing new", added, 0)
	choice := care.TeamChoice{}
	for range pushed {
		made, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/shop", Title: b.text(8), Narrative: b.text(60), Type: memory.TypeDecision, Origin: memory.OriginUser})
		b.must(err)
		choice.Refs = append(choice.Refs, memory.RecordRef{Kind: memory.RecordObservation, ID: int64(made.ID)})
	}
	b.must(o.IdentifyProjects(t.Context(), m))
	begun := time.Now()
	if n, err := m.TeamAct(t.Context(), o.Team(cfg), choice, care.ActShared); err != nil || n != pushed {
		t.Fatal(n, err)
	}
	t.Logf("point 4: %-28s %7d records %9v", "share, here", pushed, time.Since(begun).Round(time.Millisecond))
	exchange("push", func(r *team.Report) int { return r.Sent }, pushed)
	b.sizes()
}

// spent returns the CPU time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of this process it does not fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns the bytes of live and dead objects of the heap.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// sizeOf returns the bytes of a database with its log.
func sizeOf(path string) (size int64) {
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size
}
