package text

import (
	"slices"
	"strings"
	"unicode"
)

// frequent words of titles and requests, which say nothing of a subject.
var frequent = Set(`about after again also because been before both change changed changes does done each file files fixed from have into just like
	made make more need needs only other over please same should some test tests than that their them then there they this those through using
	very want what when where which while will with without would your`)

// Tokens returns the words of a text in lower case, in order, repetitions too; '_' is a part of a word.
// Of scripts without spaces each pair of neighbouring characters is a word, pairs overlap.
func Tokens(s string) []string {
	var tokens []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		r := []rune(w)
		if len(r) < 3 || !strings.ContainsFunc(w, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) }) {
			tokens = append(tokens, w)
			continue
		}
		for i := range r[1:] {
			tokens = append(tokens, string(r[i:i+2]))
		}
	}
	return tokens
}

// isSubject reports whether a token says what a text is about.
func isSubject(token string) bool { return len(token) > 3 && !frequent[token] }

// SubjectWords returns the words of a text that say what it is about, in lower case: those of more
// than three bytes that are not frequent in all texts.
func SubjectWords(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range Tokens(s) {
		if isSubject(w) {
			set[w] = true
		}
	}
	return set
}

// SharedSorted counts the items that two sorted lists without repetitions share. It searches each item
// of a in b, so that a is the shorter one.
func SharedSorted(a, b []string) (n int) {
	for _, item := range a {
		if _, ok := slices.BinarySearch(b, item); ok {
			n++
		}
	}
	return n
}

// SharedWords counts the words that both sets have.
func SharedWords(a, b map[string]bool) (n int) {
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

const (
	// runWords is the number of words of a run, runSubjects how many of them must say what
	// it is about: "added 12 packages in 3 s" is in many texts.
	runWords    = 6
	runSubjects = 3
)

// Runs returns the runs of six words in a text, each as one string, of which three or more say what it
// is about: who has one of them in common with a text has most likely copied it. nil for a text
// without any, as one of less than six words.
func Runs(s string) []string {
	tokens := Tokens(s)
	var runs []string
	subjects := 0 // in the window
	for i, w := range tokens {
		if isSubject(w) {
			subjects++
		}
		from := i - runWords + 1
		if from > 0 && isSubject(tokens[from-1]) {
			subjects--
		}
		if from >= 0 && subjects >= runSubjects {
			runs = append(runs, strings.Join(tokens[from:i+1], " "))
		}
	}
	return runs
}
