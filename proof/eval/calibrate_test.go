package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"claudemem/internal/find/recall/gate"
	"claudemem/internal/memory"
)

// TestFitLogistic draws labels from known weights and finds them again.
func TestFitLogistic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	truth, bias := []float64{2, -1, 0}, 0.5
	var rows [][]float64
	var labels []bool
	var shares []float64
	for range 20_000 {
		row := []float64{r.Float64()*2 - 1, r.Float64()*2 - 1, r.Float64()*2 - 1}
		sum := bias
		for i, v := range row {
			sum += truth[i] * v
		}
		rows, labels, shares = append(rows, row), append(labels, r.Float64() < 1/(1+math.Exp(-sum))), append(shares, 1)
	}
	weights, got := fitLogistic(3, rows, labels, shares)
	for i, w := range append(weights, got) {
		if want := append(slices.Clone(truth), bias)[i]; math.Abs(w-want) > .12 {
			t.Errorf("weight %d is %.2f, want %.2f", i, w, want)
		}
	}
	// What never differs says nothing and gets no weight, instead of breaking the rest.
	for i := range rows {
		rows[i] = append(rows[i], 0)
	}
	weights, _ = fitLogistic(4, rows, labels, shares)
	if math.Abs(weights[0]-truth[0]) > .12 || weights[3] != 0 {
		t.Errorf("with a measure that is always 0: %.2f", weights)
	}
	if weights, _ := fitLogistic(5, nil, nil, nil); len(weights) != 5 {
		t.Errorf("of nothing: %d weights", len(weights))
	}
}

// invented are verdicts in which relevant records have more of everything.
func invented() []verdict {
	r := rand.New(rand.NewPCG(3, 4))
	var all []verdict
	for i := range 800 {
		v := verdict{set: []string{"a", ownPrompts}[i%2], home: i%4 < 2 || i%2 == 1, fit: i%3 > 0}
		v.about = v.home && i%8 < 4
		for id := range int64(12) {
			strength := r.Float64() * .4
			right := v.about && id == 0
			if right {
				strength += .6
			}
			e := memory.Evidence{Words: 2 + int(6*strength), Of: 8, Coverage: strength, Known: .7, Telling: 8 * strength, Keyword: 40 * strength, Likeness: strength, Records: 1000}
			v.found = append(v.found, memory.Related{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: id + 1}}, Evidence: e})
			v.right = append(v.right, right)
		}
		all = append(all, v)
	}
	return all
}

// TestCalibration fits to half of the verdicts and is right about the other.
func TestCalibration(t *testing.T) {
	verdicts := invented()
	weights, bias := fitGate(verdicts)
	c := gate.Calibration{Prompt: gate.Model{Bias: bias, Weights: map[string]float64{}}, Work: gate.Calibrated().Work}
	for i, name := range gate.Measures() {
		c.Prompt.Weights[name] = weights[i]
	}
	passed := false
	for _, open := range thresholds() {
		m, err := withThreshold(c, open)
		if err != nil {
			t.Fatal(err)
		}
		if passed = passesUnrelated(m, verdicts); !passed {
			continue
		}
		by := tallies(m, verdicts, false)
		if o := by["a"]; o.elsewhere.anything() > .1 || o.home.reach() < .9 || o.home.precision() < .9 || o.home.prompts == 0 || o.elsewhere.prompts == 0 {
			t.Errorf("at %.2f: %+v", open, o)
		}
		if o := by[ownPrompts]; o.silent.anything() > .1 || o.silent.prompts == 0 || o.home.prompts == 0 {
			t.Errorf("our own at %.2f: %+v", open, o)
		}
		break
	}
	if !passed {
		t.Error("no threshold is silent enough")
	}
}

func TestWithLong(t *testing.T) {
	s := &set{name: "s"}
	for i := range 2000 {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		s.documents = append(s.documents, document{ID: id, Corpus: "c", Text: "text of " + id})
		s.queries = append(s.queries, query{ID: id, Corpus: "c", Text: id})
	}
	long := s.withLong()
	if len(long.queries) != maxAsked {
		t.Errorf("%d queries, want %d", len(long.queries), maxAsked)
	}
	if n := len(long.queries[maxAsked-1].Text); n < longTogether*len("text of aaa") {
		t.Errorf("the last has %d bytes, want several records", n)
	}
	if !slices.EqualFunc(long.queries, s.withLong().queries, func(a, b query) bool { return a.ID == b.ID }) {
		t.Error("the second time others are chosen")
	}
}

