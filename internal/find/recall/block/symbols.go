package block

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

const (
	// symbolSessions bounds the sessions whose changed symbols are shown.
	symbolSessions = 5
	// fileSymbols is the number of lines that one file gets when there are many: a new
	// file of 40 functions would leave no room for what else changed.
	fileSymbols = 8
	// testSymbols is the number of lines that tests get in all: those that were moved would leave
	// no room for past work.
	testSymbols = 6
	// signatureChars bounds a declaration, oldNameChars the former name of a renamed
	// symbol, fileChars the path above them, in UTF-16 units.
	signatureChars = 100
	oldNameChars   = 40
	fileChars      = 80
)

// symbolLines returns the functions and types that the last sessions changed, those of
// program code before those of tests, the files by their latest change; for a resume only
// what changed since the last block.
func (r *run) symbolLines(ctx context.Context) (built, error) {
	own := r.req.Source == sourceCompact
	except := r.ownID()
	if own {
		except = 0
	}
	// What waits is read first: what is stored in between is in both, not in neither.
	fresh, _ := r.fresh.Wait() // Without it, what is stored has to do.
	changes, err := r.source.RecentSymbols(ctx, r.req.ProjectPath, except, symbolSessions)
	if err != nil {
		return built{}, err
	}
	for _, f := range fresh.sessions {
		if own || f.session != except && !f.self {
			changes = addWaiting(changes, f)
		}
	}
	changes = latestPerSymbol(changes)
	if r.req.Source == sourceResume {
		changes = slices.DeleteFunc(changes, func(c memory.SymbolChange) bool { return c.SnapshotAt <= r.since })
	}
	kept := withoutMembers(memory.WithoutOldNames(changes))
	return built{lines: r.fileLines(kept)}, nil
}

// ownID returns the number of the asking session, 0 while it is unknown.
func (r *run) ownID() memory.SessionID {
	if r.self.ID != 0 {
		return r.self.ID
	}
	recent, _ := r.recent.Wait() // Without it, the session index tells of the error.
	for _, d := range recent {
		if r.isSelf(d.Session) {
			return d.Session.ID
		}
	}
	return 0
}

// addWaiting adds the changes of a session that are not stored yet to those that are.
func addWaiting(stored []memory.SymbolChange, f *freshSession) []memory.SymbolChange {
	var net, others []memory.SymbolChange
	for _, c := range stored {
		if c.Session == f.session {
			net = append(net, c)
		} else {
			others = append(others, c)
		}
	}
	return append(others, memory.FoldSymbols(net, f.symbols...)...)
}

// latestPerSymbol returns the changes of the last symbolSessions sessions, the latest
// first, and of each name in a file those of the latest session: overloads may be several.
func latestPerSymbol(changes []memory.SymbolChange) []memory.SymbolChange {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b memory.SymbolChange) int {
		return cmp.Or(cmp.Compare(b.SnapshotAt, a.SnapshotAt), cmp.Compare(b.Session, a.Session), cmp.Compare(a.FilePath, b.FilePath),
			cmp.Compare(a.LineStart, b.LineStart), cmp.Compare(a.QualifiedName, b.QualifiedName))
	})
	type name struct{ file, name string }
	type declaration struct {
		name
		signature string
	}
	latest, seen := map[name]memory.SessionID{}, map[declaration]bool{}
	sessions := map[memory.SessionID]bool{}
	return slices.DeleteFunc(changes, func(c memory.SymbolChange) bool {
		if !sessions[c.Session] && len(sessions) == symbolSessions {
			return true
		}
		sessions[c.Session] = true
		n := name{c.FilePath, c.QualifiedName}
		if in, known := latest[n]; known && in != c.Session || seen[declaration{n, c.Signature}] {
			return true
		}
		latest[n], seen[declaration{n, c.Signature}] = c.Session, true
		return false
	})
}

// changedSymbol is a change with the number of methods that were added or deleted along
// with a type.
type changedSymbol struct {
	memory.SymbolChange
	methods int
	member  bool // of such a type
}

