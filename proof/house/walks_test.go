package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// walkFolder returns the folder of a package that the walks in ARCHITECTURE.md name.
func walkFolder(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "memory":
		return "internal/memory"
	case "main":
		return "cmd/claude-mem"
	}
	for _, pattern := range []string{"internal/*/" + name, "internal/*/*/" + name, "cmd/claude-mem/internal/" + name} {
		if found, _ := filepath.Glob(pattern); len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("no package %s", name)
	return ""
}

// named finds `package.Identifier` in a walk.
var named = regexp.MustCompile("`([a-z]+)\\.([A-Za-z]+)`")

// TestWalks checks the three walks in ARCHITECTURE.md: at most twelve lines each, and
// every function, method, type or file that a line names is declared in its package.
func TestWalks(t *testing.T) {
	inRoot(t)
	doc, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "## Three walks\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no walks")
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	walks := strings.Split(rest, "\n### ")[1:]
	if len(walks) != 3 {
		t.Fatalf("%d walks, want 3", len(walks))
	}
	declared := map[string]map[string]bool{}
	for _, walk := range walks {
		title, steps, _ := strings.Cut(walk, "\n")
		if n := len(strings.Split(strings.TrimSpace(steps), "\n")); n > 12 {
			t.Errorf("%s: %d lines, want at most 12", title, n)
		}
		names := named.FindAllStringSubmatch(steps, -1)
		if len(names) == 0 {
			t.Errorf("%s names no function", title)
		}
		for _, m := range names {
			folder := walkFolder(t, m[1])
			if declared[folder] == nil {
				declared[folder] = declarations(t, folder)
			}
			if !declared[folder][m[2]] {
				t.Errorf("%s: %s.%s is not declared in %s", title, m[1], m[2], folder)
			}
		}
	}
}

// declarations returns the names of a folder's functions, methods and types, and of
// its files without their ending.
func declarations(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", folder, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		names[strings.TrimSuffix(filepath.Base(file), ".go")] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						names[s.Name.Name] = true
					}
				}
			}
		}
	}
	return names
}
