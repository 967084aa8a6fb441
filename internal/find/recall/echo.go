package recall

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
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

// Key identifies what a statement says in the books, which have none of its words: a hash
// of those that carry its meaning. It is compared with others of the same record only.
func (s Statement) Key() uint32 {
	h := fnv.New32a()
	for _, w := range s.Words {
		_, _ = io.WriteString(h, w+" ")
	}
	return h.Sum32()
}

// Heading returns the title of a record as a line has it.
func Heading(o *memory.Observation, plain func(string) string) string {
	return strings.TrimRight(text.Unstopped(plain(o.Title)), ":") // what leads to a list goes on in the narrative
}

// BesideTitle returns what a record says beside its title, in its order.
func BesideTitle(o *memory.Observation, plain func(string) string) []Statement {
	return Beyond(Heading(o, plain), Statements(o, plain))
}

// Saying is a line that a session is given, in lower case, and the words that carry its meaning.
type Saying struct {
	Text  string
	Words []string
}

// SayingOf returns the saying of a line.
func SayingOf(line string) Saying { return Saying{strings.ToLower(line), WordsOf(line)} }

// SaidIn reports whether one of the lines says a statement: word for word, or nearly all of its words.
func SaidIn(lines []Saying, s Statement) bool {
	low := strings.ToLower(s.Text)
	return slices.ContainsFunc(lines, func(l Saying) bool { return strings.Contains(l.Text, low) || Echoes(s.Words, l.Words) })
}

// KeysSaid returns the keys of the statements that the lines say. It is never nil.
func KeysSaid(all []Statement, lines []Saying) []uint32 {
	return collect.Map(collect.Keep(all, func(s Statement) bool { return SaidIn(lines, s) }), Statement.Key)
}
