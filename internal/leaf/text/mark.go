package text

import (
	"regexp"
	"slices"
	"strings"
)

// Piece is a part of a line; Marked if it is a word that was searched for.
type Piece struct {
	Text   string
	Marked bool
}

// words matches a word.
var words = regexp.MustCompile(`[\pL\p{Nd}]+`)

// Mark returns a line in pieces, which together are s, with the words that begin with one of searched
// marked, in any letter case. A piece that is not marked has all between two that are.
func Mark(s string, searched []string) (pieces []Piece) {
	start := 0
	for _, at := range words.FindAllStringIndex(s, -1) {
		if word := s[at[0]:at[1]]; beginsWith(word, searched) {
			if at[0] > start {
				pieces = append(pieces, Piece{Text: s[start:at[0]]})
			}
			pieces = append(pieces, Piece{word, true})
			start = at[1]
		}
	}
	if start < len(s) || len(searched) == 0 {
		pieces = append(pieces, Piece{Text: s[start:]})
	}
	return pieces
}

// beginsWith reports whether a word begins with one of searched, in any letter case.
func beginsWith(word string, searched []string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(searched, func(w string) bool { return w != "" && strings.HasPrefix(word, strings.ToLower(w)) })
}
