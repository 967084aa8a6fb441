package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/lang"
	"claudemem/internal/leaf/text"
)

// The features of a candidate. Most are 0 or 1; the others say so.
const (
	isFirst       = iota // it opens the message, fluff aside
	isLate               // how far down it stands, 0 to 1
	isItem               // item of a list
	isRow                // row of a table
	isOutline            // a lead-in or heading with the beginnings of its list
	isPart               // a clause of a sentence, not all of it
	isCut                // it does not fit and is cut in mid-clause
	hasLength            // characters that are shown, of those that fit: 0 to 1
	isShort              // less than six words
	hasNames             // names in code, up to three: 0 to 1
	namesWork            // names a file or symbol that was edited
	namesFailure         // names a test or command that failed
	sharesPrompt         // rare words of the prompt, up to four: 0 to 1
	givesNumber          // a number
	givesMeasure         // a number with a unit, a change from one value to another
	tellsWhy             // cues of language, see featureCues
	tellsContrast        //
	tellsCure            //
	tellsLimit           //
	tellsOpen            //
	tellsGuess           //
	pointsBack           // begins with a pronoun: "It …", "Damit …"
	repeatsTitle         // share of its words that the title has: 0 to 1; of a subtitle only
	numFeatures
)

// featureNames are the names of the features in weights.json, in their order.
var featureNames = [numFeatures]string{"first", "late", "item", "row", "outline", "part", "cut", "length", "short", "names", "work", "failure",
	"asked", "number", "measure", "why", "contrast", "cure", "limit", "open", "guess", "back", "repeat"}

// features are the values of a candidate.
type features [numFeatures]float64

func (f *features) set(i int, is bool) {
	if is {
		f[i] = 1
	}
}

// featureCues are the cues of features, and those of headings that tell the same of all below
// them.
var featureCues = map[int][2]string{
	tellsWhy: {"why", "why-heading"}, tellsCure: {"cure", "cure-heading"}, tellsContrast: {"contrast"}, tellsLimit: {"limit"}, tellsGuess: {"guess"},
}

// number is a number, with a unit or not.
var number = regexp.MustCompile(`(?:^|[^\pL\d_#.-])\d[\d.,_]*`)

// featuresOf returns what can be told of a candidate without a title beside it: the caller sets
// repeatsTitle. most is how many characters fit. It keeps x.values.
func (c *chooser) featuresOf(x *candidate, most int) features {
	if x.values == nil {
		f := c.textFeatures(x)
		x.values = &f
	}
	f := *x.values
	short := cut(x.text, most)
	f.set(isCut, strings.HasSuffix(short, "…"))
	f[hasLength] = min(1, float64(utf8.RuneCountInString(short))/float64(most))
	return f
}

// textFeatures returns the features that do not depend on how much fits.
func (c *chooser) textFeatures(x *candidate) features {
	var f features
	ws := words(x.text)
	f.set(isFirst, x.first)
	f[isLate] = x.late
	f.set(isItem, x.item)
	f.set(isRow, x.row)
	f.set(isOutline, x.outline)
	f.set(isPart, x.part)
	f.set(isShort, len(ws) < 6 && lang.IsASCII(x.text))
	f[hasNames] = float64(codeWords(x.text, 3)) / 3
	f.set(namesWork, slices.ContainsFunc(c.work, func(n string) bool { return mentions(x.text, n) }))
	f.set(namesFailure, slices.ContainsFunc(c.failed, func(n string) bool { return mentions(x.text, n) }))
	f[sharesPrompt] = float64(min(4, text.SharedWords(rareWords(x.text), c.asked))) / 4
	f.set(givesNumber, number.MatchString(x.text))
	f.set(givesMeasure, lang.Has(x.text, "measure"))
	for i, cue := range featureCues {
		f.set(i, lang.Has(x.text, cue[0]) || lang.Has(x.section, cue[1]))
	}
	f.set(tellsOpen, leavesOpen(x.sentence) || looksAhead(x.sentence))
	f.set(pointsBack, lang.Is(firstWord(x.text), "back"))
	return f
}

// rareWords returns the words of a text that tell what it is about, in lower case: those of four
// bytes and more, and those that begin with a digit, without words that are in every prompt. They
// are cut to their first six letters, so that forms of a word are one.
func rareWords(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) < 4 && !unicode.IsDigit(rune(w[0])) || lang.Is(w, "generic", "common") || intentOf(w) != 0 {
			continue
		}
		if r := []rune(w); len(r) > 6 {
			w = string(r[:6])
		}
		out[w] = true
	}
	return out
}
