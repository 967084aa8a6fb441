package api

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"claudemem/internal/memory"
	"claudemem/proof/corpus"
)

// What a result costs the model that reads it, as JSON without white space: about 75
// tokens in a list, as the format's description says, and at most 750 in full.
func TestResultSizes(t *testing.T) {
	c := corpus.New(1, 400, memory.MillisOf(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)))
	var hits []memory.Hit
	for n := range c.Observations() {
		o := c.Observation(n)
		o.ULID = "01JNGZ0000000000000000000A"
		hits = append(hits, memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: int64(o.ID)}, ProjectPath: o.ProjectPath,
			CreatedAt: o.CreatedAt, Score: 1.23456789, Observation: &o})
	}
	tokens := func(format string, result any) int {
		b, err := json.Marshal(result)
		if err != nil {
			t.Fatal(format, err)
		}
		return memory.EstimateTokens(string(b))
	}
	var index, full []int
	for _, hit := range hits {
		index = append(index, tokens(FormatIndex, hitOf(&hit, false)))
		full = append(full, tokens(FormatFull, hitOf(&hit, true)))
	}
	slices.Sort(index)
	slices.Sort(full)
	median := func(n []int) int { return n[len(n)/2] }
	t.Logf("index: median %d, largest %d; full: median %d, largest %d", median(index), index[len(index)-1], median(full), full[len(full)-1])
	if m := median(index); m < 50 || m > 90 {
		t.Errorf("in a list a result is %d tokens, want about 75", m)
	}
	if m := full[len(full)-1]; m > 750 {
		t.Errorf("in full a result is up to %d tokens, want at most 750", m)
	}
	// Other kinds are no larger in a list, however long they are.
	long := ""
	for len(long) < 5000 {
		long += "A sentence of a prompt that somebody has pasted a log into. "
	}
	for _, hit := range []memory.Hit{
		{RecordRef: memory.RecordRef{Kind: memory.RecordSummary, ID: 1}, Score: 1.2345, Summary: &memory.Summary{ID: 1, Request: long}},
		{RecordRef: memory.RecordRef{Kind: memory.RecordPrompt, ID: 1}, Score: 1.2345, Prompt: &memory.Prompt{ID: 1, Text: long}},
	} {
		if n := tokens(FormatIndex, hitOf(&hit, false)); n > 90 {
			t.Errorf("a %s is %d tokens in a list", hit.Kind, n)
		}
	}
}

func TestTitles(t *testing.T) {
	long := "The totals are off by a cent in every invoice that has more than two lines with a discount, and nobody has been able to tell why"
	for _, tt := range []struct{ text, headline, title string }{
		{"", "", ""},
		{" \n\t\n", "", ""},
		{"Fix it", "Fix it", "Fix it"},
		{"\n  First   line\nsecond", "First line", "First line"},
		{"Amounts are whole cents. Never floats.", "Amounts are whole cents. Never floats.", "Amounts are whole cents"},
		{"Use v1. See the notes.", "Use v1. See the notes.", "Use v1. See the notes."},
		{"Why is the total off by a cent? Rounding.", "Why is the total off by a cent? Rounding.", "Why is the total off by a cent?"},
		{"合計が一円ずれる。丸め誤差。", "合計が一円ずれる。丸め誤差。", "合計が一円ずれる。"},
		{long, "The totals are off by a cent in every invoice that has more than two lines with a discount, and nobody has been able…",
			"The totals are off by a cent in every invoice that has more than two lines with a discount, and nobody has been able…"},
		{repeat("é", 200), repeat("é", 58) + "…", repeat("é", 58) + "…"},
		{repeat("漢", 60), repeat("漢", 39) + "…", repeat("漢", 39) + "…"},
	} {
		if got := headline(tt.text); got != tt.headline || len(got) > maxTitle {
			t.Errorf("headline(%.40q) = %q, %d bytes, want %q", tt.text, got, len(got), tt.headline)
		}
		if got := firstSentence(tt.text); got != tt.title || len(got) > maxTitle {
			t.Errorf("firstSentence(%.40q) = %q, %d bytes, want %q", tt.text, got, len(got), tt.title)
		}
	}
}

func repeat(s string, n int) string {
	all := ""
	for range n {
		all += s
	}
	return all
}

// TestTitleOfTrailers: a line that only says who and where is no title beside one that says more.
func TestTitleOfTrailers(t *testing.T) {
	for text, want := range map[string]string{
		"Change-Id: I01\n\nRetry the carrier's webhook. Twice.": "Retry the carrier's webhook",
		"Retry the webhook\n\nSigned-off-by: Ada <ada@x.y>":     "Retry the webhook",
		"Change-Id: I01\nSigned-off-by: Ada <ada@x.y>":          "Change-Id: I01",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestNote: the second line of a summary does not repeat its title.
func TestNote(t *testing.T) {
	for want, s := range map[string]memory.Summary{
		"":               {Completed: "Fixed the lock"},
		"Locks nest":     {Completed: "Fixed the lock", Learned: "Locks nest"},
		"Fixed the lock": {Request: "It hangs", Completed: "Fixed the lock", Learned: "Locks nest"},
	} {
		h := Hit{Summary: new(SummaryOf(&s, "/p", true))}
		if got := h.Note(); got != want {
			t.Errorf("title %q: got %q, want %q", h.Summary.Title, got, want)
		}
	}
}
