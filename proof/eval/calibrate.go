package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"claudemem/internal/find/recall/gate"
	"claudemem/internal/memory"
)

// What the threshold of the gate at prompts is chosen by, on the half of the queries
// that the weights are fitted to: the share of prompts that get something though the
// memory has nothing on them. Below the bars by a margin, since the other half and
// every other memory differ.
const (
	calibratedElsewhere = 0.02 // of the coding sets' queries with another memory, on average
	calibratedUnrelated = 0.05 // of our own unrelated prompts, most of which are hard on purpose
	// thresholdStep is how finely thresholds are tried, furtherStep how much less the
	// second and third line need than the first.
	thresholdStep = 0.05
	furtherStep   = 1.0
	// thresholdMargin is added to the lowest that will do: half of 300 prompts is few.
	thresholdMargin = 0.1
)

// Long prompts: whole records of a set, half of them several in a row, that are
// posted to a memory which has nothing on them. People paste; the queries of the
// sets are short.
const (
	longPrompts  = 80
	longTogether = 6
)

// verdict is what recall had to decide over at one prompt, and what was right.
type verdict struct {
	set   string
	home  bool // the memory is that of the prompt's own corpus
	about bool // and has something on it
	found []memory.Related
	right []bool
	fit   bool // it is of the half that is fitted to
}

// calibrate fits the gate at prompts to half of the coding sets' queries and of our
// own prompts, as the worker finds records for them, prints how it does on the other
// half, and writes the calibration to a file. The gate of a session at work has the sum of
// this one among its measures: it is fitted after that (calibrateWork).
func calibrate(ctx context.Context, out io.Writer, data, only, file string) error {
	verdicts, names, err := verdictsOf(ctx, data, only)
	if err != nil {
		return err
	}
	weights, bias := fitGate(verdicts)
	c := gate.Calibration{
		Calibrated: time.Now().UTC().Format(time.DateOnly),
		Source:     "go run ./proof/eval -calibrate: half of the queries of " + strings.Join(names, ", "),
		Prompt:     gate.Model{Bias: round(bias), Weights: map[string]float64{}},
		Work:       gate.Calibrated().Work,
	}
	if _, work, ok := strings.Cut(gate.Calibrated().Source, sourceOfWork); ok {
		c.Source += sourceOfWork + work
	}
	for i, name := range gate.Measures() {
		c.Prompt.Weights[name] = round(weights[i])
	}
	for _, open := range thresholds() {
		m, err := withThreshold(c, open)
		if err != nil {
			return err
		}
		if passesUnrelated(m, verdicts) {
			if c, err = withThreshold(c, round(open+thresholdMargin)); err != nil {
				return err
			}
			break
		}
	}
	if err := printCurve(out, c, verdicts, names); err != nil {
		return err
	}
	return writeCalibration(out, c, file)
}

// writeCalibration writes a calibration to a file, and prints it.
func writeCalibration(out io.Writer, c gate.Calibration, file string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", text)
	return os.WriteFile(file, append(text, '\n'), 0o644) //nolint:gosec // a source file
}

func round(v float64) float64 { return math.Round(v*100) / 100 }

// thresholds are those that are tried, the lowest first.
func thresholds() []float64 {
	var list []float64
	for t := -3.0; t <= 3; t += thresholdStep {
		list = append(list, round(t))
	}
	return list
}

// withThreshold is a calibration with another threshold at prompts.
func withThreshold(c gate.Calibration, open float64) (gate.Calibration, error) {
	c.Prompt.Open, c.Prompt.Further = open, round(open-furtherStep)
	return reread(c)
}

// reread is the calibration as the product reads it from its file.
func reread(c gate.Calibration) (gate.Calibration, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	return gate.ReadCalibration(text)
}

// pickedSets reads all coding sets and returns them with the names of those that only asks
// for.
func pickedSets(data, only string) (sets []*set, picked []string, err error) {
	if sets, err = codingSets(os.Stderr, data); err != nil {
		return nil, nil, err
	}
	picked, err = chosen(namesOf(sets), only)
	return sets, picked, err
}

