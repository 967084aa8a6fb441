//go:build unix

package world

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"claudemem"
	"claudemem/exchange"
)

// exportedULID returns a ULID that sorts by n behind those with a lower kind.
func exportedULID(kind, n int) claudemem.ULID {
	return claudemem.ULID(fmt.Sprintf("01%04d%020d", kind, n))
}

// WriteExport writes an export of observations of a project, a thousand of them in a session
// with a prompt and a summary each, as `claude-mem export` orders them. Their numbers begin at
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
	write := func(p claudemem.Portable) {
		if err := w.Write(&p); err != nil {
			t.Fatal(err)
		}
	}
	const at = claudemem.Millis(1_760_000_000_000)
	sessions := (observations + 999) / 1000
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(claudemem.Portable{Session: &claudemem.PortableSession{ULID: exportedULID(0, n), Host: claudemem.HostClaudeCode, HostSessionID: fmt.Sprint("imported-", n),
			ProjectPath: project, Label: "tally", Status: claudemem.SessionCompleted, StartedAt: at, UpdatedAt: at + claudemem.Millis(n), Events: 3}})
	}
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(claudemem.Portable{Prompt: &claudemem.PortablePrompt{ULID: exportedULID(1, n), Session: exportedULID(0, n), Number: 1, Text: fmt.Sprintf("Why is total %d wrong?", n), CreatedAt: at}})
	}
	for n := first; n < first+observations; n++ {
		write(claudemem.Portable{Observation: &claudemem.PortableObservation{
			ULID: exportedULID(2, n), Session: exportedULID(0, n/1000), ProjectPath: project, PromptNumber: 1, Type: claudemem.TypeBugfix,
			Title: fmt.Sprintf("Total %d was rounded twice", n), Narrative: strings.Repeat(fmt.Sprintf("Amount %d is rounded when it is read and again when it is summed. ", n), 4),
			Facts: []string{fmt.Sprintf("amounts are cents since change %d", n), "sums are exact"}, Concepts: []string{"gotcha"},
			Files:  []claudemem.FileRef{{Path: fmt.Sprintf("money/part%d.go", n%500), Role: claudemem.FileModified}},
			Origin: claudemem.OriginObserver, Provenance: claudemem.FromProject, TimesSeen: 1, CreatedAt: at + claudemem.Millis(n),
		}})
	}
	for n := first / 1000; n < first/1000+sessions; n++ {
		write(claudemem.Portable{Summary: &claudemem.PortableSummary{ULID: exportedULID(3, n), Session: exportedULID(0, n), PromptNumber: 1,
			Request: fmt.Sprintf("Mend total %d", n), Origin: claudemem.OriginObserver, CreatedAt: at}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
