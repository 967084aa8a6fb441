package redact

import "strings"

// wordy reports whether v reads like words, names or a version rather than random
// text: my-app-session, getUserById, "user.profile.v2".
func wordy(v string) bool {
	letters, digits, words, odd, short, pairs, rare := 0, 0, 0, 0, 0, 0, 0
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case isDigit(c):
			j := runEnd(v, i, classDigit)
			digits += j - i
			if i > 0 && j < len(v) && isLetter(v[i-1]) && isLetter(v[j]) {
				odd++ // a digit within a word
			}
			i = j
		case isLetter(c):
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
			alone := (i == 0 || !isAlnum(v[i-1])) && (j == len(v) || !isLetter(v[j]))
			if j-i <= 2 && !alone {
				short++
			}
			if j-i == 1 && !alone || j-i > 1 && isLower(v[j-1]) && !strings.ContainsAny(v[i:j], "aeiouyAEIOUY") {
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
	if words >= 5 && letters < 3*words && mixed(v) {
		return false // random capitals cut a text into words of two letters
	}
	if words >= 4 && 2*short > words && letters > 10 && letters <= 3*words {
		return false // as above, without digits
	}
	if words > 1 && rare >= 2 && 4*rare > pairs || rare >= 3 && 3*rare > pairs {
		return false // random letters
	}
	return letters >= 3 && digits <= 4 && odd <= 1+words/4
}

// Readable is readable for package redact/rules.
func Readable(v string) bool { return readable(v) }

// letterPairs has a bit for each second letter of the 373 pairs of letters that make up
// 98.5 % of those within the words of Go's sources and of our documents. Of random pairs
// they are 55 %.
var letterPairs = [26]uint32{
	0x1febd6f, 0x116cb37, 0x13efdfd, 0x1fee97f, 0x1fffd7f, 0x11ef97d, 0x01ee9d5, 0x01e5119, 0x2aefc7f,
	0x0044010, 0x0542151, 0x15eed7d, 0x01cf91f, 0x13efd7f, 0x07eff7f, 0x13eddbd, 0x0100000, 0x17efd7f,
	0x15ffddf, 0x1ded9bd, 0x08ef97f, 0x00cc115, 0x0066199, 0x008913f, 0x00eb810, 0x0000010,
}

// readable reports whether v reads like words and is not made like a password, of small
// and capital letters and digits.
//
//go:noinline
func readable(v string) bool { return wordy(v) && !mixed(v) }

func isLetter(c byte) bool { return isLower(c) || isUpper(c) }

// wordEnd returns the end of the word at i: Title, lower or UPPER.
func wordEnd(v string, i int) int {
	j := i + 1
	if isUpper(v[i]) && j < len(v) && isUpper(v[j]) {
		for j < len(v) && isUpper(v[j]) {
			j++
		}
		if j < len(v) && isLower(v[j]) {
			j-- // the capital belongs to the next word
		}
		return j
	}
	for j < len(v) && isLower(v[j]) {
		j++
	}
	return j
}

// pronounceable reports whether a word has vowels where words have them.
// Abbreviations of up to four letters have none.
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

// minRandom is the length from which random text does not look like words by chance.
const minRandom = 20

// random reports whether v is certainly random: a long hash in hex, or at least 12
// different characters of all kinds.
func random(v string) bool {
	if len(v) < minRandom || strings.ContainsAny(v, " \t") {
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
	if only(v, classHex) {
		return len(v) >= 32 && different >= 8
	}
	return mixed(v) && different >= 12 && !wordy(v)
}

// standsForSecret reports whether a value is a word, or the name of a type, that
// stands where a secret could.
func standsForSecret(word string) bool { return listed(standIns, word) }

const standIns = " " +
	"true false null nil none undefined string str text char varchar bool boolean int " +
	"integer number any object bytes byte secretstr optional required password passwd " +
	"token secret secrets key apikey api_key unknown void never hidden masked redacted " +
	"empty todo tbd yes no on off self this props input ctx err error value example " +
	"optional[str] securestring chararray "

// placeholder reports whether a value stands for a secret: a type, a literal, a
// word such as "password", or a reference.
func placeholder(v string) bool {
	if len(v) < 64 {
		var lower [64]byte
		n := copy(lower[:], v)
		for i := range n {
			if isUpper(lower[i]) {
				lower[i] |= 0x20
			}
		}
		word := strings.TrimRight(view(lower[:n]), "!?,;|.")
		if word == "" || standsForSecret(word) {
			return true
		}
		if strings.HasPrefix(word, "your") && (len(word) == 4 || !isAlnum(word[4])) ||
			strings.HasPrefix(word, "process.env") || strings.HasPrefix(word, "os.environ") || strings.HasPrefix(word, "env.") ||
			strings.HasPrefix(word, "import.meta.") || strings.HasPrefix(word, "secrets.") || strings.HasPrefix(word, "config.") {
			return true
		}
	}
	return reference(v)
}

// reference reports whether a value refers to a secret elsewhere: a variable, a
// template, stars, a mask.
func reference(v string) bool {
	if v == "" || strings.HasPrefix(v, MaskStart[:len(MaskStart)-1]) { // a mask, or what a decoded window has of one
		return true
	}
	last := v[len(v)-1]
	switch v[0] {
	case '$', '{':
		// $VAR, ${VAR}, $(command), {{ template }}; a password may start with $ too, and
		// Jenkins puts what it has encrypted into braces.
		return len(v) == 1 || v[1] == '{' || v[1] == '(' || v[0] == '{' && last != '}' || identifier(strings.TrimRight(v[1:], "}")) || v[0] == '{' && strings.ContainsAny(v, " :,\"'")
	case '\\':
		return bracket(v, 0, '<') > 0
	case '<':
		return last == '>' || strings.Contains(v, "%>")
	case '#':
		return len(v) > 1 && v[1] == '{'
	case '%':
		return len(v) == 2 || len(v) > 1 && v[1] == '(' || last == '%' || strings.HasPrefix(v, "%s") || strings.HasPrefix(v, "%v")
	case '@', ':', '&', '*':
		return identifier(v[1:]) && (!mixed(v) || wordy(v)) || strings.Trim(v, "*") == ""
	case '!':
		return only(v[1:], classLetter) && (len(v) > 1 && isUpper(v[1]) || v == "!vault") // a tag of YAML
	}
	// Dots, stars, crosses.
	return strings.Trim(v, v[:1]) == "" && !isDigit(v[0]) || strings.HasSuffix(v, "...") || strings.HasSuffix(v, "…") ||
		strings.Contains(v, "****") || strings.Contains(v, "xxxx") || strings.Contains(v, "XXXX")
}

// identifier reports whether v is a name or the path of a field (a.b.c, a->b, A::b).
func identifier(v string) bool {
	if v == "" || !isLower(v[0]|0x20) && v[0] != '_' {
		return false
	}
	for i := range len(v) {
		if c := v[i]; !isAlnum(c) && c != '_' && c != '.' && c != ':' && c != '>' && c != '-' {
			return false
		}
		if v[i] == '-' && (i+1 == len(v) || v[i+1] != '>') {
			return false
		}
	}
	return true
}

// sentence reports whether v is prose: the value of a name such as "password" may
// be a label ("Enter your password").
func sentence(v string) bool {
	if strings.Count(v, " ") < 1 {
		return false
	}
	if !isUpper(v[0]) && v[0] < 0x80 && strings.Count(v, " ") < 3 {
		return false
	}
	for i := range len(v) {
		if c := v[i]; isDigit(c) || strings.IndexByte("=+/$#@^&~<>{}\\|_", c) >= 0 {
			return false
		}
	}
	return true
}
