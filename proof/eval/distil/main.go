// Command distil compares what the distil set measured with its bars, and with the figures
// that the documentation quotes. The set's own score.py plays the recorded sessions through
// the binaries, judges what is stored of them and writes the file that is read here.
//
//	go run ./proof/eval/distil -score FILE
//	go run ./proof/eval/distil -after FILE
//	go run ./proof/eval/distil -score FILE -document docs/how-the-observer-works.md [-column NAME] [-update]
//
// Each bar is a line, "bar met: …" or "bar missed: …"; a missed one ends it with status 1.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	var o options
	flag.StringVar(&o.score, "score", "", "what score.py wrote with --json")
	flag.StringVar(&o.after, "after", "", "what after_block.py wrote: the share of follow-ups that are told after a start block")
	flag.StringVar(&o.document, "document", "", "compare the tables of this Markdown file with what was measured, instead of the bars")
	flag.StringVar(&o.column, "column", "public cases", "the column of those tables")
	flag.BoolVar(&o.update, "update", false, "write what was measured into that column")
	flag.Parse()
	met, err := run(os.Stdout, o)
	if err == nil && !met {
		err = errors.New("a bar was missed")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval/distil:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	score, after, document, column string
	update                         bool
}

// run prints a line per bar, or per row of the document, and reports whether all are met.
func run(out io.Writer, o options) (met bool, err error) {
	if o.after != "" {
		var t told
		if err := readJSON(o.after, &t); err != nil {
			return false, err
		}
		return printBars(out, t.bars()), nil
	}
	var s score
	if err := readJSON(o.score, &s); err != nil {
		return false, err
	}
	if o.document == "" {
		return printBars(out, s.bars()), nil
	}
	text, err := os.ReadFile(o.document)
	if err != nil {
		return false, err
	}
	if !hasColumn(string(text), o.column) {
		return false, fmt.Errorf("%s has no table with a column %q", o.document, o.column)
	}
	rows := s.measures()
	if o.update {
		return true, os.WriteFile(o.document, []byte(withFigures(string(text), o.column, rows)), 0o644)
	}
	return printQuoted(out, string(text), o.column, rows), nil
}

func readJSON(path string, dest any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, dest); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
