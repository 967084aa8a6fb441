package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"claudemem"
	"claudemem/recall/gate"
)

// with tells what the prompts would have got from a gate.
func with(choose func(found []claudemem.Related) []claudemem.Related, all []exchange) (sum tally) {
	for i := range all {
		x := &all[i]
		t := tally{prompts: 1}
		for _, chosen := range choose(x.found) {
			t.lines++
			if x.right[slices.IndexFunc(x.found, func(f claudemem.Related) bool { return f.ID == chosen.ID })] {
				t.fitting++
			}
		}
		t.given, t.right = min(1, t.lines), min(1, t.fitting)
		sum.add(t)
	}
	return sum
}

const curveLine = "%-9s %9s %9s %10s %7s %9s %10s %7s %9s\n"

// curveSteps and curveStep are how far from the threshold in force the curve goes, in
// the gate's own measure.
const (
	curveSteps = 6
	curveStep  = 0.25
)

// printThresholds prints what the gate would give with other thresholds, decided over the
// same records as the worker decided over. The one in force is marked.
func printThresholds(out io.Writer, results []recallResult, answers []answered) {
	var elsewhere, home, related, unrelated []exchange
	for _, r := range results {
		elsewhere, home = append(elsewhere, r.elsewhere...), append(home, r.home...)
	}
	for _, a := range answers {
		if a.related() {
			related = append(related, a.exchange)
		} else {
			unrelated = append(unrelated, a.exchange)
		}
	}
	_, _ = fmt.Fprintf(out, "\n"+curveLine, "", "other", "sets", "own", "corpora", "", "own", "prompts", "unrelated")
	_, _ = fmt.Fprintf(out, curveLine, "threshold", "anything", "the worst", "precision", "reach", "lines", "precision", "reach", "anything")
	for step := -curveSteps; step <= curveSteps; step++ {
		m := gate.Calibrated().Prompt
		m.Open += float64(step) * curveStep
		m.Further += float64(step) * curveStep
		choose := func(found []claudemem.Related) []claudemem.Related { return m.Choose(found, nil) }
		worst := 0.0
		for _, r := range results {
			worst = max(worst, with(choose, r.elsewhere).anything())
		}
		h, mine, others := with(choose, home), with(choose, related), with(choose, unrelated)
		typed := mine
		typed.add(others)
		mark := ""
		if step == 0 {
			mark = "*"
		}
		_, _ = fmt.Fprintf(out, curveLine, strconv.FormatFloat(m.Open, 'f', 2, 64)+mark,
			part(with(choose, elsewhere).anything()), part(worst), part(h.precision()), part(h.reach()),
			strconv.FormatFloat(share(h.lines, h.given), 'f', 2, 64), part(typed.precision()), part(mine.reach()), part(others.anything()))
	}
}
