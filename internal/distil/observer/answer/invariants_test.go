package answer

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claudemem/internal/memory"
)

// checkInvariants checks what is promised of every answer.
func checkInvariants(t *testing.T, a Answer, opts Options) {
	t.Helper()
	if opts.MaxBytes == 0 {
		opts.MaxBytes = defaultMaxBytes
	}
	text := func(what, s string, limit int, lines bool) {
		if !utf8.ValidString(s) {
			t.Errorf("%s %q is not valid UTF-8", what, s)
		}
		if len(s) > limit {
			t.Errorf("%s has %d bytes, limit %d", what, len(s), limit)
		}
		if s != strings.TrimSpace(s) {
			t.Errorf("%s %q is not trimmed", what, s)
		}
		for _, r := range s {
			if unicode.IsControl(r) && (!lines || r != '\n' && r != '\t') {
				t.Errorf("%s %q has the control character %U", what, s, r)
			}
		}
	}
	items := func(what string, list []string, limit, each int) {
		if len(list) > limit {
			t.Errorf("%d %s, limit %d", len(list), what, limit)
		}
		for _, s := range list {
			text(what, s, each, false)
			if s == "" {
				t.Errorf("empty item among %s", what)
			}
		}
	}
	if len(a.Observations) > maxRecords || len(a.Learnings) > maxRecords {
		t.Errorf("%d observations and %d learnings, limit %d", len(a.Observations), len(a.Learnings), maxRecords)
	}
	for i := range a.Observations {
		o := &a.Observations[i]
		text("title", o.Title, maxTitle, false)
		text("subtitle", o.Subtitle, maxSubtitle, false)
		text("narrative", o.Narrative, maxNarrative, true)
		items("facts", o.Facts, maxFacts, maxFact)
		if len(o.Supersedes) > maxSupersedes {
			t.Errorf("supersedes %d records", len(o.Supersedes))
		}
		items("concepts", o.Concepts, maxConcepts, maxConcept)
		items("files read", o.FilesIn(memory.FileRead), maxFiles, maxPath)
		items("files modified", o.FilesIn(memory.FileModified), maxFiles, maxPath)
		if o.Title == "" {
			t.Errorf("observation %d has no title", i)
		}
		if !slices.Contains(opts.Types, o.Type) {
			t.Errorf("observation %d has type %q", i, o.Type)
		}
		for _, c := range o.Concepts {
			if c == string(o.Type) || strings.ContainsAny(c, ": ") || c != strings.ToLower(c) {
				t.Errorf("observation %d of type %s has concept %q", i, o.Type, c)
			}
		}
	}
	if s := a.Summary; s != nil {
		if s.Empty() || a.SkipSummary {
			t.Errorf("summary %+v, skip %v", s, a.SkipSummary)
		}
		for _, f := range []string{s.Request, s.Investigated, s.Learned, s.Completed, s.NextSteps, s.Notes} {
			text("summary", f, maxField, true)
		}
		items("files read", s.FilesRead, maxFiles, maxPath)
		items("files edited", s.FilesEdited, maxFiles, maxPath)
	}
	for _, l := range a.Learnings {
		text("learning", l.Content, maxContent, false)
		if l.Content == "" || math.IsNaN(l.Confidence) || l.Confidence < 0 || l.Confidence > 1 || categories[l.Category] != l.Category {
			t.Errorf("learning %+v", l)
		}
	}
	if n := len(a.Observations) + len(a.Learnings); (a.Class == ClassRecords) != (n > 0 || a.Summary != nil) {
		t.Errorf("class %s with %d records, summary %v", a.Class, n, a.Summary != nil)
	}

	rendered := Render(a)
	again := Parse(rendered, opts)
	if a.Class == ClassProse {
		again.Class = ClassProse // prose is not rendered
	}
	again.Lost = a.Lost // what was left out neither
	if len(rendered) <= opts.MaxBytes {
		if diff := cmp.Diff(a, again); diff != "" {
			t.Errorf("rendered and parsed again (-first +second):\n%s\n%s", diff, rendered)
		}
	}
}
