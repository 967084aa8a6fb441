package likeness

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/lang"
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
	// chosen is what it says was chosen or is used, about are its other words without what was rejected,
	// plain all words but the verbs of choosing; purpose says that it tells what the choice is for.
	chosen       string
	about, plain []string
	purpose      bool
	// bans says that it has a denial, permits that it allows something again, excepts that it names an
	// exception.
	bans, permits, excepts bool
}

// ParseStatement splits a learning's content into its words and numbers.
func ParseStatement(content string) Statement {
	s := Statement{Key: FoldSpace(content)}
	var numbers []string
	choosing, rejecting, ended := false, false, false
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(s.Key, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'._-/", r)
	}) {
		w = strings.Trim(w, "'._-/")
		opposite := lang.Value(w, "said-opposite")
		switch empty := lang.Is(w, "said-empty"); {
		case lang.Is(w, "said-chooses"):
			choosing = s.chosen == ""
		case lang.Is(w, "over", "instead-word"):
			choosing, rejecting, ended = false, true, false
		case empty:
			choosing, rejecting = choosing && s.chosen == "", rejecting && !ended
		case strings.ContainsFunc(w, unicode.IsDigit):
		case rejecting:
			ended = true
		default:
			if s.plain = append(s.plain, w); choosing {
				s.chosen = strings.TrimSpace(s.chosen + " " + w)
				break
			}
			s.about, s.purpose = append(s.about, w), s.chosen != ""
		}
		switch {
		case w == "", lang.Is(w, "said-empty"):
		case lang.Is(w, "said-not"):
			s.Denied, s.bans = !s.Denied, true
		case lang.Is(w, "said-permits"):
			s.permits = true
		case lang.Is(w, "said-excepts"):
			s.excepts = true
		case opposite != "":
			s.Denied = !s.Denied
			s.words = append(s.words, opposite)
		case strings.ContainsFunc(w, unicode.IsDigit):
			numbers = append(numbers, w)
		default:
			s.words = append(s.words, w)
		}
	}
	s.numbers = strings.Join(numbers, " ")
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	slices.Sort(s.about)
	slices.Sort(s.plain)
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
	return s.Denied == o.Denied && s.permits == o.permits && s.excepts == o.excepts && s.numbers == o.numbers && (s.Common(o) >= sameWords || Alike(s.Key, o.Key))
}

// Narrows reports whether a statement lifts the ban that the other one is, or restricts the other one:
// "you may edit X again", "never edit X, except in tests". They must share two words, and of the
// shorter one six in ten.
func (s Statement) Narrows(o Statement) bool {
	both := text.SharedSorted(s.words, o.words)
	return both >= 2 && both*10 >= 6*min(len(s.words), len(o.words)) && (s.permits && o.bans && !o.permits || s.excepts && !o.excepts && s.Denied == o.Denied)
}

// Contradicts reports whether two statements cannot both be true: one denies what the
// other says of the same subject, or they differ in nothing but their numbers
// ("the test port is 3000", "the test port is 4000"). With one word they are too short to tell.
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

// Disagrees reports whether two statements give one subject other values, or another choice for one
// purpose: "the test server listens on 3000" and "the test server uses port 4000", "chose SQLite for the queue" and
// "chose Redis for the queue".
func (s Statement) Disagrees(o Statement) bool {
	sameNumbers := s.numbers == o.numbers
	switch {
	case s.Contradicts(o):
		return true
	case s.Denied != o.Denied:
		return false
	case !sameNumbers:
		return s.numbers != "" && o.numbers != "" && len(strings.Fields(s.numbers)) == len(strings.Fields(o.numbers)) && len(s.plain) > 1 && slices.Equal(s.plain, o.plain)
	}
	return s.chosen != "" && o.chosen != "" && s.chosen != o.chosen && s.purpose && o.purpose && slices.Equal(s.about, o.about)
}
