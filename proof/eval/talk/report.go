package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// printFigures prints a line for each figure, with a column for each half.
func printFigures(out io.Writer, title string, figures []figure) {
	fmt.Fprintf(out, "\n%-64s", title)
	for _, h := range halves {
		fmt.Fprintf(out, " %8s", h.name)
	}
	fmt.Fprintln(out)
	for _, f := range figures {
		fmt.Fprintf(out, "  %-62s", f.name)
		for _, h := range halves {
			fmt.Fprintf(out, " %8s", f.value(h.even, h.odd))
		}
		fmt.Fprintln(out)
	}
}

// bar is what a figure of all names must at least or at most be.
type bar struct {
	name  string
	least bool
	limit float64
}

var decisionBars = []bar{
	{"their words in observations and learnings", true, .75},
	{"whole (.8 of the words) in observations and learnings", true, 15},
	{"of these whole in titles, subtitles and first facts", true, 15},
	{"right at the bug report", true, 20},
	{"wrong at the bug report", false, 1},
	{"amended: newer", true, 6},
	{"observations a decoy", false, .3},
	{"words of observations and learnings, of those of a decision", false, 15},
	{"words of the longest observation or learning", false, 120},
}

var questionBars = []bar{
	{"its words in observations and learnings", true, .45},
	{"search hit@1", true, 68},
	{"search hit@5", true, 95},
}

// printBars prints a line for each bar, and reports whether all are met. A bar whose figure is not
// there is missed.
func printBars(out io.Writer, title string, figures []figure, bars []bar) bool {
	all := true
	for _, b := range bars {
		value, met := "nothing measured", false
		if i := slices.IndexFunc(figures, func(f figure) bool { return f.name == b.name }); i >= 0 {
			value = figures[i].value(true, true)
			if n, err := strconv.ParseFloat(strings.TrimSuffix(value, " %"), 64); err == nil {
				met = b.least && n >= b.limit || !b.least && n <= b.limit
			}
		}
		word, than := "missed", "at most"
		if met {
			word = "met"
		}
		if b.least {
			than = "at least"
		}
		fmt.Fprintf(out, "bar %s: %s: %s: %s, %s %v\n", word, title, b.name, value, than, b.limit)
		all = all && met
	}
	return all
}

func verdicts(all []verdict) table[verdict] {
	return table[verdict]{all, func(v *verdict) string { return v.name }}
}

// wordsIn are the shares of a label's words, of probes that have one.
func wordsIn(t table[verdict], of string) []figure {
	mean := func(name string, value func(v *verdict) float64) figure {
		return t.mean(of+" words in "+name, (*verdict).answerable, value, "%.2f")
	}
	return []figure{
		mean("the prompt", func(v *verdict) float64 { return v.asked }),
		mean("the talk", func(v *verdict) float64 { return v.said }),
		mean("observations", func(v *verdict) float64 { return v.observed }),
		mean("observations and summaries", func(v *verdict) float64 { return v.told }),
		mean("observations and learnings", func(v *verdict) float64 { return v.kept }),
		mean("all three", func(v *verdict) float64 { return v.summed }),
		mean("all three and prompts", func(v *verdict) float64 { return v.prompted }),
		mean("the lines shown", func(v *verdict) float64 { return v.shown }),
	}
}

// outcomes are how many probes got what beside their prompt.
func outcomes(t table[verdict], at string) []figure {
	outcome := func(what string) figure {
		return t.count(what+" "+at, func(v *verdict) bool { return v.answerable() && v.outcome == what })
	}
	return []figure{
		outcome("right"),
		t.count("right, and whole in the lines shown", func(v *verdict) bool { return v.outcome == "right" && v.shown >= whole }),
		outcome("silent"),
		outcome("wrong"),
		t.count("with a line of another talk beside the right one", func(v *verdict) bool { return v.outcome == "right" && v.strange > 0 }),
	}
}

// decisionFigures are those of sde-bench.
func decisionFigures(decided, amended []verdict, talks []volume) []figure {
	d, a := verdicts(decided), verdicts(amended)
	v := table[volume]{talks, func(v *volume) string { return v.name }}
	decision := func(v *volume) bool { return v.subject != "" }
	decoy := func(v *volume) bool { return v.subject == "" }
	current := func(what string) figure {
		return a.count("amended: "+what, func(v *verdict) bool { return v.current == what })
	}
	all := []figure{d.count("decisions", nil)}
	all = append(all, wordsIn(d, "their")...)
	all = append(all,
		d.count("whole (.8 of the words) in observations and learnings", (*verdict).isWhole),
		d.count("of these whole in titles, subtitles and first facts", func(v *verdict) bool { return v.isWhole() && v.front >= whole }))
	all = append(all, outcomes(d, "at the bug report")...)
	all = append(all, searchFigures(d)...)
	all = append(all, a.count("amended decisions", nil), current("newer"),
		a.count("amended: newer, and whole in the lines shown", func(v *verdict) bool { return v.current == "newer" && v.shown >= whole }))
	for _, what := range []string{"both", "older", "other", "silent"} {
		all = append(all, current(what))
	}
	return append(all,
		v.count("talks with a decision", decision), v.count("decoys", decoy),
		v.mean("observations a talk with a decision", decision, observations, "%.2f"),
		v.mean("observations a decoy", decoy, observations, "%.2f"),
		v.ratio("words of observations and learnings, of those of a decision", decision, keptWords, saidWords),
		v.ratio("the same of decoys", decoy, keptWords, saidWords),
		v.ratio("words of summaries, of all said", nil, func(v *volume) int { return v.summed }, saidWords),
		v.most("largest share of a talk with a decision, in per cent", decision, func(v *volume) int { return 100 * v.kept / max(v.said, 1) }),
		v.most("words of the longest observation or learning", nil, func(v *volume) int { return v.longest }),
		v.most("words of the longest summary", nil, func(v *volume) int { return v.longestSummary }))
}

