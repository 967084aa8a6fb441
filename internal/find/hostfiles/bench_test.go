package hostfiles

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParse reads a CLAUDE.md of 10 KB for the first time.
func BenchmarkParse(b *testing.B) {
	var page strings.Builder
	for i := 0; page.Len() < 10<<10; i++ {
		fmt.Fprintf(&page, "- Run the %s migrations of module %d with `make migrate` before starting the server, see docs/db-%d.md.\n", word(i), i, i%7)
	}
	b.SetBytes(int64(page.Len()))
	for b.Loop() {
		var d document
		d.parse("CLAUDE.md", page.String(), false)
	}
}

// word makes a word of a number.
func word(i int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i)) + "ing"
}
