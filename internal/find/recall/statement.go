package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// maxStatements bounds the statements of a record that are weighed. Those that the
// observers write have a dozen at most.
const maxStatements = 40

const digits = "0123456789"

// Statement is a sentence of a record, cleaned for a line.
type Statement struct {
	Text  string
	Words []string
	// Place is its number in the record.
	Place int
	// Worth says how much its place and sort tell, signs whether it has a reason, a
	// choice or a number.
	Worth float64
	Signs [3]bool
	// Answers: it has something of the prompt that the title has not.
	Answers bool
	score   float64 // by which Rank ranks it
}

// What a statement is worth by itself, compared with a word of the prompt that it has
// and the title has not, which is worth 1. Tried on the follow-up questions of recorded
// sessions: a word of the prompt is the better sign; the rest decides between
// sentences that have as many of them.
const (
	subtitleWorth = 0.8
	proofWorth    = -0.6
	// wantedWorth is added to the worth of a sign where the prompt asks for just that;
	// the other signs count nothing then.
	wantedWorth = 0.7
	// shapedWorth is the worth of a code-shaped word of the prompt, titledWorth that of
	// a word that the title has as well, glyphWorth that of a character of a script
	// without spaces.
	shapedWorth = 1.5
	titledWorth = 0.3
	glyphWorth  = 0.3
	// leastAnswer is what a statement must share with a prompt to stand beside a better one.
	leastAnswer = 0.9
)

// signWorth is the worth of a reason, a choice and a number.
var signWorth = [3]float64{0.6, 0.5, 0.2}

// Telling reports whether a statement is worth room that nothing else needs: the
// subtitle, a reason, a choice or a number, and no proof.
func (s Statement) Telling() bool {
	return s.Worth >= 0 && (s.Worth > 0 || s.Signs != [3]bool{})
}

// Statements returns what a record says beside its title, cleaned by plain: the subtitle,
// the facts and the sentences of the narrative, each once, without those that only list
// edits or say that a command passes.
func Statements(o *memory.Observation, plain func(string) string) []Statement {
	var all []Statement
	var lowered []string // the text of each in lower case, in which all are compared with all
	add := func(part string, worth float64) {
		if len(all) == maxStatements {
			return
		}
		s := text.Unstopped(plain(part))
		low := strings.ToLower(s)
		if s == "" || IsRoutine(low) || slices.ContainsFunc(lowered, func(other string) bool { return strings.Contains(other, low) }) {
			return
		}
		if IsProof(low) {
			worth += proofWorth
		}
		st := Statement{Text: s, Words: WordsOf(s), Place: len(all), Worth: worth, Signs: [3]bool{lang.Has(low, "reason-sign"), lang.Has(low, "choice-sign"), strings.ContainsAny(s, digits)}}
		// A sentence that says all of an earlier one and more stands in its place.
		for i := range all {
			if strings.Contains(low, lowered[i]) {
				st.Place, st.Worth = i, max(st.Worth, all[i].Worth)
				all[i], lowered[i] = st, low
				return
			}
		}
		all, lowered = append(all, st), append(lowered, low)
	}
	add(o.Subtitle, subtitleWorth)
	for _, f := range o.Facts {
		add(f, 0)
	}
	for _, paragraph := range text.Prose(text.FirstBytes(o.Narrative, scanBytes)) {
		for _, s := range text.Sentences(paragraph, nil) {
			add(s, 0)
		}
	}
	return all
}

// IsRoutine reports whether a statement only lists edits, runs that pass and commits,
// which the files, the tests and the history tell themselves.
func IsRoutine(s string) bool {
	return lang.Has(s, "own-changes") || !slices.ContainsFunc(strings.Split(s, "; "), func(clause string) bool {
		return !lang.Has(strings.TrimSpace(clause), "own-routine")
	})
}

// IsProof reports whether a statement tells what failed on the way or how the work was
// checked, which is the last thing to tell of it.
func IsProof(s string) bool {
	return lang.Begins(s, "own-failed") || lang.Has(s, "own-overcome") || lang.Follows(s, "proof-run", "proof-result") ||
		strings.ContainsAny(s, digits) && lang.Has(s, "proof-count")
}

// Question is a prompt as statements are compared with it.
type Question struct {
	words  map[string]float64
	shaped []string
	signs  [3]bool
}

