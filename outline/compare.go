package outline

import "slices"

// ChangeType says how a symbol changed.
type ChangeType string

const (
	New      ChangeType = "new"
	Modified ChangeType = "modified"
	Deleted  ChangeType = "deleted"
)

// A Change is a symbol that two states of a file differ in: as it is after the change, as
// it was for a deleted one.
type Change struct {
	Symbol
	Type ChangeType
	// Before is the hash of its code before, 0 for a new one; Hash is 0 for a deleted one.
	Before uint64
	// RenamedFrom is the name that a new symbol had before; that name is among the
	// deleted ones too.
	RenamedFrom string
}

// Compare returns how the symbols of a file changed, in the order of the file after, with
// the deleted ones last. Symbols of one name (overloads) are paired by their code, then by
// their signature, then in order. When one state is broken, its symbols may be none of the
// file's, so that there is no change to tell.
func Compare(before, after Outline) []Change {
	if before.Broken || after.Broken {
		return nil
	}
	pairs := pair(before.Symbols, after.Symbols)
	paired := make([]bool, len(before.Symbols))
	for _, b := range pairs {
		if b >= 0 {
			paired[b] = true
		}
	}
	var gone []int
	for b := range before.Symbols {
		if !paired[b] {
			gone = append(gone, b)
		}
	}
	var changes []Change
	for a, s := range after.Symbols {
		switch b := pairs[a]; {
		case b < 0:
			changes = append(changes, Change{Symbol: s, Type: New, RenamedFrom: renamedFrom(s, before.Symbols, gone, after.Symbols, pairs)})
		case before.Symbols[b].Hash != s.Hash:
			changes = append(changes, Change{Symbol: s, Type: Modified, Before: before.Symbols[b].Hash})
		}
	}
	for _, b := range gone {
		c := Change{Symbol: before.Symbols[b], Type: Deleted, Before: before.Symbols[b].Hash}
		c.Hash = 0
		changes = append(changes, c)
	}
	return changes
}

// pair returns for each symbol of after the index of the one in before that it was, or -1.
func pair(before, after []Symbol) []int {
	named := map[string][]int{}
	for b, s := range before {
		named[s.Name] = append(named[s.Name], b)
	}
	pairs := make([]int, len(after))
	for a := range pairs {
		pairs[a] = -1
	}
	alike := []func(b, a Symbol) bool{
		func(b, a Symbol) bool { return b.Hash == a.Hash },
		func(b, a Symbol) bool { return b.Signature == a.Signature },
		func(b, a Symbol) bool { return b.Kind == Type == (a.Kind == Type) },
	}
	for _, same := range alike {
		for a, s := range after {
			if pairs[a] >= 0 {
				continue
			}
			left := named[s.Name]
			if i := slices.IndexFunc(left, func(b int) bool { return same(before[b], s) }); i >= 0 {
				pairs[a] = left[i]
				named[s.Name] = slices.Delete(slices.Clone(left), i, i+1)
			}
		}
	}
	return pairs
}

// renamedFrom returns the name of the one symbol that is gone and has the body of s, when
// s is the only new one with it. Bodies that say little (one return) prove nothing.
func renamedFrom(s Symbol, before []Symbol, gone []int, after []Symbol, pairs []int) string {
	if s.body == 0 {
		return ""
	}
	name := ""
	for _, b := range gone {
		if before[b].body == s.body && before[b].Kind == s.Kind {
			if name != "" {
				return ""
			}
			name = before[b].Name
		}
	}
	same := 0
	for a := range after {
		if pairs[a] < 0 && after[a].body == s.body {
			same++
		}
	}
	if same > 1 {
		return ""
	}
	return name
}

// At returns the innermost symbol that a line belongs to.
func (o Outline) At(line int) (Symbol, bool) {
	found := -1
	for i, s := range o.Symbols {
		if s.Start <= line && line <= s.End && (found < 0 || s.Start >= o.Symbols[found].Start) {
			found = i
		}
	}
	if found < 0 {
		return Symbol{}, false
	}
	return o.Symbols[found], true
}
