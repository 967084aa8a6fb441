package hostfiles

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/keep/index/words"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
)

// statement is a sentence as it is compared: its words in order. A word is a stem;
// what has to match exactly (a number, an identifier, a path, an option) begins
// with "=".
type statement []string

const (
	// fewestWords is the least number of words of a statement: one alone says nothing.
	fewestWords = 2
	// wordsPerExtra is how many words a statement needs for each word that the
	// document's has beyond them. Seven words that are all there, in order, with one
	// more between them are near enough; five are not.
	wordsPerExtra = 6
)

var (
	// fillers do not change what a statement says.
	fillers = text.Set(`a an the always please must should shall all also just is are be was were been being
		do does did it its we our us you your this that these those please remember note`)
	// negations are all the same word.
	negations = text.Set(`not never dont don't doesnt doesn't didnt didn't cannot cant can't wont won't isnt isn't arent aren't
		wasn't weren't shouldnt shouldn't mustnt mustn't neednt needn't avoid`)
	// narrowing words change what a statement is about, so that none may be extra; the
	// last line has what denies in other languages.
	narrowing = stems(`no nor neither without only if when where while unless except until before after during since but or
		on for in from with within outside inside at by than instead rather first last some most few sometimes
		often usually may can could might every each both either once again under over above below against
		nicht nie niemals kein keine keinen ohne nur ne pas jamais sans aucun nunca sin sem non mai senza niet geen nooit inte aldrig ikke`)
)

const negation = "=not"

// stems returns the words of a list as statements have them.
func stems(list string) map[string]bool {
	set := map[string]bool{}
	for field := range strings.FieldsSeq(list) {
		for _, w := range words.Text(field) {
			set[strings.Clone(w.Text)] = true
		}
	}
	return set
}

// parseStatement returns the words of a sentence in their order, without fillers: stemmed ones, the
// same word for each negation, and exact ones behind a "=".
func parseStatement(s string) statement {
	var out statement
	var plain []byte // words that are not in out yet: one look at several is cheaper
	flush := func() {
		out = append(out, collect.Pick(words.Text(string(plain)), func(w words.Word) (string, bool) { return w.Text, !w.Part })...)
		plain = plain[:0]
	}
	for field := range strings.FieldsSeq(s) {
		field = trimField(field)
		low := strings.ReplaceAll(strings.ToLower(field), "’", "'")
		switch {
		case field == "" || fillers[low]:
		case negations[low]:
			flush()
			out = append(out, negation)
		case isExact(field):
			flush()
			out = append(out, "="+field)
		default:
			plain = append(append(plain, field...), ' ')
		}
	}
	flush()
	return out
}

// trimField removes the punctuation and the Markdown around a word.
func trimField(field string) string {
	const around = "`*\"'“”‘’«»()[]{},;:!?。、，；：！？"
	for {
		t := strings.Trim(field, around)
		if !strings.HasSuffix(t, "…") && !strings.HasSuffix(t, "...") {
			t = strings.TrimRight(t, ".")
		}
		if t == "-" || t == "–" || t == "—" {
			return ""
		}
		if t == field {
			return t
		}
		field = t
	}
}

// isExact reports whether a word has to match to the character: it has a digit or a
// sign, or a capital behind a small letter. "URL" and "near-identical" are words.
func isExact(field string) bool {
	if strings.HasPrefix(field, "-") {
		return true
	}
	var before rune
	for _, r := range field {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(before):
			return true
		case unicode.IsLetter(r), unicode.IsMark(r), r == '-', r == '\'', r == '’':
		default:
			return true
		}
		before = r
	}
	return false
}

// covers reports whether document says what s says: it has the words of s in their
// order, and beyond them at most one in wordsPerExtra, none of which is narrowing or
// has to match exactly.
func (s statement) covers(document statement) bool {
	extra := len(document) - len(s)
	if len(s) < fewestWords || extra < 0 || extra > len(s)/wordsPerExtra {
		return false
	}
	if extra == 0 {
		return slices.Equal(s, document)
	}
	at := 0
	for _, w := range document {
		if at < len(s) && s[at] == w {
			at++
			continue
		}
		if extra--; extra < 0 || narrowing[w] || !isPlainWord(w) {
			return false
		}
	}
	return at == len(s)
}

// isPlainWord reports whether a word has the letters a to z only. Of other scripts it
// is not known which words deny.
func isPlainWord(w string) bool {
	return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
}

// sentences splits a line into its sentences.
func sentences(line string) []string {
	return text.Sentences(line, func(rest string) bool {
		r, _ := utf8.DecodeRuneInString(rest)
		return !unicode.IsLower(r)
	})
}
