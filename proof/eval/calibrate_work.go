package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"claudemem/internal/find/recall/gate"
)

const (
	// workVisitors is how many prompts about other programs are posted to the memory of a
	// set, beside the files of one of its sessions. Four of five are not decided by the gate
	// of a session at work, since none of the records found has one of the files.
	workVisitors = 600
	// setWeight is what the prompts of a set count in the fit, visitorsWeight those of all
	// visitors: times groupWeight.
	setWeight, visitorsWeight = 2.0, 1.0
	// calibratedVisitors is the share of the visitors that may get something, of those that
	// the gate of a session at work decides on. The threshold is two steps above the lowest at
	// which it is kept.
	calibratedVisitors = 0.04
	// workFurtherStep is how much less the second and third line need than the first. Where
	// many records are about the same files, one of the best three is meant for three of five
	// prompts, the very best for two.
	workFurtherStep = 4
)

// sourceOfWork stands in a calibration's source before that of the gate of a session at work.
const sourceOfWork = "; at work: "

// visitorsGroup has the prompts of all visitors.
const visitorsGroup = "visitors"

// calibrateWork fits the gate of a session at work. The prompts are the queries of all sets
// that have dates: each is posted to its set's memory as of then, by a session that knows half
// of the files of the commit that the query was made from. It prints how each half of the
// prompts is decided with weights fitted to the other half. It writes a calibration with
// weights fitted to all prompts; the model of other prompts is left as it is.
func calibrateWork(ctx context.Context, out io.Writer, data, only, file string) error {
	verdicts, names, err := workVerdicts(ctx, data, only)
	if err != nil {
		return err
	}
	if len(names) == 0 || !slices.ContainsFunc(verdicts, func(v verdict) bool { return !v.home }) {
		return errors.New("no queries with dates, or no prompts of others beside them: name by -sets a set whose queries have dates, in a folder with other sets")
	}
	c := gate.Calibrated()
	var halves [2]gate.Calibration
	for i := range halves {
		if halves[i], err = withWork(c, fitWork(c, slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool { return v.fit == (i == 1) })), 0); err != nil {
			return err
		}
	}
	chosen := math.Inf(1)
	const line = "%9s %-16s %9s %7s %6s\n"
	_, _ = fmt.Fprintf(out, line, "threshold", "set", "precision", "reach", "lines")
	for _, open := range thresholds() {
		by := map[string]tally{}
		for i := range halves {
			if halves[i], err = withWork(c, halves[i].Work, open); err != nil {
				return err
			}
			for set, t := range workTallies(halves[i], verdicts, i == 1) {
				sum := by[set]
				sum.add(t)
				by[set] = sum
			}
		}
		silent := by[visitorsGroup].anything() <= calibratedVisitors
		if silent {
			chosen = min(chosen, open)
		}
		if math.Abs(math.Remainder(open, .25)) < 1e-6 || open == chosen {
			threshold := fmt.Sprintf("%.2f", open)
			for _, name := range names {
				t := by[name]
				_, _ = fmt.Fprintf(out, line, threshold, name, part(t.precision()), part(t.reach()), fmt.Sprintf("%.2f", share(t.lines, t.given)))
				threshold = ""
			}
			_, _ = fmt.Fprintf(out, line, "", visitorsGroup, "anything", part(by[visitorsGroup].anything()), "")
		}
	}
	if math.IsInf(chosen, 1) {
		return fmt.Errorf("at no threshold at most %.0f %% of the visitors get something", 100*calibratedVisitors)
	}
	if c, err = withWork(c, fitWork(c, verdicts), round(chosen+2*thresholdStep)); err != nil {
		return err
	}
	before, _, _ := strings.Cut(c.Source, sourceOfWork)
	c.Calibrated = time.Now().UTC().Format(time.DateOnly)
	c.Source = before + sourceOfWork + "go run ./proof/eval -calibrate-work, all queries of " + strings.Join(names, ", ")
	return writeCalibration(out, c, file)
}

// workVerdicts posts the queries of the sets that have dates to their own memories, with
// visitors among them, and returns what recall had to decide over at each query, and at
// those of the visitors that the gate of a session at work decides on.
func workVerdicts(ctx context.Context, data, only string) (decided []verdict, names []string, err error) {
	sets, picked, err := pickedSets(data, only)
	if err != nil {
		return nil, nil, err
	}
	_, prompts, err := readOwn()
	if err != nil {
		return nil, nil, err
	}
	var took pace
	for _, s := range sets {
		if !s.dated() || !slices.Contains(picked, s.name) {
			continue
		}
		names = append(names, s.name)
		_, _ = fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), s.name)
		others := slices.DeleteFunc(slices.Clone(sets), func(o *set) bool { return o == s })
		visited, from := s.withVisitors(others, prompts, len(s.queries), workVisitors)
		exchanges, err := visited.athome(ctx, false, len(visited.queries), &took)
		if err != nil {
			return nil, nil, fmt.Errorf("own memory of %s: %w", s.name, err)
		}
		for _, x := range exchanges {
			_, visits := from[x.text]
			v := verdict{set: s.name, home: !visits, about: !visits, found: x.found, right: x.right, fit: fitted(x.text)}
			if visits {
				v.set = visitorsGroup
			}
			if v.home || gate.AtWork(v.found) {
				decided = append(decided, v)
			}
		}
	}
	return decided, names, nil
}

// fitWork fits the weights of the gate of a session at work.
func fitWork(c gate.Calibration, verdicts []verdict) gate.Model {
	weigh := map[string]float64{visitorsGroup: visitorsWeight}
	weights, bias := fitTo(len(gate.WorkMeasures()), verdicts, func(v verdict) (string, [][]float64) {
		if !gate.AtWork(v.found) {
			return "", nil
		}
		if v.home {
			weigh[v.set] = setWeight
		}
		return v.set, c.MeasureWork(v.found)
	}, weigh)
	m := gate.Model{Bias: round(bias), Weights: map[string]float64{}}
	for i, name := range gate.WorkMeasures() {
		m.Weights[name] = round(weights[i])
	}
	return m
}

// withWork is a calibration with another model of a session at work, and its threshold.
func withWork(c gate.Calibration, m gate.Model, open float64) (gate.Calibration, error) {
	m.Open, m.Further = open, round(open-workFurtherStep)
	c.Work = m
	return reread(c)
}

// workTallies lets a calibration decide over one half of the verdicts.
func workTallies(c gate.Calibration, verdicts []verdict, fit bool) map[string]tally {
	by := map[string]tally{}
	for _, v := range verdicts {
		if v.fit == fit {
			t := by[v.set]
			t.add(judged(c.Choose(v.found, nil), v.found, v.right))
			by[v.set] = t
		}
	}
	return by
}
