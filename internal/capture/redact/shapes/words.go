package shapes

import (
	"math"
	"strings"
)

// Entropy returns the Shannon entropy of s in bits per byte, 0 for "".
func Entropy(s string) float64 {
	var seen [256]int
	for i := range len(s) {
		seen[s[i]]++
	}
	bits := 0.0
	for _, n := range seen {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// TokenBytes reports whether v has only bytes that tokens are made of, colons and
// commas.
func TokenBytes(v string) bool {
	return !strings.ContainsFunc(v, func(c rune) bool { return c >= 0x80 || !In(byte(c), Token) && c != ':' && c != ',' })
}

// Wordy reports whether v reads like words, names or a version rather than random
// text: my-app-session, getUserById, "user.profile.v2". It is false with less than three letters,
// and for digits. Characters beyond ASCII count as letters. Short random text may be wordy by
// chance, hardly one of MinRandom bytes.
func Wordy(v string) bool {
	// short are pieces of one or two letters with others beside them, rare the pairs of letters within
	// words that letterPairs lacks.
	letters, digits, words, odd, short, pairs, rare := 0, 0, 0, 0, 0, 0, 0
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case IsDigit(c):
			j := RunEnd(v, i, Digit)
			digits += j - i
			if i > 0 && j < len(v) && IsLetter(v[i-1]) && IsLetter(v[j]) {
				odd++ // a digit within a word
			}
			i = j
		case IsLetter(c):
			j := wordEnd(v, i)
			words++
			letters += j - i
			if !pronounceable(v[i:j]) {
				return false
			}
			for k := i + 1; k < j; k++ {
				pairs++
				if letterPairs[v[k-1]|0x20-'a']>>(v[k]|0x20-'a')&1 == 0 {
					rare++
				}
			}
			alone := (i == 0 || !IsAlnum(v[i-1])) && (j == len(v) || !IsLetter(v[j]))
			if j-i <= 2 && !alone {
				short++
			}
			if j-i == 1 && !alone || j-i > 1 && IsLower(v[j-1]) && !strings.ContainsAny(v[i:j], "aeiouyAEIOUY") {
				odd++ // random text falls into such pieces
			}
			i = j
		case c >= 0x80:
			letters++
			i++
		default:
			i++
		}
	}
	if words >= 5 && letters < 3*words && Mixed(v) {
		return false // random capitals cut a text into words of two letters
	}
	if words >= 4 && 2*short > words && letters > 10 && letters <= 3*words {
		return false // as above, without digits
	}
	if words > 1 && rare >= 2 && 4*rare > pairs || rare >= 3 && 3*rare > pairs {
		return false // random letters
	}
	// A year or a version has up to four digits; one piece may be odd, and one more of each four words.
	return letters >= 3 && digits <= 4 && odd <= 1+words/4
}

// letterPairs has a bit for each second letter of the 373 pairs of letters that make up
// 98.5 % of those within the words of Go's sources and of our documents. Of random pairs
// they are 55 %.
var letterPairs = [26]uint32{
	0x1febd6f, 0x116cb37, 0x13efdfd, 0x1fee97f, 0x1fffd7f, 0x11ef97d, 0x01ee9d5, 0x01e5119, 0x2aefc7f,
	0x0044010, 0x0542151, 0x15eed7d, 0x01cf91f, 0x13efd7f, 0x07eff7f, 0x13eddbd, 0x0100000, 0x17efd7f,
	0x15ffddf, 0x1ded9bd, 0x08ef97f, 0x00cc115, 0x0066199, 0x008913f, 0x00eb810, 0x0000010,
}

// Readable reports whether v reads like words and is not made like a password, of small
// and capital letters and digits.
//
//go:noinline
func Readable(v string) bool { return Wordy(v) && !Mixed(v) }

// wordEnd returns the end of the word whose first letter is at i: Title, lower or UPPER.
func wordEnd(v string, i int) int {
	j := i + 1
	if IsUpper(v[i]) && j < len(v) && IsUpper(v[j]) {
		for j < len(v) && IsUpper(v[j]) {
			j++
		}
		if j < len(v) && IsLower(v[j]) {
			j-- // the capital belongs to the next word
		}
		return j
	}
	for j < len(v) && IsLower(v[j]) {
		j++
	}
	return j
}

// pronounceable reports whether a word of ASCII letters has vowels where words have them: no six
// consonants in a row, and a sixth of it vowels. Abbreviations of up to four letters need none.
func pronounceable(word string) bool {
	consonants, vowels := 0, 0
	for i := range len(word) {
		if strings.IndexByte("aeiouy", word[i]|0x20) >= 0 {
			vowels++
			consonants = 0
			continue
		}
		if consonants++; consonants > 5 {
			return false
		}
	}
	return len(word) <= 4 || vowels*6 >= len(word)
}

// MinRandom is the length from which random text does not look like words by chance.
const MinRandom = 20

// Random reports whether v is certainly random: a long hash in hex, or at least 12
// different characters of all kinds.
func Random(v string) bool {
	if len(v) < MinRandom || strings.ContainsAny(v, " \t") {
		return false
	}
	var seen [256]bool
	different := 0
	for i := range len(v) {
		if !seen[v[i]] {
			seen[v[i]] = true
			different++
		}
	}
	if Only(v, Hex) {
		return len(v) >= 32 && different >= 8
	}
	return Mixed(v) && different >= 12 && !Wordy(v)
}

// Mixed reports whether v has lower case, upper case and digits.
//
//go:noinline
func Mixed(v string) bool {
	var lower, upper, digit bool
	for i := range len(v) {
		switch c := v[i]; {
		case IsDigit(c):
			digit = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	return lower && upper && digit
}