// verdictsOf posts everything to workers: each set's queries to its own memory,
// with visitors among them, and to that of the other sets, with long prompts among
// them, and some to one of all sets.
func verdictsOf(ctx context.Context, data, only string) (all []verdict, names []string, err error) {
	sets, picked, err := pickedSets(data, only)
	if err != nil {
		return nil, nil, err
	}
	sets = slices.DeleteFunc(sets, func(s *set) bool { return !slices.Contains(picked, s.name) })
	if len(sets) < 2 {
		return nil, nil, errors.New("the gate is calibrated with two sets of coding at least")
	}
	records, prompts, err := readOwn()
	if err != nil {
		return nil, nil, err
	}
	var took pace
	add := func(set string, home bool, exchanges ...exchange) {
		for _, x := range exchanges {
			all = append(all, verdict{set: set, home: home, about: home, found: x.found, right: x.right, fit: fitted(x.text)})
		}
	}
	for _, s := range sets {
		names = append(names, s.name)
		_, _ = fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), s.name)
		others := slices.DeleteFunc(slices.Clone(sets), func(o *set) bool { return o == s })
		visited, from := s.withVisitors(others, prompts, maxAsked-visitors, visitors)
		home, err := visited.athome(ctx, false, maxAsked, &took)
		if err != nil {
			return nil, nil, fmt.Errorf("own memory of %s: %w", s.name, err)
		}
		for _, x := range home {
			if set, ok := from[x.text]; ok {
				add(set, false, x)
			} else {
				add(s.name, true, x)
			}
		}
		elsewhere, _, err := s.withLong().elsewhere(ctx, others, &took)
		if err != nil {
			return nil, nil, fmt.Errorf("other sets' memory for %s: %w", s.name, err)
		}
		add(s.name, false, elsewhere...)
	}
	_, _ = fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), "together")
	scene, from := together(sets)
	exchanges, err := scene.run(ctx, &took)
	if err != nil {
		return nil, nil, fmt.Errorf("all sets' memory: %w", err)
	}
	for _, x := range exchanges {
		add(from[x.text], true, x)
	}
	answers, err := postOwn(ctx, records, prompts, fill, &took)
	if err != nil {
		return nil, nil, fmt.Errorf("our own prompts: %w", err)
	}
	for i := range answers {
		a := &answers[i]
		all = append(all, verdict{set: ownPrompts, home: true, about: a.related(), found: a.found, right: a.right, fit: fitted(a.text)})
	}
	return all, append(names, ownPrompts), nil
}

// visitors is how many prompts of others are posted to a set's own memory. A large
// memory of many programs alone would teach that what is large is about nothing.
const visitors = 160

// withVisitors is the set with at most so many of its queries and with at most so many
// of other sets and of our own prompts, posted to its corpora of other programs, and tells
// which texts they are and where from.
func (s *set) withVisitors(others []*set, prompts []prompt, most, visitors int) (with *set, from map[string]string) {
	own := sample(s.queries, most)
	from = map[string]string{}
	at := map[string]bool{}
	for _, q := range s.queries {
		at[q.Text] = true
	}
	var corpora []string
	for i := range s.documents {
		if c := s.documents[i].Corpus; !slices.Contains(corpora, c) {
			corpora = append(corpora, c)
		}
	}
	queries := slices.Clone(own)
	visit := func(set string, q query, n int) {
		fits := slices.DeleteFunc(slices.Clone(corpora), func(c string) bool { return software(c) == software(q.Corpus) })
		if at[q.Text] || len(fits) == 0 {
			return
		}
		at[q.Text], from[q.Text] = true, set
		// Asked when and beside the files where one of the set's own was, so that the memory
		// has something by then and files alone say nothing.
		beside := own[n%len(own)]
		queries = append(queries, query{ID: "visitor/" + q.ID, Text: q.Text, Corpus: fits[n%len(fits)], Before: beside.Before, Exclude: beside.Exclude})
	}
	each := visitors / (len(others) + 1)
	for _, o := range others {
		for n, q := range sample(o.queries, each) {
			visit(o.name, q, n)
		}
	}
	for n := range min(each, len(prompts)) {
		p := &prompts[n*len(prompts)/each%len(prompts)]
		visit(ownPrompts, query{ID: p.ID, Text: p.Text, Corpus: p.Project}, n)
	}
	return &set{name: s.name, documents: s.documents, queries: queries}, from
}

