package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"claudemem/proof/eval/relevance"
)

// The bars of recall at prompts, of the issue that asked for it: what share of
// prompts that the memory has nothing on may get anything, what share of what is
// given must hold a relevant record, and what share of the prompts that the memory
// has something on must get it.
const (
	barAnything  = 0.05
	barElsewhere = 0.03 // with a memory of other people's work
	barPrecision = 0.60
	barReach     = 0.40
	// Those of each set whose questions have a date, where the session knows files.
	barPrecisionDated = 0.75
	barReachDated     = 0.45
	// barRecords is how many records a memory must have for the bars to say something.
	barRecords = 1000
)

// otherSets are those whose queries do not resemble what is typed to a coding agent:
// conversations and papers. The bars are for all others, whatever their names.
var otherSets = []string{"cacm", "locomo-session", "locomo-turn", "realtalk-turn"}

// codingSets reads all sets of a folder but the others, which it names on out.
func codingSets(out io.Writer, data string) (sets []*set, err error) {
	names, err := relevance.Sets(data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.Contains(otherSets, name) {
			_, _ = fmt.Fprintln(out, "left out, since nobody types its questions to a coding agent:", name)
			continue
		}
		s, err := readSet(filepath.Join(data, name))
		if err != nil {
			return nil, fmt.Errorf("read set %s: %w", name, err)
		}
		sets = append(sets, s)
	}
	if len(sets) < 2 {
		return nil, errors.New("recall needs two sets of coding at least: name their folder by -data or EVAL_DATA")
	}
	return sets, nil
}

// namesOf returns the names of sets.
func namesOf(sets []*set) (names []string) {
	for _, s := range sets {
		names = append(names, s.name)
	}
	return names
}

// recallResult is how recall did with a set.
type recallResult struct {
	name string
	// elsewhere is with a memory of the other sets, of which the smallest had so many
	// records; home with that of its own, gone with its own without what is relevant.
	elsewhere, home, gone []exchange
	records               int
	// dated says that the prompts have a time and the sessions files.
	dated bool
}

