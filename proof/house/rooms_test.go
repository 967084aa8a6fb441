package house

import (
	"go/ast"
	"path"
	"testing"
)

// The bounds of a room of the store. With fewer methods than leastMethods it is a part of
// another room, with more than mostMethods nobody knows all of them; maxPackage bounds its lines.
const (
	leastMethods = 15
	mostMethods  = 45
)

// TestRooms counts the exported methods of each room of the store, whatever their type, and its
// lines. A room is a package below internal/keep/store with a type over the database;
// package likeness is none, for it only compares texts.
func TestRooms(t *testing.T) {
	methods, lines := map[string]int{}, map[string]int{}
	for _, file := range parseSources(t) {
		if path.Dir(file.dir) != "internal/keep/store" || path.Base(file.dir) == "likeness" {
			continue
		}
		lines[file.dir] += file.lines
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.IsExported() {
				methods[file.dir]++
			}
		}
	}
	for _, room := range []string{"db", "records", "books", "accounts", "care", "upkeep"} {
		if lines["internal/keep/store/"+room] == 0 {
			t.Errorf("no room %s", room)
		}
	}
	for room, n := range lines {
		if m := methods[room]; m < leastMethods || m > mostMethods {
			t.Errorf("%s has %d exported methods, want %d to %d", room, m, leastMethods, mostMethods)
		}
		if n > maxPackage {
			t.Errorf("%s has %d lines, want at most %d", room, n, maxPackage)
		}
		t.Logf("%s: %d exported methods, %d lines", room, methods[room], n)
	}
}