// together is a memory of all sets in one project with queries of each: what is about
// something in a large memory of many programs. Of a program that two sets have the
// first has it, and sets whose queries are dated give documents only.
func together(sets []*set) (p scene, from map[string]string) {
	const project = "/eval/together"
	p = scene{about: true, project: func(string) string { return project }}
	from = map[string]string{}
	var before []*set
	for _, s := range sets {
		for _, d := range s.documents {
			if !slices.ContainsFunc(before, func(o *set) bool { return o.holds(software(d.Corpus)) }) {
				p.documents = append(p.documents, d)
			}
		}
		for _, q := range sample(s.queries, visitors) {
			known := from[q.Text] != "" || slices.ContainsFunc(before, func(o *set) bool { return o.holds(software(q.Corpus)) })
			if q.Before == "" && !known {
				from[q.Text] = s.name
				p.queries = append(p.queries, q)
			}
		}
		before = append(before, s)
	}
	return p, from
}

// ownPrompts is what our own labelled prompts are called beside the sets.
const ownPrompts = "own prompts"

// fitted divides the prompts in two by their text.
func fitted(text string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum32()>>7&1 == 0
}

// withLong is the set with fewer of its queries and with long prompts.
func (s *set) withLong() *set {
	rank := func(d document) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(d.ID)) // never fails
		return h.Sum64()
	}
	sorted := slices.Clone(s.documents)
	slices.SortStableFunc(sorted, func(a, b document) int { return cmp.Compare(rank(a), rank(b)) })
	queries := slices.Clone(sample(s.queries, maxAsked-longPrompts))
	for i := 0; i < longPrompts && (i+1)*longTogether <= len(sorted); i++ {
		part := sorted[i*longTogether : (i+1)*longTogether]
		text := part[0].Text
		if i%2 == 1 {
			for _, d := range part[1:] {
				text += "\n" + d.Text
			}
		}
		queries = append(queries, query{ID: "long/" + part[0].ID, Corpus: part[0].Corpus, Text: text})
	}
	return &set{name: s.name, documents: s.documents, queries: queries}
}

// fitGate fits the weights. Every set weighs the same, and so do its queries with
// their own memory and with another.
func fitGate(verdicts []verdict) (weights []float64, bias float64) {
	const considered = 3 // of each prompt; what is below is hardly ever relevant, or given
	return fitTo(len(gate.Measures()), verdicts, func(v verdict) (group string, rows [][]float64) {
		if !v.fit {
			return "", nil
		}
		rows = gate.Measure(v.found)
		return fmt.Sprint(v.set, v.home), rows[:min(len(rows), considered)]
	}, nil)
}

// fitTo fits the weights of a number of measures. For each prompt, measure returns its group
// and the measures of the records that were found. A group weighs 1, or what weigh has for it.
func fitTo(measures int, verdicts []verdict, measure func(verdict) (group string, rows [][]float64), weigh map[string]float64) (weights []float64, bias float64) {
	var rows [][]float64
	var labels []bool
	var groups []string
	sizes := map[string]float64{}
	for _, v := range verdicts {
		group, measured := measure(v)
		for i, row := range measured {
			if row != nil {
				rows, labels, groups = append(rows, row), append(labels, v.right[i]), append(groups, group)
				sizes[group]++
			}
		}
	}
	shares := make([]float64, len(rows))
	for i, g := range groups {
		shares[i] = groupWeight / sizes[g]
		if w, ok := weigh[g]; ok {
			shares[i] *= w
		}
	}
	return fitLogistic(measures, rows, labels, shares)
}

// groupWeight is what the rows of a group weigh together, beside a ridge of 1.
const groupWeight = 1000

// passesUnrelated tells whether a calibration is silent enough where nothing is relevant,
// on the half that was fitted to.
func passesUnrelated(c gate.Calibration, verdicts []verdict) bool {
	mean, sets, unrelated := 0.0, 0.0, 0.0
	for set, t := range tallies(c, verdicts, true) {
		if set == ownPrompts {
			unrelated = t.silent.anything()
			continue
		}
		mean += t.elsewhere.anything()
		sets++
	}
	return mean <= calibratedElsewhere*sets && unrelated <= calibratedUnrelated
}

// outcome is how a calibration does with a set: with another memory, with its own where
// something is relevant, with its own where nothing is.
type outcome struct{ elsewhere, home, silent tally }

