package offline

import (
	"slices"
	"strings"

	"claudemem"
	"claudemem/outline"
	"claudemem/text"
	"claudemem/toolcall"
)

// symbol is a function, method, type or test that an episode added, changed or removed.
type symbol struct {
	change claudemem.ChangeType
	file   string
	// name is as it is shown; from is the name before, of one that was renamed.
	name, from string
	// code: it belongs to the program itself; test: it is a test, in whatever file.
	code, test bool
}

// symbolsOf returns the net changes of a sequence of edits, in the order of their first
// change. What came and went is none, and neither is what a deleted file held.
func symbolsOf(edits []*edit) []symbol {
	var net []claudemem.SymbolChange
	for _, x := range edits {
		if x.deleted {
			net = slices.DeleteFunc(net, func(c claudemem.SymbolChange) bool { return c.FilePath == x.path })
		}
		changes := slices.Clone(x.symbols)
		for i := range changes {
			changes[i].FilePath = x.path
		}
		net = claudemem.FoldSymbols(net, changes...)
	}
	type key struct{ file, name string }
	gone, renamed := map[key]bool{}, map[key]bool{}
	for i := range net {
		gone[key{net[i].FilePath, net[i].QualifiedName}] = net[i].ChangeType == claudemem.SymbolDeleted
	}
	for i := range net {
		old := key{net[i].FilePath, net[i].RenamedFrom}
		renamed[old] = gone[old]
	}
	var out []symbol
	for i := range net {
		c := &net[i]
		if c.ChangeType == claudemem.SymbolDeleted && renamed[key{c.FilePath, c.QualifiedName}] {
			continue
		}
		s := symbol{change: c.ChangeType, file: c.FilePath, name: nameInCode(c.FilePath, c.QualifiedName), test: isTest(c)}
		s.code = !s.test && toolcall.KindOfFile(s.file) == toolcall.FileCode
		if renamed[key{c.FilePath, c.RenamedFrom}] {
			s.from = nameInCode(c.FilePath, c.RenamedFrom)
		}
		out = append(out, s)
	}
	return out
}

// nameInCode returns a symbol's name as its language writes it: Server::run in Rust.
func nameInCode(file, name string) string {
	switch outline.Language(file) {
	case "rust", "c", "cpp":
		name = strings.ReplaceAll(name, ".", "::")
	}
	return shown(name, maxTestName)
}

// testPrefixes begin the names of tests in files of tests, by language; "" stands for all
// functions there. Where a language is not listed, only tests given by name count.
var testPrefixes = map[string][]string{
	"go": {"Test", "Benchmark", "Fuzz"}, "python": {"test"}, "ruby": {"test"}, "php": {"test"}, "swift": {"test"}, "c": {"test"},
	"cpp": {"test"}, "rust": {""}, "java": {""}, "kotlin": {""}, "csharp": {""},
}

