package recall

import (
	"slices"
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

func TestStatements(t *testing.T) {
	plain := func(s string) string { return recordLine(s, testProject) }
	textsOf := func(o memory.Observation) []string {
		var all []string
		for _, s := range statements(&o, plain) {
			all = append(all, s.text)
		}
		return all
	}
	with := func(subtitle, narrative string, facts ...string) memory.Observation {
		o := observation(1, 1, time.Hour, "title", subtitle, facts...)
		o.Narrative = narrative
		return o
	}
	for name, tt := range map[string]struct {
		o    memory.Observation
		want []string
	}{
		"nothing":                          {with("", ""), nil},
		"each once":                        {with("The port is taken.", "The port is taken. Stop the other one.", "the port is taken"), []string{"The port is taken", "Stop the other one"}},
		"the longer of two":                {with("", "The port is taken by nginx.", "The port is taken"), []string{"The port is taken by nginx"}},
		"paragraphs and lists":             {with("", "Two ways:\n\n- wait for the drop\n- poll more often"), []string{"Two ways:", "wait for the drop", "poll more often"}},
		"Japanese":                         {with("", "再試行します。4xx はすぐ返します。"), []string{"再試行します。", "4xx はすぐ返します。"}},
		"runs, edits and commits":          {with("`make` failed, `make -j4` passes now; edited a.c", "Edited a.c. `make` passes.", "a.c: changed f, g", "b.c deleted", "Committed: “a: b”"), nil},
		"a cure is none of these":          {with("`make` needs `CC=clang`", "", "`make` fails without it"), []string{"`make` needs `CC=clang`", "`make` fails without it"}},
		"what was changed, and why":        {with("", "", "a.c: changed the order, because f needs g"), []string{"a.c: changed the order, because f needs g"}},
		"an abbreviation ends no sentence": {with("", "Only some files, e.g. images. The rest stays."), []string{"Only some files, e.g. images", "The rest stays"}},
	} {
		if got := textsOf(tt.o); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if got := len(textsOf(with("", strings.Repeat("Another thing. Is it? ", 1<<16)))); got > maxStatements {
		t.Errorf("%d statements of a long narrative", got)
	}
}
