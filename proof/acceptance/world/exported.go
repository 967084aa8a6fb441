//go:build unix

package world

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"claudemem/internal/memory"
	"claudemem/internal/move/exchange"
)

// exportedULID returns a ULID that sorts by n behind those with a lower kind.
func exportedULID(kind, n int) memory.ULID {
	return memory.ULID(fmt.Sprintf("01%04d%020d", kind, n))
}

// WriteExport writes an export of observations of a project, a thousand of them in a session
// with a prompt and a summary each, as `claude-mem export` orders them. They are records that
// were imported before, so that another import changes nothing of them. Their numbers begin at
// first, a multiple of 1000: exports with other numbers have other records.
func WriteExport(t testing.TB, path, project string, first, observations int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := exchange.NewWriter(f, exchange.Header{Schema: 5, Records: observations})
	if err != nil {
		t.Fatal(err)
	}
	write := func(p memory.Portable) {
		if err := w.Write(&p); err != nil {
			t.Fatal(err)
		}
	}
	const at = memory.Millis(1_760_000_000_000)
	sessions := (observations + 999) / 1000
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(memory.Portable{Session: &memory.PortableSession{ULID: exportedULID(0, n), Host: memory.HostClaudeCode, HostSessionID: fmt.Sprint("imported-", n),
			ProjectPath: project, Label: "tally", Status: memory.SessionCompleted, StartedAt: at, UpdatedAt: at + memory.Millis(n), Events: 3}})
	}
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(memory.Portable{Prompt: &memory.PortablePrompt{ULID: exportedULID(1, n), Session: exportedULID(0, n), Number: 1, Text: fmt.Sprintf("Why is total %d wrong?", n), CreatedAt: at}})
	}
	for n := first; n < first+observations; n++ {
		write(memory.Portable{Observation: &memory.PortableObservation{
			ULID: exportedULID(2, n), Session: exportedULID(0, n/1000), ProjectPath: project, PromptNumber: 1, Type: memory.TypeBugfix,
			Title: fmt.Sprintf("Total %d was rounded twice", n), Narrative: strings.Repeat(fmt.Sprintf("Amount %d is rounded when it is read and again when it is summed. ", n), 4),
			Facts: []string{fmt.Sprintf("amounts are cents since change %d", n), "sums are exact"}, Concepts: []string{"gotcha"},
			Files:  []memory.FileRef{{Path: fmt.Sprintf("money/part%d.go", n%500), Role: memory.FileModified}},
			Origin: memory.OriginImport, Provenance: memory.FromOutside, TimesSeen: 1, CreatedAt: at + memory.Millis(n),
		}})
	}
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(memory.Portable{Summary: &memory.PortableSummary{ULID: exportedULID(3, n), Session: exportedULID(0, n), PromptNumber: 1,
			Request: fmt.Sprintf("Mend total %d", n), Origin: memory.OriginImport, Provenance: memory.FromOutside, CreatedAt: at}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
