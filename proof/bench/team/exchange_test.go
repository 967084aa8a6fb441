//go:build unix

package team_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/keep/store/care"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
	"claudemem/internal/move/team"
	"claudemem/proof/postgres"
)

const (
	// day is how many records an author shares in a day: 10,000 in two years of 250 days.
	day = 20
	// pushed is how many records are shared at once.
	pushed = 1000
)

// TestExchange measures a first pull of all that a team has, one of what comes in a day, one of nothing, and a push.
func TestExchange(t *testing.T) {
	if *rows == 0 {
		t.Skip("-rows says how many records")
	}
	s := postgres.Start(t)
	s.Team("alice")
	b := &bench{T: t, Server: s, vocabulary: newVocabulary(60_000)}
	b.load()
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	m, err := store.Open(t.Context(), path, store.Options{})
	b.must(err)
	t.Cleanup(func() { _ = m.Close() })
	_, err = team.Join(t.Context(), dir, s.Address("alice"))
	b.must(err)
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
		begun := time.Now()
		r, err := team.Sync(t.Context(), m, o)
		took := time.Since(begun)
		close(stop)
		<-done
		b.must(err)
		if got := want(&r); got != n || len(r.Refused) > 0 {
			t.Fatalf("%s: %d records, want %d; %v", what, got, n, r.Refused)
		}
		each := ""
		if n > 0 {
			each = fmt.Sprintf(", %.2f ms each", float64(took.Microseconds())/1000/float64(n))
		}
		t.Logf("point 4: %-28s %7d records %9v%s, heap at most %d MB more", what, n, took.Round(time.Millisecond), each, (max(peak, before)-before)>>20)
	}
	added := func(r *team.Report) int { return r.Added }
	all := *rows / authors * authors
	empty := sizeOf(path)
	exchange("first pull", added, all)
	t.Logf("point 4: memory.db %d MB, %.1f KB a record", sizeOf(path)>>20, float64(sizeOf(path)-empty)/1024/float64(all))
	exchange("next exchange, which compares", added, 0) // all that the first one has changed here
	b.Exec("postgres", "ALTER TABLE claude_mem.record DISABLE TRIGGER USER")
	b.add(*rows/authors, *rows/authors+day)
	b.Exec("postgres", "ALTER TABLE claude_mem.record ENABLE TRIGGER USER")
	exchange("daily pull of 100 authors", added, day*authors)
	exchange("pull of nothing new", added, 0)
	choice := care.TeamChoice{}
	for range pushed {
		made, err := m.AddObservation(t.Context(), memory.NewObservation{ProjectPath: "/shop", Title: b.text(8), Narrative: b.text(60), Type: memory.TypeDecision, Origin: memory.OriginUser})
		b.must(err)
		choice.Refs = append(choice.Refs, memory.RecordRef{Kind: memory.RecordObservation, ID: int64(made.ID)})
	}
	b.must(o.IdentifyProjects(t.Context(), m))
	cfg, err := team.Load(dir)
	b.must(err)
	begun := time.Now()
	if n, err := m.TeamAct(t.Context(), o.Team(cfg), choice, care.ActShared); err != nil || n != pushed {
		t.Fatal(n, err)
	}
	t.Logf("point 4: %-28s %7d records %9v", "share, here", pushed, time.Since(begun).Round(time.Millisecond))
	exchange("push", func(r *team.Report) int { return r.Sent }, pushed)
	b.sizes()
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
