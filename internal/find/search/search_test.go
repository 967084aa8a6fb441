package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claudemem/internal/keep/index"
	"claudemem/internal/memory"

	"pgregory.net/rapid"
)

// shop is a memory of two projects over some days.
func shop() *fakeMemory {
	m := &fakeMemory{}
	m.observe(10, noon.Add(-1*time.Hour), title("cart rounding error"), typed(memory.TypeBugfix), concepts("gotcha"))
	m.observe(15, noon.Add(-1*day), title("cart total in cents"), typed(memory.TypeDecision))
	m.observe(42, noon.Add(-3*day), title("login session cache"), concepts("gotcha"))
	m.observe(89, noon.Add(-8*day), title("cart rounding cache"), typed(memory.TypeRefactor))
	m.observe(105, noon.Add(-9*day), title("search page"), project("/src/web"))
	m.observe(223, noon.Add(-200*day), title("payment provider"), typed(memory.TypeBugfix))
	m.prompt(1, noon.Add(-2*time.Hour), "why is the cart rounding wrong")
	m.summarize(1, noon.Add(-30*time.Minute), "cart rounding")
	return m
}

func TestDecisionTree(t *testing.T) {
	tests := []struct {
		name  string
		r     memory.SearchRequest
		want  string
		total int
	}{
		{"no text: newest first", memory.SearchRequest{}, "s1 o10 p1 o15 o42 o89 o105 o223", 8},
		{"no text: oldest first", memory.SearchRequest{Order: memory.OrderOldest}, "o223 o105 o89 o42 o15 p1 o10 s1", 8},
		{"no text: a filter", memory.SearchRequest{Query: memory.Query{Project: "web"}}, "o105", 1},
		{"no text: spaces are none", memory.SearchRequest{Text: " \n\t\x00 "}, "s1 o10 p1 o15 o42 o89 o105 o223", 8},
		{"a text: the ranking", memory.SearchRequest{Text: "cart rounding"}, "s1 o10 p1 o89 o15", 5},
		{"a text that nothing has", memory.SearchRequest{Text: "zebra"}, "", 0},
		{"a kind does not top up", memory.SearchRequest{Text: "cart rounding", Kinds: []memory.RecordKind{"prompt", "prompt"}}, "p1", 1},
		{"text and project: topped up by date", memory.SearchRequest{Text: "rounding", Query: memory.Query{Project: "shop"}},
			"s1 o10 p1 o89 o15 o42 o223", 7},
		{"text and project: not more than asked for", memory.SearchRequest{Text: "rounding", Query: memory.Query{Project: "shop", Limit: 5}},
			"s1 o10 p1 o89 o15", 7},
		{"text and type: observations only", memory.SearchRequest{Text: "rounding", Query: memory.Query{Types: []memory.ObservationType{"bugfix"}}},
			"o10 o223", 2},
		{"text and type of another kind", memory.SearchRequest{Text: "rounding", Kinds: []memory.RecordKind{"prompt"},
			Query: memory.Query{Types: []memory.ObservationType{"bugfix"}}}, "", 0},
		{"text and concept: the memory's filter", memory.SearchRequest{Text: "cache", Query: memory.Query{Concepts: []string{"gotcha"}}}, "o42 o10", 2},
		{"text and concept that nothing has", memory.SearchRequest{Text: "cache", Query: memory.Query{Concepts: []string{"pattern"}}}, "", 0},
		{"a project that is not there", memory.SearchRequest{Text: "cache", Query: memory.Query{Project: "nowhere"}}, "", 0},
		{"dates the wrong way round", memory.SearchRequest{Query: memory.Query{Since: 9, Until: 3}}, "", 0},
		{"text, newest first: hits of the text only", memory.SearchRequest{Text: "cart rounding", Order: memory.OrderNewest,
			Query: memory.Query{Project: "shop"}}, "s1 o10 p1 o89", 4},
		{"text, oldest first", memory.SearchRequest{Text: "cart rounding", Order: memory.OrderOldest}, "o89 p1 o10 s1", 4},
		{"the second page", memory.SearchRequest{Text: "rounding", Query: memory.Query{Project: "shop", Limit: 3, Offset: 3}}, "o89 o15 o42", 7},
		{"behind the last page", memory.SearchRequest{Text: "rounding", Query: memory.Query{Project: "shop", Offset: 30}}, "", 7},
		{"an offset that overflows", memory.SearchRequest{Text: "rounding", Query: memory.Query{Project: "shop", Offset: 1<<63 - 1}}, "", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := searcher(shop(), 90)
			got := find(t, s, tt.r)
			if names(got.Hits) != tt.want || got.Total != tt.total {
				t.Errorf("got %s of %d\nwant %s of %d", names(got.Hits), got.Total, tt.want, tt.total)
			}
			for _, h := range got.Hits {
				if h.Why != nil {
					t.Errorf("%s is explained, which nobody asked for", names([]memory.Hit{h}))
				}
			}
		})
	}
}

