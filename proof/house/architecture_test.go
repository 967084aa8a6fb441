package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// importRow is a line of the table in ARCHITECTURE.md: the rows that a row imports, and the
// edges between its own stages, as "stage other".
type importRow struct {
	rows, edges []string
}

// TestImportTable compares the table in ARCHITECTURE.md with the imports that `go list`
// finds, in both directions: which rows each row imports, and which of its stages import
// which. A row imports only rows above it. The product is what the two commands link;
// everything else (tests, benchmarks, evaluation, fakes) may import it and has no row.
func TestImportTable(t *testing.T) {
	inRoot(t)
	allowed, order := readImportTable(t)
	used := map[string]importRow{}
	module := modulePath(t) + "/"
	for _, p := range listProduct(t) {
		path, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue // the standard library, modules
		}
		row, stage := rowOf(path)
		u := used[row]
		for _, imp := range p.Imports {
			path, ok := strings.CutPrefix(imp, module)
			if !ok {
				continue
			}
			if other, target := rowOf(path); other == row {
				u.edges = append(u.edges, stage+" "+target)
			} else if !slices.Contains(u.rows, other) {
				u.rows = append(u.rows, other)
			}
		}
		used[row] = u
	}
	for row, u := range used {
		a, ok := allowed[row]
		if !ok {
			t.Errorf("%s has no line in ARCHITECTURE.md", row)
			continue
		}
		compareImports(t, row, u.rows, a.rows)
		compareImports(t, row, u.edges, a.edges)
		for _, other := range a.rows {
			if at := slices.Index(order, other); at < 0 || at > slices.Index(order, row) {
				t.Errorf("%s imports %s, which does not stand above it in ARCHITECTURE.md", row, other)
			}
		}
	}
	for row := range allowed {
		if _, ok := used[row]; !ok {
			t.Errorf("ARCHITECTURE.md has a line for %s, which no command links", row)
		}
	}
}

func compareImports(t *testing.T, row string, used, allowed []string) {
	t.Helper()
	for _, u := range used {
		if !slices.Contains(allowed, u) {
			t.Errorf("%s: an import that ARCHITECTURE.md does not list: %s", row, u)
		}
	}
	for _, a := range allowed {
		if !slices.Contains(used, a) {
			t.Errorf("%s: ARCHITECTURE.md lists an import that does not exist: %s", row, a)
		}
	}
}

// rowOf splits a package's path in the module: internal/keep/index/words is of the row keep,
// its stage index/words. A package outside internal is a row of its own, with the packages in
// its own internal: cmd/claude-mem/internal/cli is cli in the row cmd/claude-mem, whose own
// package is main.
func rowOf(path string) (row, stage string) {
	if command, inside, ok := strings.Cut(path, "/internal/"); ok {
		return command, inside
	}
	if strings.HasPrefix(path, "cmd/") {
		return path, "main"
	}
	inside, ok := strings.CutPrefix(path, "internal/")
	if !ok {
		return path, ""
	}
	row, stage, _ = strings.Cut(inside, "/")
	return row, stage
}

// readImportTable returns the lines of the table by their rows, and the rows in order.
func readImportTable(t *testing.T) (table map[string]importRow, order []string) {
	t.Helper()
	b, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(b), "<!-- imports -->")
	text, _, ok2 := strings.Cut(rest, "<!-- /imports -->")
	if !ok1 || !ok2 {
		t.Fatal("ARCHITECTURE.md has no import table between its markers")
	}
	table = map[string]importRow{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[2]) == "imports rows" {
			continue
		}
		row := importRow{rows: strings.Fields(cells[2])}
		for edges := range strings.SplitSeq(cells[3], ";") {
			stage, targets, _ := strings.Cut(edges, "→")
			for _, target := range strings.Fields(targets) {
				row.edges = append(row.edges, strings.TrimSpace(stage)+" "+target)
			}
		}
		name := strings.TrimSpace(cells[1])
		table[name], order = row, append(order, name)
	}
	return table, order
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

// listProduct returns the packages that the commands link on this operating system.
func listProduct(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	var packages []listedPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
