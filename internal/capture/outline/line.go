package outline

import "strings"

// imports begin a line that imports, by lexicon.
var imports = map[string][]string{
	"go": {"import ", "package "}, "javascript": {"import ", "} from "}, "python": {"import ", "from "}, "rust": {"use ", "pub use "},
	"java": {"import ", "package "}, "kotlin": {"import ", "package "}, "csharp": {"using "}, "php": {"use ", "namespace "},
	"ruby": {"require"}, "c": {"#include"}, "swift": {"import "},
}

// CommentLine reports whether a line of a file with that name is a comment or blank, as
// far as the line alone can tell: " * x" is taken for the middle of a comment, a line of
// a literal for what it looks like. It is false for every line of a file in no known language.
func CommentLine(name, line string) bool {
	lex := lexicons[lexiconOf(Language(name))]
	if lex == nil {
		return false
	}
	line = strings.TrimSpace(line)
	if lex.blocks[0] != "" {
		if line == "*" || strings.HasPrefix(line, "* ") {
			return true
		}
		line = strings.TrimPrefix(line, lex.blocks[1])
	}
	l := newLexer(lexiconOf(Language(name)), []byte(line))
	l.newline = false // "#include" is no comment
	l.run(0)
	return len(l.tokens) == 0
}

// ImportLine reports whether a line of a file with that name only imports something, or names
// its package, as far as the line alone can tell: in Go a string alone on its line, or behind a
// name, counts as one of an import block, and ")" as its end.
func ImportLine(name, line string) bool {
	lex := lexiconOf(Language(name))
	line = strings.TrimSpace(line)
	for _, begin := range imports[lex] {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	switch lex {
	case "go": // in import ( ... )
		return line == ")" || strings.HasSuffix(line, `"`) && strings.Count(line, `"`) == 2 && len(strings.Fields(line)) <= 2 &&
			!strings.ContainsAny(line, "(=:") && !strings.HasPrefix(line, "return ")
	case "javascript":
		return strings.Contains(line, "= require(")
	}
	return false
}