func TestExplain(t *testing.T) {
	s, r := searcher(shop(), 0)
	r.likeness[memory.RecordRef{Kind: memory.RecordObservation, ID: 42}] = 0.7
	got := find(t, s, memory.SearchRequest{Text: "rounding", Explain: true, Query: memory.Query{Project: "shop"}})
	ranked := 0
	for _, h := range got.Hits {
		switch {
		case h.Score == 0 && h.Why != nil:
			t.Errorf("%d was only topped up and is explained", h.ID)
		case h.Score != 0 && h.Why.Score() != h.Score:
			t.Errorf("%d: explanation %v, score %v", h.ID, h.Why.Score(), h.Score)
		case h.Score != 0:
			ranked++
		}
	}
	if ranked != 5 {
		t.Errorf("%d are ranked, want 5", ranked)
	}
}

func TestRecencyDays(t *testing.T) {
	old := memory.RecordRef{Kind: memory.RecordObservation, ID: 223} // 200 days
	new := memory.RecordRef{Kind: memory.RecordObservation, ID: 42}
	tests := []struct {
		name string
		days int
		r    memory.SearchRequest
		want string
	}{
		{"near in meaning and old", 90, memory.SearchRequest{Text: "money"}, "o42"},
		{"off", 0, memory.SearchRequest{Text: "money"}, "o223 o42"},
		{"a longer window", 365, memory.SearchRequest{Text: "money"}, "o223 o42"},
		{"it has the word", 90, memory.SearchRequest{Text: "payment"}, "o223 o42"},
		{"lifted by a range", 90, memory.SearchRequest{Text: "money", Query: memory.Query{Since: 1, Limit: 2}}, "o223 o42"},
		{"lifted by a range in words", 90, memory.SearchRequest{Text: "money in 2025", Query: memory.Query{Limit: 2}}, "o223"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, r := searcher(shop(), tt.days)
			r.likeness[old], r.likeness[new] = 0.9, 0.5
			if got := names(find(t, s, tt.r).Hits); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestRecencyPrior: age counts from the end of the range, and never below 0.
func TestRecencyPrior(t *testing.T) {
	m := &fakeMemory{}
	m.observe(1, noon.AddDate(0, 0, -120), title("alpha"))
	m.observe(2, noon.Add(5*day), title("alpha")) // the clock was set back
	s, _ := searcher(m, 0)
	recency := func(r memory.SearchRequest, id int64) float64 {
		r.Text, r.Explain = "alpha", true
		for _, h := range find(t, s, r).Hits {
			if h.ID == id {
				return h.Why.Factors[0].Value
			}
		}
		t.Fatalf("%d is not found", id)
		return 0
	}
	if got := recency(memory.SearchRequest{}, 1); got != 1.075 {
		t.Errorf("120 days before now: got %v, want 1.075", got)
	}
	until := memory.MillisOf(noon.AddDate(0, 0, -60))
	if got := recency(memory.SearchRequest{Query: memory.Query{Until: until}}, 1); got != 1.15 {
		t.Errorf("60 days before the end of the range: got %v, want 1.15", got)
	}
	later := memory.MillisOf(noon.AddDate(10, 0, 0))
	m.observe(3, noon.Add(65*day), title("alpha"))
	if got := recency(memory.SearchRequest{Query: memory.Query{Until: later}}, 2); got != 1.15 {
		t.Errorf("60 days before the newest of a range without end: got %v, want 1.15", got)
	}
	if got := recency(memory.SearchRequest{}, 2); got != 1.3 {
		t.Errorf("in the future: got %v, want 1.3", got)
	}
}

// TestPaging: the pages of a request, put together, are the request in one page.
func TestPaging(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &fakeMemory{}
		for i := range rapid.IntRange(0, 60).Draw(t, "records") {
			// Times and words repeat: ties are what paging has to survive.
			at := noon.Add(-time.Duration(rapid.IntRange(0, 4).Draw(t, "age")) * day)
			text := rapid.SampledFrom([]string{"alpha", "beta", "alpha beta", "gamma"}).Draw(t, "text")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				m.prompt(int64(i), at, text)
			case 1:
				m.summarize(int64(i), at, text)
			default:
				m.observe(int64(i), at, title(text), concepts(rapid.SampledFrom([]string{"gotcha", "pattern"}).Draw(t, "concept")))
			}
		}
		s, _ := searcher(m, 0)
		r := memory.SearchRequest{
			Text:  rapid.SampledFrom([]string{"", "alpha", "alpha beta"}).Draw(t, "asked"),
			Order: rapid.SampledFrom([]memory.Order{"", "relevance", "newest", "oldest"}).Draw(t, "order"),
		}
		r.Project = rapid.SampledFrom([]string{"", "shop"}).Draw(t, "project")
		r.Concepts = rapid.SampledFrom([][]string{nil, {"gotcha"}}).Draw(t, "concepts")
		r.Limit = MaxLimit
		whole, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Hits) != whole.Total {
			t.Fatalf("%d hits of %d", len(whole.Hits), whole.Total)
		}
		var pages []memory.Hit
		r.Limit = rapid.IntRange(1, 7).Draw(t, "limit")
		for {
			page, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if page.Total != whole.Total {
				t.Fatalf("the page at %d says %d in all, want %d", r.Offset, page.Total, whole.Total)
			}
			if len(page.Hits) == 0 {
				break
			}
			pages = append(pages, page.Hits...)
			r.Offset += r.Limit
		}
		if got, want := names(pages), names(whole.Hits); got != want {
			t.Fatalf("pages:  %s\nwhole: %s", got, want)
		}
	})
}

