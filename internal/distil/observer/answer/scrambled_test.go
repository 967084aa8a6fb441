package answer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestScrambled parses answers thrown together from pieces of markup, which
// byte-wise fuzzing seldom brings about. The seed is fixed: a failure can be repeated.
func TestScrambled(t *testing.T) {
	words := strings.Split("< </ > /> = \" ' & amp; lt; [ ] { } : , ` ``` <!-- --> <![CDATA[ ]]> <?xml ?> \\ \\u d83d * ( a 0 null # ** . - ", " ")
	words = append(words, " ", "\n", "\t", "- ", "1. ", "\xa0", "\x1b[", "\x15")
	for _, n := range slices.Sorted(maps.Keys(elements)) {
		words = append(words, n, "<"+n+">", "</"+n+">", "<"+n+"/>", "<"+n+" ", "</"+n, `"`+n+`":`)
	}
	random := rand.New(rand.NewPCG(1, 2))
	opts := codeOptions
	opts.MaxBytes = 1 << 20
	for range 5000 {
		var b strings.Builder
		for range 1 + random.IntN(60) {
			b.WriteString(words[random.IntN(len(words))])
		}
		checkInvariants(t, Parse(b.String(), opts), opts)
		if t.Failed() {
			t.Fatalf("answer: %q", b.String())
		}
	}
}
