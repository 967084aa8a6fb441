// Command readers draws functions for the readers' test: somebody who sees nothing but the
// function's file says what it does and what its callers rely on, and is judged against
// the callers. The answers are kept beside it, in a file for each seed.
//
//	go run ./proof/readers -seed 1 -n 40
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
)

// shortest is the number of lines from which a function is worth asking for.
const shortest = 6

func main() {
	seed := flag.Uint64("seed", 1, "the same functions of the same tree each time")
	n := flag.Int("n", 40, "how many functions")
	flag.Parse()
	all, err := functions()
	if err != nil {
		log.Fatal(err)
	}
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, f := range all[:min(*n, len(all))] {
		fmt.Printf("%2d  %s  %s\n", i+1, f.at, f.name)
	}
}

// function is a declaration: file and line, and its name with the type it is a method of.
type function struct{ at, name string }

// functions returns those that the two commands link, in the order of their files.
func functions() ([]function, error) {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`, "./cmd/...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	var found []function
	files := token.NewFileSet()
	for _, path := range strings.Fields(string(out)) {
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			from, to := files.Position(f.Pos()), files.Position(f.End())
			if to.Line-from.Line+1 < shortest {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				name = receiver(f.Recv.List[0].Type) + "." + name
			}
			path := strings.TrimPrefix(path, strings.TrimSpace(string(root))+"/")
			found = append(found, function{fmt.Sprint(path, ":", from.Line), name})
		}
	}
	slices.SortFunc(found, func(a, b function) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	return found, nil
}

// receiver is the name of a method's type, without its parameters.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}
