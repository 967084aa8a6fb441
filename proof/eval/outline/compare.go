package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"claudemem/internal/capture/outline"
)

// A row is the comparison of a language: counts of files and functions.
type row struct {
	language string
	files    int // with functions, for the oracle or for us
	unread   int // that the oracle cannot parse; not compared
	broken   int // that the oracle parses and package outline calls broken
	wanted   int // functions of the oracle
	exact    int // of these with the same name and the same lines here
	extra    int // functions here that the oracle does not have: of another name or other lines
}

// share is the share of the oracle's functions that are exact, in percent.
func (r row) share() float64 { return 100 * float64(r.exact) / float64(max(r.wanted, 1)) }

// The bars.
const (
	leastFiles = 200
	leastShare = 97.0 // percent; Go: 100, and no extra functions
)

// met reports whether a language meets its bars, that of the files with at least so many.
func (r row) met(files int) bool {
	if r.language == "go" && (r.exact < r.wanted || r.extra > 0) {
		return false
	}
	return r.files >= files && r.share() >= leastShare
}

// add compares the functions of a file.
func (r *row) add(want []function, got []function) (missed, extra []function) {
	if len(want)+len(got) == 0 {
		return nil, nil
	}
	left := map[function]int{}
	for _, f := range want {
		left[f]++
	}
	for _, f := range got {
		if left[f] > 0 {
			left[f]--
			r.exact++
		} else {
			extra = append(extra, f)
		}
	}
	for _, f := range want {
		if left[f] > 0 {
			left[f]--
			missed = append(missed, f)
		}
	}
	r.files++
	r.wanted += len(want)
	r.extra += len(extra)
	return missed, extra
}

// functionsOf returns the functions and methods of an outline.
func functionsOf(o outline.Outline) []function {
	var all []function
	for _, s := range o.Symbols {
		if s.Kind == outline.Func || s.Kind == outline.Method {
			all = append(all, function{s.Name, s.Start, s.End})
		}
	}
	return all
}

// compareAll prints the table, a bar for each language, and how the counts differ from
// those in counts.txt.
func compareAll(ctx context.Context, o options, work string) error {
	scripts := o.packages
	if scripts == "" {
		scripts = filepath.Join(work, "oracles")
	}
	scripts, err := filepath.Abs(scripts)
	if err != nil {
		return err
	}
	asked, err := newOracles(scripts)
	if err != nil {
		return err
	}
	var rows []row
	missed, files := false, leastFiles
	if o.list != "" {
		files = 1
	}
	for _, language := range o.languages {
		r, err := compareLanguage(ctx, o, asked, language, work)
		switch {
		case errors.Is(err, errNoOracle):
			fmt.Printf("bar missed: %s, %v\n", language, err)
			missed = true
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", language, err)
		}
		rows = append(rows, r)
		verdict := "met"
		if !r.met(files) {
			verdict, missed = "missed", true
		}
		fmt.Printf("bar %s: %s, %.2f %% of %d functions in %d files exact, %d extra\n", verdict, language, r.share(), r.wanted, r.files, r.extra)
	}
	fmt.Printf("\n%s", table(rows))
	switch {
	case o.list != "":
		rows = nil // counts.txt is about another list
	case o.update && len(rows) < len(allLanguages):
		return errors.New("counts.txt is written with all languages only")
	case o.update:
		return os.WriteFile(countsFile, []byte(table(rows)), 0o600)
	}
	for _, r := range rows {
		if line := lineOf(table([]row{r}), r.language); line != lineOf(countsText, r.language) {
			fmt.Printf("bar missed: %s, the counts are not those of %s: -update writes them\n", r.language, countsFile)
			missed = true
		}
	}
	if missed {
		return errMissed
	}
	return nil
}

// compareLanguage compares the files of a language.
func compareLanguage(ctx context.Context, o options, asked *oracles, language, work string) (row, error) {
	r := row{language: language}
	files, err := sourcesOf(ctx, o, language, work)
	if err != nil {
		return r, err
	}
	answers, err := asked.ask(ctx, language, files)
	if err != nil {
		return r, err
	}
	shown := 0
	for _, a := range answers {
		if a.Error {
			r.unread++
			continue
		}
		src, err := os.ReadFile(a.File)
		if err != nil {
			return r, err
		}
		found := outline.Of(a.File, src)
		missed, extra := r.add(a.Functions, functionsOf(found))
		if found.Broken {
			r.broken++
		}
		if (len(missed)+len(extra) > 0 || found.Broken) && shown < o.show {
			shown++
			fmt.Printf("%s\n  missed %v\n  extra  %v\n  broken %v\n", strings.TrimPrefix(a.File, work), missed, extra, found.Broken)
		}
	}
	return r, nil
}

const countsFile = "proof/eval/outline/counts.txt"

//go:embed counts.txt
var countsText string

// table returns the counts of languages as aligned columns.
func table(rows []row) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "language\tfiles\tunread\tbroken\tfunctions\texact\tshare\textra\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.2f %%\t%d\t\n", r.language, r.files, r.unread, r.broken, r.wanted, r.exact, r.share(), r.extra)
	}
	_ = w.Flush() // a buffer takes everything
	return b.String()
}

// lineOf returns the words of a language's line in a table, "" without one.
func lineOf(table, language string) string {
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == language {
			return strings.Join(words, " ")
		}
	}
	return ""
}
