package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
)

// exported returns an export of one session with a prompt and n observations.
func exported(tb testing.TB, n int) []byte {
	tb.Helper()
	var file bytes.Buffer
	w, err := exchange.NewWriter(&file, exchange.Header{Schema: 5, Records: n + 2})
	if err != nil {
		tb.Fatal(err)
	}
	name := func(kind, i int) memory.ULID { return memory.ULID(fmt.Sprintf("01%04d%020d", kind, i)) }
	const at = memory.Millis(1_760_000_000_000)
	records := []memory.Portable{
		{Session: &memory.PortableSession{ULID: name(0, 0), Host: memory.HostClaudeCode, HostSessionID: "imported", ProjectPath: "/home/ada/tally",
			Label: "tally", Status: memory.SessionCompleted, StartedAt: at, UpdatedAt: at}},
		{Prompt: &memory.PortablePrompt{ULID: name(1, 0), Session: name(0, 0), Number: 1, Text: "Why is the total wrong?", CreatedAt: at}},
	}
	for i := range n {
		records = append(records, memory.Portable{Observation: &memory.PortableObservation{
			ULID: name(2, i), Session: name(0, 0), ProjectPath: "/home/ada/tally", PromptNumber: 1, Type: memory.TypeBugfix,
			Title: fmt.Sprintf("Total %d was rounded twice", i), Narrative: strings.Repeat(fmt.Sprintf("Amount %d is rounded when it is read and again when it is summed. ", i), 4),
			Facts: []string{fmt.Sprintf("amounts are cents since change %d", i), "sums are exact"}, Concepts: []string{"gotcha"},
			Files:  []memory.FileRef{{Path: fmt.Sprintf("money/part%d.go", i%500), Role: memory.FileModified}},
			Origin: memory.OriginObserver, Provenance: memory.FromProject, TimesSeen: 1, CreatedAt: at + memory.Millis(i),
		}})
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// BenchmarkImport imports 5,000 observations without a worker, and once more when they are
// there.
func BenchmarkImport(b *testing.B) {
	const observations = 5000
	file := exported(b, observations)
	run := func(b *testing.B, dir string) Importing {
		b.Helper()
		records, _, err := exchange.NewReader(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		done, err := ImportRecords(b.Context(), dir, records, ImportOptions{Mine: true}, func(int) {})
		if err != nil || !done.Complete {
			b.Fatalf("%+v, %v", done, err)
		}
		return done
	}
	b.Run("new", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			run(b, b.TempDir())
		}
		b.ReportMetric(observations*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("again", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		dir := b.TempDir()
		run(b, dir)
		for b.Loop() {
			run(b, dir)
		}
		b.ReportMetric(observations*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}
