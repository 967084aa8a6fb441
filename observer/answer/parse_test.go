package answer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"claudemem"
)

var codeOptions = Options{
	Types: []claudemem.ObservationType{
		claudemem.TypeBugfix, claudemem.TypeFeature, claudemem.TypeRefactor,
		claudemem.TypeChange, claudemem.TypeDiscovery, claudemem.TypeDecision,
	},
	FallbackType: claudemem.TypeDiscovery,
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
	if a.Truncated {
		b.WriteString(" truncated")
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
		put("  read", strings.Join(o.FilesIn(claudemem.FileRead), ", "))
		put("  mod", strings.Join(o.FilesIn(claudemem.FileModified), ", "))
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
	return b.String()
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