// isTest reports whether a symbol is a test: by its kind, or by the convention of its
// language.
func isTest(c *claudemem.SymbolChange) bool {
	if c.Kind == string(outline.Test) || c.Kind == string(outline.Type) {
		return c.Kind == string(outline.Test)
	}
	language := outline.Language(c.FilePath)
	if language == "rust" && strings.HasPrefix(c.QualifiedName, "tests.") {
		return true
	}
	if toolcall.KindOfFile(c.FilePath) != toolcall.FileTest {
		return false
	}
	name := text.AfterLast(c.QualifiedName, ".")
	return slices.ContainsFunc(testPrefixes[language], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// names returns the names of the episode's symbols for which is holds, each once.
func (e *episode) names(is func(*symbol) bool) []string {
	var out []string
	for i := range e.symbols {
		if is(&e.symbols[i]) {
			out = text.Add(out, e.symbols[i].name)
		}
	}
	return out
}

// added reports whether the symbol is new, and not only its name.
func (s *symbol) added() bool { return s.change == claudemem.SymbolNew && s.from == "" }

// newCode returns the names of the symbols that the episode added to the program itself,
// except those that it only moved there, and its new files without any symbols.
func (e *episode) newCode() []string {
	gone := e.names(func(s *symbol) bool { return s.change == claudemem.SymbolDeleted })
	out := e.names(func(s *symbol) bool { return s.code && s.added() && !slices.Contains(gone, s.name) })
	for _, x := range e.edits {
		if x.kind == toolcall.FileCode && x.created && len(x.symbols) == 0 && x.from == "" {
			out = text.Add(out, x.path)
		}
	}
	return out
}

// movesOnly reports whether what came somewhere went somewhere else: a rename, or
// code moved between files.
func (e *episode) movesOnly() bool {
	renames, both := 0, 0
	for _, x := range e.edits {
		if x.kind == toolcall.FileCode && x.from != "" {
			renames++
		}
	}
	renames += len(e.names(func(s *symbol) bool { return s.code && s.from != "" }))
	came := e.names(func(s *symbol) bool { return s.code && s.added() })
	went := e.names(func(s *symbol) bool { return s.code && s.change == claudemem.SymbolDeleted })
	for _, n := range came {
		if slices.Contains(went, n) {
			both++
		}
	}
	return renames > 0 && len(came) <= both || both > 0 && both >= len(came)-1
}

// touched returns the names of the symbols of the program itself that are new, then of
// those that changed.
func (e *episode) touched() []string {
	return text.Add(e.names(func(s *symbol) bool { return s.code && s.change == claudemem.SymbolNew }),
		e.names(func(s *symbol) bool { return s.code && s.change == claudemem.SymbolModified })...)
}

// newTests returns the names of the tests that the episode added.
func (e *episode) newTests() []string {
	return e.names(func(s *symbol) bool { return s.test && s.added() })
}

// rename returns the old and the new name of the one symbol, else of the first file, that
// the episode renamed; two empty strings for none.
func (e *episode) rename() (from, to string) {
	fresh := 0
	for i := range e.symbols {
		if s := &e.symbols[i]; s.code && s.change == claudemem.SymbolNew {
			from, to = s.from, s.name
			fresh++
		}
	}
	if fresh == 1 && from != "" {
		return from, to
	}
	for _, x := range e.edits {
		if x.from != "" {
			return nameOf(x.from), nameOf(x.path)
		}
	}
	return "", ""
}

// changes returns what happened to one file and its symbols, "" for nothing.
func (e *episode) changes(file string) string {
	var headings, under []string
	created, deleted, from := false, false, ""
	for _, x := range e.edits {
		if x.path != file {
			continue
		}
		created, deleted = created || x.created, x.deleted
		if x.from != "" {
			from = x.from
		}
		if x.kind == toolcall.FileDoc {
			headings, under = text.Add(headings, x.headings...), text.Add(under, x.under...)
		}
	}
	var renamed []string
	for i := range e.symbols {
		if s := &e.symbols[i]; s.file == file && s.from != "" {
			renamed = text.Add(renamed, s.from+" to "+s.name)
		}
	}
	of := func(change claudemem.ChangeType) []string {
		return e.names(func(s *symbol) bool {
			return s.file == file && s.change == change && s.from == "" && !(s.test && s.added())
		})
	}
	var parts []string
	for _, p := range []struct {
		verb  string
		names []string
	}{
		{"added ", text.Add(of(claudemem.SymbolNew), headings...)},
		{"changed ", text.Add(of(claudemem.SymbolModified), under...)},
		{"renamed ", renamed},
		{"removed ", of(claudemem.SymbolDeleted)},
		{"new tests ", e.names(func(s *symbol) bool { return s.file == file && s.test && s.added() })},
	} {
		if len(p.names) > 0 {
			parts = append(parts, p.verb+list(p.names, 5))
		}
	}
	switch {
	case from != "":
		parts = append([]string{"moved from " + from}, parts...)
	case deleted:
		return file + " deleted"
	case created && len(parts) > 0:
		return "New file " + file + ": " + strings.Join(parts, "; ")
	case created:
		return "New file " + file
	}
	if len(parts) == 0 {
		return ""
	}
	return file + ": " + strings.Join(parts, "; ")
}
