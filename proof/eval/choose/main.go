// Command choose learns the weights by which the offline distiller chooses titles and
// subtitles, from cases whose keys say what is worth remembering of each turn.
//
//	go run ./proof/eval/choose -cases folder,folder -clones folder [-write internal/distil/offline/weights.json]
//
// The cases of a folder are read as package cases reads them. A candidate is worth the weights of
// the matters that it says. The weights are fitted so that candidates rank by what they are worth
// (softmax over the candidates of a turn, with a penalty on large weights). Printed are the figures
// with the weights that are compiled in, with those fitted to all cases, and with weights for each
// repository, language of the program, language of the user and style that were fitted to the
// others: what matters are the last, and how far they are from those fitted to all.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"claudemem/internal/distil/offline"
	"claudemem/proof/eval/cases"
)

// options are the flags.
type options struct{ cases, clones, write, records string }

func main() {
	var o options
	flag.StringVar(&o.cases, "cases", "", "folders of the cases, separated by commas")
	flag.StringVar(&o.clones, "clones", os.Getenv("TURNS_CLONES"), "folder of the clones of public repositories, for cases that are scripts (default $TURNS_CLONES)")
	flag.StringVar(&o.write, "write", "", "write the fitted weights to this file")
	flag.StringVar(&o.records, "records", "", "write the records that the compiled-in weights make to this file, as JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "choose:", err)
		os.Exit(1)
	}
}

// maxGap is how far what is left out of the learning may be behind what is learnt from.
const maxGap = .12

// leftOut are the groups of which each is left out in turn.
var leftOut = []struct {
	name string
	of   func(*cases.Case) string
}{
	{"repositories", func(c *cases.Case) string { return c.Repository }},
	{"languages of the program", func(c *cases.Case) string { return c.Language }},
	{"languages of the user", (*cases.Case).UserLanguage},
	{"styles", (*cases.Case).Manner},
}

func run(ctx context.Context, out io.Writer, o options) error {
	all, missing, err := cases.Read(ctx, o.clones, o.cases)
	if err != nil {
		return err
	}
	for _, name := range missing {
		fmt.Fprintf(out, "%s is left out: -clones has no clone of its repository\n", name)
	}
	if o.records != "" {
		return writeJSON(o.records, recordsOf(all))
	}
	fmt.Fprintf(out, "%d cases, %d turns with a key\n%-42s %8s %9s %6s\n", len(all), judged(all), "weights", "in front", "headline", "type")
	show := func(name string, f *cases.Figures) {
		fmt.Fprintf(out, "%-42s %6.0f %% %7.0f %% %4.0f %%\n", name, 100*f.Front.Value(), 100*f.Headline.Value(), 100*f.Type.Value())
	}
	show("compiled in", measure(all, func(*cases.Case) *offline.Distiller { return offline.New() }))
	fitted := learn(all)
	learnt := measure(all, func(*cases.Case) *offline.Distiller { return offline.With(fitted, nil) })
	show("fitted to all", learnt)
	gap := 0.0
	for _, g := range leftOut {
		others := map[string]*offline.Weights{}
		for _, c := range all {
			if others[g.of(c)] == nil {
				others[g.of(c)] = learn(slices.DeleteFunc(slices.Clone(all), func(x *cases.Case) bool { return g.of(x) == g.of(c) }))
			}
		}
		if len(others) == 1 {
			continue // nothing to learn from is left
		}
		f := measure(all, func(c *cases.Case) *offline.Distiller { return offline.With(others[g.of(c)], nil) })
		show(fmt.Sprintf("fitted to the other %s (%d)", g.name, len(others)), f)
		gap = max(gap, learnt.Front.Value()-f.Front.Value(), learnt.Headline.Value()-f.Headline.Value())
	}
	fmt.Fprintf(out, "largest gap %.2f (at most %.2f)\n", gap, maxGap)
	if o.write != "" {
		if err := writeJSON(o.write, fitted); err != nil {
			return err
		}
	}
	if gap > maxGap {
		return errors.New("the weights are fitted to what they were learnt from")
	}
	return nil
}

// judged counts the turns that have a key.
func judged(all []*cases.Case) (n int) {
	for _, c := range all {
		for _, t := range c.Turns {
			if t.Key != nil {
				n++
			}
		}
	}
	return n
}

// recordsOf returns, for each case, the outcomes of its turns.
func recordsOf(all []*cases.Case) map[string]any {
	records := map[string]any{}
	for _, c := range all {
		records[c.Name] = c.Distil(func(*cases.Turn) *offline.Distiller { return offline.New() })
	}
	return records
}

func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
