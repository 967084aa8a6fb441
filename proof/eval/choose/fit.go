package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"claudemem/internal/distil/offline"
	"claudemem/internal/memory"
)

const (
	// rounds is how often the title's and the subtitle's weights are fitted in turn: what
	// stands beside a title depends on the title.
	rounds = 4
	steps  = 400
	rate   = 0.5
	// penalty is the weight of the squares: with 60 turns, few features can be trusted.
	penalty = 0.02
	// headlineWorth is what a title is worth that says what the turn is about.
	headlineWorth = 1.5
)

// byHand are weights that are not learnt: a key tells what is said, and not whether it
// reads well or is certain.
var byHand = struct{ title, subtitle map[string]float64 }{
	title:    map[string]float64{"back": -1, "cut": -0.6, "guess": -2, "short": -1, "outline": -0.5, "open": -1.5},
	subtitle: map[string]float64{"guess": -0.5, "cut": -0.5},
}

// list is one choice: the features of its candidates, and what they are worth.
type list struct {
	values [][]float64
	worth  []float64
}

// learn fits weights to cases.
func learn(cases []*studyCase) *offline.Weights {
	w := flat()
	for range rounds {
		var titles, subtitles []list
		for _, c := range cases {
			for _, t := range c.turns {
				if t.key == nil || len(t.key.Remember) == 0 {
					continue
				}
				t.distil(offline.With(w, func(choice offline.Choice) {
					titles = append(titles, t.list(choice.Titles, ""))
					subtitles = append(subtitles, t.list(choice.Subtitles, choice.Title))
				}))
			}
		}
		w = weights(fit(titles, byHand.title), fit(subtitles, byHand.subtitle))
	}
	return w
}

// flat returns weights that prefer what stands first.
func flat() *offline.Weights {
	v := make([]float64, len(offline.FeatureNames()))
	v[0] = 1
	return weights(v, v)
}

// weights names fitted values.
func weights(title, subtitle []float64) *offline.Weights {
	named := func(v []float64) map[string]float64 {
		m := map[string]float64{}
		for i, name := range offline.FeatureNames() {
			m[name] = math.Round(v[i]*100) / 100
		}
		return m
	}
	b, err := json.Marshal(offline.Weights{Title: named(title), Subtitle: named(subtitle)})
	if err != nil {
		panic(err)
	}
	w, err := offline.ReadWeights(b)
	if err != nil {
		panic(err)
	}
	return w
}

// list returns candidates with what they are worth beside a title.
func (t *studyTurn) list(candidates []offline.Candidate, title string) list {
	var l list
	for _, c := range candidates {
		worth := 0.0
		for i := range t.key.Remember {
			if m := &t.key.Remember[i]; m.in(c.Text) && (title == "" || !m.in(title)) {
				worth += m.Weight
			}
		}
		hits := 0.0
		for _, r := range t.key.headline {
			if r.MatchString(c.Text) && (title == "" || !r.MatchString(title)) {
				hits++
			}
		}
		if n := len(t.key.headline); n > 0 {
			worth += headlineWorth * hits / float64(n)
		}
		l.values, l.worth = append(l.values, c.Values), append(l.worth, worth)
	}
	return l
}

// fit returns the weights under which the softmax of the scores is nearest to that of the
// worths, over all lists. given are weights that stay.
func fit(lists []list, given map[string]float64) []float64 {
	names := offline.FeatureNames()
	n := len(names)
	w := make([]float64, n)
	for j, name := range names {
		w[j] = given[name]
	}
	for range steps {
		gradient := make([]float64, n)
		count := 0.0
		for _, l := range lists {
			if len(l.worth) < 2 {
				continue
			}
			count++
			scores := make([]float64, len(l.values))
			for i, v := range l.values {
				for j := range v {
					scores[i] += w[j] * v[j]
				}
			}
			want, have := softmax(l.worth), softmax(scores)
			for i, v := range l.values {
				for j := range v {
					gradient[j] += (have[i] - want[i]) * v[j]
				}
			}
		}
		for j, name := range names {
			if _, ok := given[name]; !ok {
				w[j] -= rate * (gradient[j]/max(1, count) + penalty*w[j])
			}
		}
	}
	return w
}

