package main

import (
	"fmt"
	"io"
)

// cases is how many cases the set has; fewer prove nothing.
const cases = 45

// pair is a weight that was found, of a weight that was looked for.
type pair [2]float64

// plus returns the sum of two pairs.
func (p pair) plus(q pair) pair { return pair{p[0] + q[0], p[1] + q[1]} }

// share returns what was found of what was looked for, from 0 to 1; 0 where nothing was.
func (p pair) share() float64 {
	if p[1] == 0 {
		return 0
	}
	return p[0] / p[1]
}

// score is the part of score.py's file that is read here.
type score struct {
	Results  map[string]result `json:"results"`
	Together []probe           `json:"together"`
}

// result is how one case was remembered. FORMAT.md of the set defines the measures.
type result struct {
	Coverage pair            `json:"coverage"`
	Front    pair            `json:"front"`
	Head     pair            `json:"head"`
	Type     pair            `json:"type"`
	Block    pair            `json:"block"`
	Kinds    map[string]pair `json:"kinds"`
	False    float64         `json:"false_statements"`
	Noise    float64         `json:"noise"`
	Drained  bool            `json:"drained"`
}

// probe is a prompt that was asked in one memory of all cases, and what was given beside it.
type probe struct {
	Kind string `json:"kind"` // follow, unrelated
	What string `json:"what"` // right, near, OTHER, FALSE, silent; given
	Line string `json:"line"`
}

// measure is a figure with its bar.
type measure struct {
	name  string
	value float64
	bar   float64
	// most says that the bar is the most that is allowed, not the least; count that the
	// value counts things and is no share.
	most, count bool
}

// met reports whether the value keeps to the bar.
func (m measure) met() bool {
	if m.most {
		return m.value <= m.bar
	}
	return m.value >= m.bar
}

// figure returns a value of the measure with so many digits behind the point of a share.
func (m measure) figure(value float64, digits int) string {
	if m.count {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.*f %%", digits, 100*value)
}

// kinds are the kinds of what matters in a session, as FORMAT.md of the set names them.
var kinds = []string{"cause", "decision", "rejected", "cure", "rule", "finding", "change", "measure", "next", "open", "constraint"}

// measures returns every figure with the bar that it has to reach.
func (s score) measures() []measure {
	var sum result
	sum.Kinds = map[string]pair{}
	for _, r := range s.Results {
		sum.Coverage, sum.Front = sum.Coverage.plus(r.Coverage), sum.Front.plus(r.Front)
		sum.Head, sum.Type, sum.Block = sum.Head.plus(r.Head), sum.Type.plus(r.Type), sum.Block.plus(r.Block)
		sum.False, sum.Noise = sum.False+r.False, sum.Noise+r.Noise
		for kind, p := range r.Kinds {
			sum.Kinds[kind] = sum.Kinds[kind].plus(p)
		}
	}
	all := []measure{
		{name: "coverage", value: sum.Coverage.share(), bar: .92},
		{name: "front", value: sum.Front.share(), bar: .65},
		{name: "headline", value: sum.Head.share(), bar: .90},
		{name: "type", value: sum.Type.share(), bar: .88},
		{name: "block", value: sum.Block.share(), bar: .82},
	}
	for _, kind := range kinds {
		all = append(all, measure{name: kind, value: sum.Kinds[kind].share(), bar: .80})
	}
	return append(all,
		measure{name: "false", value: sum.False, bar: 1, most: true, count: true},
		measure{name: "noise", value: sum.Noise, bar: 2, most: true, count: true},
		measure{name: "right beside a prompt", value: s.asked("follow", "right"), bar: .70},
		measure{name: "false beside a prompt", value: s.asked("follow", "FALSE"), bar: .02, most: true},
		measure{name: "beside an unrelated prompt", value: s.asked("unrelated", "given"), bar: .03, most: true},
	)
}

// asked returns which share of the prompts of a kind had an outcome, in one memory of all
// cases.
func (s score) asked(kind, what string) float64 {
	var p pair
	for _, x := range s.Together {
		if x.Kind == kind {
			p[1]++
			if x.What == what {
				p[0]++
			}
		}
	}
	return p.share()
}

// bars returns the measures behind two that say whether anything was measured at all.
func (s score) bars() []measure {
	drained := 0.0
	for _, r := range s.Results {
		if r.Drained {
			drained++
		}
	}
	return append([]measure{
		{name: "cases played to the end", value: drained, bar: cases, count: true},
		{name: "prompts asked in one memory", value: float64(len(s.Together)), bar: 3 * cases, count: true},
	}, s.measures()...)
}

// told is what after_block.py wrote: how many follow-ups were asked after a start block in
// one memory of all cases, and how many of them the block or the line beside them answers.
type told struct {
	Asked float64 `json:"asked"`
	Told  float64 `json:"told"`
}

func (t told) bars() []measure {
	return []measure{
		{name: "follow-ups asked after a start block", value: t.Asked, bar: cases, count: true},
		{name: "told after a start block", value: pair{t.Told, t.Asked}.share(), bar: .75},
	}
}

// printBars prints a line per measure and reports whether all are met. A share of nothing is
// 0, so that a bar of what is at most allowed needs the bars of what was asked beside it.
func printBars(out io.Writer, all []measure) (met bool) {
	met = true
	for _, m := range all {
		verdict, side := "met", "at least"
		if !m.met() {
			verdict, met = "missed", false
		}
		if m.most {
			side = "at most"
		}
		_, _ = fmt.Fprintf(out, "bar %s: %s %s (%s %s)\n", verdict, m.name, m.figure(m.value, 1), side, m.figure(m.bar, 1))
	}
	return met
}
