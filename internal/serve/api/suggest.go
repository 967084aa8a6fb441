package api

import (
	"strings"

	"claudemem/internal/memory"
)

// Nearest returns the candidate that is most similar to a word: the first that begins with
// it, else the one with the smallest edit distance; "" if none is near.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	// One edit in a short word, three in a long one: with more it is another word.
	best, fewest := "", 1+min(3, 1+max(0, len(word)-2)/3)
	for _, candidate := range candidates {
		name := strings.ToLower(candidate)
		if len(word) > 1 && strings.HasPrefix(name, word) {
			return candidate
		}
		if d := distance(word, name); d < fewest && d < len(word) {
			best, fewest = candidate, d
		}
	}
	return best
}

// distance returns the edit distance of a and b: the number of letters to insert, delete,
// change or swap with their neighbour (optimal string alignment).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			change := rows[i-1][j-1]
			if from[i-1] != to[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}

// Unknown returns a CodeInvalid error that refuses a value outside known, with the one
// that was probably meant.
func Unknown(name, value string, known []string) error {
	last := len(known) - 1
	hint := name + " is " + strings.Join(known[:max(last, 0)], ", ") + " or " + strings.Join(known[max(last, 0):], "") + ", or several with commas between"
	if meant := Nearest(value, known); meant != "" {
		hint = "did you mean " + meant + "? " + hint
	}
	return memory.Errorf(memory.CodeInvalid, "%s is %.40q", name, value).WithHint(hint)
}
