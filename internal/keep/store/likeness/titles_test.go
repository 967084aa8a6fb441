package likeness

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAlike(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"Fixed the cart", "Fixed the cart", true},
		{"Fixed the cart", "fixed  THE cart", true},
		{"0123456789", "0123456789", true},
		{"abcdefghij", "abcdefghiX", true},  // one in ten
		{"abcdefghi", "abcdefghX", false},   // one in nine
		{"abcdefghij", "abcdefghi", true},   // one left out
		{"abcdefghij", "Xabcdefghij", true}, // one put in front
		{"abcdefghij", "jabcdefghi", false}, // one moved is two
		{"Fixed issue 12 of the parser", "Fixed issue 13 of the parser", false},
		{"Bumped to 1.2.3 for everybody", "Bumped to 12.3 for everybody", false},
		{"héllo wörld ünd so", "hello wörld ünd so", true},
		{"", "", false},
		{"", "x", false},
		{strings.Repeat("a", 1000), strings.Repeat("a", 900), true},
		{strings.Repeat("a", 1000), strings.Repeat("a", 899), false},
	}
	for _, test := range tests {
		if got := Alike(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", test.a, test.b, got, test.want)
		}
		if got := Alike(test.b, test.a); got != test.want {
			t.Errorf("%q and %q: got %v, want %v", test.b, test.a, got, test.want)
		}
	}
}

// The band that is computed gives what the whole table would.
func TestAlikeAgreesWithTheWholeTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 60, -1).Draw(t, "a")
		edits := []rune(a)
		for range rapid.IntRange(0, 9).Draw(t, "edits") {
			at := rapid.IntRange(0, len(edits)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				edits[at] = 'x'
			case 1:
				edits = append(edits[:at:at], append([]rune{'y'}, edits[at:]...)...)
			case 2:
				if len(edits) > 1 {
					edits = append(edits[:at:at], edits[at+1:]...)
				}
			}
		}
		b := string(edits)
		longer := max(len(a), len(b))
		want := distance(a, b)*10 <= longer
		if got := Alike(a, b); got != want {
			t.Fatalf("%q and %q: got %v, want %v", a, b, got, want)
		}
	})
}

func distance(a, b string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0:
				table[i][j] = j
			case j == 0:
				table[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				table[i][j] = min(table[i-1][j-1]+cost, table[i-1][j]+1, table[i][j-1]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}
