package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"claudemem/proof/eval/cases"
)

// judged is a case with what its records reach.
type judged struct {
	*cases.Case
	verdict *cases.Verdict
}

// groups are the ways in which the cases are grouped, each in a table of its own.
var groups = []struct {
	name string
	of   func(*cases.Case) string
}{
	{"half", func(c *cases.Case) string {
		if c.IsEven() {
			return "even, to develop on"
		}
		return "odd"
	}},
	{"source", func(c *cases.Case) string { return c.Source }},
	{"language of the user", (*cases.Case).UserLanguage},
	{"style", (*cases.Case).Manner},
	{"language of the program", func(c *cases.Case) string { return c.Language }},
	{"repository or project", func(c *cases.Case) string { return c.Repository }},
}

// report prints the figures of all cases and of each group.
func report(out io.Writer, all []judged) error {
	for _, g := range groups {
		of := map[string]*row{}
		for _, j := range all {
			name := g.of(j.Case)
			if of[name] == nil {
				of[name] = &row{}
			}
			of[name].add(j)
		}
		head(out, g.name)
		for _, name := range slices.Sorted(maps.Keys(of)) {
			of[name].print(out, name)
		}
		fmt.Fprintln(out)
	}
	total, even, odd := &row{}, &row{}, &row{}
	for _, j := range all {
		total.add(j)
		if j.IsEven() {
			even.add(j)
		} else {
			odd.add(j)
		}
	}
	head(out, "all")
	total.print(out, fmt.Sprintf("%d cases", len(all)))
	return judge(out, total, even, odd)
}

// maxGap is how far the odd half may be behind the even one, to which the rules were fitted.
const maxGap = .12

// judge prints a line for each bar and returns an error if one is missed.
func judge(out io.Writer, total, even, odd *row) error {
	met := true
	bar := func(is bool, format string, args ...any) {
		verdict := "met"
		if !is {
			verdict, met = "missed", false
		}
		fmt.Fprintf(out, "bar %s: %s\n", verdict, fmt.Sprintf(format, args...))
	}
	for _, b := range []struct {
		name  string
		least float64
		of    func(*row) cases.Share
	}{
		{"headline", .82, func(r *row) cases.Share { return r.Headline }},
		{"type", .75, func(r *row) cases.Share { return r.Type }},
		{"rules", .65, func(r *row) cases.Share { return r.Rules }},
		{"front", .70, func(r *row) cases.Share { return r.Front }},
	} {
		bar(b.of(total).Value() >= b.least, "%s %s (at least %.2f)", b.name, share(b.of(total)), b.least)
		if e, o := b.of(even), b.of(odd); e.Of > 0 && o.Of > 0 {
			bar(e.Value()-o.Value() <= maxGap, "%s even less odd %.2f (at most %.2f)", b.name, e.Value()-o.Value(), maxGap)
		}
	}
	bar(total.False.Got == 0, "false %.0f (none)", total.False.Got)
	bar(total.FalselySuperseded == 0, "superseded falsely %d (none)", total.FalselySuperseded)
	if !met {
		return errors.New("a bar is missed")
	}
	return nil
}

// row is a line of a table.
type row struct {
	cases.Figures

	turns int
}

func (r *row) add(j judged) {
	r.Add(&j.verdict.Figures)
	r.turns += len(j.Turns)
}

func head(out io.Writer, name string) {
	fmt.Fprintf(out, "%-26s %5s %8s %5s %8s %4s %13s %7s %5s %9s %6s\n", name, "turns", "headline", "front", "coverage", "type", "rules (false)", "false", "noise", "supersede", "falsely")
}

func (r *row) print(out io.Writer, name string) {
	fmt.Fprintf(out, "%-26.26s %5d %8s %5s %8s %4s %13s %7s %5d %9s %6d\n", name, r.turns, share(r.Headline), share(r.Front), share(r.Coverage), share(r.Type),
		fmt.Sprintf("%s of %.0f (%d)", share(r.Rules), r.Rules.Of, r.FalseRules), count(r.False), r.Noise, count(r.Superseded), r.FalselySuperseded)
}

// share is a share in two digits, – of nothing.
func share(s cases.Share) string {
	if s.Of == 0 {
		return "–"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.2f", s.Value()), "0")
}

func count(s cases.Share) string { return fmt.Sprintf("%.0f/%.0f", s.Got, s.Of) }

// show prints the records of a case, and what is wrong with them.
func (j judged) show(out io.Writer) {
	fmt.Fprintf(out, "=== %s: %s\n", j.Name, j.About)
	for _, t := range j.verdict.Turns {
		fmt.Fprintf(out, "\n--- session %d, turn %d: %s\n", t.Turn.Session, t.Turn.Number, indented(t.Turn.Prompt()))
		for _, made := range t.Outcomes {
			for _, o := range made.Observations {
				fmt.Fprintf(out, "  #%d %s | %s\n      | %s\n", o.ID, o.Type, o.Title, o.Subtitle)
				for _, f := range o.Facts {
					fmt.Fprintf(out, "      - %s\n", f)
				}
				if o.Narrative != "" {
					fmt.Fprintf(out, "      %s\n", indented(o.Narrative))
				}
				if len(o.Supersedes) > 0 {
					fmt.Fprintf(out, "      supersedes %v\n", o.Supersedes)
				}
			}
			for _, s := range made.Summaries {
				for _, part := range [][2]string{{"learned", s.Learned}, {"completed", s.Completed}, {"next", s.NextSteps}, {"notes", s.Notes}} {
					if part[1] != "" {
						fmt.Fprintf(out, "  %-10s %s\n", part[0], indented(part[1]))
					}
				}
			}
			for _, l := range made.Learnings {
				fmt.Fprintf(out, "  learning   %s\n", l.Content)
			}
		}
		for _, w := range t.Wrong {
			fmt.Fprintf(out, "  WRONG %s\n", w)
		}
	}
	for _, l := range j.verdict.IdleRules {
		fmt.Fprintf(out, "  WRONG nobody stated the rule: %s\n", l)
	}
	for _, l := range j.verdict.Lies {
		fmt.Fprintf(out, "  FALSE %s\n", l)
	}
	fmt.Fprintln(out)
}

// indented returns a text whose further lines are indented.
func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }
