package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A function is one that an oracle or package outline finds in a file.
type function struct {
	name       string // qualified by dots
	start, end int    // lines from 1
}

// UnmarshalJSON reads [name, first line, last line].
func (f *function) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&f.name, &f.start, &f.end})
}

// answer is what an oracle says about a file.
type answer struct {
	File      string     `json:"file"`
	Functions []function `json:"functions"`
	// Error: the oracle cannot parse the file, which is not compared then.
	Error bool `json:"error"`
}

// errNoOracle is the error for a language whose oracle is not installed here.
var errNoOracle = errors.New("no oracle here")

//go:embed oracles
var scripts embed.FS

// npmPackages are what the oracles in JavaScript need: the compiler, and tree-sitter with
// its grammars.
var npmPackages = []string{"typescript@5.9.3", "web-tree-sitter@0.24.7", "tree-sitter-wasms@0.1.13"}

// oracles asks the parsers of the languages.
type oracles struct {
	dir       string // of the scripts and of node_modules
	npm       error  // why the packages could not be installed
	installed bool
}

// newOracles writes the scripts to dir.
func newOracles(dir string) (*oracles, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"python.py", "typescript.js", "treesitter.js"} {
		script, err := scripts.ReadFile("oracles/" + name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), script, 0o600); err != nil {
			return nil, err
		}
	}
	return &oracles{dir: dir}, nil
}

// ask returns what the oracle of a language says about files.
func (o *oracles) ask(ctx context.Context, language string, files []string) ([]answer, error) {
	switch language {
	case "go":
		return goFunctions(files), nil
	case "python":
		return o.script(ctx, files, "python3", "python.py")
	}
	if err := o.install(ctx); err != nil {
		return nil, err
	}
	if language == "typescript" || language == "javascript" {
		return o.script(ctx, files, "node", "typescript.js")
	}
	return o.script(ctx, files, "node", "treesitter.js", language)
}

// install installs the packages from npm, once.
func (o *oracles) install(ctx context.Context) error {
	if o.installed {
		return o.npm
	}
	o.installed = true
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			o.npm = fmt.Errorf("%w: %w", errNoOracle, err)
			return o.npm
		}
	}
	args := append([]string{"install", "--prefix", o.dir, "--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"}, npmPackages...)
	if out, err := exec.CommandContext(ctx, "npm", args...).CombinedOutput(); err != nil {
		o.npm = fmt.Errorf("%w: npm install: %w: %s", errNoOracle, err, bytes.TrimSpace(out))
	}
	return o.npm
}

// script runs a script that reads paths and prints answers.
func (o *oracles) script(ctx context.Context, files []string, program string, args ...string) ([]answer, error) {
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoOracle, err)
	}
	args[0] = filepath.Join(o.dir, args[0])
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, filepath.Base(args[0]), err)
	}
	var all []answer
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var a answer
		switch err := d.Decode(&a); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", filepath.Base(args[0]), err)
		}
		all = append(all, a)
	}
}

// goFunctions returns the functions of files of Go as go/parser and go/types tell them.
func goFunctions(files []string) []answer {
	all := make([]answer, len(files))
	for i, file := range files {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		all[i] = answer{File: file, Error: err != nil}
		if err != nil {
			continue
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			d, ok := n.(*ast.FuncDecl)
			if !ok {
				return true
			}
			if d.Body == nil {
				return false
			}
			name := d.Name.Name
			if d.Recv != nil {
				receiver, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[")
				name = strings.Trim(receiver, "*()") + "." + name
			}
			line := func(p token.Pos) int { return set.PositionFor(p, false).Line }
			all[i].Functions = append(all[i].Functions, function{name, line(d.Pos()), line(d.End())})
			return false
		})
	}
	return all
}
