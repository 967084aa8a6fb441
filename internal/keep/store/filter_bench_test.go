package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"claudemem/internal/keep/store"
	"claudemem/internal/memory"
)

// benchMemory is a memory of n observations of which two in three are of one
// project and most have the same concept, with a prompt for each ten.
func benchMemory(b *testing.B, n int) *store.Store {
	b.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	projects := []string{"/home/dev/project", "/home/dev/project", "/home/dev/shop", "/work/shop"}
	types := []memory.ObservationType{"change", "change", "change", "discovery", "discovery", "feature", "bugfix", "refactor"}
	at := func(i int) memory.Millis { return memory.Millis(1_600_000_000_000 + i*600_000) }
	var arrivals []memory.Arrival
	for i := 0; i < n; i += 10 {
		a := event(memory.KindPrompt, fmt.Sprint("session ", i/200), fmt.Sprint("p", i), 0)
		a.Event.OccurredAt, a.Event.ProjectPath = at(i), projects[i/200%len(projects)]
		arrivals = append(arrivals, a)
		if len(arrivals) == 500 {
			if _, err := s.Enqueue(ctx, arrivals...); err != nil {
				b.Fatal(err)
			}
			arrivals = arrivals[:0]
		}
	}
	all := make([]memory.NewObservation, n)
	for i := range all {
		o := &all[i]
		*o = memory.NewObservation{
			ProjectPath: projects[i/200%len(projects)], Type: types[random.IntN(len(types))], Origin: memory.OriginImport,
			Title: fmt.Sprintf("Change %d of the module", i), Narrative: strings.Repeat("narrative ", 40), Facts: []string{"one fact", "another fact"},
			Concepts: []string{fmt.Sprint("concept", random.IntN(300))}, CreatedAt: at(i),
		}
		if random.IntN(5000) == 0 {
			o.Type = memory.TypeDecision
		}
		if random.IntN(4) > 0 {
			o.Concepts = append(o.Concepts, "what-changed")
		}
		for range 2 {
			file := random.IntN(5000)
			o.Files = append(o.Files, memory.FileRef{Path: fmt.Sprintf("src/m%d/file%d.go", file%200, file)})
		}
	}
	start := time.Now()
	if err := s.AddObservations(ctx, all); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d observations in %.1f s", n, time.Since(start).Seconds())
	return s
}

// BenchmarkFilter measures lists without a text: filter only, by file, by concept and
// timeline should take at most 5 ms with 100,000 observations.
func BenchmarkFilter(b *testing.B) {
	ctx := context.Background()
	s := benchMemory(b, 100_000)
	const page = 20
	var (
		middle = memory.Millis(1_600_000_000_000 + 50_000*600_000)
		what   = []string{"what-changed"}
	)
	queries := []struct {
		name  string
		query memory.Query
	}{
		{"all", memory.Query{}},
		{"project", memory.Query{Project: "project"}},
		{"label-of-two", memory.Query{Project: "shop"}},
		{"offset1000", memory.Query{Project: "project", Offset: 1000}},
		{"range", memory.Query{Project: "project", Since: middle, Until: middle + 1e9}},
		{"type", memory.Query{Project: "project", Types: []memory.ObservationType{"change"}}},
		{"rare-type", memory.Query{Types: []memory.ObservationType{"decision"}}},
		{"file", memory.Query{Project: "project", Files: []string{"src/m7/file7.go"}}},
		{"folder", memory.Query{Project: "project", Files: []string{"src/m7"}}},
		{"folder-of-all", memory.Query{Project: "project", Files: []string{"src"}}},
		{"no-such-file", memory.Query{Files: []string{"src/m7/file8.go"}}},
		{"concept", memory.Query{Project: "project", Concepts: what}},
		{"concept-label-of-two", memory.Query{Project: "shop", Concepts: what}},
		{"concept-everywhere", memory.Query{Concepts: what}},
		{"rare-concept", memory.Query{Project: "project", Concepts: []string{"concept7"}}},
		{"concepts", memory.Query{Project: "project", Concepts: []string{"what-changed", "concept7"}}},
		{"concept-type-range", memory.Query{Project: "project", Concepts: what, Types: []memory.ObservationType{"bugfix"}, Until: middle}},
		{"concept-file", memory.Query{Project: "project", Concepts: what, Files: []string{"src/m7"}}},
		{"session", memory.Query{Session: 5}},
	}
	run := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, q := range queries {
		q.query.Limit = page
		run("page/"+q.name, func() error {
			_, err := s.FilterRecords(ctx, q.query, nil, memory.OrderNewest)
			return err
		})
		run("observations/"+q.name, func() error {
			_, err := s.Observations(ctx, q.query)
			return err
		})
		cold := memory.Millis(0)
		run("count-cold/"+q.name, func() error {
			cold++ // a filter that was not asked for yet
			q.query.Until = memory.LatestTime - cold
			_, err := s.CountRecords(ctx, q.query, nil)
			return err
		})
	}
	for _, q := range queries {
		q.query.Limit, q.query.Offset = 0, 0
		if len(q.query.Files)+len(q.query.Concepts) > 0 { // what a search with words is narrowed to
			run("every/"+q.name, func() error {
				_, err := s.FilterRecords(ctx, q.query, nil, memory.OrderNewest)
				return err
			})
		}
	}
	run("count-known", func() error {
		_, err := s.CountRecords(ctx, memory.Query{Concepts: what}, nil)
		return err
	})
	for _, project := range []string{"", "project", "shop"} {
		run("timeline/"+project, func() error {
			_, _, err := s.Around(ctx, project, middle, memory.RecordRef{Kind: memory.RecordObservation, ID: 50_001}, 10, 10)
			return err
		})
	}
	refs, err := s.FilterRecords(ctx, memory.Query{Limit: page}, nil, "")
	if err != nil {
		b.Fatal(err)
	}
	run("records20", func() error {
		_, err := s.RecordsByRefs(ctx, refs...)
		return err
	})
	run("documents500", func() error {
		_, err := s.DocumentsAfter(ctx, memory.RecordObservation, 50_000, 500)
		return err
	})
	run("prompts500", func() error {
		_, err := s.DocumentsAfter(ctx, memory.RecordPrompt, 5000, 500)
		return err
	})
	run("sessions20", func() error {
		_, err := s.Sessions(ctx, memory.Query{Limit: 20})
		return err
	})
	run("projects", func() error {
		_, err := s.Projects(ctx, false)
		return err
	})
}

// BenchmarkAddObservation measures one after the other, as an import over HTTP
// does it, and 16 at once.
func BenchmarkAddObservation(b *testing.B) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "memory.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	i := 0
	add := func(b *testing.B, i int) {
		if _, err := s.AddObservation(ctx, memory.NewObservation{
			ProjectPath: "/home/dev/project", Title: fmt.Sprint("Note ", i), Narrative: strings.Repeat("narrative ", 40), Concepts: []string{"gotcha", "pattern"},
			Files: []memory.FileRef{{Path: fmt.Sprintf("src/file%d.go", i%5000)}},
		}); err != nil {
			b.Error(err)
		}
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			i++
			add(b, i)
		}
	})
	b.Run("atonce", func(b *testing.B) {
		b.SetParallelism(8)
		next := atomic.Int64{}
		next.Store(int64(i) << 20)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				add(b, int(next.Add(1)))
			}
		})
	})
}
