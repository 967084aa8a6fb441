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

	"claudemem"
	"claudemem/store"
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
	types := []claudemem.ObservationType{"change", "change", "change", "discovery", "discovery", "feature", "bugfix", "refactor"}
	at := func(i int) claudemem.Millis { return claudemem.Millis(1_600_000_000_000 + i*600_000) }
	var arrivals []claudemem.Arrival
	for i := 0; i < n; i += 10 {
		a := event(claudemem.KindPrompt, fmt.Sprint("session ", i/200), fmt.Sprint("p", i), 0)
		a.Event.OccurredAt, a.Event.ProjectPath = at(i), projects[i/200%len(projects)]
		arrivals = append(arrivals, a)
		if len(arrivals) == 500 {
			if _, err := s.Enqueue(ctx, arrivals...); err != nil {
				b.Fatal(err)
			}
			arrivals = arrivals[:0]
		}
	}
	all := make([]claudemem.NewObservation, n)
	for i := range all {
		o := &all[i]
		*o = claudemem.NewObservation{
			ProjectPath: projects[i/200%len(projects)], Type: types[random.IntN(len(types))], Origin: claudemem.OriginImport,
			Title: fmt.Sprintf("Change %d of the module", i), Narrative: strings.Repeat("narrative ", 40), Facts: []string{"one fact", "another fact"},
			Concepts: []string{fmt.Sprint("concept", random.IntN(300))}, CreatedAt: at(i),
		}
		if random.IntN(5000) == 0 {
			o.Type = claudemem.TypeDecision
		}
		if random.IntN(4) > 0 {
			o.Concepts = append(o.Concepts, "what-changed")
		}
		for range 2 {
			file := random.IntN(5000)
			o.Files = append(o.Files, claudemem.FileRef{Path: fmt.Sprintf("src/m%d/file%d.go", file%200, file)})
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
		middle = claudemem.Millis(1_600_000_000_000 + 50_000*600_000)
		what   = []string{"what-changed"}
	)
	queries := []struct {
		name  string
		query claudemem.Query
	}{
		{"all", claudemem.Query{}},
		{"project", claudemem.Query{Project: "project"}},
		{"label-of-two", claudemem.Query{Project: "shop"}},
		{"offset1000", claudemem.Query{Project: "project", Offset: 1000}},
		{"range", claudemem.Query{Project: "project", Since: middle, Until: middle + 1e9}},
		{"type", claudemem.Query{Project: "project", Types: []claudemem.ObservationType{"change"}}},
		{"rare-type", claudemem.Query{Types: []claudemem.ObservationType{"decision"}}},
		{"file", claudemem.Query{Project: "project", Files: []string{"src/m7/file7.go"}}},
		{"folder", claudemem.Query{Project: "project", Files: []string{"src/m7"}}},
		{"folder-of-all", claudemem.Query{Project: "project", Files: []string{"src"}}},
		{"no-such-file", claudemem.Query{Files: []string{"src/m7/file8.go"}}},
		{"concept", claudemem.Query{Project: "project", Concepts: what}},
		{"concept-label-of-two", claudemem.Query{Project: "shop", Concepts: what}},
		{"concept-everywhere", claudemem.Query{Concepts: what}},
		{"rare-concept", claudemem.Query{Project: "project", Concepts: []string{"concept7"}}},
		{"concepts", claudemem.Query{Project: "project", Concepts: []string{"what-changed", "concept7"}}},
		{"concept-type-range", claudemem.Query{Project: "project", Concepts: what, Types: []claudemem.ObservationType{"bugfix"}, Until: middle}},
		{"concept-file", claudemem.Query{Project: "project", Concepts: what, Files: []string{"src/m7"}}},
		{"session", claudemem.Query{Session: 5}},
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
			_, err := s.FilterRecords(ctx, q.query, nil, claudemem.OrderNewest)
			return err
		})
		run("observations/"+q.name, func() error {
			_, err := s.Observations(ctx, q.query)
			return err
		})
		run("count-cold/"+q.name, func() error {
			s.ForgetCounts()
			_, err := s.CountRecords(ctx, q.query, nil)
			return err
		})
	}
	for _, q := range queries {
		q.query.Limit, q.query.Offset = 0, 0
		if len(q.query.Files)+len(q.query.Concepts) > 0 { // what a search with words is narrowed to
			run("every/"+q.name, func() error {
				_, err := s.FilterRecords(ctx, q.query, nil, claudemem.OrderNewest)
				return err
			})
		}
	}
	run("count-known", func() error {
		_, err := s.CountRecords(ctx, claudemem.Query{Concepts: what}, nil)
		return err
	})
	for _, project := range []string{"", "project", "shop"} {
		run("timeline/"+project, func() error {
			_, _, err := s.Around(ctx, project, middle, claudemem.RecordRef{Kind: claudemem.RecordObservation, ID: 50_001}, 10, 10)
			return err
		})
	}
	refs, err := s.FilterRecords(ctx, claudemem.Query{Limit: page}, nil, "")
	if err != nil {
		b.Fatal(err)
	}
	run("records20", func() error {
		_, err := s.RecordsByRefs(ctx, refs...)
		return err
	})
	run("documents500", func() error {
		_, err := s.DocumentsAfter(ctx, claudemem.RecordObservation, 50_000, 500)
		return err
	})
	run("prompts500", func() error {
		_, err := s.DocumentsAfter(ctx, claudemem.RecordPrompt, 5000, 500)
		return err
	})
	run("sessions20", func() error {
		_, err := s.Sessions(ctx, claudemem.Query{Limit: 20})
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
		if _, err := s.AddObservation(ctx, claudemem.NewObservation{
			ProjectPath: "/home/dev/project", Title: fmt.Sprint("Note ", i), Narrative: strings.Repeat("narrative ", 40), Concepts: []string{"gotcha", "pattern"},
			Files: []claudemem.FileRef{{Path: fmt.Sprintf("src/file%d.go", i%5000)}},
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
