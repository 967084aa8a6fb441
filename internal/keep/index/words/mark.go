package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/collect"
)

// Piece is a part of a line; Marked if it is a word that was searched for.
type Piece struct {
	Text   string
	Marked bool
}

// Mark returns a line in pieces, which together are s, with the words marked that a search finds by one of
// searched: in any form, and by a part of a name. A piece that is not marked has all between two that are.
func Mark(s string, searched []string) (pieces []Piece) {
	stems := collect.Set(collect.Map(Text(strings.Join(searched, " ")), func(w Word) string { return w.Text }))
	from, was := 0, false
	begin := func(i int, marked bool) {
		if marked != was && i > from {
			pieces = append(pieces, Piece{s[from:i], was})
			from = i
		}
		was = marked
	}
	pair := 0 // where the last pair of characters ends that was searched for
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end, found := i+size, false
		if paired(r) {
			_, size = utf8.DecodeRuneInString(s[end:])
			if slices.Contains(searched, s[i:end+size]) {
				pair = end + size
			}
			found = i < pair || slices.Contains(searched, s[i:end])
		} else if inWord(r) {
			if n := strings.IndexFunc(s[i:], func(r rune) bool { return !inWord(r) || paired(r) }); n > 0 {
				end = i + n
			} else {
				end = len(s)
			}
			found = slices.ContainsFunc(Text(s[i:end]), func(w Word) bool { return stems[w.Text] })
		}
		begin(i, found)
		i = end
	}
	begin(len(s), !was)
	return pieces
}

// inWord reports whether a character can be part of a word or a name.
func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