func softmax(v []float64) []float64 {
	most := math.Inf(-1)
	for _, x := range v {
		most = max(most, x)
	}
	out, sum := make([]float64, len(v)), 0.0
	for i, x := range v {
		out[i] = math.Exp(x - most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// distil returns the records of a turn.
func (t *studyTurn) distil(d *offline.Distiller) []memory.Outcome {
	var outs []memory.Outcome
	var earlier []memory.Observation
	for _, b := range t.batches {
		b.Earlier = earlier
		out, err := d.Distil(context.Background(), b)
		if err != nil {
			panic(err) // only that of the context
		}
		earlier = append(earlier, out.Observations...)
		outs = append(outs, out)
	}
	return outs
}

// figures are the shares that weights reach.
type figures struct{ front, headline, kind share }

type share struct{ got, of float64 }

func (s *share) add(got bool, weight float64) {
	s.of += weight
	if got {
		s.got += weight
	}
}

func (s share) percent() float64 { return 100 * s.got / max(1, s.of) }

func (f *figures) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-34s %6.0f %% %7.0f %% %4.0f %%\n", name, f.front.percent(), f.headline.percent(), f.kind.percent())
}

// seenTitle and seenSubtitle are how many characters of each are seen in lists.
const (
	seenTitle    = 100
	seenSubtitle = 200
)

// measure returns what is said where it is seen: the share of what is worth remembering
// that titles and subtitles say (or, for rules and constraints, learnings), of turns whose
// main observation says what they are about, and of right types.
func measure(cases []*studyCase, by func(*studyCase) *offline.Distiller) *figures {
	f := &figures{}
	for _, c := range cases {
		made := make([][]memory.Outcome, len(c.turns))
		learnings := ""
		for i, t := range c.turns {
			made[i] = t.distil(by(c))
			for _, o := range made[i] {
				for _, l := range o.Learnings {
					learnings += "\n" + first(l.Content, seenSubtitle)
				}
			}
		}
		for i, t := range c.turns {
			if t.key != nil {
				f.judge(t.key, made[i], learnings)
			}
		}
	}
	return f
}

func (f *figures) judge(key *turnKey, made []memory.Outcome, learnings string) {
	all, hits, kind := "", -1, ""
	for _, out := range made {
		for _, o := range out.Observations {
			line := first(o.Title, seenTitle) + ": " + first(o.Subtitle, seenSubtitle)
			all += line + "\n"
			n := 0
			for _, r := range key.headline {
				if r.MatchString(line) {
					n++
				}
			}
			if n > hits {
				hits, kind = n, string(o.Type)
			}
		}
	}
	for i := range key.Remember {
		m := &key.Remember[i]
		f.front.add(m.in(all) || m.standing() && m.in(learnings), m.Weight)
	}
	if len(key.headline) > 0 {
		f.headline.add(hits == len(key.headline), 1)
	}
	if len(key.Types) > 0 {
		right := false
		for _, k := range key.Types {
			right = right || k == kind
		}
		f.kind.add(right, 1)
	}
}

// first returns the first n characters of s.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// judged counts the turns that have a key.
func judged(cases []*studyCase) int {
	n := 0
	for _, c := range cases {
		for _, t := range c.turns {
			if t.key != nil {
				n++
			}
		}
	}
	return n
}

// recordsOf returns, for each case, the outcomes of its turns.
func recordsOf(cases []*studyCase, d *offline.Distiller) map[string][][]memory.Outcome {
	all := map[string][][]memory.Outcome{}
	for _, c := range cases {
		for _, t := range c.turns {
			all[c.name] = append(all[c.name], t.distil(d))
		}
	}
	return all
}
