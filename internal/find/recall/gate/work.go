package gate

import (
	"math"
	"slices"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/lang"
	"claudemem/internal/memory"
)

// The measures of a record near a prompt of a session at work, in the order of WorkMeasures.
const (
	promptSum = iota
	score
	standing
	breadth
	length
	adds
	mends
	titled
	numWorkMeasures
)

// WorkMeasures names the measures that the model of a session at work weighs.
func WorkMeasures() []string {
	return []string{
		promptSum: "prompt",   // what the model of any session sums up to
		score:     "score",    // the search's, with the session's files and the age in it
		standing:  "standing", // that score by the mean score of the first ten
		breadth:   "breadth",  // how many files the record's work changed, as a binary logarithm
		length:    "length",   // how long its text is in bytes, as a binary logarithm
		adds:      "adds",     // 1 if its work added something new
		mends:     "mends",    // 1 if it mended a bug
		titled:    "titled",   // the share of its title that the prompt says
	}
}

// fewestAtWork is the number of records below which the session's files tell nothing: in a
// project of 35, half of the records have them whatever is asked.
const fewestAtWork = 300

// AtWork reports whether one of the first ten records found has some of the session's files,
// in a memory where that is no matter of course. Then the session most likely asks about what it
// works on, and the question is less whether the memory has something on it than which of
// many records about the same files is meant.
func AtWork(found []memory.Related) bool {
	return slices.ContainsFunc(found[:min(len(found), field)], func(f memory.Related) bool {
		return finite(f.Evidence.Files) > 0 && f.Evidence.Records >= fewestAtWork
	})
}

// MeasureWork returns the measures of each of the first ten records found near a prompt of a
// session at work, in the order of WorkMeasures; nil for a record with fewer than two words
// of the prompt. Sessions take up again what was worked on in many files or brought
// something new, more often than what mended a detail of it.
func (c *Calibration) MeasureWork(found []memory.Related) [][]float64 {
	found = found[:min(len(found), field)]
	sums, mean := c.Prompt.Scores(found), 0.0
	for i := range found {
		mean += finite(found[i].Score) / float64(len(found))
	}
	measured := make([][]float64, len(found))
	for i := range found {
		f := &found[i]
		if math.IsInf(sums[i], -1) {
			continue
		}
		row := make([]float64, numWorkMeasures)
		row[promptSum], row[score] = sums[i], finite(f.Score)
		if mean > 0 {
			row[standing] = finite(f.Score) / mean
		}
		row[titled] = min(finite(f.Evidence.Titled), 1)
		if o := f.Observation; o != nil {
			row[breadth] = math.Log2(1 + float64(len(o.FilesIn(memory.FileModified))))
			facts := collect.Sum(o.Facts, func(f string) int { return len(f) })
			row[length] = math.Log2(1 + float64(len(o.Title)+len(o.Subtitle)+len(o.Narrative)+facts))
			// By the title, for records whose type does not say so.
			row[adds], row[mends] = one(o.Type == memory.TypeFeature || lang.Has(o.Title, "adds")),
				one(o.Type == memory.TypeBugfix || lang.Has(o.Title, "mends"))
		}
		measured[i] = row
	}
	return measured
}

// one returns 1 for true and 0 for false.
func one(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
