package recall

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/lang"
)

const (
	// echoShare is the share of a line's words that another one has to have for the
	// first to tell nothing new, echoWords how many words it takes to judge. Tried
	// on the recorded sessions and on their retellings: of two lines about one fix
	// the shorter has three quarters of its words and more in the other, two about
	// the same file share less than half.
	echoShare = 0.75
	echoWords = 3
	// stemRunes is the number of characters of a word that are compared, so that "groups" equals "grouping".
	stemRunes = 5
)

// WordsOf returns the words that carry a line's meaning, each cut to its first stemRunes
// letters, sorted, each once. A character of a script without spaces is a word of its
// own.
func WordsOf(line string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if lang.Is(w, "empty") {
			continue
		}
		if len(w) > 3 {
			w = strings.TrimSuffix(w, "s")
		}
		if lang.IsASCII(w) {
			words = append(words, w[:min(len(w), stemRunes)])
			continue
		}
		var stem []rune
		for _, r := range w {
			switch {
			case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
				words = append(words, string(r))
			case len(stem) < stemRunes:
				stem = append(stem, r)
			}
		}
		if len(stem) > 0 {
			words = append(words, string(stem))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Echoes reports whether nearly all words of a line (echoShare) are in said; both are as WordsOf
// returns them. A line of fewer than echoWords words is no echo.
func Echoes(words, said []string) bool {
	news := int((1 - echoShare) * float64(len(words))) // that many it may have
	for _, w := range words {
		if _, is := slices.BinarySearch(said, w); !is {
			if news--; news < 0 {
				return false
			}
		}
	}
	return len(words) >= echoWords
}