// TestRankedPool: a ranking is bounded, and asked for whole whatever the page is.
func TestRankedPool(t *testing.T) {
	m := &fakeMemory{}
	for i := range 700 {
		m.observe(int64(i), noon.Add(-time.Duration(i)*time.Minute), title("alpha"))
	}
	s, r := searcher(m, 0)
	got := find(t, s, memory.SearchRequest{Text: "alpha", Query: memory.Query{Limit: 10, Offset: RankedPool - 5}})
	if got.Total != RankedPool || len(got.Hits) != 5 {
		t.Errorf("got %d hits of %d, want 5 of %d", len(got.Hits), got.Total, RankedPool)
	}
	got = find(t, s, memory.SearchRequest{Text: "alpha", Query: memory.Query{Project: "shop", Limit: 10, Offset: RankedPool - 5}})
	if got.Total != 700 || len(got.Hits) != 10 || got.Hits[5].Score != 0 || got.Hits[5].ID != RankedPool {
		t.Errorf("got %s of %d, want ten of 700 that go on by date", names(got.Hits), got.Total)
	}
	for _, req := range r.requests {
		if req.Limit != RankedPool || req.Untrained != personUntrained {
			t.Errorf("the index was asked for %d, untrained %v, want %d", req.Limit, req.Untrained, RankedPool)
		}
	}
	r.requests = nil
	find(t, s, memory.SearchRequest{Text: "alpha", During: &memory.During{}})
	if _, err := s.Related(t.Context(), memory.RelatedRequest{Text: "alpha"}); err != nil {
		t.Fatal(err)
	}
	if len(r.requests) != 2 || r.requests[0].Limit != duringPool || r.requests[0].Untrained != sessionUntrained || r.requests[1].Untrained != sessionUntrained {
		t.Errorf("during a session the index was asked %+v", r.requests)
	}
}

