// Command turns measures what the offline distiller remembers of the sessions in cases/, whose keys
// were written by writers who did not know it. README.md beside it has their form.
//
//	TURNS_CLONES=FOLDER make eval-turns
//	go run ./proof/eval/turns -clones FOLDER -show NAME
//	go run ./proof/eval/turns -clones FOLDER -check FILE…
//	go run ./proof/eval/turns -clones FOLDER -write FOLDER
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"claudemem/internal/distil/offline"
	"claudemem/proof/eval/cases"
)

// options are the flags.
type options struct {
	clones, cases, write, show string
	check, odd                 bool
}

func main() {
	var o options
	flag.StringVar(&o.clones, "clones", os.Getenv("TURNS_CLONES"), "folder of the clones of public repositories (default $TURNS_CLONES)")
	flag.StringVar(&o.cases, "cases", "proof/eval/turns/cases", "folders or files of cases, separated by commas; arguments are more of them, in its place")
	flag.StringVar(&o.write, "write", "", "write the cases to this folder, as hook calls and keys")
	flag.StringVar(&o.show, "show", "", "show the records of these cases beside what is missed: a part of their names, or all")
	flag.BoolVar(&o.odd, "odd", false, "show the odd ones too, which nothing shall be fitted to")
	flag.BoolVar(&o.check, "check", false, "only check the files")
	flag.Parse()
	if flag.NArg() > 0 {
		o.cases = strings.Join(flag.Args(), ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval/turns:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	list, missing, err := cases.Read(ctx, o.clones, o.cases)
	if err != nil {
		return err
	}
	for _, name := range missing {
		fmt.Fprintf(out, "%s is left out: -clones has no clone of its repository\n", name)
	}
	if o.check {
		fmt.Fprintf(out, "%d cases, %d turns: no faults\n", len(list), turns(list))
		return nil
	}
	if o.write != "" {
		for _, c := range list {
			if err := c.WriteFolder(o.write); err != nil {
				return err
			}
		}
		return nil
	}
	distiller, all := offline.New(), make([]judged, len(list))
	for i, c := range list {
		all[i] = judged{c, c.Judge(c.Distil(func(*cases.Turn) *offline.Distiller { return distiller }))}
	}
	for _, j := range all {
		if o.show == "all" || o.show != "" && strings.Contains(j.Name, o.show) {
			if !j.IsEven() && !o.odd {
				fmt.Fprintf(out, "%s is odd: not shown without -odd\n", j.Name)
				continue
			}
			j.show(out)
		}
	}
	if o.show != "" && o.show != "all" {
		return nil
	}
	return report(out, all)
}

// turns counts the turns of cases.
func turns(list []*cases.Case) (n int) {
	for _, c := range list {
		n += len(c.Turns)
	}
	return n
}
