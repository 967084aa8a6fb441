package likeness

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/text"
)

// The shares of common words from which two statements say the same, or speak of the same.
const (
	sameWords   = 0.85
	sameSubject = 0.75
)

// Statement is a learning as it is compared.
type Statement struct {
	Key string
	// words are those that carry the meaning, without negations and numbers, sorted
	// and each once; numbers are in order.
	words   []string
	numbers string
	// Denied says that it speaks against what its words say: "never use X".
	Denied bool
}

// Words without a meaning of their own, negations, and opposites of other words.
var (
	EmptyWords = wordSet(`a an and are as at be been being by do does for from has have in is it its itself must of on or
		shall should so that the their them then there these they this those to use used uses using via was were when which will with you your
		always ever only just please here project repository codebase repo`)
	denials = wordSet(`not no never without avoid avoids avoided cannot don't doesn't isn't aren't can't won't mustn't shouldn't didn't nor none`)
	inverse = map[string]string{
		"disable": "enable", "disabled": "enabled", "disables": "enables", "forbidden": "allowed", "disallowed": "allowed",
		"optional": "required", "invalid": "valid", "unsupported": "supported", "unavailable": "available", "unsafe": "safe",
		"fail": "pass", "fails": "passes", "impossible": "possible", "unnecessary": "necessary", "unneeded": "needed",
	}
)

// wordSet returns the words of a text between blanks.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// ParseStatement splits a learning's content into its words and numbers.
func ParseStatement(content string) Statement {
	s := Statement{Key: FoldSpace(content)}
	var numbers []string
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(s.Key, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'._-/", r)
	}) {
		w = strings.Trim(w, "'._-/")
		switch {
		case w == "", EmptyWords[w]:
		case denials[w]:
			s.Denied = !s.Denied
		case inverse[w] != "":
			s.Denied = !s.Denied
			s.words = append(s.words, inverse[w])
		case strings.ContainsFunc(w, unicode.IsDigit):
			numbers = append(numbers, w)
		default:
			s.words = append(s.words, w)
		}
	}
	s.numbers = strings.Join(numbers, " ")
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	return s
}

// Common returns the share of the words of both statements that both have, 0 to 1.
func (s Statement) Common(o Statement) float64 {
	both := text.SharedSorted(s.words, o.words)
	all := len(s.words) + len(o.words) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

// Same reports whether two statements have the same or nearly the same meaning.
func (s Statement) Same(o Statement) bool {
	if s.Key == o.Key {
		return true
	}
	return s.Denied == o.Denied && s.numbers == o.numbers && (s.Common(o) >= sameWords || Alike(s.Key, o.Key))
}

// Contradicts reports whether two statements cannot both be true: one denies what the
// other says of the same subject, or they differ in nothing but their numbers
// ("the port is 3000", "the port is 4000"). One-word statements are too short to tell.
func (s Statement) Contradicts(o Statement) bool {
	if len(s.words) < 2 || len(o.words) < 2 {
		return false
	}
	if s.Denied != o.Denied {
		return s.numbers == o.numbers && s.Common(o) >= sameSubject
	}
	return s.numbers != o.numbers && s.numbers != "" && o.numbers != "" &&
		len(strings.Fields(s.numbers)) == len(strings.Fields(o.numbers)) && slices.Equal(s.words, o.words)
}
