package main

import (
	"fmt"
	"slices"
	"strings"

	"claudemem/proof/eval/plain"
)

// A figure is something measured, of all, of the even and of the odd names.
type figure struct {
	name  string
	value func(even, odd bool) string
}

// halves are the columns of the figures.
var halves = []struct {
	name      string
	even, odd bool
}{{"whole", true, true}, {"even", true, false}, {"odd", false, true}}

// A verdict is what a probe got, measured.
type verdict struct {
	probe
	// Shares of the label's words: in the prompt, in the talks, and of these in observations,
	// in observations and summaries, in observations and learnings, in all three, in these and
	// prompts, and in the fronts of observations.
	asked, said, observed, told, kept, summed, prompted, front float64
	// outcome is what the first line given beside the prompt is of: right, wrong, silent.
	outcome string
	// shown is the share of the label's words in the lines of the right talks, strange the
	// lines that are of another one.
	shown   float64
	strange int
	// current says of an amended decision what the lines are of: newer, both, older, other, silent.
	current string
	// ranks of the first talk with the answer, from 1; 0 for none: in what search finds, in plain
	// BM25 over the records, over the records with prompts, and over the talks.
	search, records, prompts, talks int
}

// answerable reports whether there is something to remember.
func (v *verdict) answerable() bool { return v.label != "" }

func (v *verdict) isWhole() bool { return v.kept >= whole }

// judged returns the verdicts of the probes of a set.
func judged(s set, r remembrance) []verdict {
	var byRecords, byPrompts, byTalk ranking
	for _, x := range r.records {
		if x.kind != "prompt" {
			byRecords.add(x.talk, x.text)
		}
		byPrompts.add(x.talk, x.text)
	}
	for _, t := range s.talks {
		byTalk.add(t.name, t.text())
	}
	for _, x := range []*ranking{&byRecords, &byPrompts, &byTalk} {
		x.index = plain.New(x.ids, x.texts)
	}
	all := make([]verdict, len(s.probes))
	for i, p := range s.probes {
		v := verdict{probe: p}
		said := make([]string, 0, len(p.gold))
		for _, t := range s.golden(p) {
			said = append(said, t.text())
		}
		share := func(part func(record) string) float64 {
			var texts []string
			for _, x := range r.records {
				if slices.Contains(p.gold, x.talk) {
					texts = append(texts, part(x))
				}
			}
			return wordShare(p.label, strings.Join(texts, "\n"))
		}
		of := func(kinds ...string) float64 {
			return share(func(x record) string {
				if slices.Contains(kinds, x.kind) {
					return x.text
				}
				return ""
			})
		}
		v.asked, v.said = wordShare(p.label, p.prompt), wordShare(p.label, strings.Join(said, "\n"))
		v.observed, v.told, v.kept = of("observation"), of("observation", "summary"), of("observation", "learning")
		v.summed, v.prompted = of("observation", "learning", "summary"), of("observation", "learning", "summary", "prompt")
		v.front = share(func(x record) string { return x.front })
		v.judgeLines(r.answers[i].given)
		v.search = v.rank(r.answers[i].found)
		v.records, v.prompts, v.talks = v.rank(byRecords.find(p.prompt)), v.rank(byPrompts.find(p.prompt)), v.rank(byTalk.find(p.prompt))
		all[i] = v
	}
	return all
}

// golden returns the talks that have what a probe wants.
func (s *set) golden(p probe) (talks []talk) {
	for _, t := range s.talks {
		if slices.Contains(p.gold, t.name) {
			talks = append(talks, t)
		}
	}
	return talks
}

// judgeLines judges what was given beside the prompt.
func (v *verdict) judgeLines(given []line) {
	var right []string
	newer, older := false, false
	for _, l := range given {
		switch {
		case slices.Contains(v.gold, l.talk):
			right, newer = append(right, l.text), true
		case slices.Contains(v.older, l.talk):
			older = true
			v.strange++
		default:
			v.strange++
		}
	}
	v.shown = wordShare(v.label, strings.Join(right, "\n"))
	switch {
	case len(given) == 0:
		v.outcome, v.current = "silent", "silent"
		return
	case newer && older:
		v.current = "both"
	case newer:
		v.current = "newer"
	case older:
		v.current = "older"
	default:
		v.current = "other"
	}
	v.outcome = "wrong"
	if slices.Contains(v.gold, given[0].talk) {
		v.outcome = "right"
	}
}