// AskedBy returns the words of a prompt and what it asks for. Of a long one only the
// beginning is read.
func AskedBy(prompt string) Question {
	prompt = text.FirstBytes(prompt, scanBytes)
	q := Question{words: map[string]float64{}, signs: [3]bool{lang.Has(prompt, "asks-why"), lang.Has(prompt, "asks-choice"), lang.Has(prompt, "asks-number")}}
	for _, w := range WordsOf(prompt) {
		q.words[w] = 1
		if r := []rune(w); len(r) == 1 && unicode.In(r[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			q.words[w] = glyphWorth
		}
	}
	q.shaped = CodeWords(prompt)
	return q
}

// CodeWords returns the code-shaped words of a text in lower case, each once.
func CodeWords(s string) []string {
	var words []string
	for _, f := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' && r != '-'
	}) {
		if f = strings.Trim(f, ".-_"); IsShaped(f) && !IsMeasure(strings.ToLower(f)) {
			words = text.Add(words, strings.ToLower(f))
		}
	}
	return words
}

// Wants reports whether a statement has what the prompt asks for: a reason, a choice, a
// number.
func (q Question) Wants(s Statement) bool {
	for i, wanted := range q.signs {
		if wanted && s.Signs[i] {
			return true
		}
	}
	return false
}

// Rank returns a record's statements with the one first that answers a prompt best: it
// shares most with it beyond what the title says. The zero question ranks by worth.
func (q Question) Rank(all []Statement, title string) []Statement {
	titled := WordsOf(title)
	ranked := slices.Clone(all)
	for i := range ranked {
		s, shared := &ranked[i], 0.0
		for _, w := range s.Words {
			weight := q.words[w]
			if _, ok := slices.BinarySearch(titled, w); ok {
				weight *= titledWorth
			}
			shared += weight
		}
		low := strings.ToLower(s.Text)
		for _, w := range q.shaped {
			if text.HasWord(low, w) && !ContainsFold(title, w) {
				shared += shapedWorth
			}
		}
		s.Answers, s.score = shared >= leastAnswer, s.Worth+shared
		for j, has := range s.Signs {
			switch {
			case !has:
			case q.signs[j]:
				s.score += signWorth[j] + wantedWorth
			case q.signs == [3]bool{}:
				s.score += signWorth[j]
			}
		}
	}
	slices.SortStableFunc(ranked, func(a, b Statement) int { return cmp.Compare(b.score, a.score) })
	return ranked
}

// Beyond returns what the statements say more than a title: without those that it says,
// and of one that begins with it the rest.
func Beyond(title string, all []Statement) []Statement {
	head, titled := SubjectOf(title), WordsOf(title)
	var more []Statement
	for _, s := range all {
		if ContainsFold(title, s.Text) || Echoes(s.Words, titled) {
			continue
		}
		if n := len(head); len(s.Text) > n && n > 0 && strings.EqualFold(s.Text[:n], head) {
			if s.Text = strings.TrimLeft(s.Text[n:], " ,;:.–-"); s.Text == "" {
				continue
			}
			s.Place = -1 // it goes on where the title ends
		}
		more = append(more, s)
	}
	return more
}

// SubjectOf returns the part of a title that a sentence of its record may begin with:
// without a mark of what it is in front, up to where it was cut, and without the names
// of files in brackets at its end.
func SubjectOf(title string) string {
	if mark, rest, ok := strings.Cut(title, ": "); ok && lang.Is(mark, "fix-title") {
		title = rest
	}
	title, _, _ = strings.Cut(title, "…")
	if i := strings.LastIndex(title, " ("); i > 0 && strings.HasSuffix(title, ")") {
		title = title[:i]
	}
	return text.Unstopped(title)
}

// IsShaped reports whether a word is a made-up name: parts joined by
// '_', '.' or capitals, letters with digits, capitals alone.
func IsShaped(word string) bool {
	lower, joined, digit, upper := 0, false, false, 0
	for i, r := range word {
		switch {
		case unicode.IsUpper(r):
			joined = joined || lower > 0
			upper++
		case unicode.IsLetter(r):
			lower++
		case unicode.IsDigit(r):
			digit = true
		case (r == '_' || r == '.') && i > 0:
			joined = true
		}
	}
	return lower+upper > 0 && (joined || digit || upper > 3 && lower == 0)
}

// IsMeasure reports whether a word is a number, with or without a unit.
func IsMeasure(w string) bool {
	unit := strings.TrimLeft(w, digits)
	return unit != w && (len(unit) <= 2 || unit == "min" || unit == "sec")
}
