package memory

import (
	"slices"
	"strings"
	"unicode"
)

// ChangeType says how a symbol changed.
type ChangeType string

// The change types. SymbolUnchanged takes an earlier change back: the symbol is again
// what it was before the session.
const (
	SymbolNew       ChangeType = "new"
	SymbolModified  ChangeType = "modified"
	SymbolDeleted   ChangeType = "deleted"
	SymbolUnchanged ChangeType = "unchanged"
)

// SymbolChange is a function, method or type that a session added, modified or deleted.
type SymbolChange struct {
	ID       int64     `json:"id,omitempty"`
	Session  SessionID `json:"session_id,omitempty"`
	FilePath string    `json:"file"`
	// SnapshotAt is when the last edit changed it.
	SnapshotAt Millis `json:"snapshot_at,omitempty"`
	// QualifiedName is "Limiter.refill"; Kind is func, method, type or test.
	QualifiedName string `json:"name"`
	Kind          string `json:"kind"`
	// Signature is the declaration without its body, on one line; the lines are from 1.
	// All three are those after the change, of a deleted symbol those before.
	Signature string `json:"signature,omitempty"`
	LineStart int    `json:"line_start,omitempty"`
	LineEnd   int    `json:"line_end,omitempty"`
	// BodyHash identifies its code after the change, BeforeHash before; "" where it was
	// not there. Comments and formatting do not count.
	BodyHash   string     `json:"body_hash,omitempty"`
	BeforeHash string     `json:"before_hash,omitempty"`
	ChangeType ChangeType `json:"change_type"`
	// RenamedFrom is the name that a new symbol had before, which is among the deleted
	// ones, too.
	RenamedFrom string `json:"renamed_from,omitempty"`
}

// FoldSymbols adds later changes to the net changes so far and returns the sum: a symbol
// that came and went is no change, one that was added and then modified is new, one that
// got its old code back is no change. All are of one session and project, in order; of one edit,
// the new symbols come before the deleted ones (outline.Compare). net is not modified: what is
// left of it keeps its IDs and order, new entries follow with the IDs that later has.
func FoldSymbols(net []SymbolChange, later ...SymbolChange) []SymbolChange {
	f := netChanges{all: slices.Clone(net), at: make(map[symbolName][]int, len(net)+len(later))}
	for i := range f.all {
		f.index(i)
	}
	for i := range later {
		f.add(later[i])
	}
	return slices.DeleteFunc(f.all, func(c SymbolChange) bool { return c.ChangeType == "" })
}

// symbolName is the name of a symbol within a project; overloads share it.
type symbolName struct{ file, name string }

// netChanges are the changes to which others are added. A change that was taken back has
// no ChangeType.
type netChanges struct {
	all []SymbolChange
	at  map[symbolName][]int // indexes in all
}

// index makes entry i findable by its name.
func (f *netChanges) index(i int) {
	name := symbolName{f.all[i].FilePath, f.all[i].QualifiedName}
	f.at[name] = append(f.at[name], i)
}

// add adds a change: to the one that it continues, whose ID and BeforeHash stay, else as another
// one. Two changes that take each other back leave none: a new symbol that is deleted, a symbol
// with the code that it had first.
func (f *netChanges) add(c SymbolChange) {
	i := f.continues(&c)
	if i < 0 {
		if c.ChangeType != SymbolUnchanged {
			c.RenamedFrom = f.firstName(&c)
			f.all = append(f.all, c)
			f.index(len(f.all) - 1)
		}
		return
	}
	was := &f.all[i]
	c.ID, c.BeforeHash = was.ID, was.BeforeHash
	switch {
	case c.ChangeType == SymbolUnchanged, was.ChangeType == SymbolNew && c.ChangeType == SymbolDeleted,
		c.ChangeType != SymbolDeleted && c.BeforeHash != "" && c.BodyHash == c.BeforeHash:
		was.ChangeType = ""
		return
	case was.ChangeType == SymbolNew:
		c.ChangeType, c.RenamedFrom = SymbolNew, was.RenamedFrom
	case c.ChangeType != SymbolDeleted:
		c.ChangeType, c.RenamedFrom = SymbolModified, ""
	}
	*was = c
}

// continues returns the index of the change that c goes on with, -1 for none: that of the
// same name after which the code was that before c, else (an edit in between was not seen)
// the one with the same signature. Overloads of one name are different symbols. Only a new symbol
// follows a deleted one, and the other way about; a SymbolUnchanged follows both.
func (f *netChanges) continues(c *SymbolChange) int {
	found := -1
	for _, i := range f.at[symbolName{c.FilePath, c.QualifiedName}] {
		n := &f.all[i]
		follows := c.ChangeType == SymbolUnchanged || (c.ChangeType == SymbolNew) == (n.ChangeType == SymbolDeleted)
		if c.ChangeType == SymbolNew && n.ChangeType == SymbolNew && n.BodyHash == c.BodyHash {
			return i // told twice
		}
		if n.ChangeType == "" || !follows {
			continue
		}
		if n.BodyHash == c.BeforeHash {
			return i
		}
		if found < 0 && n.Signature == c.Signature {
			found = i
		}
	}
	return found
}

// firstName returns the name from before the session of a symbol that was renamed, "" if it had
// none: it was not renamed, or was made in the session under another name.
func (f *netChanges) firstName(c *SymbolChange) string {
	if c.RenamedFrom == "" {
		return ""
	}
	for _, i := range f.at[symbolName{c.FilePath, c.RenamedFrom}] {
		if n := &f.all[i]; n.ChangeType == SymbolNew {
			return n.RenamedFrom
		}
	}
	return c.RenamedFrom
}

// Declaration returns the signature of a symbol, with what holds it in front where the
// signature does not name it: "Bucket: def take(self, n)". A symbol without a signature is
// its qualified name; a test's name is a text, whose dots are no owner.
func (c *SymbolChange) Declaration() string {
	if c.Signature == "" {
		return c.QualifiedName
	}
	owner := c.Owner()
	words := strings.FieldsFunc(c.Signature, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if owner == "" || c.Kind == "test" || slices.Contains(words, owner[strings.LastIndexByte(owner, '.')+1:]) {
		return c.Signature
	}
	return owner + ": " + c.Signature
}

// Owner returns the qualified name of the type or module that holds a symbol, "" for none.
func (c *SymbolChange) Owner() string {
	return c.QualifiedName[:max(strings.LastIndexByte(c.QualifiedName, '.'), 0)]
}

// Mark returns how the symbol changed, for people: "NEW", "NEW, was oldName".
func (c *SymbolChange) Mark() string {
	mark := strings.ToUpper(string(c.ChangeType))
	if c.RenamedFrom != "" {
		mark += ", was " + c.RenamedFrom
	}
	return mark
}

// WithoutOldNames returns a copy of changes, which may be of several sessions, without the deleted
// symbols that are in it under a new name: that one tells the old name.
func WithoutOldNames(changes []SymbolChange) []SymbolChange {
	type name struct {
		session    SessionID
		file, name string
	}
	renamed := map[name]bool{}
	for i := range changes {
		if c := &changes[i]; c.RenamedFrom != "" {
			renamed[name{c.Session, c.FilePath, c.RenamedFrom}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c SymbolChange) bool {
		return c.ChangeType == SymbolDeleted && renamed[name{c.Session, c.FilePath, c.QualifiedName}]
	})
}
