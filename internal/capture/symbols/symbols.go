// Package symbols tells which functions, methods and types an edit changed, by comparing
// the whole file before it and after it. Where one of the two is not known for certain,
// or does not parse, it tells nothing.
//
// [AtOnce] compares the edits of small files while the host waits for its answer;
// [Later] those that are left when a batch of events is distilled: large files, edits
// whose text before has to be taken from the file on disk and the patch, and edits that
// left the file broken until a later one mended it.
//
// In the flow it is used by intake and observer. It imports outline, which reads the
// source, and toolcall, which reads the edit.
package symbols

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"claudemem/internal/capture/outline"
	"claudemem/internal/capture/redact/rules"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/collect"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

const (
	// maxAtOnce bounds the two texts that are compared while the host waits, in bytes: on a
	// busy machine outline reads 10 MB a second.
	maxAtOnce = 160 << 10
	// maxFile bounds a file that is read from disk, in bytes; intake hashes none above.
	maxFile = 1 << 20
	// maxChanges bounds what is kept of one edit: a generated file has thousands.
	maxChanges = 400
)

// AtOnce returns how an edit changed the symbols of its file; false when that has to be
// found out later, if at all. With true the changes are not nil, even if there are none: nil means
// "not compared" to Later. It takes at most about 20 ms. file is the file as intake noted it, after
// the edit. The event still has the whole texts that intake drops afterwards; the changes hold no
// secret.
func AtOnce(e *memory.Event, file memory.FileRef) ([]memory.SymbolChange, bool) {
	if len(e.ToolInput)+len(e.ToolResponse) > 3*maxAtOnce {
		return nil, false
	}
	edit := editOf(e)
	if edit == nil || edit.Path != file.Path {
		return nil, false
	}
	before, after, ok := edit.Texts(func() (string, bool) { return onDisk(e.WorktreeRoot, file) })
	if !ok || len(before)+len(after) > maxAtOnce {
		return nil, false
	}
	from, to := outline.Of(edit.Path, []byte(before)), outline.Of(edit.Path, []byte(after))
	if from.Broken && to.Broken { // broken before and after: only the added lines are read; if one of both is broken, Later compares
		changes := added(e, edit, before)
		return changes, changes != nil
	}
	return compare(e, edit.Path, from, to)
}

// editOf returns the edit of an event whose file has symbols, nil for another event, one that failed or
// one that edits several files.
func editOf(e *memory.Event) *toolcall.Edit {
	if e.Kind != memory.KindTool || e.Failed() {
		return nil
	}
	if in := toolcall.ParseInput(e); in.Tool != toolcall.ToolEdit || outline.Language(in.Path) == "" {
		return nil
	}
	call := toolcall.Parse(e)
	if len(call.Edits) != 1 {
		return nil
	}
	return &call.Edits[0]
}

// onDisk returns the text of a file, whose path is relative to root, while it has the hash that
// intake noted; false if it changed since, has no hash or cannot be read: the text then counts
// for nothing.
func onDisk(root string, file memory.FileRef) (string, bool) {
	if file.Hash == "" {
		return "", false
	}
	content, _, err := openfile.WithinDir(root, filepath.FromSlash(file.Path), maxFile)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(content)
	return string(content), hex.EncodeToString(sum[:]) == file.Hash
}

// compare returns the changes between two states of a file, of which one or both may be empty;
// false when one of them does not parse. With true the changes are not nil.
func compare(e *memory.Event, path string, before, after outline.Outline) ([]memory.SymbolChange, bool) {
	if before.Broken || after.Broken {
		return nil, false
	}
	changes := []memory.SymbolChange{}
	for _, c := range outline.Compare(before, after) {
		changes = record(changes, e, path, c)
	}
	return changes, true
}

// record appends a change of the file at path, with secrets of its signature masked, unless there are
// too many (maxChanges) or its names hold a secret.
func record(changes []memory.SymbolChange, e *memory.Event, path string, c outline.Change) []memory.SymbolChange {
	if len(changes) == maxChanges || clean(c.Name) != c.Name || clean(c.RenamedFrom) != c.RenamedFrom {
		return changes
	}
	return append(changes, memory.SymbolChange{
		FilePath: path, SnapshotAt: e.OccurredAt, QualifiedName: c.Name, Kind: string(c.Kind), Signature: clean(c.Signature),
		LineStart: c.Start, LineEnd: c.End, BodyHash: HashText(c.Hash), BeforeHash: HashText(c.Before),
		ChangeType: c.Type, RenamedFrom: c.RenamedFrom,
	})
}

