package moments

import (
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// ledgerWork is a record as the observers write them: its answers stand in the narrative.
func ledgerWork() memory.Observation {
	o := observation(5, 7, time.Hour, "Fix: exports are written in batches of… (export.go, export_test.go)", "`go test ./export` passes; edited export.go",
		"export.go: added Writer.flush, batchSize", "Failed on the way: `go build ./...`: export.go:7: undefined: flush", "`go test ./export` passes")
	o.Narrative = "Exports are written in batches of 500 rows, because one statement per row locked the table for minutes. " +
		"I considered a COPY, but the replica cannot read it. A row that is too long still aborts its batch. " +
		"Edited export.go, export_test.go. `go test ./export` passes. 12 tests pass."
	return o
}

// TestTheAnswerStandsBesideTheTitle asks one record different questions.
func TestTheAnswerStandsBesideTheTitle(t *testing.T) {
	for prompt, want := range map[string]struct{ says, not string }{
		"why are exports batched, is it slow otherwise?": {says: "export_test.go): 500 rows, because one statement per row locked the table for minutes"},
		"should we use COPY for the export?":             {says: "I considered a COPY, but the replica cannot read it"},
		"an export aborted at a long row":                {says: "A row that is too long still aborts its batch"},
		"export.go:9: undefined: flush":                  {says: "undefined: flush"},
		"what about the exports":                         {not: "12 tests pass"},
		"show me the exports":                            {not: "Edited export.go"},
		"the exports please":                             {not: "Writer.flush"},
	} {
		m := &remembered{records: []memory.Observation{ledgerWork()}}
		c := recallOf(t, reminderOf(m), prompted(prompt), 9)
		wellGiven(t, c)
		line := strings.Split(c.Text, "\n")[2]
		if !strings.Contains(line, want.says) || want.not != "" && strings.Contains(line, want.not) {
			t.Errorf("%s: got %q, want %+v", prompt, line, want)
		}
		if strings.Count(strings.ToLower(line), "exports are written in batches") != 1 {
			t.Errorf("%s: the title is said twice: %q", prompt, line)
		}
		if len(line) > leadChars {
			t.Errorf("%s: a line of %d bytes", prompt, len(line))
		}
	}
}
