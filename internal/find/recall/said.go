package recall

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

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
	keys := []uint32{}
	for _, s := range all {
		if SaidIn(lines, s) {
			keys = append(keys, s.Key())
		}
	}
	return keys
}
