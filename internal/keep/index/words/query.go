package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A QueryWord is a word of a query.
type QueryWord struct {
	// Text is the stem to look up, as in [Word].
	Text string
	// Raw is the word before stemming, in lower case and without accents: what
	// [Variants] and [Splits] start from, and what a person is shown.
	Raw string
	// Position counts from 0, as in [Word].
	Position int
	// Stop says that the word had better be left out. When all words are stop words, none is.
	Stop bool
	// Identifier says that the word is an identifier or a part of one.
	Identifier bool
	// Part says that the word follows from others: part of an identifier, or joined.
	Part bool
	// Joined says that the query has it as two words (user service for
	// userservice). It counts if documents have it; otherwise it is no word of the query.
	Joined bool
}

// Query returns the words of a query in order. Leaving out those that are Joined,
// they are the words that [Text] finds in s.
func Query(s string) []QueryWord {
	a := newAnalyser(len(s), true)
	a.analyse(s)
	out := make([]QueryWord, 0, 2*len(a.found))
	text, raws := string(a.arena), string(a.raws)
	for i, f := range a.found {
		w := QueryWord{
			Text: text[f.from:f.to], Raw: raws[f.rawFrom:f.rawTo],
			Position: f.position, Identifier: f.identifier, Part: f.part,
		}
		w.Stop = IsStop(w.Raw)
		if i > 0 {
			if joined, ok := join(out[len(out)-1], w); ok {
				out = append(out, joined)
			}
		}
		out = append(out, w)
	}
	if !slices.ContainsFunc(out, func(w QueryWord) bool { return !w.Part && !w.Stop }) {
		for i := range out {
			out[i].Stop = false
		}
	}
	return out
}

// particles are the words after a verb that a noun is joined of, whatever the verb's form:
// logged in and login, timed out and timeout, rolling back and rollback.
var particles = map[string]bool{
	"in": true, "out": true, "up": true, "on": true, "over": true, // stop words
	"down": true, "off": true, "back": true, "around": true, "through": true,
}

// join returns two plain neighbours joined to one word; false if they cannot be.
func join(a, b QueryWord) (QueryWord, bool) {
	if a.Joined || a.Identifier || b.Identifier || b.Position != a.Position+1 || a.Stop || b.Stop && !particles[b.Raw] {
		return QueryWord{}, false
	}
	if !spaced(a.Raw) || !spaced(b.Raw) || len(a.Raw)+len(b.Raw) > maxWord {
		return QueryWord{}, false
	}
	raw := a.Raw + b.Raw
	if particles[b.Raw] {
		raw = a.Text + b.Raw
	}
	return QueryWord{Text: stemmed(raw), Raw: raw, Position: a.Position, Part: true, Joined: true}, true
}

// spaced reports whether a word is of letters and digits that can be joined, by its first character: a
// word has none of both kinds.
func spaced(raw string) bool {
	for _, r := range raw {
		return !paired(r)
	}
	return false
}

func stemmed(raw string) string {
	b := []byte(raw)
	return string(b[:stem(b)])
}

const (
	// minSplit is the shortest part that a word is split into: with two letters
	// nearly every word falls into known ones.
	minSplit = 3
	// maxVariant is the longest word that is taken for mistyped; longer ones are
	// keys and hashes, and the number of variants grows with the length.
	maxVariant = 32
)

// Variants yields the words that are one typing error away from raw, each with
// its stem: a character left out, two exchanged, one too many, one for another.
// Letters are a to z; digits are tried only in words that have some. A word of
// ten letters has about 530.
func Variants(raw string) (list []QueryWord) {
	if len(raw) > maxVariant || !ascii(raw) {
		return nil
	}
	letters := alphabet
	if strings.ContainsAny(raw, "0123456789") {
		letters += "0123456789"
	}
	var buf [maxVariant + 1]byte
	add := func(parts ...string) {
		b := buf[:0]
		for _, p := range parts {
			b = append(b, p...)
		}
		text := string(b)
		list = append(list, QueryWord{Text: string(b[:stem(b)]), Raw: text})
	}
	n := len(raw)
	for i := range n {
		// Of equal letters in a row one stands for all.
		if (i == 0 || raw[i] != raw[i-1]) && n > 1 {
			add(raw[:i], raw[i+1:])
		}
		if i+1 < n && raw[i] != raw[i+1] {
			add(raw[:i], raw[i+1:i+2], raw[i:i+1], raw[i+2:])
		}
	}
	for i := range n + 1 {
		for l := range len(letters) {
			c := letters[l : l+1]
			if i < n && raw[i] == c[0] {
				continue // inserting it after this one is the same, and replacing nothing
			}
			add(raw[:i], c, raw[i:])
			if i < n {
				add(raw[:i], c, raw[i+1:])
			}
		}
	}
	return list
}

// Splits yields the pairs of words, each with its stem, that stand together in
// raw: userservice as user and service. For a word that no document has.
func Splits(raw string) (pairs [][2]QueryWord) {
	if len(raw) > maxVariant || !ascii(raw) {
		return nil
	}
	for i := minSplit; i <= len(raw)-minSplit; i++ {
		pairs = append(pairs, [2]QueryWord{
			{Text: stemmed(raw[:i]), Raw: raw[:i], Part: true},
			{Text: stemmed(raw[i:]), Raw: raw[i:], Part: true, Position: 1},
		})
	}
	return pairs
}

// ascii reports whether s has ASCII characters only.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