// withoutMembers returns the changes without the new members of new types and the deleted
// ones of deleted types; the type counts its methods. It is as new as the latest of them.
func withoutMembers(changes []memory.SymbolChange) []changedSymbol {
	type owner struct {
		file, name string
		change     memory.ChangeType
	}
	types := map[owner]*changedSymbol{}
	all := make([]changedSymbol, len(changes))
	for i, c := range changes {
		all[i].SymbolChange = c
		if c.Kind == "type" && c.ChangeType != memory.SymbolModified {
			types[owner{c.FilePath, c.QualifiedName, c.ChangeType}] = &all[i]
		}
	}
	for i := range all {
		c := &all[i]
		var outermost *changedSymbol
		for name := c.Owner(); name != "" && c.Kind != "test"; name = name[:max(strings.LastIndexByte(name, '.'), 0)] {
			if t := types[owner{c.FilePath, name, c.ChangeType}]; t != nil {
				outermost = t
			}
		}
		if c.member = outermost != nil; !c.member {
			continue
		}
		outermost.SnapshotAt = max(outermost.SnapshotAt, c.SnapshotAt)
		if c.Kind == "method" {
			outermost.methods++
		}
	}
	return slices.DeleteFunc(all, func(c changedSymbol) bool { return c.member })
}

// isTest reports whether a symbol is part of the tests.
func (c *changedSymbol) isTest() bool {
	return c.Kind == "test" || strings.HasPrefix(c.QualifiedName, "tests.") || toolcall.KindOfFile(c.FilePath) == toolcall.FileTest
}

// fileLines chooses the changes to show and returns their lines, file by file.
func (r *run) fileLines(changes []changedSymbol) []line {
	slices.SortStableFunc(changes, func(a, b changedSymbol) int {
		return cmp.Or(last(a.isTest())-last(b.isTest()), cmp.Compare(b.SnapshotAt, a.SnapshotAt), cmp.Compare(a.FilePath, b.FilePath),
			last(a.ChangeType == memory.SymbolDeleted)-last(b.ChangeType == memory.SymbolDeleted), cmp.Compare(a.LineStart, b.LineStart))
	})
	var files []string
	byFile := map[string][]changedSymbol{}
	for _, c := range changes {
		if byFile[c.FilePath] == nil {
			files = append(files, c.FilePath)
		}
		byFile[c.FilePath] = append(byFile[c.FilePath], c)
	}
	if len(files) == 0 {
		return nil
	}
	most := max(fileSymbols, r.opts.MaxSymbols/len(files))
	var lines []line
	tests := 0
	for _, f := range files {
		in := byFile[f]
		shown := slices.DeleteFunc(slices.Clone(in), func(c changedSymbol) bool {
			if c.isTest() {
				tests++
			}
			return c.isTest() && tests > testSymbols
		})
		shown = shown[:min(len(shown), most, r.opts.MaxSymbols-len(lines))]
		group := cutPath(r.plain(text.Line(f)), fileChars)
		if len(shown) == 0 || group == "" {
			continue
		}
		if len(shown) < len(in) {
			group += fmt.Sprintf(" (%d changes)", len(in))
		}
		for i := range shown {
			if l := r.symbolLine(&shown[i]); l.text != "" {
				l.group = group
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// symbolLine returns the line of a change: its declaration and how it changed.
func (r *run) symbolLine(c *changedSymbol) line {
	was := *c
	was.RenamedFrom = text.TruncateWidth(r.plain(text.Line(c.RenamedFrom)), oldNameChars)
	tail := "  [" + was.Mark() + "]"
	if c.methods > 0 {
		tail += " with " + text.Count(c.methods, "method")
	}
	return line{text: text.TruncateWidth(r.plain(text.Line(c.Declaration())), signatureChars), tail: tail, session: c.Session,
		why: fmt.Sprintf("%s in S%d, %s", c.ChangeType, c.Session, text.Age(r.now.Time(), c.SnapshotAt.Time()))}
}

// last orders what is so after what is not.
func last(is bool) int {
	if is {
		return 1
	}
	return 0
}
