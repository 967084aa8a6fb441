package claudemem_test

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
// `go list` finds: an edge that is not in the table is an error, and so is a
// row or an edge that nothing needs any more.
func TestImportTable(t *testing.T) {
	allowed := readImportTable(t)
	used := map[string][]string{}
	for _, p := range listPackages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "claudemem/")
		if !ok || name == "acceptance" || name == "bench" || strings.HasPrefix(name, "bench/") || name == "e2e" || strings.Contains(name, "hookprobe") {
			continue // the root, and programs that only prove
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
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not allow", name, e)
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
			t.Errorf("ARCHITECTURE.md has a row for %s, which is not there", name)
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
		name := strings.TrimSpace(cells[1])
		if name == "package" || strings.HasPrefix(name, "---") {
			continue
		}
		rows[name] = strings.Fields(cells[2])
	}
	return rows
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
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