// tallies lets a calibration decide over one half of the verdicts.
func tallies(c gate.Calibration, verdicts []verdict, fit bool) map[string]outcome {
	by := map[string]outcome{}
	for _, v := range verdicts {
		if v.fit != fit {
			continue
		}
		t := judged(c.Choose(v.found, nil), v.found, v.right)
		o := by[v.set]
		switch {
		case !v.home:
			o.elsewhere.add(t)
		case v.about:
			o.home.add(t)
		default:
			o.silent.add(t)
		}
		by[v.set] = o
	}
	return by
}

// printCurve prints for thresholds around the chosen one, and for that one by set,
// how the half does that nothing was fitted to.
func printCurve(out io.Writer, c gate.Calibration, verdicts []verdict, names []string) error {
	const line = "%9s %-16s %10s %10s %9s %7s %6s\n"
	row := func(threshold, set string, o outcome) {
		silent := part(o.elsewhere.anything())
		if o.silent.prompts > 0 {
			silent = part(o.silent.anything())
		}
		_, _ = fmt.Fprintf(out, line, threshold, set, silent, part(share(o.home.given, o.home.prompts)),
			part(o.home.precision()), part(o.home.reach()), fmt.Sprintf("%.2f", share(o.home.lines, o.home.given)))
	}
	_, _ = fmt.Fprintf(out, line, "threshold", "set", "unrelated", "related", "precision", "reach", "lines")
	for _, step := range []float64{-.8, -.6, -.4, -.2, 0, .2, .4, .6, .8, 1.2} {
		m, err := withThreshold(c, round(c.Prompt.Open+step))
		if err != nil {
			return err
		}
		by := tallies(m, verdicts, false)
		var all outcome
		for _, name := range names {
			if name == ownPrompts {
				continue
			}
			o := by[name]
			all.elsewhere.add(o.elsewhere)
			all.home.add(o.home)
		}
		threshold := fmt.Sprintf("%.2f", m.Prompt.Open)
		row(threshold, "coding sets", all)
		row("", ownPrompts, by[ownPrompts])
		if step == 0 {
			for _, name := range names {
				if name != ownPrompts {
					row("", name, by[name])
				}
			}
		}
	}
	return nil
}

// fitLogistic fits a logistic regression with a ridge of 1 on the weights, not on the
// bias, by Newton's method; shares are what the rows count.
func fitLogistic(measures int, rows [][]float64, labels []bool, shares []float64) (weights []float64, bias float64) {
	if len(rows) == 0 {
		return make([]float64, measures), 0
	}
	n := len(rows[0]) + 1 // the bias is the last
	beta := make([]float64, n)
	x := make([]float64, n)
	for range 50 {
		system := make([][]float64, n)
		for i := range system {
			system[i] = make([]float64, n+1)
			if i < n-1 {
				system[i][i], system[i][n] = 1, -beta[i]
			}
		}
		for r, row := range rows {
			copy(x, row)
			x[n-1] = 1
			sum, label := 0.0, 0.0
			for i := range x {
				sum += beta[i] * x[i]
			}
			if labels[r] {
				label = 1
			}
			p := 1 / (1 + math.Exp(-sum))
			for i := range x {
				system[i][n] += shares[r] * (label - p) * x[i]
				for j := range x {
					system[i][j] += shares[r] * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		step := solve(system)
		moved := 0.0
		for i := range beta {
			beta[i] += step[i]
			moved += math.Abs(step[i])
		}
		if !(moved > 1e-9) {
			break
		}
	}
	return beta[:n-1], beta[n-1]
}

// solve solves a system of linear equations, a row each with the right side last, by
// elimination; what it does not determine is 0.
func solve(system [][]float64) []float64 {
	n := len(system)
	for i := range n {
		pivot := i
		for r := i; r < n; r++ {
			if math.Abs(system[r][i]) > math.Abs(system[pivot][i]) {
				pivot = r
			}
		}
		system[i], system[pivot] = system[pivot], system[i]
		if math.Abs(system[i][i]) < 1e-12 {
			continue
		}
		for r := range n {
			if r == i {
				continue
			}
			factor := system[r][i] / system[i][i]
			for c := i; c <= n; c++ {
				system[r][c] -= factor * system[i][c]
			}
		}
	}
	solution := make([]float64, n)
	for i := range n {
		if math.Abs(system[i][i]) >= 1e-12 {
			solution[i] = system[i][n] / system[i][i]
		}
	}
	return solution
}
