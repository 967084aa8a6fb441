package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a line; Marked if it is a word that was searched for.
type Piece struct {
	Text   string
	Marked bool
}

// Mark returns a line in pieces, with the words that begin with one of words marked, in any
// letter case.
func Mark(s string, words []string) (pieces []Piece) {
	if len(words) == 0 {
		return []Piece{{Text: s}}
	}
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			i += size
			continue
		}
		end := i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !wordRune(r) {
				break
			}
			end += size
		}
		if beginsWith(s[i:end], words) {
			if i > start {
				pieces = append(pieces, Piece{Text: s[start:i]})
			}
			pieces = append(pieces, Piece{s[i:end], true})
			start = end
		}
		i = end
	}
	if start < len(s) {
		pieces = append(pieces, Piece{Text: s[start:]})
	}
	return pieces
}

// beginsWith reports whether a word begins with one of words, in any letter case.
func beginsWith(word string, words []string) bool {
	word = strings.ToLower(word)
	for _, w := range words {
		if w != "" && strings.HasPrefix(word, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