// TestStaleIndex: what was removed or changed since it was indexed is not shown
// against the filter.
func TestStaleIndex(t *testing.T) {
	m := shop()
	s, r := searcher(m, 0)
	r.answer = func(index.Request) (index.Answer, error) {
		gone := index.Match{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: 999}, Keyword: 1, Lexical: true}
		other := match(m.hits[2]) // a discovery, which the index holds for a bugfix
		right := match(m.hits[0])
		other.Lexical, right.Lexical = true, true
		return index.Answer{Matches: []index.Match{gone, other, right}, Semantic: true}, nil
	}
	got := find(t, s, memory.SearchRequest{Text: "x y", Query: memory.Query{Types: []memory.ObservationType{"bugfix"}}})
	if names(got.Hits) != "o10" {
		t.Errorf("got %s, want o10", names(got.Hits))
	}
}

func TestNotes(t *testing.T) {
	s, r := searcher(shop(), 0)
	if got := find(t, s, memory.SearchRequest{Text: "cart"}).Understood.Notes; got != nil {
		t.Errorf("got %q, want none", got)
	}
	r.lexical, r.behind = true, 7
	got := strings.Join(find(t, s, memory.SearchRequest{Text: "cart " + strings.Repeat("x", MaxText)}).Understood.Notes, "\n")
	for _, want := range []string{"vectors", "7 changes", "4096 bytes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in\n%s", want, got)
		}
	}
}

func TestSyntax(t *testing.T) {
	one := []memory.RecordRef{{Kind: memory.RecordObservation, ID: 42}, {Kind: memory.RecordObservation, ID: 10}}
	tests := []struct {
		name, text string
		refs       []memory.RecordRef
		invalid    bool
		want       string
		syntax     bool
	}{
		{"it matches", "cart NOT rounding", one, false, "o42 o10", true},
		{"it does not parse", "cart AND rounding", nil, true, "s1 o10 p1 o89 o15", false},
		{"nothing matches: its words", "cart AND rounding", nil, false, "s1 o10 p1 o89 o15", false},
		{"nothing matches what excludes", "cart NOT rounding", nil, false, "", true},
		{"no expression", "cart and rounding", one, false, "s1 o10 p1 o89 o15", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, r := searcher(shop(), 0)
			r.syntax = func(string) ([]memory.RecordRef, error) {
				if tt.invalid {
					return nil, memory.Errorf(memory.CodeInvalid, "syntax error")
				}
				return tt.refs, nil
			}
			got := find(t, s, memory.SearchRequest{Text: tt.text})
			if names(got.Hits) != tt.want || got.Understood.Syntax != tt.syntax {
				t.Errorf("got %s, syntax %v\nwant %s, syntax %v", names(got.Hits), got.Understood.Syntax, tt.want, tt.syntax)
			}
			for i := 1; i < len(got.Hits); i++ {
				if got.Hits[i].Score > got.Hits[i-1].Score {
					t.Errorf("%s stands behind a lower score", names(got.Hits[i:i+1]))
				}
			}
		})
	}
}

