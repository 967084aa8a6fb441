package likeness

import (
	"strings"
	"unicode"

	"claudemem/internal/leaf/text"
)

// sameTitle is the likeness from which two titles tell of the same.
const sameTitle = 0.9

// Alike reports whether two titles say nearly the same: at most a tenth of the
// longer one's characters must be changed to get the other, ignoring case and
// spacing. A changed digit is a changed meaning ("fixed issue 12", "… 13"), so
// titles whose numbers differ are never alike. Empty titles say nothing.
func Alike(a, b string) bool {
	x, y := []rune(FoldSpace(a)), []rune(FoldSpace(b))
	longer := max(len(x), len(y))
	if len(x) == 0 || len(y) == 0 || digits(x) != digits(y) {
		return false
	}
	// Rounded so that 1 in 10 is still .9 in spite of binary fractions.
	limit := int((1-sameTitle)*float64(longer) + 1e-9)
	return editsWithin(x, y, limit)
}

// FoldSpace returns a text in lower case with one blank between words.
func FoldSpace(s string) string { return text.Line(strings.ToLower(s)) }

// digits returns the numbers of a text in their order, with a blank between two.
func digits(text []rune) string {
	return strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsDigit(r) }), " ")
}

// editsWithin reports whether the Levenshtein distance of x and y is at most
// limit. It fills only the band around the diagonal that such a distance can
// touch and stops when a row exceeds the limit, so that a long title costs
// little.
func editsWithin(x, y []rune, limit int) bool {
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return false
	}
	previous := make([]int, len(y)+1)
	current := make([]int, len(y)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(x); i++ {
		from, to := max(1, i-limit), min(len(y), i+limit)
		current[from-1] = limit + 1
		if from == 1 {
			current[0] = i
		}
		best := current[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := previous[j-1] + cost
			d = min(d, current[j-1]+1)
			if j < i+limit { // the cell above is inside the last row's band
				d = min(d, previous[j]+1)
			}
			current[j] = d
			best = min(best, d)
		}
		if best > limit {
			return false
		}
		previous, current = current, previous
	}
	return previous[len(y)] <= limit
}
