package embed

const (
	// maxPieces bounds the pieces of a text that are used, as in the table's training.
	maxPieces = 512
	// maxLetters is the longest word that is cut into pieces; longer ones are data.
	maxLetters = 40
	// continued begins the entries that continue a word.
	continued = "##"
)

// Pieces returns the numbers of a text's entries in order, at most 512. Runs of
// ASCII letters, cut at camelCase, and runs of digits are words; a word that is
// no entry is the longest entry that it begins with, followed by the longest
// entries that continue it. Where that does not work out it has no pieces.
func (t *Table) Pieces(text string) (out []uint16) {
	for i := 0; i < len(text) && len(out) < maxPieces; {
		from, kind := i, kindOf(text[i])
		i++
		switch kind {
		case other:
			continue
		case digit:
			for i < len(text) && kindOf(text[i]) == digit {
				i++
			}
		case lower:
			for i < len(text) && kindOf(text[i]) == lower {
				i++
			}
		case upper:
			i = capitalised(text, from)
		}
		out = t.appendWord(out, text[from:i])
	}
	return out[:min(len(out), maxPieces)]
}

// capitalised returns where the word ends that begins with a capital: Bar in
// fooBar, HTTP in HTTPServer.
func capitalised(text string, from int) int {
	i := from + 1
	for i < len(text) && kindOf(text[i]) == upper {
		i++
	}
	if i == len(text) || kindOf(text[i]) != lower {
		return i
	}
	if i > from+1 {
		return i - 1 // the last capital begins the next word
	}
	for i < len(text) && kindOf(text[i]) == lower {
		i++
	}
	return i
}

// appendWord appends the entries of a word in lower case, none if they do not cover all of it or it
// has more than maxLetters bytes.
func (t *Table) appendWord(out []uint16, word string) []uint16 {
	if len(word) > maxLetters {
		return out
	}
	var buf [maxLetters]byte
	low := buf[:len(word)]
	for i := range len(word) {
		low[i] = word[i]
		if kindOf(word[i]) == upper {
			low[i] += 'a' - 'A'
		}
	}
	w, n := string(low), len(out)
	for prefix := ""; len(w) > 0; prefix = continued {
		entry, length := t.longest(prefix, w)
		if length == 0 {
			return out[:n]
		}
		out, w = append(out, entry), w[length:]
	}
	return out
}

// longest returns the longest entry that is prefix followed by a beginning of w, of length bytes; 0
// for none. w has at most maxLetters bytes.
func (t *Table) longest(prefix, w string) (entry uint16, length int) {
	var hashes [maxLetters]uint32
	h := hashOf(hashStart, prefix)
	for i := range len(w) {
		h = (h ^ uint32(w[i])) * hashPrime
		hashes[i] = h
	}
	for n := len(w); n > 0; n-- {
		if e, ok := t.find(hashes[n-1], prefix, w[:n]); ok {
			return e, n
		}
	}
	return 0, 0
}

type kind uint8

const (
	other kind = iota
	lower
	upper
	digit
)

// kindOf returns whether c is an ASCII letter, of which case, a digit or other.
func kindOf(c byte) kind {
	switch {
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c >= '0' && c <= '9':
		return digit
	}
	return other
}