// added returns the symbols that stand as a whole in lines that an edit added to a file that
// parses neither before nor after (an excerpt, a template), nil for none. One whose name is
// in the file before may have been moved, so it is left out. Symbols around the lines, which
// the edit modified, are not looked for.
func added(e *memory.Event, edit *toolcall.Edit, before string) []memory.SymbolChange {
	known := collect.Set(strings.FieldsFunc(before, notInName))
	var changes []memory.SymbolChange
	for _, piece := range edit.Added() {
		if outline.Language(edit.Path) == "go" {
			piece = "package piece\n" + piece // without which none of it parses
		}
		o := outline.Of(edit.Path, []byte(piece))
		if o.Broken {
			continue
		}
		for _, s := range o.Symbols {
			if !slices.ContainsFunc(strings.FieldsFunc(s.Name, notInName), func(word string) bool { return known[word] && strings.HasSuffix(s.Name, word) }) {
				s.Start, s.End = 0, 0 // of the piece
				changes = record(changes, e, edit.Path, outline.Change{Symbol: s, Type: memory.SymbolNew})
			}
		}
	}
	return changes
}

// notInName reports whether a character is in no name of a symbol.
func notInName(r rune) bool {
	return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// clean strips tags and masks secrets: the file on disk holds what the event does not.
func clean(text string) string {
	masked, _ := rules.Text(tags.Strip(text))
	return masked
}

// HashText returns a hash of code as it is stored, in hexadecimal, "" for 0, which is none.
func HashText(hash uint64) string {
	if hash == 0 {
		return ""
	}
	return strconv.FormatUint(hash, 16)
}

// fileKey names a file of a work tree.
type fileKey struct{ root, path string }

// Later compares the edits of a session's events that have not been compared, and sets
// their Symbols; events are in order, and those with Symbols keep them. It goes back from the
// file on disk, edit by edit, as far as each patch fits what it left; an edit that left the file
// broken is compared together with those that follow, up to the one that mended it, which gets
// the changes. Symbols stay nil where the texts are not known, and once ctx has ended.
func Later(ctx context.Context, events []memory.PendingEvent) {
	edits := map[fileKey][]int{}
	left := map[fileKey]bool{}
	var order []fileKey
	for i := range events {
		p := &events[i]
		if len(p.Files) != 1 || p.Files[0].Role != memory.FileModified || outline.Language(p.Files[0].Path) == "" {
			continue
		}
		key := fileKey{p.Event.WorktreeRoot, p.Files[0].Path}
		if len(edits[key]) == 0 {
			order = append(order, key)
		}
		edits[key] = append(edits[key], i)
		left[key] = left[key] || p.Symbols == nil
	}
	for _, key := range order {
		if left[key] && ctx.Err() == nil {
			compareChain(events, edits[key])
		}
	}
}

// states are the outlines of a file around an edit; known is false where a text is not.
type states struct {
	before, after outline.Outline
	known         bool
}

// compareChain sets the Symbols of the edits of one file, at the given indexes of events, which
// ascend. It first goes back to find the texts around each edit, then forward to compare them.
func compareChain(events []memory.PendingEvent, at []int) {
	chain := make([]states, len(at))
	next, nextKnown := "", false // the text before the edit that follows
	for i, index := range slices.Backward(at) {
		p := &events[index]
		edit := editOf(&p.Event)
		if edit == nil || edit.Path != p.Files[0].Path {
			nextKnown = false
			continue
		}
		var before, after string
		var ok bool
		if nextKnown {
			after = next
			before, ok = edit.Undo(after)
		}
		if !ok {
			before, after, ok = edit.Texts(func() (string, bool) { return onDisk(p.Event.WorktreeRoot, p.Files[0]) })
		}
		if next, nextKnown = before, ok; ok {
			chain[i] = states{outline.Of(edit.Path, []byte(before)), outline.Of(edit.Path, []byte(after)), true}
		}
	}
	var from *outline.Outline // before the edits that left the file broken
	for i, index := range at {
		p, s := &events[index], &chain[i]
		if !s.known {
			from = nil
			continue
		}
		if from == nil && !s.before.Broken {
			from = &s.before
		}
		if from == nil || s.after.Broken {
			continue
		}
		if p.Symbols == nil {
			p.Symbols, _ = compare(&p.Event, p.Files[0].Path, *from, s.after)
		}
		from = nil
	}
}