// evaluateRecall measures recall at prompts through a worker and reports whether
// the bars are met.
func evaluateRecall(ctx context.Context, out io.Writer, data, only string) (met bool, err error) {
	start := time.Now()
	var took pace
	sets, err := codingSets(out, data)
	if err != nil {
		return false, err
	}
	if _, err := chosen(namesOf(sets), only); err != nil {
		return false, err
	}
	var results []recallResult
	printRecallHead(out)
	for _, s := range sets {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		r, err := s.measureRecall(ctx, slices.DeleteFunc(slices.Clone(sets), func(o *set) bool { return o == s }), &took)
		if err != nil {
			return false, fmt.Errorf("measure recall with %s: %w", s.name, err)
		}
		printRecall(out, r)
		results = append(results, r)
	}
	records, prompts, err := readOwn()
	if err != nil {
		return false, err
	}
	answers, err := postOwn(ctx, records, prompts, fill, &took)
	if err != nil {
		return false, fmt.Errorf("measure recall with our own prompts: %w", err)
	}
	printOwn(out, answers)
	printUnfitted(out, results, answers)
	met = printRecallBars(out, results, answers)
	printThresholds(out, results, answers)
	var all []exchange
	for _, r := range results {
		all = slices.Concat(all, r.elsewhere, r.home, r.gone)
	}
	for _, a := range answers {
		all = append(all, a.exchange)
	}
	silent, talkative := differing(all)
	median, longest := took.of()
	_, _ = fmt.Fprintf(out, "\nat %d of %d prompts the worker was silent where the gate alone is not, at %d it is the other way round\n"+
		"answers took %.0f ms in the median, %.0f ms at most; all took %.0f s\n",
		silent, len(all), talkative, ms(median), ms(longest), time.Since(start).Seconds())
	return met, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (s *set) measureRecall(ctx context.Context, others []*set, took *pace) (r recallResult, err error) {
	r.name = s.name
	r.dated = s.dated()
	if r.elsewhere, r.records, err = s.elsewhere(ctx, others, took); err != nil {
		return r, fmt.Errorf("other sets' memory: %w", err)
	}
	if r.home, err = s.athome(ctx, false, maxAsked, took); err != nil {
		return r, fmt.Errorf("own memory: %w", err)
	}
	if r.gone, err = s.athome(ctx, true, maxAsked, took); err != nil {
		return r, fmt.Errorf("own memory without what is relevant: %w", err)
	}
	return r, nil
}

const recallLine = "%-16s %-22s %7s %6s %6s %9s %10s %7s %6s\n"

func printRecallHead(out io.Writer) {
	_, _ = fmt.Fprintf(out, recallLine, "recall", "memory", "prompts", "given", "right", "anything", "precision", "reach", "lines")
}

func printTally(out io.Writer, name, memory string, t tally, relevant bool) {
	right, precision, reach := "", "", ""
	if relevant {
		right, precision, reach = strconv.Itoa(t.right), part(t.precision()), part(t.reach())
	}
	_, _ = fmt.Fprintf(out, recallLine, name, memory, strconv.Itoa(t.prompts), strconv.Itoa(t.given), right,
		part(t.anything()), precision, reach, strconv.FormatFloat(share(t.lines, t.given), 'f', 2, 64))
}

func printRecall(out io.Writer, r recallResult) {
	printTally(out, r.name, "other sets, "+strconv.Itoa(r.records), tallyOf(r.elsewhere), false)
	printTally(out, "", "its own", tallyOf(r.home), true)
	printTally(out, "", "without the relevant", tallyOf(r.gone), false)
}

// ownTallies are those of our own prompts, by category and of all.
func ownTallies(answers []answered) (related, unrelated map[string]tally) {
	related, unrelated = map[string]tally{}, map[string]tally{}
	for i := range answers {
		a := &answers[i]
		into := unrelated
		if a.related() {
			into = related
		}
		for _, name := range []string{a.Category, overall} {
			t := into[name]
			t.add(count(a.lines, a.fits))
			into[name] = t
		}
	}
	return related, unrelated
}

// overall is what a sum over categories is called.
const overall = "all"

func printOwn(out io.Writer, answers []answered) {
	related, unrelated := ownTallies(answers)
	for _, of := range []struct {
		name string
		by   map[string]tally
	}{{"related", related}, {"unrelated", unrelated}} {
		for _, category := range slices.Sorted(maps.Keys(of.by)) {
			if category != overall {
				printTally(out, of.name, category, of.by[category], of.name == "related")
			}
		}
		printTally(out, of.name, overall, of.by[overall], of.name == "related")
	}
}

// printRecallBars prints what was to be reached, and reports whether it was.
func printRecallBars(out io.Writer, results []recallResult, answers []answered) (met bool) {
	met = true
	bar := func(ok bool, format string, args ...any) {
		word := "met   "
		if !ok {
			word, met = "missed", false
		}
		_, _ = fmt.Fprintf(out, "bar "+word+" "+format+"\n", args...)
	}
	_, _ = fmt.Fprintln(out)
	var home []exchange
	for _, r := range results {
		elsewhere := tallyOf(r.elsewhere).anything()
		bar(elsewhere <= barElsewhere, "%s: %.1f %% of prompts get anything from the other sets, at most %.0f %%", r.name, 100*elsewhere, 100*barElsewhere)
		bar(r.records >= barRecords, "%s: %d records in that memory, at least %d", r.name, r.records, barRecords)
		home = append(home, r.home...)
		if h := tallyOf(r.home); r.dated {
			bar(h.precision() >= barPrecisionDated, "%s: %.1f %% of what is given holds a relevant record, at least %.0f %%", r.name, 100*h.precision(), 100*barPrecisionDated)
			bar(h.reach() >= barReachDated, "%s: %.1f %% of prompts with a relevant record get it, at least %.0f %%", r.name, 100*h.reach(), 100*barReachDated)
		}
	}
	related, unrelated := ownTallies(answers)
	own, typed := related[overall], related[overall]
	typed.add(unrelated[overall])
	give := func(name string, all, about tally) {
		bar(all.precision() >= barPrecision, "%s: %.1f %% of what is given holds a relevant record, at least %.0f %%", name, 100*all.precision(), 100*barPrecision)
		bar(about.reach() >= barReach, "%s: %.1f %% of prompts with a relevant record get it, at least %.0f %%", name, 100*about.reach(), 100*barReach)
	}
	if len(results) > 0 {
		give("own corpora", tallyOf(home), tallyOf(home))
	}
	give("own prompts", typed, own)
	bar(unrelated[overall].anything() <= barAnything, "own prompts: %.1f %% of the unrelated get anything, at most %.0f %%", 100*unrelated[overall].anything(), 100*barAnything)
	return met
}
