package recall

import (
	"slices"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestStatements(t *testing.T) {
	plain := func(s string) string { return RecordLine(s, testProject) }
	textsOf := func(o memory.Observation) []string {
		var all []string
		for _, s := range Statements(&o, plain) {
			all = append(all, s.Text)
		}
		return all
	}
	with := func(subtitle, narrative string, facts ...string) memory.Observation {
		o := memory.Observation{ID: 1, Title: "title", Subtitle: subtitle, Facts: facts}
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
		"paragraphs and lists":             {with("", "Two ways:\n\n- wait for the drop\n- poll more often"), []string{"Two ways: wait for the drop; poll more often"}},
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
