package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sourceFile is a Go file under cmd or internal that is no test.
type sourceFile struct {
	*ast.File
	path, dir string // from the root, with slashes
	lines     int    // without comments and blank ones, as acceptance/shipped-lines counts
}

// parseSources returns the Go files under cmd and internal that are no tests.
func parseSources(t *testing.T) (sources []sourceFile) {
	t.Helper()
	inRoot(t)
	code := regexp.MustCompile(`(?m)^[ \t]*([^ \t\n/]|/[^/\n]|/$)`)
	for _, root := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Name() == "testdata" {
				return fs.SkipDir
			}
			if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return nil
			}
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, b, parser.ParseComments|parser.SkipObjectResolution)
			file = filepath.ToSlash(file)
			sources = append(sources, sourceFile{parsed, file, path.Dir(file), len(code.FindAllIndex(b, -1))})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// TestSettingsAreRead finds settings without an effect: each key is named outside package
// settings, or in a function there that is.
func TestSettingsAreRead(t *testing.T) {
	keys := map[string]string{} // the constant of each key → its value
	uses := map[string][]string{}
	named := map[string]bool{}
	for _, f := range parseSources(t) {
		inside := f.Name.Name == "settings"
		for _, d := range f.Decls {
			var function string
			if d, ok := d.(*ast.FuncDecl); ok && ast.IsExported(d.Name.Name) {
				function = d.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if inside && strings.HasPrefix(name.Name, "Key") {
							keys[name.Name], _ = strconv.Unquote(n.Values[i].(*ast.BasicLit).Value)
						}
					}
				case *ast.Ident:
					if inside && function != "" {
						uses[n.Name] = append(uses[n.Name], function)
					}
				case *ast.SelectorExpr:
					// cmd_config.go names keys to say when they take effect, and reads none.
					if !inside && path.Base(f.path) != "cmd_config.go" {
						named[n.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	if len(keys) < 40 {
		t.Fatalf("found only the keys %v", keys)
	}
	for key, value := range keys {
		read := named[key]
		for _, function := range uses[key] {
			read = read || named[function]
		}
		if strings.HasSuffix(value, "_API_KEY") || strings.HasSuffix(value, "_BASE_URL") {
			read = read || named["ProviderKeys"] // it joins the key from the provider's name
		}
		if !read {
			t.Errorf("nothing outside package settings reads %s (settings.%s)", value, key)
		}
	}
}

// TestImplementedInterfacesExist checks that a comment "implements X" or "implements
// package.X and package.Y" names interfaces. Of packages that are not in this repository it
// checks only that they are imported somewhere.
func TestImplementedInterfacesExist(t *testing.T) {
	sources := parseSources(t)
	interfaces, ours, imported := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range sources {
		ours[f.Name.Name] = true
		for _, i := range f.Imports {
			imported[path.Base(strings.Trim(i.Path.Value, `"`))] = true
			if i.Name != nil {
				imported[i.Name.Name] = true
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if _, ok := spec.Type.(*ast.InterfaceType); ok {
					interfaces[f.Name.Name+"."+spec.Name.Name] = true
				}
			}
			return true
		})
	}
	const name = `(?:[a-z]\w*\.)?[A-Z]\w*`
	claim := regexp.MustCompile(`\bimplements\s+` + name + `(?:(?:,|\s+and)\s+` + name + `)*`)
	one := regexp.MustCompile(name)
	claims := 0
	for _, f := range sources {
		for _, group := range f.Comments {
			for _, text := range claim.FindAllString(group.Text(), -1) {
				for _, x := range one.FindAllString(text, -1) {
					claims++
					where, _, qualified := strings.Cut(x, ".")
					if !qualified {
						where, x = f.Name.Name, f.Name.Name+"."+x
					}
					if ours[where] && !interfaces[x] || !ours[where] && !imported[where] {
						t.Errorf("%s: there is no interface %s", f.path, x)
					}
				}
			}
		}
	}
	if claims < 50 {
		t.Errorf("found only %d comments", claims)
	}
}

// maxPackage is the number of lines from which on a decision has to say why a package is so
// large, and what becomes of it.
const maxPackage = 4000

// TestLargePackagesHaveDecisions checks that docs/decisions names each package above maxPackage,
// without comments, blank lines and tests.
func TestLargePackagesHaveDecisions(t *testing.T) {
	lines := map[string]int{}
	for _, f := range parseSources(t) {
		lines[f.dir] += f.lines
	}
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [0-9]").FindAllStringSubmatch(string(b), -1) {
			listed[m[1]] = true
		}
	}
	for dir, n := range lines {
		if n > maxPackage && !listed[dir] {
			t.Errorf("%s has %d lines, over %d: split it, or add it to the table in docs/decisions", dir, n, maxPackage)
		}
	}
	for dir := range listed {
		if lines[dir] <= maxPackage {
			t.Errorf("%s has %d lines: take it from the table in docs/decisions", dir, lines[dir])
		}
	}
}
