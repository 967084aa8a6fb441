package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/keep/index/embed"
	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

// corpusFeed is a store of made-up observations.
type corpusFeed struct {
	*memoryFeed
	*corpus.Corpus
	// spent is the time that making them took, which is not the index's.
	spent time.Duration
}

func newCorpusFeed(n int) *corpusFeed {
	return &corpusFeed{memoryFeed: newMemoryFeed(), Corpus: corpus.New(1, n, 1_760_000_000_000)}
}

func (f *corpusFeed) Totals(context.Context, string) (memory.Totals, error) {
	return memory.Totals{Observations: f.Observations()}, nil
}

func (f *corpusFeed) DocumentsAfter(_ context.Context, kind memory.RecordKind, after int64, limit int) ([]memory.Document, error) {
	if kind != memory.RecordObservation {
		return nil, nil
	}
	start := time.Now()
	var list []memory.Document
	for n := int(after); n < f.Observations() && len(list) < limit; n++ {
		list = append(list, f.Document(n))
	}
	f.spent += time.Since(start)
	return list, nil
}

// sizes are those of the benchmarks; one of a million is made by hand:
// INDEX_BENCH_DIR=… keeps what was built for the next run.
func benchIndex(b *testing.B, n int) (*Index, *corpusFeed) {
	b.Helper()
	dir := os.Getenv("INDEX_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	feed := newCorpusFeed(n)
	start := time.Now()
	ix, err := Open(b.Context(), filepath.Join(dir, fmt.Sprintf("bench-%d.db", n)), feed, Options{})
	if err != nil {
		b.Fatal(err)
	}
	opened := time.Since(start)
	b.Cleanup(func() { _ = ix.Close() })
	if err := ix.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.Logf("%d documents: opened in %v, built in %v, heap %d MB, %d MB on disk", n, opened, time.Since(start)-opened-feed.spent, m.HeapAlloc>>20, ix.Status().Bytes>>20)
	return ix, feed
}

func BenchmarkBuild(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		feed := newCorpusFeed(n)
		ix, err := Open(b.Context(), filepath.Join(b.TempDir(), "index.db"), feed, Options{})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if err := ix.CatchUp(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/(time.Since(start)-feed.spent).Seconds(), "documents/s")
		if err := ix.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRank(b *testing.B) {
	sizes := []int{10_000, 100_000}
	if os.Getenv("INDEX_BENCH_DIR") != "" && os.Getenv("INDEX_BENCH_MILLION") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ix, feed := benchIndex(b, n)
			for _, filter := range []string{"all", "project", "type"} {
				b.Run(filter, func(b *testing.B) {
					var times []time.Duration
					for i := 0; b.Loop(); i++ {
						q := feed.Query(i % 500)
						r := Request{Text: q.Text, Limit: 20}
						switch filter {
						case "project":
							r.Filter.Projects = []string{q.Project}
						case "type":
							r.Filter.Types = []memory.ObservationType{memory.TypeBugfix}
						}
						start := time.Now()
						if _, err := ix.Rank(b.Context(), r); err != nil {
							b.Fatal(err)
						}
						times = append(times, time.Since(start))
					}
					slices.Sort(times)
					b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
				})
			}
		})
	}
}

// BenchmarkProse ranks for what nobody wrote as a query, in a project and in a
// memory that is all one project: a prompt, and what is read of one
// with a log pasted.
func BenchmarkProse(b *testing.B) {
	ix, feed := benchIndex(b, 100_000)
	var log strings.Builder
	for n := 0; log.Len() < 20<<10; n++ {
		d := feed.Document(n * 97)
		fmt.Fprintf(&log, "2026-03-20T12:00:%02d ERROR %08x %s: %s %s\n", n%60, n*7919, d.Title, d.Text, strings.Join(d.Files, " "))
	}
	for _, project := range []bool{true, false} {
		for _, long := range []bool{false, true} {
			b.Run(fmt.Sprintf("project=%v/long=%v", project, long), func(b *testing.B) {
				var times []time.Duration
				for i := 0; b.Loop(); i++ {
					q := feed.Query(i % 500)
					r := Request{Text: q.Text, Limit: 100, Prose: true, Filter: Filter{Kinds: []memory.RecordKind{memory.RecordObservation}}}
					if project {
						r.Filter.Projects = []string{q.Project}
					}
					if long {
						r.Text += "\n" + text.FirstBytes(log.String()[i%500*16:], 5<<10-len(q.Text)-1)
					}
					start := time.Now()
					if _, err := ix.Rank(b.Context(), r); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			})
		}
	}
}

// BenchmarkOtherForms: the forms of a question's words, which every search looks for.
func BenchmarkOtherForms(b *testing.B) {
	table, err := embed.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	list := words.Query("why do the handlers of failing deliveries retry the configuration of the parser without a lock")
	for b.Loop() {
		otherForms(list, table)
	}
}