func TestByName(t *testing.T) {
	m := shop()
	m.sessions = []memory.Session{{ID: 1}, {ID: 3}, {ID: 4}}
	tests := []struct {
		name, text string
		r          memory.SearchRequest
		want       string
	}{
		{"an observation", "#42", memory.SearchRequest{}, "o42"},
		{"the second page", "#42", memory.SearchRequest{Query: memory.Query{Offset: 1}}, ""},
		{"it passes the filter", "#42", memory.SearchRequest{Query: memory.Query{Project: "shop", Since: 5}}, "o42"},
		{"of another project", "#42", memory.SearchRequest{Query: memory.Query{Project: "web"}}, "o105"},
		{"of another time", "#42", memory.SearchRequest{Query: memory.Query{Until: 5}}, ""},
		{"of another kind", "#42", memory.SearchRequest{Kinds: []memory.RecordKind{"prompt"}}, ""},
		{"none of that number", "#77", memory.SearchRequest{}, ""},
		{"too large a number", "#99999999999999999999", memory.SearchRequest{}, ""},
		{"a session", "S1", memory.SearchRequest{Query: memory.Query{Limit: 3}}, "s1 o10 p1"},
		{"a session without records", "S4", memory.SearchRequest{}, ""},
		{"no session", "S99", memory.SearchRequest{}, ""},
		{"the storage service", "S3", memory.SearchRequest{}, ""},
		{"a number is a word", "42", memory.SearchRequest{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := searcher(m, 0)
			tt.r.Text = tt.text
			if got := names(find(t, s, tt.r).Hits); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestUnderstood: what a text says of time and type decides, and gives way when it
// leaves nothing.
func TestUnderstood(t *testing.T) {
	tests := []struct {
		text string
		r    memory.SearchRequest
		want string
		rest string
		note bool
	}{
		{"what bugs did we fix", memory.SearchRequest{}, "o10 o223", "", false},
		{"what did we do yesterday", memory.SearchRequest{}, "o15", "", false},
		{"cart last week", memory.SearchRequest{Query: memory.Query{Limit: 1}}, "o89", "cart", false},
		{"cart in March 2024", memory.SearchRequest{}, "o15 s1 o10 p1 o89", "cart in March 2024", true},
		{"which discoveries did we make yesterday", memory.SearchRequest{}, "", "which discoveries did we make yesterday", true},
		{"what decisions did we make about cart", memory.SearchRequest{}, "o15 s1 o10 p1 o89", "cart", false},
		// A filter of the request's own is not touched.
		{"cart last week", memory.SearchRequest{Query: memory.Query{Since: 1, Limit: 5}}, "s1 o10 p1 o15 o89", "cart last week", false},
		{"what bugs did we fix", memory.SearchRequest{Query: memory.Query{Types: []memory.ObservationType{"decision"}}}, "o15", "what bugs did we fix", false},
		{"what bugs did we fix", memory.SearchRequest{Kinds: []memory.RecordKind{"prompt"}}, "", "what bugs did we fix", false},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, _ := searcher(shop(), 0)
			tt.r.Text = tt.text
			got := find(t, s, tt.r)
			if names(got.Hits) != tt.want || got.Understood.Text != tt.rest || (len(got.Understood.Notes) > 0) != tt.note {
				t.Errorf("got %s, %+v\nwant %s, text %q, note %v", names(got.Hits), got.Understood, tt.want, tt.rest, tt.note)
			}
		})
	}
}

// TestTypeStandsHigher: a type in the text loses nothing, and its factor is explained.
func TestTypeStandsHigher(t *testing.T) {
	s, _ := searcher(shop(), 0)
	got := find(t, s, memory.SearchRequest{Text: "decisions about cart", Explain: true})
	if names(got.Hits) != "o15 s1 o10 p1 o89" {
		t.Fatalf("got %s", names(got.Hits))
	}
	factors := got.Hits[0].Why.Factors
	if len(factors) != 2 || factors[1].Name != "type" || factors[1].Value != typeWeight {
		t.Errorf("the factors are %+v", factors)
	}
	if got.Hits[0].Why.Score() != got.Hits[0].Score {
		t.Errorf("the explanation does not add up")
	}
}

func TestSearchErrors(t *testing.T) {
	m := shop()
	s, r := searcher(m, 0)
	for name, req := range map[string]memory.SearchRequest{
		"kind":  {Kinds: []memory.RecordKind{"session"}},
		"order": {Order: "random"},
	} {
		if _, err := s.Search(t.Context(), req); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s: got %v, want CodeInvalid", name, err)
		}
	}
	broken := memory.Errorf(memory.CodeStorage, "the disk is full")
	r.answer = func(index.Request) (index.Answer, error) { return index.Answer{}, broken }
	m.err = context.DeadlineExceeded
	for _, text := range []string{"", "x", "#42", "what did we do yesterday", "a AND b"} {
		req := memory.SearchRequest{Text: text, Query: memory.Query{Project: "shop"}}
		if _, err := s.Search(t.Context(), req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q: got %v, want what the memory says", text, err)
		}
	}
}

func TestCleanText(t *testing.T) {
	tests := []struct {
		name, text, want string
		cut              bool
	}{
		{"as it is", "fix the cart", "fix the cart", false},
		{"controls", "\x00fix\x01\x02 the\r\n\tcart\x7f\x00", "fix the cart", false},
		{"broken UTF-8", "a\xff\xfeb \xed\xa0\x80c", "a b c", false},
		{"emoji stay", "🎉 ship it 日本語", "🎉 ship it 日本語", false},
		{"cut between letters", strings.Repeat("é", MaxText), strings.Repeat("é", MaxText/2), true},
		{"cut after dropping", strings.Repeat(" ", 100*MaxText) + "x", "", true},
		{"just not cut", strings.Repeat("x", MaxText), strings.Repeat("x", MaxText), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut := cleanText(tt.text)
			if got != tt.want || cut != tt.cut {
				t.Errorf("got %.50q (%d bytes), %v; want %.50q, %v", got, len(got), cut, tt.want, tt.cut)
			}
		})
	}
}

