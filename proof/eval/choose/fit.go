package main

import (
	"encoding/json"
	"math"

	"claudemem/internal/distil/offline"
	"claudemem/proof/eval/cases"
)

const (
	// rounds is how often the title's and the subtitle's weights are fitted in turn: what
	// stands beside a title depends on the title.
	rounds = 3
	steps  = 250
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
func learn(among []*cases.Case) *offline.Weights {
	w := flat()
	for range rounds {
		var titles, subtitles []list
		for _, c := range among {
			c.Distil(func(t *cases.Turn) *offline.Distiller {
				if t.Key == nil || len(t.Key.Remember) == 0 {
					return offline.With(w, nil)
				}
				return offline.With(w, func(choice offline.Choice) {
					titles = append(titles, listOf(t.Key, choice.Titles, ""))
					subtitles = append(subtitles, listOf(t.Key, choice.Subtitles, choice.Title))
				})
			})
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

// listOf returns candidates with what they are worth beside a title.
func listOf(key *cases.Key, candidates []offline.Candidate, title string) list {
	var l list
	for _, c := range candidates {
		weight, headline := key.Says(c.Text, title)
		l.values, l.worth = append(l.values, c.Values), append(l.worth, weight+headlineWorth*headline)
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

// measure returns the figures that cases reach with the weights that by returns for each.
func measure(among []*cases.Case, by func(*cases.Case) *offline.Distiller) *cases.Figures {
	f := &cases.Figures{}
	for _, c := range among {
		d := by(c)
		f.Add(&c.Judge(c.Distil(func(*cases.Turn) *offline.Distiller { return d })).Figures)
	}
	return f
}
