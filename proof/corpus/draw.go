package corpus

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// weighted draws numbers from 0 to n-1 by Zipf's law.
type weighted struct{ sums []float64 }

// zipf makes the weight of number i 1/(i+shift)^exponent (Zipf–Mandelbrot).
// The lists have content words only; with exponent .9 and shift 8 the most frequent
// one of 700 is 3 % of them, so it stands in most observations of 100 words, and the
// last is in one of a hundred.
func zipf(n int, exponent, shift float64) weighted {
	w := weighted{make([]float64, n)}
	sum := 0.0
	for i := range w.sums {
		sum += math.Pow(float64(i+1)+shift, -exponent)
		w.sums[i] = sum
	}
	return w
}

func (w weighted) draw(r *rand.Rand) int {
	x := r.Float64() * w.sums[len(w.sums)-1]
	return min(sort.SearchFloat64s(w.sums, x), len(w.sums)-1)
}

// lexicon is a list of words to draw from.
type lexicon struct {
	words []string
	weighted
}

func newLexicon(words []string) lexicon {
	var once []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			once = append(once, w)
		}
	}
	return lexicon{once, zipf(len(once), .9, 8)}
}

// some is a lexicon of n of the words, in another order of frequency.
func (l lexicon) some(r *rand.Rand, n int) lexicon {
	order := r.Perm(len(l.words))[:min(n, len(l.words))]
	words := make([]string, len(order))
	for i, at := range order {
		words[i] = l.words[at]
	}
	return lexicon{words, zipf(len(words), .9, 2)}
}

func (l lexicon) draw(r *rand.Rand) string { return l.words[l.weighted.draw(r)] }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// pickSome draws up to n different ones.
func pickSome(n int, draw func() string) []string {
	var some []string
	for range n {
		if s := draw(); !slices.Contains(some, s) {
			some = append(some, s)
		}
	}
	return some
}
