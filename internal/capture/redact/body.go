package redact

import (
	"math"
	"strings"
)

// maxRun is how many bytes of a run without a bound are looked at before the
// rest of the token is known to be one: prefixes within a long run cost no more.
const maxRun = 256

// MatchBody returns where the body of a token that starts at i ends, false when
// none is there. Of several forms the longest counts.
func (k *Kind) MatchBody(s string, i int) (end int, ok bool) {
	end, open, ok := k.matchStart(s, i)
	if !ok {
		return 0, false
	}
	return extend(s, end, open), true
}

// matchStart is MatchBody without what exceeds maxRun; open is the class of the
// run that goes on, 0 for none.
func (k *Kind) matchStart(s string, i int) (end int, open uint16, ok bool) {
	_, body := k.Forms()
	if body == "" {
		return i, 0, ends(s, i, 0, k)
	}
	for more := true; more; {
		var form string
		form, body, more = strings.Cut(body, " ")
		at, class, openRun, matched := matchForm(s, i, form)
		if !matched || openRun == 0 && !ends(s, at, class, k) || ok && at <= end {
			continue
		}
		end, open, ok = at, openRun, true
	}
	return end, open, ok
}

// extend returns the end of a token whose last run goes on at end.
func extend(s string, end int, open uint16) int {
	if open == 0 {
		return end
	}
	start := end
	end = runEnd(s, end, open)
	for end > start && s[end-1] == '.' { // of the sentence
		end--
	}
	return end
}

// ends reports whether a token can end at i, after a run of class.
func ends(s string, i int, class uint16, k *Kind) bool {
	if i == len(s) {
		return true
	}
	c := s[i]
	switch {
	case k.Flags&Alone != 0:
		return strings.IndexByte(" \t\r\n\v\f\"'`;", c) >= 0 || c == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r')
	case k.Names != "":
		return !isAlnum(c) && strings.IndexByte("_+=-", c) < 0
	}
	return !isAlnum(c) && c != '_' && classes[c]&class == 0
}

// matchForm matches one form of a body at i. class is that of its last run, open
// the same when that run has no bound.
func matchForm(s string, i int, form string) (end int, class, open uint16, ok bool) {
	for len(form) > 0 {
		if form[0] != '{' {
			if i == len(s) || s[i] != form[0] && (!isLetter(s[i]) || s[i]^0x20 != form[0]) {
				return 0, 0, 0, false
			}
			class, i, form = 0, i+1, form[1:]
			continue
		}
		length := strings.IndexByte(form, '}')
		class = classOf(form[1])
		low, high := counts(form[2:length])
		form = form[length+1:]
		open = 0
		limit := min(len(s), i+high)
		if high == 0 {
			limit = len(s)
			if form == "" {
				open, limit = class, min(limit, i+low+maxRun)
			}
		}
		start := i
		i = runEnd(s[:limit], i, class)
		if open != 0 {
			for i > start && s[i-1] == '.' { // of the sentence
				i--
			}
		}
		if i-start < low {
			return 0, 0, 0, false
		}
	}
	return i, class, open, true
}

// counts returns the bounds of a run: of "32", of "20-40" or of "16+", whose
// upper bound is 0.
func counts(text string) (low, high int) {
	for i := range len(text) {
		switch c := text[i]; c {
		case '+':
			return low, 0
		case '-':
			_, high = counts(text[i+1:])
			return low, high
		default:
			low = low*10 + int(c-'0')
		}
	}
	return low, low
}

// formLength returns the length of a form whose runs are of fixed length.
func formLength(form string) (n int) {
	for len(form) > 0 {
		if form[0] != '{' {
			n, form = n+1, form[1:]
			continue
		}
		length := strings.IndexByte(form, '}')
		low, _ := counts(form[2:length])
		n, form = n+low, form[length+1:]
	}
	return n
}

// RandomEnough reports whether the entropy of a token exceeds what its kind asks for, and
// for one without a prefix whether it does not read like words if its kind asks for that.
func (k *Kind) RandomEnough(token string) bool {
	if k.Flags&(Near|NotWordy) == Near|NotWordy && wordy(token) {
		return false
	}
	return k.Entropy == 0 || 10*Entropy(token) > float64(k.Entropy)
}

// Entropy returns the Shannon entropy of s in bits per byte.
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

// Classes of bytes that tokens are made of.
const (
	classDigit      = 1 << iota // 0-9
	classHexLower               // 0-9 a-f
	classHex                    // 0-9 a-f A-F
	classUpperDigit             // A-Z 0-9
	classLetter                 // A-Z a-z
	classAlnum                  // A-Z a-z 0-9
	classWord                   // alnum _ -
	classWordEqual              // alnum _ - =
	classDotted                 // alnum _ - = .
	classIdent                  // alnum _ . -
	classToken                  // alnum . _ ~ + / = -
	classBase64                 // alnum + / =
	classWrapped                // alnum _ - + / \ and line breaks
	classPath                   // alnum _ - . / @ %
	classVisible                // all but blanks
	classLower                  // a-z
)

// classOf returns the class that a body names by a letter.
func classOf(letter byte) uint16 {
	return 1 << strings.IndexByte("dhxulnwetikbjps", letter)
}

var classes = func() (t [256]uint16) {
	add := func(chars string, class uint16) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	const alnum = classAlnum | classWord | classWordEqual | classDotted | classIdent | classToken | classBase64 | classWrapped | classPath
	for c := '0'; c <= '9'; c++ {
		t[c] = classDigit | classHexLower | classHex | classUpperDigit | alnum
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = classUpperDigit | classLetter | alnum
		t[c|0x20] = classLower | classLetter | alnum
	}
	add("abcdef", classHexLower|classHex)
	add("ABCDEF", classHex)
	add("_-", classWord|classWordEqual|classDotted|classIdent|classToken|classWrapped|classPath)
	add("=", classWordEqual|classDotted|classToken|classBase64)
	add(".", classDotted|classIdent|classToken|classPath)
	add("~+/", classToken)
	add("+/", classBase64|classWrapped)
	add("\\\r\n", classWrapped)
	add("/@%", classPath)
	for c := '!'; c <= 0xff; c++ {
		t[c] |= classVisible
	}
	return t
}()

func isAlnum(c byte) bool { return classes[c]&classAlnum != 0 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// only reports whether all bytes of s are of class.
//
//go:noinline
func only(s string, class uint16) bool { return runEnd(s, 0, class) == len(s) }

// runEnd returns where the run of class that starts at i ends.
//
//go:noinline
func runEnd(s string, i int, class uint16) int {
	for i < len(s) && classes[s[i]]&class != 0 {
		i++
	}
	return i
}
