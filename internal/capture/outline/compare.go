package outline

import "claudemem/internal/memory"

// A Change is a symbol that two states of a file differ in: as it is after the change, as
// it was for a deleted one.
type Change struct {
	Symbol
	Type memory.ChangeType
	// Before is the hash of its code before, 0 for a new one; Hash is 0 for a deleted one.
	Before uint64
	// RenamedFrom is the name that a new symbol had before; that name is among the
	// deleted ones too.
	RenamedFrom string
}

// Compare returns how the symbols of a file changed, in the order of the file after, with
// the deleted ones last (memory.FoldSymbols relies on that); nil for no change. Symbols of one name
// (overloads) are paired by their code, then by their signature, then in order. When one state is
// broken, its symbols may be none of the file's, so that it returns nil: a caller that must tell
// this from no change looks at Broken first.
func Compare(before, after Outline) []Change {
	if before.Broken || after.Broken {
		return nil
	}
	pairs, gone := pair(before.Symbols, after.Symbols)
	renamed := renames(before.Symbols, gone, after.Symbols, pairs)
	var changes []Change
	for a, s := range after.Symbols {
		switch b := pairs[a]; {
		case b < 0:
			changes = append(changes, Change{Symbol: s, Type: memory.SymbolNew, RenamedFrom: renamed[a]})
		case before.Symbols[b].Hash != s.Hash:
			changes = append(changes, Change{Symbol: s, Type: memory.SymbolModified, Before: before.Symbols[b].Hash})
		}
	}
	for _, b := range gone {
		c := Change{Symbol: before.Symbols[b], Type: memory.SymbolDeleted, Before: before.Symbols[b].Hash}
		c.Hash = 0
		changes = append(changes, c)
	}
	return changes
}

// identity is what two states of a symbol have in common: its name, and one of its code,
// its signature and being a type.
type identity struct {
	name, signature string
	hash            uint64
	isType          bool
}

// pair returns for each symbol of after the index of the one in before that it was, or -1, and
// the indexes of those that are in before only, ascending. Paired are symbols of one name: first
// those with the same code, then with the same signature, then the rest in order, a type with a
// type only.
func pair(before, after []Symbol) (pairs, gone []int) {
	pairs = make([]int, len(after))
	for a := range pairs {
		pairs[a] = -1
	}
	paired := make([]bool, len(before))
	for _, of := range []func(s *Symbol) identity{
		func(s *Symbol) identity { return identity{name: s.Name, hash: s.Hash} },
		func(s *Symbol) identity { return identity{name: s.Name, signature: s.Signature} },
		func(s *Symbol) identity { return identity{name: s.Name, isType: s.Kind == Type} },
	} {
		left := map[identity][]int{}
		for b := range before {
			if !paired[b] {
				id := of(&before[b])
				left[id] = append(left[id], b)
			}
		}
		for a := range after {
			if pairs[a] >= 0 {
				continue
			}
			id := of(&after[a])
			if like := left[id]; len(like) > 0 {
				pairs[a], left[id] = like[0], like[1:]
				paired[like[0]] = true
			}
		}
	}
	for b := range before {
		if !paired[b] {
			gone = append(gone, b)
		}
	}
	return pairs, gone
}

// renames returns the former names of new symbols, by their index in after: a symbol has
// the name of the only one that is gone and had its body, when it is the only new one with
// that body. Bodies that say little (one return) prove nothing.
func renames(before []Symbol, gone []int, after []Symbol, pairs []int) map[int]string {
	type body struct {
		hash uint64
		kind Kind
	}
	was, is := map[body][]int{}, map[body][]int{}
	for _, b := range gone {
		if s := before[b]; s.body != 0 {
			was[body{s.body, s.Kind}] = append(was[body{s.body, s.Kind}], b)
		}
	}
	for a, s := range after {
		if pairs[a] < 0 && s.body != 0 {
			is[body{s.body, s.Kind}] = append(is[body{s.body, s.Kind}], a)
		}
	}
	names := map[int]string{}
	for id, a := range is {
		if b := was[id]; len(a) == 1 && len(b) == 1 {
			names[a[0]] = before[b[0]].Name
		}
	}
	return names
}
