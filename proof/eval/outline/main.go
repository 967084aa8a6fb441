// Command outline compares the functions that package outline finds in the files of public
// repositories with those that other parsers find: go/parser for Go, Python's own ast, the
// TypeScript compiler for TypeScript and JavaScript, the grammars of tree-sitter for the
// others. With -speed it measures how fast package outline reads the same files. README.md
// beside it describes both.
//
//	OUTLINE_CLONES=FOLDER go run ./proof/eval/outline
//	OUTLINE_CLONES=FOLDER go run ./proof/eval/outline -speed
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	clones    string
	list      string // another list than repositories.txt, "" for that
	languages []string
	packages  string
	show      int
	update    bool
	speed     bool
}

func main() {
	var o options
	var languages string
	flag.StringVar(&o.clones, "clones", os.Getenv("OUTLINE_CLONES"), "folder of the clones that repositories.txt names (default $OUTLINE_CLONES)")
	flag.StringVar(&o.list, "repositories", "", "another list than repositories.txt; bars of files and of counts do not hold for it")
	flag.StringVar(&languages, "languages", "", "compare only these, separated by commas")
	flag.StringVar(&o.packages, "packages", "", "folder in which the packages from npm are kept for the next run (default: a temporary one)")
	flag.IntVar(&o.show, "show", 0, "show the differences in so many files of a language")
	flag.BoolVar(&o.update, "update", false, "write the counts to counts.txt")
	flag.BoolVar(&o.speed, "speed", false, "measure the speed of package outline instead")
	flag.Parse()
	o.languages = allLanguages
	if languages != "" {
		o.languages = strings.Split(languages, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval/outline:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("a bar was missed")

func run(ctx context.Context, o options) error {
	if o.clones == "" {
		return errors.New("name the folder of the clones with -clones or OUTLINE_CLONES")
	}
	for _, language := range o.languages {
		if !slices.Contains(allLanguages, language) {
			return fmt.Errorf("unknown language %q; known: %s", language, strings.Join(allLanguages, ", "))
		}
	}
	work, err := os.MkdirTemp("", "outline-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if o.speed {
		return measureSpeed(ctx, o, work)
	}
	return compareAll(ctx, o, work)
}
