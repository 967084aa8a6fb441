package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opensItself are the files of the product that open a file without package openfile.
var opensItself = map[string]string{
	"internal/leaf/openfile/open_unix.go":    "it checks what it has opened",
	"internal/leaf/openfile/open_other.go":   "it checks what it has opened",
	"internal/leaf/openfile/within.go":       "it checks what it has opened",
	"internal/leaf/atomicfile/atomicfile.go": "a directory, to sync it, and new files beside the target",
	"internal/leaf/openfile/lock_windows.go": "Windows alone can open a file for one process, and has no FIFOs in folders",
	"internal/capture/hook/binary.go":        "/dev/null, for the programs that it starts",
	"internal/serve/httpapi/peer_linux.go":   "the kernel's table of sockets in /proc",
	"internal/run/doctor/check_worker.go":    "a process's command line in /proc",
	"internal/run/recorded/recorded.go":      "new files in a directory that the demo has just made",
}

// TestFilesAreOpenedInOnePlace looks for calls that open files: those of the product go through
// package openfile, which refuses what is no regular file. A FIFO in the place of a file would
// keep a hook, the worker or a command waiting for ever, and /dev/zero never ends.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	inRoot(t)
	opening := map[string][]string{
		"os":      {"Open", "OpenFile", "ReadFile", "Create", "WriteFile", "OpenRoot", "OpenInRoot", "DirFS", "CopyFS"},
		"syscall": {"Open", "Openat", "CreateFile"},
		"unix":    {"Open", "Openat", "Openat2"},
		"windows": {"Open", "CreateFile"},
	}
	used := map[string]bool{}
	for _, p := range listProduct(t) {
		dir, ok := strings.CutPrefix(p.ImportPath, modulePath(t)+"/")
		if !ok {
			continue // the standard library, modules
		}
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, _ := s.X.(*ast.Ident)
				// OpenFile and ReadFile are methods of os.Root too, whatever the variable's name.
				method := (s.Sel.Name == "OpenFile" || s.Sel.Name == "OpenRoot") && (of == nil || of.Name != "os")
				if !method && (of == nil || !slices.Contains(opening[of.Name], s.Sel.Name)) {
					return true
				}
				name := filepath.ToSlash(path)
				used[name] = true
				if opensItself[name] == "" {
					t.Errorf("%v: %s opens a file itself: call openfile, which refuses what is no regular file", files.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
	for name := range opensItself {
		if !used[name] {
			t.Errorf("%s opens no file itself any more: take it out of the list", name)
		}
	}
}
