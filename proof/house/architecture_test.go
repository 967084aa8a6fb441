package house_test

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

// TestImportTable compares the table in ARCHITECTURE.md with the imports that
// `go list` finds. The product is what the two commands link; each of its packages
// has a row, and its edges are exactly those of the row. Everything else (tests,
// benchmarks, evaluation, fakes) may import the product and has no row.
func TestImportTable(t *testing.T) {
	allowed := readImportTable(t)
	used := map[string][]string{}
	for _, p := range listProduct(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "claudemem/")
		if !ok {
			continue // the root, the standard library, modules
		}
		used[name] = nil
		for _, imp := range p.Imports {
			if edge, ok := strings.CutPrefix(imp, "claudemem/"); ok {
				used[name] = append(used[name], edge)
			}
		}
	}
	for name, edges := range used {
		row, ok := allowed[name]
		if !ok {
			t.Errorf("%s has no row in ARCHITECTURE.md", name)
			continue
		}
		for _, e := range edges {
			if !slices.Contains(row, e) {
				t.Errorf("%s imports %s, which its row in ARCHITECTURE.md does not list", name, e)
			}
		}
		for _, e := range row {
			if !slices.Contains(edges, e) {
				t.Errorf("ARCHITECTURE.md lets %s import %s, which it does not need", name, e)
			}
		}
	}
	for name := range allowed {
		if _, ok := used[name]; !ok {
			t.Errorf("ARCHITECTURE.md has a row for %s, which no command links", name)
		}
	}
}

func readImportTable(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(b), "<!-- imports -->")
	table, _, ok2 := strings.Cut(rest, "<!-- /imports -->")
	if !ok1 || !ok2 {
		t.Fatal("ARCHITECTURE.md has no import table between its markers")
	}
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		if strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[2]) == "may import" {
			continue
		}
		for _, name := range strings.Fields(cells[1]) {
			rows[name] = strings.Fields(cells[2])
		}
	}
	return rows
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
