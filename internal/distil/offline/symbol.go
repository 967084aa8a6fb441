package offline

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"claudemem/internal/capture/outline"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// symbol is a function, method, type or test that an episode added, changed or removed.
type symbol struct {
	change memory.ChangeType
	file   string
	// name is as it is shown; from is the name before, of one that was renamed.
	name, from string
	// code: it belongs to the program itself; test: it is a test, in whatever file.
	code, test bool
}

// maxSymbols bounds the symbols of an episode: generated files have thousands.
const maxSymbols = 1000

// symbolsOf returns the net changes of a sequence of steps, file by file. What came and
// went is none, and neither is what a deleted file held or a command took back.
func symbolsOf(steps []*step) []symbol {
	net := netChanges{}
	var files []string
	for _, s := range steps {
		for _, x := range s.edits {
			files = text.Add(files, x.path)
			if x.deleted {
				delete(net, x.path)
			}
			net.add(x.symbols)
		}
		if s.Tool == toolcall.ToolCommand && s.event != nil {
			net.takeBack(s.event.Symbols)
		}
	}
	var out []symbol
	for _, file := range files {
		out = append(out, symbolsOfFile(file, net[file])...)
		if len(out) >= maxSymbols {
			return out[:maxSymbols]
		}
	}
	return out
}

// netChanges are changes of symbols added up, by the file as it is shown.
type netChanges map[string][]memory.SymbolChange

// add adds later changes.
func (n netChanges) add(changes []memory.SymbolChange) {
	for len(changes) > 0 { // those of one file at once
		of := 1
		for of < len(changes) && changes[of].FilePath == changes[0].FilePath {
			of++
		}
		file := shown(changes[0].FilePath, maxPath)
		n[file] = memory.FoldSymbols(n[file], changes[:of]...)
		changes = changes[of:]
	}
}

// takeBack adds what package symbols found that a command took back or moved to another
// file, if the change was among n: it may be one of an earlier turn.
func (n netChanges) takeBack(changes []memory.SymbolChange) {
	moved := ""
	for i := range changes {
		c := &changes[i]
		mine := slices.ContainsFunc(n[shown(c.FilePath, maxPath)], func(old memory.SymbolChange) bool { return old.QualifiedName == c.QualifiedName })
		if mine || moved == c.QualifiedName {
			n.add(changes[i : i+1])
		}
		moved = ""
		if mine && c.ChangeType == memory.SymbolUnchanged {
			moved = c.QualifiedName
		}
	}
}

// symbolsOfFile returns the net changes of a file as they are shown. Of a renamed symbol
// the old name is no symbol by itself.
func symbolsOfFile(file string, net []memory.SymbolChange) []symbol {
	gone, renamed := map[string]bool{}, map[string]bool{}
	for i := range net {
		gone[net[i].QualifiedName] = net[i].ChangeType == memory.SymbolDeleted
	}
	for i := range net {
		renamed[net[i].RenamedFrom] = gone[net[i].RenamedFrom]
	}
	code := toolcall.KindOfFile(file) == toolcall.FileCode
	var out []symbol
	for i := range net {
		c := &net[i]
		if c.ChangeType == memory.SymbolDeleted && renamed[c.QualifiedName] {
			continue
		}
		s := symbol{change: c.ChangeType, file: file, name: nameInCode(file, c.QualifiedName), test: isTest(c)}
		s.code = code && !s.test
		if renamed[c.RenamedFrom] {
			s.from = nameInCode(file, c.RenamedFrom)
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
func isTest(c *memory.SymbolChange) bool {
	if c.Kind == string(outline.Test) || c.Kind == string(outline.Type) {
		return c.Kind == string(outline.Test)
	}
	language := outline.Language(c.FilePath)
	if language == "rust" && strings.Contains("."+c.QualifiedName, ".tests.") {
		return true
	}
	if toolcall.KindOfFile(c.FilePath) != toolcall.FileTest {
		return false
	}
	name := text.AfterLast(c.QualifiedName, ".")
	return slices.ContainsFunc(testPrefixes[language], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// names returns the names of the episode's symbols for which is holds, each once.
func (e *episode) names(is func(symbol) bool) []string {
	return text.Add(nil, collect.Map(collect.Keep(e.symbols, is), func(s symbol) string { return s.name })...)
}

// added reports whether the symbol is new, and not only its name.
func (s symbol) added() bool { return s.change == memory.SymbolNew && s.from == "" }

// newCode returns the names of the symbols that the episode added to the program itself,
// except those that it only moved there, and its new files without any symbols.
func (e *episode) newCode() []string {
	gone := e.names(func(s symbol) bool { return s.change == memory.SymbolDeleted })
	out := e.names(func(s symbol) bool { return s.code && s.added() && !slices.Contains(gone, s.name) })
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
	renames := e.any(func(x *edit) bool { return x.kind == toolcall.FileCode && x.from != "" }) ||
		slices.ContainsFunc(e.symbols, func(s symbol) bool { return s.code && s.from != "" })
	came := e.names(func(s symbol) bool { return s.code && s.added() })
	went := e.names(func(s symbol) bool { return s.code && s.change == memory.SymbolDeleted })
	both := len(slices.DeleteFunc(slices.Clone(came), func(n string) bool { return !slices.Contains(went, n) }))
	return renames && len(came) <= both || both > 0 && both >= len(came)-1
}

// touched returns the names of the symbols of the program itself that are new, then of
// those that changed.
func (e *episode) touched() []string {
	return text.Add(e.names(func(s symbol) bool { return s.code && s.change == memory.SymbolNew }),
		e.names(func(s symbol) bool { return s.code && s.change == memory.SymbolModified })...)
}

// newTests returns the names of the tests that the episode added.
func (e *episode) newTests() []string {
	return e.names(func(s symbol) bool { return s.test && s.added() })
}

// rename returns the old and the new name of the one symbol, else of the first file, that
// the episode renamed; two empty strings for none.
func (e *episode) rename() (from, to string) {
	fresh := 0
	for i := range e.symbols {
		if s := &e.symbols[i]; s.code && s.change == memory.SymbolNew {
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

// changes returns what happened to one file and its symbols, "" for nothing and for work
// that was reverted.
func (e *episode) changes(file string) string {
	if e.takenOut {
		return ""
	}
	var headings, under []string
	created, deleted, from := false, false, ""
	for _, x := range e.edits {
		if x.path != file {
			continue
		}
		created, deleted, from = created || x.created, x.deleted, cmp.Or(x.from, from)
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
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	of := func(change memory.ChangeType) []string {
		return e.names(func(s symbol) bool { // "Json.java: changed Json" says no more than the file's name, and reads as if JSON had changed
			return s.file == file && s.change == change && s.from == "" && (!s.test || !s.added()) && (change != memory.SymbolModified || s.name != stem)
		})
	}
	var parts []string
	for _, p := range []struct {
		verb  string
		names []string
	}{
		{"added ", text.Add(of(memory.SymbolNew), headings...)},
		{"changed ", text.Add(of(memory.SymbolModified), under...)},
		{"renamed ", renamed},
		{"removed ", of(memory.SymbolDeleted)},
		{"new tests ", e.names(func(s symbol) bool { return s.file == file && s.test && s.added() })},
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
