// Command choose learns the weights by which the offline distiller chooses titles and
// subtitles, from cases whose keys say what is worth remembering of each turn.
//
//	go run ./proof/eval/choose -cases folder [-cases folder] [-write internal/distil/offline/weights.json]
//
// A case is a folder with session.jsonl, the hook calls of sessions in order, and
// key.json. A candidate is worth the weights of the matters that it says. The weights are
// fitted so that candidates rank by what they are worth (softmax over the candidates of a
// turn, with a penalty on large weights). Printed are the figures with the weights that are compiled in,
// with those fitted to all cases, and with weights for each repository that were fitted to
// the others: what matters is the last.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"claudemem/internal/distil/offline"
)

func main() {
	dir := flag.String("cases", "", "folder of the cases")
	write := flag.String("write", "", "write the fitted weights to this file")
	records := flag.String("records", "", "write the records that the compiled-in weights make to this file, as JSON")
	flag.Parse()
	if err := run(os.Stdout, *dir, *write, *records); err != nil {
		fmt.Fprintln(os.Stderr, "choose:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir, write, records string) error {
	cases, err := readCases(dir)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("no cases in %q: name their folder by -cases", dir)
	}
	if records != "" {
		return writeJSON(records, recordsOf(cases, offline.New()))
	}
	fmt.Fprintf(out, "%d cases, %d turns with a key\n%-34s %8s %9s %6s\n", len(cases), judged(cases), "weights", "in front", "headline", "type")
	measure(cases, func(*studyCase) *offline.Distiller { return offline.New() }).print(out, "compiled in")
	fitted := learn(cases)
	measure(cases, func(*studyCase) *offline.Distiller { return offline.With(fitted, nil) }).print(out, "fitted to all")
	others := map[string]*offline.Weights{}
	for _, c := range cases {
		if others[c.repository] == nil {
			others[c.repository] = learn(slices.DeleteFunc(slices.Clone(cases), func(x *studyCase) bool { return x.repository == c.repository }))
		}
	}
	measure(cases, func(c *studyCase) *offline.Distiller { return offline.With(others[c.repository], nil) }).print(out, "fitted to the other repositories")
	if write == "" {
		return nil
	}
	return writeJSON(write, fitted)
}

func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
