package main

import (
	"fmt"
	"io"
	"strconv"

	"claudemem/internal/find/recall/gate"
	"claudemem/internal/memory"
)

// with tells what the prompts would have got from a gate.
func with(choose func(found []memory.Related) []memory.Related, all []exchange) (sum tally) {
	for i := range all {
		x := &all[i]
		sum.add(judged(choose(x.found), x.found, x.right))
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
		c := gate.Calibrated()
		for _, m := range []*gate.Model{&c.Prompt, &c.Work} {
			m.Open += float64(step) * curveStep
			m.Further += float64(step) * curveStep
		}
		choose := func(found []memory.Related) []memory.Related { return c.Choose(found, nil) }
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
		_, _ = fmt.Fprintf(out, curveLine, strconv.FormatFloat(c.Prompt.Open, 'f', 2, 64)+mark,
			part(with(choose, elsewhere).anything()), part(worst), part(h.precision()), part(h.reach()),
			strconv.FormatFloat(share(h.lines, h.given), 'f', 2, 64), part(typed.precision()), part(mine.reach()), part(others.anything()))
	}
}

// printUnfitted prints the tallies of the half of the prompts that the gate was not
// fitted to: what can be expected of others. Those of sets with dates are left out, since the
// gate of a session at work is fitted to all of them (calibrateWork).
func printUnfitted(out io.Writer, results []recallResult, answers []answered) {
	var elsewhere, home, related, unrelated []exchange
	keep := func(into *[]exchange, list ...exchange) {
		for _, x := range list {
			if !fitted(x.text) {
				*into = append(*into, x)
			}
		}
	}
	for _, r := range results {
		keep(&elsewhere, r.elsewhere...)
		if !r.dated {
			keep(&home, r.home...)
		}
	}
	for _, a := range answers {
		if a.related() {
			keep(&related, a.exchange)
		} else {
			keep(&unrelated, a.exchange)
		}
	}
	const name = "not fitted to"
	printTally(out, name, "other sets", tallyOf(elsewhere), false)
	printTally(out, name, "own corpora", tallyOf(home), true)
	printTally(out, name, "own prompts, related", tallyOf(related), true)
	printTally(out, name, "own prompts, unrelated", tallyOf(unrelated), false)
}

// differing counts the prompts at which the worker was silent though the gate has
// something to give, as when it took too long, and those the other way round.
func differing(all []exchange) (silent, talkative int) {
	for i := range all {
		x := &all[i]
		switch chosen := len(gate.Prompt(x.found, nil)) > 0; {
		case chosen && len(x.lines) == 0:
			silent++
		case !chosen && len(x.lines) > 0:
			talkative++
		}
	}
	return silent, talkative
}
