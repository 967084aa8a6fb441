package gate

import (
	"cmp"
	"math"
	"slices"

	"claudemem/internal/memory"
)

// The measures of a record near a prompt, in the order of Measures.
const (
	coverage = iota
	telling
	likeness
	keywordLead
	likenessLead
	records
	filesLead
	ageLead
)

// Measures names the measures that a model weighs.
func Measures() []string {
	return []string{
		coverage:     "coverage",      // the share of the prompt's weight that the record's words make up
		telling:      "telling",       // what the shared words say anywhere, as a logarithm
		likeness:     "likeness",      // the best cosine of a fragment
		keywordLead:  "keyword_lead",  // how far ahead of the field its keyword sum is, as a share
		likenessLead: "likeness_lead", // how far ahead of the field its likeness is
		records:      "records",       // how many records there are, as a decimal logarithm
		filesLead:    "files_lead",    // how far ahead of the middle one its share of the session's files is
		ageLead:      "age_lead",      // how much younger than the middle one it is, in decimal logarithms of days
	}
}

const (
	// most is how many records a prompt is worth: the agent pays for each, used or not.
	most = 3
	// field is how many of the best records others are compared with: what a prompt is
	// about stands out from the tenth, even when several records tell of it.
	field = 10
	// fewestWords is how many words of a prompt a record must have. One may be any:
	// "commit this", "same error".
	fewestWords = 2
	// fewRecords is the number below which fewer records make nothing less of a chance.
	// In a project of 35 the neighbours of what a prompt is about are nearly all there
	// is: with 100 instead, 2 of 100 unrelated prompts more get something there at the
	// same reach in large ones.
	fewRecords = 1000

	// oldest is the age in days from which a record is no older: about ten years.
	oldest = 3650

	// strangeTypical is a typical likeness that only another model of vectors has than
	// the built-in one, whose own is usualTypical with a spread of usualSpread: the
	// weights were fitted to that. Measured, the highest mean of a set was .17.
	strangeTypical = 0.3
	usualTypical   = 0.08
	usualSpread    = 0.1
)

// Prompt returns what of the records that were found near a prompt the session
// should be told, the best first, at most three; mostly none. found is in the order
// of the search; the first ten count. Where none stands out, the first is given alone
// if it has a rare identifier of the prompt. A session at work (AtWork) has a decision of its
// own. Records that told is true of are compared with but not given, and when the best is one
// of them, nothing is: what comes second would pass for the answer. told may be nil.
func Prompt(found []memory.Related, told func(memory.Related) bool) []memory.Related {
	return calibrated.Choose(found, told)
}

// Choose is Prompt with this calibration.
func (c *Calibration) Choose(found []memory.Related, told func(memory.Related) bool) []memory.Related {
	isTold := func(i int) bool { return told != nil && told(found[i]) }
	if AtWork(found) {
		return c.Work.choose(found, c.Work.sums(c.MeasureWork(found)), isTold)
	}
	scores := c.Prompt.Scores(found)
	if len(scores) > 0 && slices.Max(scores) < c.Prompt.Open {
		return named(found, isTold)
	}
	return c.Prompt.choose(found, scores, isTold)
}

// choose returns the records that are given, the one with the highest score first. It returns
// none if no score reaches Open.
func (m *Model) choose(found []memory.Related, scores []float64, isTold func(i int) bool) []memory.Related {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var given []memory.Related
	for place, i := range order {
		least := m.Further
		if len(given) == 0 {
			least = m.Open
		}
		if scores[i] < least || len(given) == most {
			break
		}
		if isTold(i) {
			if place == 0 {
				return nil
			}
			continue
		}
		given = append(given, found[i])
	}
	return given
}

// named returns the record that the search finds best, if it has a rare identifier of the
// prompt and was not told. One that is found behind others has it in passing.
func named(found []memory.Related, isTold func(i int) bool) []memory.Related {
	if found[0].Evidence.Names == 0 || isTold(0) {
		return nil
	}
	return found[:1:1]
}

// Scores returns a score for each of the first ten records found: the model's bias and
// the weighted measures of the record; -Inf for one with too few words of the prompt to
// be measured.
func (m *Model) Scores(found []memory.Related) []float64 { return m.sums(Measure(found)) }

// sums adds up measures; -Inf where there are none.
func (m *Model) sums(measured [][]float64) []float64 {
	sums := make([]float64, len(measured))
	for i, row := range measured {
		if row == nil {
			sums[i] = math.Inf(-1)
			continue
		}
		sums[i] = m.Bias
		for j, v := range row {
			sums[i] += m.weights[j] * v
		}
	}
	return sums
}

// Measure returns the measures of each of the first ten records found near a prompt, in
// the order of Measures; nil for a record with fewer than two words of the prompt.
func Measure(found []memory.Related) [][]float64 {
	found = found[:min(len(found), field)]
	leastKeyword, leastLikeness := math.Inf(1), math.Inf(1)
	for i := range found {
		e := &found[i].Evidence
		leastKeyword, leastLikeness = min(leastKeyword, finite(e.Keyword)), min(leastLikeness, alike(e))
	}
	if n := len(found); n > 0 && n < field { // there are no others that have a word of it
		leastKeyword = 0
		leastLikeness = max(min(leastLikeness, typical(&found[0].Evidence)), 0)
	}
	middleFiles, middleAge := middle(found)
	measured := make([][]float64, len(found))
	for i := range found {
		e := &found[i].Evidence
		if e.Words < fewestWords {
			continue
		}
		keyword, like := finite(e.Keyword), alike(e)
		measured[i] = []float64{
			coverage:     finite(e.Coverage),
			telling:      math.Log1p(finite(e.Telling)),
			likeness:     like,
			keywordLead:  (keyword - leastKeyword) / (keyword + 1),
			likenessLead: like - leastLikeness,
			records:      math.Log10(float64(max(e.Records, fewRecords))),
			filesLead:    max(min(finite(e.Files), 1)-middleFiles, 0),
			ageLead:      middleAge - age(e),
		}
	}
	return measured
}

// middle returns the share of the session's files and the age that stand in the middle of the
// records found. The others, where there are fewer than ten, have none of the files. What the
// neighbours are alike in tells none from another: a memory may be young as a whole, and a
// session that works in one package has files that all records of that package have.
func middle(found []memory.Related) (files, days float64) {
	if len(found) == 0 {
		return 0, 0
	}
	shares, ages := make([]float64, field), make([]float64, len(found))
	for i := range found {
		e := &found[i].Evidence
		shares[i], ages[i] = min(finite(e.Files), 1), age(e)
	}
	slices.Sort(shares)
	slices.Sort(ages)
	return shares[field/2], ages[len(ages)/2]
}

// age returns a record's age as the decimal logarithm of its days and one.
func age(e *memory.Evidence) float64 { return math.Log10(1 + min(finite(e.Days), oldest)) }

// alike is the likeness on the scale of the built-in vectors. Those of other models
// may have a cosine of .7 with anything.
func alike(e *memory.Evidence) float64 {
	if finite(e.Typical) < strangeTypical {
		return min(finite(e.Likeness), 1)
	}
	return min(max(usualTypical+usualSpread*(finite(e.Likeness)-e.Typical)/max(finite(e.Spread), 1e-3), 0), 1)
}

// typical is the likeness of any record, on the same scale.
func typical(e *memory.Evidence) float64 {
	if finite(e.Typical) < strangeTypical {
		return finite(e.Typical)
	}
	return usualTypical
}

// finite is 0 for what is negative or no number.
func finite(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
