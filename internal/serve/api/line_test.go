package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// entriesOf makes entries of words such as "p1=title" and "s1=title", the prompt and summary of
// turn 1, and "o=title", an observation; "@" in front marks the anchor.
func entriesOf(words ...string) []Entry {
	kinds := map[byte]memory.RecordKind{'p': memory.RecordPrompt, 's': memory.RecordSummary, 'o': memory.RecordObservation, 't': KindAnchor}
	entries := make([]Entry, len(words))
	for i, word := range words {
		word, anchor := strings.CutPrefix(word, "@")
		name, title, _ := strings.Cut(word, "=")
		e := Entry{Kind: kinds[name[0]], Title: title, IsAnchor: anchor, SessionDBID: 7, PromptNumber: 1, CreatedAtEpoch: memory.Millis(i)}
		if len(name) > 1 {
			e.PromptNumber = int(name[1] - '0')
		}
		entries[i] = e
	}
	return entries
}

func drawLines(lines []Line) string {
	drawn := make([]string, len(lines))
	for i, l := range lines {
		mark := ""
		if l.IsAnchor {
			mark = "@"
		}
		drawn[i] = fmt.Sprintf("%s%d %.1s %s", mark, l.CreatedAtEpoch, l.Kind, l.Title)
		if l.Asked != "" {
			drawn[i] += " <" + l.Asked + ">"
		}
	}
	return strings.Join(drawn, ", ")
}

func TestLines(t *testing.T) {
	tests := []struct {
		name    string
		entries []Entry
		most    int
		want    string
		used    int
	}{
		{"a turn", entriesOf("p1=why?", "o=cause", "s1=find why it drifts"), 0, "0 s find why it drifts <why?>, 1 o cause", 3},
		{"the better one first", entriesOf("s1=find why it drifts", "o=cause", "p1=does it drift?"), 0, "0 s find why it drifts <does it drift?>, 1 o cause", 3},
		{"the same words", entriesOf("p1=Fix the cart, please.", "s1=fix the cart"), 0, "0 s fix the cart", 2},
		{"a prompt without a title", entriesOf("p1=", "s1=fix the cart"), 0, "0 s fix the cart", 2},
		{"a summary without a title", entriesOf("p1=fix it", "s1="), 0, "0 s  <fix it>", 2},
		{"no summary yet", entriesOf("s1=a", "p1=a", "p2=b"), 0, "0 s a, 2 p b", 3},
		{"a second summary", entriesOf("p1=a", "s1=b", "s1=c"), 0, "0 s b <a>, 2 s c", 3},
		{"of no turn", append(entriesOf("p0=a"), entriesOf("s0=b")...), 0, "0 p a, 0 s b", 2},
		{"as many as fit", entriesOf("p1=a", "o=b", "s1=a", "o=c", "p2=d"), 2, "0 s a, 1 o b", 3},
		{"a half on the next page", entriesOf("p1=a", "o=b", "s1=a"), 1, "0 p a", 1},
		{"none", nil, 3, "", 0},
	}
	for _, tt := range tests {
		lines, used := Lines(tt.entries, tt.most)
		if got := drawLines(lines); got != tt.want || used != tt.used {
			t.Errorf("%s: got %q of %d, want %q of %d", tt.name, got, used, tt.want, tt.used)
		}
	}
	others := entriesOf("p1=a", "s1=a")
	others[1].SessionDBID = 8
	if lines, _ := Lines(others, 0); len(lines) != 2 {
		t.Errorf("turns of two sessions: got %q, want two lines", drawLines(lines))
	}
}

func TestTimelineLines(t *testing.T) {
	tests := []struct {
		name          string
		entries       []Entry
		before, after int
		want          string
	}{
		{"the summary is nearer", entriesOf("p1=a", "o=b", "s1=c", "@o=x"), 1, 1, "2 s c <a>, @3 o x"},
		{"the prompt is nearer", entriesOf("@o=x", "p1=a", "o=b", "s1=c"), 1, 1, "@0 o x, 1 s c <a>"},
		{"around the anchor", entriesOf("p1=a", "o=y", "@o=x", "s1=c", "o=z"), 1, 1, "1 o y, @2 o x, 3 s c <a>"},
		{"the prompt is the anchor", entriesOf("o=y", "@p1=a", "o=x", "s1=c"), 1, 2, "0 o y, @1 s c <a>, 2 o x"},
		{"the summary is the anchor", entriesOf("o=y", "p1=a", "o=x", "@s1=c"), 2, 0, "0 o y, 2 o x, @3 s c <a>"},
		{"as many as were asked for", entriesOf("o=w", "p1=a", "s1=a", "p2=b", "s2=b", "@t=", "p3=c", "s3=c", "o=z"), 3, 2, "0 o w, 2 s a, 4 s b, @5 a , 6 s c, 8 o z"},
		{"none on the sides", entriesOf("p1=a", "@o=x", "s1=a"), 0, 0, "@1 o x"},
		{"nothing", nil, 1, 1, ""},
	}
	for _, tt := range tests {
		timeline := Timeline{Timeline: tt.entries}
		lines := timeline.Lines(tt.before, tt.after)
		if got := drawLines(lines); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if !slices.IsSortedFunc(lines, func(a, b Line) int { return a.First - b.First }) {
			t.Errorf("%s: not in the order of time: %+v", tt.name, lines)
		}
	}
}

