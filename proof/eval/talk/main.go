// Command talk measures what is remembered of talk: of conversations without tools, in which
// something was decided, on two public sets. Each conversation is imported by the real programs
// as a transcript of Claude Code into a memory of its own, distilled without a model; then a fresh
// session asks. README.md beside it says what is counted.
//
//	TALK_CLONES=FOLDER make eval-talk
//	go run ./proof/eval/talk -clones FOLDER -bin bin -show
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	clones, bin string
	only        []string
	show, odd   bool
	bars        bool
}

// errBars says that a figure is beyond its bar.
var errBars = errors.New("not all bars are met")

func main() {
	var o options
	var only string
	flag.StringVar(&o.clones, "clones", os.Getenv("TALK_CLONES"), "folder of the clones of both sets (default $TALK_CLONES)")
	flag.StringVar(&o.bin, "bin", "bin", "folder of claude-mem and claude-mem-hook")
	flag.BoolVar(&o.show, "show", false, "show what was said, kept and given of each decision and question, but only of those to develop on")
	flag.BoolVar(&o.odd, "odd", false, "show the others too, which nothing shall be fitted to")
	flag.BoolVar(&o.bars, "bars", false, "fail if a figure misses its bar")
	flag.StringVar(&only, "only", "", "show only these decisions and questions, separated by commas")
	flag.Parse()
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval/talk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	if o.clones == "" {
		return errors.New("name the folder of the clones by -clones or TALK_CLONES")
	}
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return err
	}
	files, err := decisionSource.files(ctx, o.clones, isDecisionFile)
	if err != nil {
		return err
	}
	decided, amended, err := readDecisions(files, time.Now())
	if err != nil {
		return err
	}
	if files, err = questionSource.files(ctx, o.clones, isQuestionFile); err != nil {
		return err
	}
	questions, err := readQuestions(files)
	if err != nil {
		return err
	}
	return measure(ctx, out, bin, o, decided, amended, questions)
}

// measure prints the figures of the sets, and before them what is to be shown.
func measure(ctx context.Context, out io.Writer, bin string, o options, decided, amended, questions set) error {
	var verdicts [3][]verdict
	var volumesOf [3][]volume
	for i, s := range []set{decided, amended, questions} {
		r, err := remember(ctx, bin, s)
		if err != nil {
			return err
		}
		verdicts[i], volumesOf[i] = judged(s, r), volumes(s, r)
		if o.show {
			show(out, s, r, verdicts[i], o.shows)
			if i == 0 {
				fmt.Fprintln(out, "\n=== decoys")
				showDecoys(out, s, r, o.shows)
			}
		}
	}
	fmt.Fprintln(out, "even: names whose SHA-256 ends in an even digit, to develop on; odd: the others")
	d, q := decisionFigures(verdicts[0], verdicts[1], volumesOf[0]), questionFigures(verdicts[2], volumesOf[2])
	printFigures(out, "sde-bench", d)
	printFigures(out, "DevMemBench", q)
	if !o.bars {
		return nil
	}
	fmt.Fprintln(out)
	met := printBars(out, "sde-bench", d, decisionBars)
	if !printBars(out, "DevMemBench", q, questionBars) || !met {
		return errBars
	}
	return nil
}

// shows reports whether a probe is to be shown.
func (o options) shows(name string) bool {
	return (isEven(name) || o.odd) && (len(o.only) == 0 || slices.Contains(o.only, name))
}
