package mode

import (
	"fmt"
	"strings"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"
)

// maxSymbols bounds the symbols named of an edit, maxSymbol each in bytes.
const (
	maxSymbols = 8
	maxSymbol  = 120
)

// changedSymbols returns which functions and types an edit changed: "added Parse, changed
// Lexer.next and 3 more"; "" for none. A command that takes edits back restores them. An unchanged
// symbol followed by one of the same name has moved there.
func changedSymbols(changes []memory.SymbolChange) string {
	renamed := collect.Set(collect.MapPtr(changes, func(s *memory.SymbolChange) string { return s.RenamedFrom }))
	var said []string
	for i := 0; i < len(changes); i++ {
		switch c := &changes[i]; {
		case c.ChangeType == memory.SymbolUnchanged && i+1 < len(changes) && changes[i+1].QualifiedName == c.QualifiedName:
			i++
			said = append(said, "moved "+c.QualifiedName+" to "+changes[i].FilePath)
		case c.ChangeType == memory.SymbolUnchanged:
			said = append(said, "restored "+c.QualifiedName)
		case c.RenamedFrom != "":
			said = append(said, "renamed "+c.RenamedFrom+" to "+c.QualifiedName)
		case c.ChangeType == memory.SymbolNew:
			said = append(said, "added "+c.QualifiedName)
		case c.ChangeType == memory.SymbolModified:
			said = append(said, "changed "+c.QualifiedName)
		case !renamed[c.QualifiedName]:
			said = append(said, "removed "+c.QualifiedName)
		}
	}
	shown := make([]string, min(len(said), maxSymbols))
	for i := range shown {
		shown[i] = oneLine(said[i], maxSymbol)
	}
	text := strings.Join(shown, ", ")
	if left := len(said) - len(shown); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}
