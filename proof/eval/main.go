// Command eval measures how well search finds: it enters the documents of
// retrieval sets into a real worker through its HTTP API, asks the sets' queries
// through the same API, and prints by set what share of the relevant documents
// came, beside plain BM25 over the same texts.
//
//	go run ./proof/eval -data folder           every set of the folder
//	go run ./proof/eval -data folder -sets a,b
//	go run ./proof/eval -data folder -queries 200 -rankings file    also what was found, a line of JSON a query
//	go run ./proof/eval -data folder -recall   what recall gives at prompts, see recall_bars.go
//	go run ./proof/eval -data folder -calibrate internal/find/recall/gate/calibration.json
//	go run ./proof/eval -data folder -calibrate-work internal/find/recall/gate/calibration.json
//
// A set is a folder with docs.jsonl and queries.jsonl (or .jsonl.gz), one object a
// line; docs/how-search-ranks.md has the fields. Nothing here knows a set by name but
// the bars, which are those of the issue that asked for this search. It is not shipped.
//
// The test of this package does the same with the corpus in testdata/relevance and
// fails when the figures get worse.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/proof/eval/relevance"
)

func main() {
	data := flag.String("data", os.Getenv("EVAL_DATA"), "folder of the sets")
	only := flag.String("sets", "", "names of sets, separated by commas; default: all")
	files := flag.Bool("files", false, "let the sessions that ask know half of the files of the commit that they are about to make")
	trained := flag.Bool("train", false, "train the embedding table of each memory, without the documents that its queries were made from")
	most := flag.Int("queries", 0, "ask at most that many queries of each set, always the same ones; default: all")
	rankings := flag.String("rankings", "", "write what was found for each query to this file")
	recall := flag.Bool("recall", false, "measure recall at prompts instead of search")
	calibration := flag.String("calibrate", "", "fit the gate at prompts instead, and write its calibration to this file")
	work := flag.String("calibrate-work", "", "fit the gate at prompts of sessions at work instead, beside the one in the program, and write both to this file")
	noBars := flag.Bool("no-bars", false, "report only: exit 0 whatever the figures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	measure := func(ctx context.Context, out io.Writer, data, only string) (bool, error) {
		found, err := evaluate(ctx, out, data, only, conditions{files: *files, trained: *trained, most: *most})
		if err != nil {
			return false, err
		}
		return printBars(out, found), writeRankings(*rankings, found)
	}
	if *recall {
		measure = evaluateRecall
	}
	if *calibration != "" {
		measure = func(ctx context.Context, out io.Writer, data, only string) (bool, error) {
			return true, calibrate(ctx, out, data, only, *calibration)
		}
	}
	if *work != "" {
		measure = func(ctx context.Context, out io.Writer, data, only string) (bool, error) {
			return true, calibrateWork(ctx, out, data, only, *work)
		}
	}
	met, err := measure(ctx, os.Stdout, *data, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
	if !met && !*noBars {
		stop()
		os.Exit(1)
	}
}

// evaluate measures sets and prints how each did.
func evaluate(ctx context.Context, out io.Writer, data, only string, under conditions) (results []result, err error) {
	names, err := relevance.Sets(data)
	if err != nil {
		return nil, err
	}
	if names, err = chosen(names, only); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no set found: name a folder of folders with docs.jsonl and queries.jsonl by -data or EVAL_DATA")
	}
	printHead(out)
	for _, name := range names {
		s, err := readSet(filepath.Join(data, name))
		if err != nil {
			return nil, fmt.Errorf("read set %s: %w", name, err)
		}
		s.conditions = under
		if under.most > 0 {
			s.queries = relevance.Draw(s.queries, under.most)
		}
		r, err := s.measure(ctx)
		if err != nil {
			return nil, fmt.Errorf("measure set %s: %w", name, err)
		}
		printResult(out, r)
		results = append(results, r)
	}
	return results, nil
}

// writeRankings writes what was found to a file, a line of JSON a query; "" is no file.
func writeRankings(path string, results []result) error {
	if path == "" {
		return nil
	}
	var lines bytes.Buffer
	for _, r := range results {
		for _, found := range r.rankings {
			if err := json.NewEncoder(&lines).Encode(found); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, lines.Bytes(), 0o600)
}

// chosen returns the names of only, separated by commas, or all names without any. A name that
// is no set's is an error.
func chosen(names []string, only string) ([]string, error) {
	if only == "" {
		return names, nil
	}
	picked := strings.Split(only, ",")
	for _, name := range picked {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no set %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return picked, nil
}
