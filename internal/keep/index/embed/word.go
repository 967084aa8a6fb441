package embed

// Word returns the entry of a word in lower case that the table has as a whole; ok is false
// for one that it cuts into pieces.
func (t *Table) Word(word string) (entry uint16, ok bool) {
	if word == "" || len(word) > maxLetters || word[0] == continued[0] {
		return 0, false
	}
	return t.find(hashOf(hashStart, word), "", word)
}