func TestWidened(t *testing.T) {
	for _, tt := range []struct{ n, want int }{{0, 0}, {1, 12}, {45, 100}, {80, 100}, {100, 100}, {101, 101}} {
		if got := (TimelineRequest{Before: tt.n, After: tt.n}).Widened(); got.Before != tt.want || got.After != tt.want {
			t.Errorf("%d: got %d and %d, want %d", tt.n, got.Before, got.After, tt.want)
		}
	}
}

// TestPageLines checks that a page is cut after the last hit that its lines show, and which
// lines do not match the text.
func TestPageLines(t *testing.T) {
	head := func(id int64) TurnHead { return TurnHead{ID: id, Title: "fix it", SessionDBID: 7, PromptNumber: 1} }
	hits := []Hit{
		{Kind: memory.RecordSummary, Score: 2, Summary: &Summary{TurnHead: head(1)}},
		{Kind: memory.RecordObservation, Observation: &Observation{ID: 2}},
		{Kind: memory.RecordPrompt, Prompt: &Prompt{TurnHead: head(3)}},
		{Kind: memory.RecordObservation, Observation: &Observation{ID: 4}},
	}
	for _, tt := range []struct {
		most, lines, used int
		notes             []string
	}{
		{1, 1, 1, nil},
		{2, 2, 3, []string{"The last 1 result did not match the text and only passed the filter."}},
		{5, 3, 4, []string{"The last 2 results did not match the text and only passed the filter."}},
	} {
		query := "fix"
		page := SearchPage{Query: &query, Results: slices.Clone(hits)}
		lines := page.Lines(tt.most)
		if len(lines) != tt.lines || len(page.Results) != tt.used || !slices.Equal(page.Notes(lines, time.UTC, text.TerminalLine), tt.notes) {
			t.Errorf("at most %d: got %d lines of %d hits, %q, want %+v", tt.most, len(lines), len(page.Results), page.Notes(lines, time.UTC, text.TerminalLine), tt)
		}
	}
}

func TestNotes(t *testing.T) {
	day := func(d int) memory.Millis {
		return memory.MillisOf(time.Date(2026, 3, d, 12, 0, 0, 0, time.Local))
	}
	tests := []struct {
		name string
		u    *memory.Understood
		want []string
	}{
		{"word for word", nil, nil},
		{"only the text", &memory.Understood{Text: "x"}, nil},
		{"a range", &memory.Understood{Since: day(2), Until: day(8)}, []string{"Understood: 2026-03-02 to 2026-03-08."}},
		{"since", &memory.Understood{Since: day(2)}, []string{"Understood: since 2026-03-02."}},
		{"until and types", &memory.Understood{Until: day(2), Types: []memory.ObservationType{"bugfix", "change"}},
			[]string{"Understood: until 2026-03-02.", "Understood: only bugfix, change."}},
		{"typing errors", &memory.Understood{Corrected: map[string]string{"totl": "total", "cnet": "cent"}},
			[]string{`No record has "cnet"; searched for "cent".`, `No record has "totl"; searched for "total".`}},
		{"notes", &memory.Understood{Notes: []string{"no vectors\x1b at the moment"}}, []string{"no vectors at the moment."}},
	}
	for _, tt := range tests {
		if got := (&SearchPage{Understood: tt.u}).Notes(nil, time.Local, text.TerminalLine); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestNoMatch: a page of which no hit matches the text says so, one without a text does not.
func TestNoMatch(t *testing.T) {
	hits := []Hit{{Kind: memory.RecordObservation, Observation: &Observation{ID: 2}}}
	for query, want := range map[string]int{"xyzzyqwv": 1, "": 0} {
		page := SearchPage{Query: &query, Results: hits}
		notes := page.Notes(page.Hits(), time.UTC, text.TerminalLine)
		if len(notes) != want || want == 1 && notes[0] != "No result matches the text; these are the newest that pass the filter." {
			t.Errorf("%q: %q", query, notes)
		}
	}
}