// rank returns the place of the first talk that has the answer, 0 for none. A talk of which
// several records are found has one place, that of the first.
func (v *verdict) rank(found []string) int {
	before := map[string]bool{}
	for _, name := range found {
		if slices.Contains(v.gold, name) {
			return len(before) + 1
		}
		before[name] = true
	}
	return 0
}

// A ranking is plain BM25 over texts; several may be of one talk.
type ranking struct {
	ids, texts []string
	index      *plain.Index
}

func (r *ranking) add(talk, text string) {
	r.ids, r.texts = append(r.ids, talk), append(r.texts, text)
}

func (r *ranking) find(query string) []string {
	return r.index.Search(query, depth, func(string) bool { return true })
}

// A volume is what the records of a talk are beside what was said.
type volume struct {
	name, subject  string
	said           int // words
	observations   int
	kept, summed   int // words of observations and learnings, and of summaries
	longest        int // words of the longest observation or learning
	longestSummary int
}

// volumes returns that of each talk.
func volumes(s set, r remembrance) []volume {
	all := make([]volume, len(s.talks))
	place := map[string]int{}
	for i, t := range s.talks {
		place[t.name] = i
		all[i] = volume{name: t.name, subject: t.subject}
		for _, x := range t.turns {
			all[i].said += size(x.Text)
		}
	}
	for _, x := range r.records {
		i, known := place[x.talk]
		if !known || x.kind == "prompt" {
			continue
		}
		v := &all[i]
		switch n := size(x.text); x.kind {
		case "summary":
			v.summed += n
			v.longestSummary = max(v.longestSummary, n)
		default:
			v.kept += n
			v.longest = max(v.longest, n)
			if x.kind == "observation" {
				v.observations++
			}
		}
	}
	return all
}

// table makes figures of a list whose items belong to a half by their names.
type table[T any] struct {
	items []T
	name  func(*T) string
}

// those returns the items of the halves that keep accepts; nil accepts all.
func (t table[T]) those(even, odd bool, keep func(*T) bool) (list []*T) {
	for i := range t.items {
		x := &t.items[i]
		if e := isEven(t.name(x)); (e && even || !e && odd) && (keep == nil || keep(x)) {
			list = append(list, x)
		}
	}
	return list
}

// count is how many items keep accepts.
func (t table[T]) count(name string, keep func(*T) bool) figure {
	return figure{name, func(even, odd bool) string { return fmt.Sprint(len(t.those(even, odd, keep))) }}
}

// share is which share of those that of accepts keep accepts too.
func (t table[T]) share(name string, of, keep func(*T) bool) figure {
	return t.mean(name, of, func(x *T) float64 {
		if keep(x) {
			return 100
		}
		return 0
	}, "%.1f %%")
}

// mean is the mean of a value over those that of accepts.
func (t table[T]) mean(name string, of func(*T) bool, value func(*T) float64, format string) figure {
	return figure{name, func(even, odd bool) string {
		list, sum := t.those(even, odd, of), 0.0
		if len(list) == 0 {
			return "–"
		}
		for _, x := range list {
			sum += value(x)
		}
		return fmt.Sprintf(format, sum/float64(len(list)))
	}}
}

// ratio is the sum of one value over that of another, in per cent.
func (t table[T]) ratio(name string, of func(*T) bool, part, all func(*T) int) figure {
	return figure{name, func(even, odd bool) string {
		p, a := 0, 0
		for _, x := range t.those(even, odd, of) {
			p, a = p+part(x), a+all(x)
		}
		if a == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(p)/float64(a))
	}}
}

// most is the largest value.
func (t table[T]) most(name string, of func(*T) bool, value func(*T) int) figure {
	return figure{name, func(even, odd bool) string {
		largest := 0
		for _, x := range t.those(even, odd, of) {
			largest = max(largest, value(x))
		}
		return fmt.Sprint(largest)
	}}
}
