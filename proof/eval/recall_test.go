package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"claudemem/internal/memory"
)

func TestNumbersIn(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
	}{
		"silence":             {"", "[]"},
		"frame":               {"<claude-mem-context>\nEarlier work (#1).\n- Retry the webhook (#12)\n</claude-mem-context>", "[12]"},
		"number in the title": {"- bump x from 1 to 2 (#219): tests (#7)\n- b (#8)", "[7 8]"},
		"mark after it":       {"- Retry the webhook (#12) (file changed since)\n", "[12]"},
		"no number":           {"- Retry the webhook\n", "error"},
		"no line":             {"something else", "error"},
	} {
		numbers, err := numbersIn(tt.text)
		got := fmt.Sprint(numbers)
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// answering is a worker that answers prompts with what answer makes of them.
func answering(t *testing.T, answer func(body map[string]any) string) *worker {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/api/sessions/init" {
			http.Error(rw, "not a prompt", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"status": "queued", "additional_context": answer(body)})
	}))
	t.Cleanup(server.Close)
	return &worker{client: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}}}}
}

func TestPost(t *testing.T) {
	var sessions []string
	w := answering(t, func(body map[string]any) string {
		sessions = append(sessions, body["host_session_id"].(string))
		switch body["prompt"] {
		case "quiet":
			return ""
		case "unknown":
			return "- a (#99)\n"
		}
		return "- a (#1)\n- b (#2)\n"
	})
	r := asker{worker: w, entered: map[record][]string{{"observation", 1, 0}: {"a", "same as a"}, {"observation", 2, 0}: {"b"}}}
	for _, tt := range []struct{ prompt, want string }{
		{"quiet", "[] <nil>"}, {"webhook", "[[a same as a] [b]] <nil>"}, {"webhook", "[[a same as a] [b]] <nil>"},
	} {
		lines, err := r.post(t.Context(), "/p", tt.prompt, time.Time{}, nil)
		if got := fmt.Sprint(lines, err); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.prompt, got, tt.want)
		}
	}
	if _, err := r.post(t.Context(), "/p", "unknown", time.Time{}, nil); err == nil {
		t.Error("a record that nobody entered was taken")
	}
	if slices.Sort(sessions); len(slices.Compact(sessions)) != 4 {
		t.Errorf("sessions %v, want one for each prompt", sessions)
	}
	if len(r.took) != 4 {
		t.Errorf("%d times, want 4", len(r.took))
	}
}