func TestWithVisitors(t *testing.T) {
	make := func(name, corpus string, n int) *set {
		s := &set{name: name, documents: []document{{ID: name, Corpus: corpus}}}
		for i := range n {
			s.queries = append(s.queries, query{ID: name, Corpus: corpus, Text: name + string(rune('a'+i%26)) + string(rune('a'+i/26)), Relevant: []string{name}, Before: "2026-01-01T00:00:00Z"})
		}
		return s
	}
	s, other, same := make("one", "program", 500), make("two", "another", 300), make("three", "owner/program", 300)
	prompts := []prompt{{ID: "u1", Project: "shop", Text: "commit this"}, {ID: "u2", Project: "shop", Text: s.queries[0].Text}}
	with, from := s.withVisitors([]*set{other, same}, prompts, maxAsked-visitors, visitors)
	if len(with.queries) > maxAsked {
		t.Errorf("%d queries, at most %d are asked", len(with.queries), maxAsked)
	}
	came := map[string]int{}
	for _, q := range with.queries {
		came[from[q.Text]]++
		if set, ok := from[q.Text]; ok && (len(q.Relevant) > 0 || q.Corpus != "program" || q.Before == "") || ok && set == "three" {
			t.Fatalf("a visitor of %s: %+v", set, q)
		}
	}
	if came[""] != maxAsked-visitors || came["two"] == 0 || came[ownPrompts] != 1 {
		t.Errorf("%v came; want %d of its own, some of the second and one prompt of ours", came, maxAsked-visitors)
	}
}

func TestTogether(t *testing.T) {
	one := &set{name: "one", documents: []document{{ID: "1", Corpus: "a"}, {ID: "2", Corpus: "owner/b"}},
		queries: []query{{ID: "q1", Corpus: "a", Text: "first"}, {ID: "q2", Corpus: "owner/b", Text: "second"}}}
	two := &set{name: "two", documents: []document{{ID: "3", Corpus: "b"}, {ID: "4", Corpus: "c"}},
		queries: []query{{ID: "q3", Corpus: "b", Text: "third"}, {ID: "q4", Corpus: "c", Text: "fourth"}, {ID: "q5", Corpus: "c", Text: "first"}, {ID: "q6", Corpus: "c", Text: "dated", Before: "2026-01-01T00:00:00Z"}}}
	p, from := together([]*set{one, two})
	var documents, queries []string
	for _, d := range p.documents {
		documents = append(documents, d.ID)
	}
	for _, q := range p.queries {
		queries = append(queries, q.ID+" of "+from[q.Text])
	}
	if want := []string{"1", "2", "4"}; !slices.Equal(documents, want) {
		t.Errorf("documents %v, want %v", documents, want)
	}
	if want := []string{"q1 of one", "q2 of one", "q4 of two"}; !slices.Equal(queries, want) {
		t.Errorf("queries %v, want %v", queries, want)
	}
}

// TestCalibrateWork fits the gate of sessions at work to half of the verdicts and is right
// about the other; a prompt at which no record found has a file is not its matter.
func TestCalibrateWork(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var verdicts []verdict
	for i := range 600 {
		visits := i%3 == 0
		v := verdict{set: "a", home: !visits, about: !visits, fit: i%2 == 0}
		if visits {
			v.set = visitorsGroup
		}
		best := r.IntN(3)
		for at := range 10 {
			right := !visits && at == best
			f := memory.Related{Hit: memory.Hit{RecordRef: memory.RecordRef{Kind: memory.RecordObservation, ID: int64(at + 1)}}}
			f.Observation = &memory.Observation{Title: "Change it", Narrative: string(make([]byte, 100+r.IntN(100)))}
			f.Evidence = memory.Evidence{Words: 3, Of: 8, Coverage: .3, Telling: 3, Keyword: 20 + r.Float64(), Likeness: .4, Records: 9000, Files: .2}
			f.Score = 1 + r.Float64()/2
			if right {
				f.Observation.Type, f.Evidence.Titled, f.Score = memory.TypeFeature, .4+r.Float64()/3, 1.3+r.Float64()
			}
			v.found, v.right = append(v.found, f), append(v.right, right)
		}
		verdicts = append(verdicts, v)
	}
	first := slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool { return !v.fit })
	model := fitWork(gate.Calibrated(), first)
	strange := first[0] // relevant, and nothing of what was found has a file
	strange.found = slices.Clone(strange.found)
	for i := range strange.found {
		strange.found[i].Evidence.Files, strange.found[i].Score = 0, float64(i)
	}
	if again := fitWork(gate.Calibrated(), append(first, strange)); !maps.Equal(again.Weights, model.Weights) || again.Bias != model.Bias {
		t.Errorf("with a prompt that is not its matter: %v, without %v", again, model)
	}
	c, err := withWork(gate.Calibrated(), model, 0)
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Work.Weights; w["titled"] <= 0 || w["adds"] <= 0 || w["standing"] <= 0 {
		t.Errorf("weights %v", w)
	}
	by := workTallies(c, verdicts, false)
	if a, v := by["a"], by[visitorsGroup]; a.precision() < .9 || a.reach() < .8 || v.anything() > .1 || v.prompts == 0 {
		t.Errorf("set %+v, visitors %+v", a, v)
	}
}
