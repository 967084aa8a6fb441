package words

// stem cuts the ending off an English word and returns the length of what is
// left in w; words with anything but the letters a to z stay as they are. It is
// the algorithm of M. F. Porter, "An algorithm for suffix stripping" (Program
// 14(3), 1980), with the two changes that its author made later (bli, logi): the
// one that the ranking was tuned with.
func stem(w []byte) int {
	if len(w) <= 2 {
		return len(w)
	}
	for _, c := range w {
		if c-'a' > 'z'-'a' {
			return len(w)
		}
	}
	s := stemmer(w)
	s = s.plural()
	s = s.pastAndGerund()
	s = s.finalY()
	s = s.rewrite(doubleSuffixes[s.at(2)&31], 1)
	s = s.rewrite(longSuffixes[s.at(1)&31], 1)
	s = s.rewrite(lastSuffixes[s.at(2)&31], 2)
	s = s.finalE()
	return len(s)
}

// stemmer is a word on its way; its methods are the steps of the algorithm.
type stemmer []byte

// at returns the letter i places from the end, 0 when there is none.
func (s stemmer) at(i int) byte {
	if i > len(s) {
		return 0
	}
	return s[len(s)-i]
}

func (s stemmer) ends(suffix string) bool {
	n := len(s) - len(suffix)
	return n >= 0 && string(s[n:]) == suffix
}

// consonant reports whether the letter at i is a consonant; "y" is one at the beginning
// and after a vowel.
func (s stemmer) consonant(i int) bool {
	switch s[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels followed by consonants in the first n
// letters: the m of the paper.
func (s stemmer) measure(n int) int {
	m, vowel := 0, false
	before := false // whether the letter before is a consonant
	for i := range n {
		c := false
		switch s[i] {
		case 'a', 'e', 'i', 'o', 'u':
		case 'y':
			c = i == 0 || !before
		default:
			c = true
		}
		if c && vowel {
			m++
		}
		vowel, before = !c, c
	}
	return m
}

// vowelIn reports whether the first n letters have a vowel.
func (s stemmer) vowelIn(n int) bool {
	for i := range n {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s stemmer) doubleConsonant() bool {
	n := len(s)
	return n >= 2 && s[n-1] == s[n-2] && s.consonant(n-1)
}

// shortSyllable: the first n letters end consonant, vowel, consonant, the last
// not w, x or y (hop, not snow): the paper's *o.
func (s stemmer) shortSyllable(n int) bool {
	if n < 3 || !s.consonant(n-1) || s.consonant(n-2) || !s.consonant(n-3) {
		return false
	}
	return s[n-1] != 'w' && s[n-1] != 'x' && s[n-1] != 'y'
}

// plural is step 1a of Porter's algorithm: it returns the word without a plural's
// ending.
func (s stemmer) plural() stemmer {
	switch {
	case s.at(1) != 's':
	case s.ends("sses"), s.ends("ies"):
		return s[:len(s)-2]
	case !s.ends("ss"):
		return s[:len(s)-1]
	}
	return s
}

// pastAndGerund is step 1b of Porter's algorithm: it returns the word without -ed or
// -ing, and with -ee for -eed.
func (s stemmer) pastAndGerund() stemmer {
	switch {
	case s.ends("eed"):
		if s.measure(len(s)-3) > 0 {
			return s[:len(s)-1]
		}
		return s
	case s.ends("ed") && s.vowelIn(len(s)-2):
		s = s[:len(s)-2]
	case s.ends("ing") && s.vowelIn(len(s)-3):
		s = s[:len(s)-3]
	default:
		return s
	}
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		return append(s, 'e')
	case s.doubleConsonant() && s.at(1) != 'l' && s.at(1) != 's' && s.at(1) != 'z':
		return s[:len(s)-1]
	case s.measure(len(s)) == 1 && s.shortSyllable(len(s)):
		return append(s, 'e')
	}
	return s
}

// finalY is step 1c of Porter's algorithm: it returns the word with -i for a final -y if
// a vowel comes before.
func (s stemmer) finalY() stemmer {
	if s.at(1) == 'y' && s.vowelIn(len(s)-1) {
		s[len(s)-1] = 'i'
	}
	return s
}

type suffix struct{ from, to string }

// doubleSuffixes is step 2, by the last letter but one.
var doubleSuffixes = bySuffix(2, []suffix{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
	{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"},
	{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"},
	{"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
	{"logi", "log"},
})

// longSuffixes is step 3, by the last letter.
var longSuffixes = bySuffix(1, []suffix{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
})

// lastSuffixes is step 4, by the last letter but one.
var lastSuffixes = bySuffix(2, []suffix{
	{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""}, {"ible", ""}, {"ant", ""},
	{"ement", ""}, {"ment", ""}, {"ent", ""}, {"ion", ""}, {"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""},
	{"ous", ""}, {"ive", ""}, {"ize", ""},
})

// bySuffix groups suffixes by their last letter (letter 1) or their last but one (2), in
// the order of the list.
func bySuffix(letter int, list []suffix) (table [32][]suffix) {
	for _, s := range list {
		c := s.from[len(s.from)-letter] & 31
		table[c] = append(table[c], s)
	}
	return table
}

// rewrite replaces the first suffix of the list that the word has, if what is left of it has a
// measure of at least least. -ion is one behind s and t only. The new ending, which is shorter, goes
// into the word's own memory.
func (s stemmer) rewrite(list []suffix, least int) stemmer {
	for _, x := range list {
		if !s.ends(x.from) {
			continue
		}
		n := len(s) - len(x.from)
		if s.measure(n) >= least && (x.from != "ion" || n > 0 && (s[n-1] == 's' || s[n-1] == 't')) {
			return append(s[:n], x.to...)
		}
		break
	}
	return s
}

// finalE is step 5 of Porter's algorithm: it returns the word without a final -e or
// doubled l.
func (s stemmer) finalE() stemmer {
	if s.at(1) == 'e' {
		m := s.measure(len(s) - 1)
		if m > 1 || m == 1 && !s.shortSyllable(len(s)-1) {
			s = s[:len(s)-1]
		}
	}
	if s.ends("ll") && s.measure(len(s)) > 1 {
		s = s[:len(s)-1]
	}
	return s
}