func TestCount(t *testing.T) {
	relevant := func(id string) bool { return id == "a" || id == "b" }
	var sum tally
	for _, lines := range [][][]string{nil, {{"x"}}, {{"x"}, {"y", "a"}}, {{"a"}, {"b"}, {"x"}}} {
		sum.add(count(lines, relevant))
	}
	if want := (tally{prompts: 4, given: 3, right: 2, lines: 6, fitting: 3}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	if sum.anything() != 0.75 || sum.precision() != 2.0/3 || sum.reach() != 0.5 {
		t.Errorf("anything %v, precision %v, reach %v", sum.anything(), sum.precision(), sum.reach())
	}
	if zero := (tally{}); zero.anything() != 0 || zero.precision() != 0 || zero.reach() != 0 {
		t.Error("shares of nothing are not 0")
	}
}

func TestSample(t *testing.T) {
	var queries []query
	for i := range 30 {
		queries = append(queries, query{ID: fmt.Sprint("q", i)})
	}
	few := sample(queries, 10)
	slices.Reverse(queries)
	again := sample(queries, 10)
	ids := func(list []query) string {
		var all []string
		for _, q := range list {
			all = append(all, q.ID)
		}
		return strings.Join(all, " ")
	}
	if len(few) != 10 || ids(few) != ids(again) {
		t.Errorf("got %s, then %s", ids(few), ids(again))
	}
	if got := sample(queries, 30); len(got) != 30 {
		t.Errorf("%d of 30", len(got))
	}
}

// TestForeign: no query is posted to a memory that knows its program under another name.
func TestForeign(t *testing.T) {
	s := &set{queries: []query{{ID: "1", Corpus: "ann/shop"}, {ID: "2", Corpus: "bob/till"}, {ID: "3", Corpus: "ann/shelf"}}}
	others := []*set{
		{documents: []document{{ID: "a", Corpus: "shop"}, {ID: "b", Corpus: "mill"}}},
		{documents: []document{{ID: "c", Corpus: "eve/mill"}}},
	}
	var got []string
	for _, m := range s.foreign(others) {
		var queries, documents []string
		for _, q := range m.queries {
			queries = append(queries, q.ID)
		}
		slices.Sort(queries)
		for _, d := range m.documents {
			documents = append(documents, d.ID)
		}
		got = append(got, strings.Join(queries, "")+":"+strings.Join(documents, ""))
	}
	if want := "23:abc 1:bc"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestRecallBars(t *testing.T) {
	results := func(elsewhere, given, right, records int) []recallResult {
		r := recallResult{name: "set", records: records}
		for i := range 100 {
			var away, home exchange
			if i < elsewhere {
				away.lines = [][]string{{"a"}}
			}
			if i < given {
				home.lines = [][]string{{"a"}}
			}
			away.fits, home.fits = func(string) bool { return false }, func(string) bool { return i < right }
			r.elsewhere, r.home = append(r.elsewhere, away), append(r.home, home)
		}
		return []recallResult{r}
	}
	dated := func(r []recallResult) []recallResult {
		r[0].dated = true
		return r
	}
	answers := func(right, wrong, unrelated int) (all []answered) {
		for i := range 200 {
			p := prompt{Category: "task", Relevant: map[string]int{"a": 3}}
			if i >= 100 {
				p = prompt{Category: "generic"}
			}
			a := answered{prompt: &p, exchange: exchange{fits: func(id string) bool { return p.Relevant[id] > 0 }}}
			switch {
			case i < right, i >= 100 && i < 100+unrelated:
				a.lines = [][]string{{"a"}}
			case i < right+wrong:
				a.lines = [][]string{{"b"}}
			}
			all = append(all, a)
		}
		return all
	}
	for name, tt := range map[string]struct {
		results []recallResult
		answers []answered
		missed  []string
	}{
		"all met":            {results(3, 60, 40, 1000), answers(50, 20, 5), nil},
		"talks elsewhere":    {results(4, 60, 40, 1000), answers(50, 20, 5), []string{"from the other sets"}},
		"small memory":       {results(3, 60, 40, 999), answers(50, 20, 5), []string{"records in that memory"}},
		"wrong at home":      {results(3, 80, 40, 1000), answers(50, 20, 5), []string{"own corpora: 50.0 % of what"}},
		"silent at home":     {results(3, 39, 39, 1000), answers(50, 20, 5), []string{"own corpora: 39.0 % of prompts"}},
		"wrong at prompts":   {results(3, 60, 40, 1000), answers(42, 30, 5), []string{"own prompts: 54.5 % of what"}},
		"silent at prompts":  {results(3, 60, 40, 1000), answers(39, 0, 0), []string{"own prompts: 39.0 % of prompts"}},
		"talks at unrelated": {results(3, 60, 40, 1000), answers(50, 0, 6), []string{"own prompts: 6.0 % of the unrelated"}},
		"dated, met":         {dated(results(3, 60, 45, 1000)), answers(50, 20, 5), nil},
		"dated, wrong":       {dated(results(3, 61, 45, 1000)), answers(50, 20, 5), []string{"set: 73.8 % of what"}},
		"dated, silent":      {dated(results(3, 58, 44, 1000)), answers(50, 20, 5), []string{"set: 44.0 % of prompts"}},
	} {
		var out bytes.Buffer
		met := printRecallBars(&out, tt.results, tt.answers)
		var missed []string
		for l := range strings.Lines(out.String()) {
			if strings.HasPrefix(l, "bar missed") {
				missed = append(missed, l)
			}
		}
		if met != (len(tt.missed) == 0) || len(missed) != len(tt.missed) {
			t.Errorf("%s: met is %v:\n%s", name, met, out.String())
			continue
		}
		for i := range missed {
			if !strings.Contains(missed[i], tt.missed[i]) {
				t.Errorf("%s: %s", name, missed[i])
			}
		}
	}
}

// TestScene takes documents and prompts through a worker: what is decided over is
// what was there when the prompt was posted, in its project, and no prompt.
func TestScene(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two workers")
	}
	made := func(id, corpus, at, text string) document {
		return document{ID: id, Corpus: corpus, Time: at, Text: text}
	}
	s := scene{
		documents: []document{
			made("new", "shop", "2026-03-01T10:00:00Z", "The webhook of the carrier is signed since it moved to the new gateway"),
			made("old", "shop", "2026-01-01T10:00:00Z", "Retry the webhook when the carrier is away for longer than a minute"),
			made("mill", "mill", "2026-01-01T10:00:00Z", "The webhook of the mill tells the carrier that flour is ready"),
		},
		queries: []query{
			{ID: "2", Corpus: "shop", Text: "is the carrier's webhook retried?", Before: "2026-04-01T10:00:00Z", Relevant: []string{"old"}},
			{ID: "1", Corpus: "shop", Text: "what if the webhook comes while the carrier is away?", Before: "2026-02-01T10:00:00Z", Relevant: []string{"old"}},
		},
		project: func(corpus string) string { return "/eval/" + corpus }, about: true,
	}
	for name, tt := range map[string]struct {
		dated bool
		want  string // by the order of posting: how many were found, how many of them right
	}{
		"dated":   {true, "1/1 2/1"},
		"undated": {false, "2/1 2/1"},
	} {
		s.dated, s.files = tt.dated, nil
		if tt.dated { // the record of the session's files is none that is found
			s.files = func(*query) []string { return []string{"carrier.go", "webhook.go"} }
		}
		var took pace
		all, err := s.run(t.Context(), &took)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range all {
			right := 0
			for _, r := range x.right {
				if r {
					right++
				}
			}
			got = append(got, fmt.Sprintf("%d/%d", len(x.found), right))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", name, got, tt.want)
		}
		if median, longest := took.of(); len(took) != 2 || median <= 0 || longest < median {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// TestWith: what a gate chooses is counted as what a worker gives.
func TestWith(t *testing.T) {
	found := func(ids ...int64) (list []memory.Related) {
		for _, id := range ids {
			list = append(list, memory.Related{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: id}}})
		}
		return list
	}
	all := []exchange{
		{found: found(4, 1, 2, 3), right: []bool{true, false, false, false}},
		{found: found(1, 5), right: []bool{true, false}},
		{found: found(2), right: []bool{false}},
		{},
	}
	choose := func(least int64) func(list []memory.Related) []memory.Related {
		return func(list []memory.Related) []memory.Related {
			list = slices.Clone(list)
			slices.Reverse(list) // any order
			return slices.DeleteFunc(list, func(r memory.Related) bool { return r.ID < least })
		}
	}
	for least, want := range map[int64]tally{
		9: {prompts: 4},
		3: {prompts: 4, given: 2, right: 1, lines: 3, fitting: 1},
		1: {prompts: 4, given: 3, right: 2, lines: 7, fitting: 2},
	} {
		if got := with(choose(least), all); got != want {
			t.Errorf("%d: got %+v, want %+v", least, got, want)
		}
	}
}

// TestDiffering: a worker that is silent where the gate is sure was too slow.
func TestDiffering(t *testing.T) {
	sure := []memory.Related{{Evidence: memory.Evidence{Words: 8, Of: 8, Coverage: 1, Known: 1, Telling: 60, Likeness: .9, Keyword: 40, Records: 100}}}
	lines := [][]string{{"a"}}
	all := []exchange{{found: sure}, {found: sure, lines: lines}, {lines: lines}, {}, {found: sure}}
	if silent, talkative := differing(all); silent != 2 || talkative != 1 {
		t.Errorf("%d silent and %d talkative, want 2 and 1", silent, talkative)
	}
}

// TestUnfitted: what the gate was fitted to is not in the figures of the other half.
func TestUnfitted(t *testing.T) {
	var all []exchange
	other := 0
	for i := range 100 {
		x := exchange{text: fmt.Sprint("prompt ", i), fits: func(string) bool { return true }}
		if fitted(x.text) {
			x.lines = [][]string{{"a"}}
		} else {
			other++
		}
		all = append(all, x)
	}
	var out bytes.Buffer
	printUnfitted(&out, []recallResult{{elsewhere: all, home: all}}, nil)
	rows := strings.Split(out.String(), "\n")
	for _, row := range rows[:2] {
		columns := strings.Fields(row)
		if n := len(columns); n < 7 || other == 0 || other == 100 || !slices.Contains(columns, fmt.Sprint(other)) || !slices.Contains(columns, "0") {
			t.Errorf("want %d prompts and none of those fitted to: %s", other, row)
		}
	}
}
