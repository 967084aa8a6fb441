package embed

import "testing"

// TestWord: a word is whole in the table when it is its own only piece.
func TestWord(t *testing.T) {
	table, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"parser", "parse", "the", "z", "deduplication", "qzxvw", "getuserbyemail", "##ing", "", "größe", "42"} {
		entry, ok := table.Word(word)
		pieces := table.Pieces(word)
		if whole := len(pieces) == 1 && kindOf(word[0]) == lower; ok != whole && word != "42" {
			t.Errorf("%q: whole is %t, its pieces are %v", word, ok, pieces)
		} else if ok && pieces[0] != entry {
			t.Errorf("%q: entry %d, its piece is %d", word, entry, pieces[0])
		}
	}
}
