package answer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"claudemem/internal/memory"
)

var codeOptions = Options{
	Types: []memory.ObservationType{
		memory.TypeBugfix, memory.TypeFeature, memory.TypeRefactor,
		memory.TypeChange, memory.TypeDiscovery, memory.TypeDecision,
	},
	FallbackType: memory.TypeDiscovery,
	Concepts:     []string{"how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off"},
}

// describe writes an answer in short lines, a prefix for each kind of thing.
func describe(a Answer) string {
	var b strings.Builder
	put := func(prefix, s string) {
		if s != "" {
			fmt.Fprintf(&b, "%s %s\n", prefix, strings.ReplaceAll(s, "\n", "⏎"))
		}
	}
	b.WriteString(string(a.Class))
	if a.SkipSummary {
		b.WriteString(" skip")
	}
	b.WriteString("\n")
	for i := range a.Observations {
		o := &a.Observations[i]
		fmt.Fprintf(&b, "O %s | %s\n", o.Type, o.Title)
		put("  sub", o.Subtitle)
		put("  nar", o.Narrative)
		for _, f := range o.Facts {
			put("  fact", f)
		}
		put("  con", strings.Join(o.Concepts, ", "))
		put("  read", strings.Join(o.FilesIn(memory.FileRead), ", "))
		put("  mod", strings.Join(o.FilesIn(memory.FileModified), ", "))
	}
	if s := a.Summary; s != nil {
		b.WriteString("S\n")
		put("  request", s.Request)
		put("  investigated", s.Investigated)
		put("  learned", s.Learned)
		put("  completed", s.Completed)
		put("  next", s.NextSteps)
		put("  read", strings.Join(s.FilesRead, ", "))
		put("  edited", strings.Join(s.FilesEdited, ", "))
		put("  notes", s.Notes)
	}
	for _, l := range a.Learnings {
		fmt.Fprintf(&b, "L %s %g %s\n", l.Category, l.Confidence, l.Content)
	}
	if a.Lost > 0 {
		fmt.Fprintf(&b, "lost %d\n", a.Lost)
	}
	return b.String()
}

// TestSupersedes reads the numbers of reversed records however they are written.
func TestSupersedes(t *testing.T) {
	const begin = "<observation><type>change</type><title>Ports moved</title>"
	for _, test := range []struct {
		text string
		want []memory.ObservationID
	}{
		{begin + "<supersedes>#12</supersedes></observation>", []memory.ObservationID{12}},
		{begin + "<supersedes>12</supersedes></observation>", []memory.ObservationID{12}},
		{begin + "<supersedes>#12, #13 and 14</supersedes></observation>", []memory.ObservationID{12, 13, 14}},
		{begin + "<supersedes>#12</supersedes><supersedes>#13</supersedes></observation>", []memory.ObservationID{12, 13}},
		{begin + "<supersedes><item>#12</item><item>#12</item></supersedes></observation>", []memory.ObservationID{12}},
		{`<observation supersedes="#12"><title>Ports moved</title></observation>`, []memory.ObservationID{12}},
		{`{"observations":[{"type":"change","title":"Ports moved","supersedes":[12,"#13"]}]}`, []memory.ObservationID{12, 13}},
		{`{"observations":[{"type":"change","title":"Ports moved","supersedes":12}]}`, []memory.ObservationID{12}},
		{begin + "<supersedes>none</supersedes></observation>", nil},
		{begin + "<supersedes>S12, #0, -3x, 99999999999999999999</supersedes></observation>", nil},
		{begin + "<supersedes>1 2 3 4 5 6 7 8 9 10</supersedes></observation>", []memory.ObservationID{1, 2, 3, 4, 5, 6, 7, 8}},
		{begin + "</observation>", nil},
	} {
		a := Parse(test.text, codeOptions)
		if len(a.Observations) != 1 {
			t.Errorf("%s: %d observations", test.text, len(a.Observations))
			continue
		}
		if got := a.Observations[0].Supersedes; !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.text, got, test.want)
		}
		if again := Parse(Render(a), codeOptions); len(again.Observations) != 1 || !slices.Equal(again.Observations[0].Supersedes, test.want) {
			t.Errorf("%s: rendered as %s", test.text, Render(a))
		}
	}
}

// TestStoppedModel: of an answer that reached its limit of tokens the last record goes even if it
// ends between two fields, for some may be missing. What is closed stays.
func TestStoppedModel(t *testing.T) {
	stopped := codeOptions
	stopped.Cut = true
	for text, want := range map[string]string{
		"<observation><title>A</title></observation><summary><request>R</request><completed>C</completed>": "records\nO discovery | A\nlost 1\n",
		"<observation><title>A</title></observation><observation><title>B":                                 "records\nO discovery | A\nlost 1\n",
		"<observation>\n<title>A\n<facts>\n<fact>one\n<fact>tw":                                            "prose\nlost 1\n",
		"<observation><title>A</title></observation>\n":                                                    "records\nO discovery | A\n",
	} {
		if got := describe(Parse(text, stopped)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestMalformed reads the cases in testdata/answers: pairs of files NAME/answer
// and NAME/want. The want was written by hand, from what a reader of the memory
// would expect.
func TestMalformed(t *testing.T) {
	archives, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	total := 0
	for _, file := range archives {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files := txtar.Parse(data).Files
		if len(files)%2 != 0 {
			t.Fatalf("%s: %d files are no pairs", file, len(files))
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for i := 0; i < len(files); i += 2 {
			in, want := files[i], files[i+1]
			name := strings.TrimSuffix(in.Name, "/answer")
			if want.Name != name+"/want" {
				t.Fatalf("%s: %s is followed by %s", file, in.Name, want.Name)
			}
			total++
			t.Run(theme+"/"+name, func(t *testing.T) {
				text := strings.TrimSuffix(string(in.Data), "\n")
				checkCase(t, text, string(want.Data))
			})
		}
	}
	if total < 90 {
		t.Errorf("%d cases in testdata, want at least 90", total)
	}
}

func checkCase(t *testing.T, text, want string) {
	t.Helper()
	a := Parse(text, codeOptions)
	if diff := cmp.Diff(want, describe(a)); diff != "" {
		t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
	}
	checkInvariants(t, a, codeOptions)
}
