package block

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

// TestJudgedBlock: what a person has thumbed down is not in the block, nor is a session's line that tells nothing else; what
// is thumbed up goes ahead of its like, but not of what is pinned. The lines to book are those of the text.
func TestJudgedBlock(t *testing.T) {
	ref := func(kind memory.RecordKind, id int64) memory.RecordRef { return memory.RecordRef{Kind: kind, ID: id} }
	person := func(v memory.Verdict) map[memory.Origin]memory.Verdict {
		return map[memory.Origin]memory.Verdict{memory.OriginUser: v}
	}
	m := &fakeMemory{
		digests: []memory.SessionDigest{
			session(3, time.Hour, &memory.Summary{Completed: "Invoices are written in two columns"}),
			session(2, 2*time.Hour, &memory.Summary{Completed: "The mailer has a queue of its own"}),
			session(1, 3*time.Hour, &memory.Summary{Completed: "Uploads retry five times before giving up"}),
		},
		observed: []memory.Observation{
			pinned(observation(9, 1, 9*time.Hour, "Amounts are whole cents", "")),
			observation(4, 1, time.Hour, "The export names its columns in Latin", ""),
			observation(3, 2, 2*time.Hour, "The scheduler wakes at midnight", ""),
			observation(2, 2, 3*time.Hour, "Tokens expire after an hour", ""),
			observation(1, 1, 3*time.Hour, "Uploads retry five times before giving up", ""),
		},
		learned: []memory.Learning{{ID: 5, Category: "gotcha", Content: "Never start two servers.", Confidence: 0.9, Active: true}, {ID: 6, Category: "gotcha", Content: "Run the linter first.", Confidence: 0.8, Active: true}},
		judged: memory.Judged{ref(memory.RecordObservation, 1): person(memory.Down), ref(memory.RecordSession, 3): person(memory.Down),
			ref(memory.RecordObservation, 2): person(memory.Up), ref(memory.RecordLearning, 6): person(memory.Up)},
	}
	got, err := unhurried(t, New(m, Options{Clock: func() time.Time { return noon }}), memory.ContextRequest{Host: memory.HostClaudeCode, ProjectPath: testProject, Source: "startup"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range got.Injection.Lines {
		l := &got.Injection.Lines[i]
		names = append(names, l.Record().Name())
		if !strings.Contains(got.Text, l.Text) || l.Why == "" {
			t.Errorf("%+v is not in the block", l)
		}
	}
	if want := []string{"S2", "L6", "L5", "#9", "#2", "#4", "#3"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v:\n%s", names, want, got.Text)
	}
	if why := got.Injection.Lines[4].Why; !strings.HasSuffix(why, ", thumbed up") {
		t.Errorf("why %q", why)
	}
}