// FuzzSearch: no text is an error, and the index sees no more of it than it should.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{
		"cart", "what bugs did we fix last week", `"a phrase" AND b`, "NEAR(a b)", "#42", "S1", "\x00", "a*", `"`, "((((", "日本語 yesterday",
		strings.Repeat("a AND ", 3000), strings.Repeat("(", 5000), "between 2026-01-02 and", "since", "3 days ago, since May until",
	} {
		f.Add(text)
	}
	m := shop()
	m.sessions = []memory.Session{{ID: 1}}
	f.Fuzz(func(t *testing.T, text string) {
		s, r := searcher(m, 90)
		check := func(text string) {
			if len(text) > MaxText || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\n\r\x7f") {
				t.Errorf("the index was asked for %.80q (%d bytes)", text, len(text))
			}
		}
		r.syntax = func(expression string) ([]memory.RecordRef, error) {
			check(expression)
			return nil, memory.Errorf(memory.CodeInvalid, "syntax error")
		}
		got, err := s.Search(t.Context(), memory.SearchRequest{Text: text, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, req := range r.requests {
			check(req.Text)
		}
		if got.Understood.Since != 0 && got.Understood.Until != 0 && got.Understood.Since > got.Understood.Until {
			t.Errorf("understood %+v", got.Understood)
		}
		if _, err := s.Timeline(t.Context(), memory.TimelineRequest{Anchor: text}); err != nil {
			if c := memory.CodeOf(err); c != memory.CodeNotFound && c != memory.CodeInvalid {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	m := &fakeMemory{}
	for i := range 800 {
		m.observe(int64(i), noon.Add(-time.Duration(i)*time.Hour), title("alpha beta "+fmt.Sprint(i)))
	}
	var matches []index.Match
	for i, h := range m.hits {
		hit := match(h)
		hit.Keyword, hit.Lexical = 1/float64(i+1), true
		matches = append(matches, hit)
	}
	s, r := searcher(m, 90)
	r.answer = func(index.Request) (index.Answer, error) { return index.Answer{Matches: matches, Semantic: true}, nil }
	b.ReportAllocs()
	for b.Loop() {
		r.requests = r.requests[:0]
		if _, err := s.Search(b.Context(), memory.SearchRequest{Text: "which alpha did we build for the beta", Explain: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFaint: what has no word of a text and is not near it in meaning is no hit.
func TestFaint(t *testing.T) {
	s, r := searcher(shop(), 0)
	r.likeness[memory.RecordRef{Kind: memory.RecordObservation, ID: 42}] = faintLikeness
	r.likeness[memory.RecordRef{Kind: memory.RecordObservation, ID: 15}] = faintLikeness - 0.01
	if got := names(find(t, s, memory.SearchRequest{Text: "zebra"}).Hits); got != "o42" {
		t.Errorf("got %s, want o42", got)
	}
}