func observations(v *volume) float64 { return float64(v.observations) }
func keptWords(v *volume) int        { return v.kept }
func saidWords(v *volume) int        { return v.said }

// questionFigures are those of DevMemBench.
func questionFigures(questions []verdict, talks []volume) []figure {
	q := verdicts(questions)
	v := table[volume]{talks, func(v *volume) string { return v.name }}
	none := func(v *verdict) bool { return !v.answerable() }
	all := []figure{q.count("questions with an answer", (*verdict).answerable)}
	all = append(all, wordsIn(q, "its")...)
	all = append(all, searchFigures(q)...)
	all = append(all, outcomes(q, "at the question")...)
	return append(all,
		q.count("questions without an answer", none),
		q.count("of these given something", func(v *verdict) bool { return none(v) && v.outcome != "silent" }),
		v.mean("observations a session", nil, observations, "%.2f"),
		v.ratio("words of observations and learnings, of all said", nil, keptWords, saidWords),
		v.most("words of the longest observation or learning", nil, func(v *volume) int { return v.longest }))
}

// searchFigures are how well the right talk is found, beside plain BM25.
func searchFigures(t table[verdict]) (all []figure) {
	for _, by := range []struct {
		name string
		rank func(v *verdict) int
	}{
		{"search", func(v *verdict) int { return v.search }},
		{"BM25 over records", func(v *verdict) int { return v.records }},
		{"BM25 over records and prompts", func(v *verdict) int { return v.prompts }},
		{"BM25 over the raw talks", func(v *verdict) int { return v.talks }},
	} {
		for _, k := range []int{1, 5} {
			all = append(all, t.share(fmt.Sprintf("%s hit@%d", by.name, k), (*verdict).answerable, func(v *verdict) bool { return by.rank(v) > 0 && by.rank(v) <= k }))
		}
	}
	return all
}

// show prints each probe with what its talks say, what was kept of them, and the verdict.
func show(out io.Writer, s set, r remembrance, all []verdict, wanted func(name string) bool) {
	for i, v := range all {
		if !wanted(v.name) {
			continue
		}
		fmt.Fprintf(out, "\n=== %s\nprompt: %s\n", v.name, v.prompt)
		if v.answerable() {
			fmt.Fprintf(out, "wanted: %s\nwords: %s\n", v.label, strings.Join(contentWords(v.label), " "))
			fmt.Fprintln(out, "said:")
			for _, k := range keySentences(v.label, s.golden(v.probe)) {
				fmt.Fprintln(out, "  "+k)
			}
			fmt.Fprintln(out, "kept:")
		}
		showRecords(out, r, func(x record) bool {
			return x.kind != "prompt" && (slices.Contains(v.gold, x.talk) || slices.Contains(v.older, x.talk))
		})
		fmt.Fprintln(out, "given:")
		for _, l := range r.answers[i].given {
			fmt.Fprintf(out, "  of %s: %s\n", l.talk, l.text)
		}
		fmt.Fprintf(out, "%s; words: prompt %.2f, talk %.2f, observations %.2f, with learnings %.2f, with summaries %.2f, fronts %.2f, lines %.2f; first found: %d\n",
			v.outcome, v.asked, v.said, v.observed, v.kept, v.summed, v.front, v.shown, v.search)
	}
}

// showDecoys prints the observations of talks in which nothing was decided.
func showDecoys(out io.Writer, s set, r remembrance, wanted func(name string) bool) {
	for _, t := range s.talks {
		if t.subject == "" && wanted(t.name) {
			showRecords(out, r, func(x record) bool { return x.kind == "observation" && x.talk == t.name })
		}
	}
}

func showRecords(out io.Writer, r remembrance, wanted func(record) bool) {
	for _, x := range r.records {
		if wanted(x) {
			fmt.Fprintf(out, "  %s of %s: %s\n", x.kind, x.talk, strings.ReplaceAll(x.text, "\n", "\n    "))
		}
	}
}
