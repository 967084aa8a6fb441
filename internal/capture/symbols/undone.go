package symbols

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"claudemem/internal/capture/outline"
	"claudemem/internal/capture/toolcall"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
)

// maxUndone bounds the files that are looked at after a command that may undo edits.
const maxUndone = 50

// Undone finds out which changes of the session commands have taken back (git checkout,
// restore, reset, stash, revert; rm), or moved to another file, and adds that to the Symbols of the last such
// command. The file on disk decides: a symbol that has its old code again is unchanged, one
// whose file is gone is deleted. events are of the session, in order, after Later has set their
// Symbols. earlier returns the session's net changes of former batches; it is called only after
// such a command, and its error is the only one of Undone. Nothing is said when the branch or
// the worktree changed within the batch: the work is on the other one. At most maxUndone files are
// looked at, fewer when ctx ends.
func Undone(ctx context.Context, session *memory.Session, events []memory.PendingEvent, earlier func(context.Context) ([]memory.SymbolChange, error)) error {
	last := -1
	for i := range events {
		if e := &events[i].Event; e.Backfill == "" && mayUndo(e) { // the files of now are not those of then
			last = i
		}
		if e := &events[i].Event; e.Branch != events[0].Event.Branch || e.WorktreeRoot != events[0].Event.WorktreeRoot {
			return nil
		}
	}
	if last < 0 {
		return nil
	}
	root := events[last].Event.WorktreeRoot
	var net []memory.SymbolChange
	if root == session.ProjectPath { // else they may be of another work tree
		var err error
		if net, err = earlier(ctx); err != nil {
			return err
		}
	}
	for i := range events {
		net = memory.FoldSymbols(net, events[i].Symbols...)
	}
	dir, err := openfile.Root(root)
	if err != nil {
		return nil // nothing can be said about a work tree that is gone
	}
	defer func() { _ = dir.Close() }() // opened for reading only
	files := map[string]*outline.Outline{}
	moved := movedFiles(dir, events)
	for _, c := range net {
		if to := moved[c.FilePath]; to != "" {
			gone := c // at the old path nothing has changed any more, at the new one all of c has
			gone.ID, gone.ChangeType, gone.BeforeHash = 0, memory.SymbolUnchanged, c.BodyHash
			c.ID, c.FilePath = 0, to
			events[last].Symbols = append(events[last].Symbols, gone, c)
			continue
		}
		now, ok := files[c.FilePath]
		if !ok {
			if len(files) == maxUndone || ctx.Err() != nil {
				break
			}
			now = currentOutline(dir, c.FilePath)
			files[c.FilePath] = now
		}
		if taken, ok := undone(c, now); ok {
			taken.SnapshotAt = events[last].Event.OccurredAt
			events[last].Symbols = append(events[last].Symbols, taken)
		}
	}
	return nil
}

// movedFiles returns the new paths of the files that commands moved, by the old ones, both relative
// to dir. A move counts if now only the new path exists.
func movedFiles(dir *os.Root, events []memory.PendingEvent) map[string]string {
	moved := map[string]string{}
	for i := range events {
		if !mayUndo(&events[i].Event) {
			continue
		}
		call := toolcall.Parse(&events[i].Event)
		for _, x := range call.Edits {
			if x.From == "" || !exists(dir, x.Path) || exists(dir, x.From) {
				continue
			}
			for from, to := range moved {
				if to == x.From {
					moved[from] = x.Path
				}
			}
			moved[x.From] = x.Path
		}
	}
	return moved
}

// exists reports whether there is a file at a path within dir.
func exists(dir *os.Root, path string) bool {
	_, err := dir.Lstat(filepath.FromSlash(path))
	return err == nil
}

// mayUndo reports whether a call runs a command that can take edits back.
func mayUndo(e *memory.Event) bool {
	if e.Kind != memory.KindTool {
		return false
	}
	call := toolcall.ParseInput(e)
	return slices.ContainsFunc(call.Commands, canUndo)
}

// canUndo reports whether a command, or one within it, can take edits back.
func canUndo(c toolcall.Command) bool {
	switch c.Program() {
	case "rm", "mv":
		return true
	case "git":
		switch c.Verb() {
		case "checkout", "restore", "reset", "stash", "revert", "clean", "rm", "mv":
			return true
		}
	}
	return slices.ContainsFunc(c.Inner, canUndo)
}

// currentOutline returns the outline of a file as it is, an empty one for a file that is
// gone, nil for one that cannot be read or does not parse.
func currentOutline(dir *os.Root, path string) *outline.Outline {
	name := filepath.FromSlash(path)
	if !filepath.IsLocal(name) {
		return nil
	}
	content, _, err := openfile.Within(dir, name, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	o := outline.Of(path, content)
	if o.Broken {
		return nil
	}
	return &o
}

// undone returns the change that takes c back, if the file says that it was: now is its
// outline, nil when that is not known. The change is SymbolUnchanged if a symbol of that name has
// the code from before c, SymbolDeleted if none has the name; false if it is there with other code.
func undone(c memory.SymbolChange, now *outline.Outline) (memory.SymbolChange, bool) {
	if now == nil {
		return c, false
	}
	taken, found := c, false
	taken.ID, taken.ChangeType, taken.BeforeHash, taken.BodyHash, taken.RenamedFrom = 0, memory.SymbolDeleted, c.BodyHash, "", ""
	for _, s := range now.Symbols {
		if s.Name == c.QualifiedName && HashText(s.Hash) == c.BeforeHash {
			taken.ChangeType, taken.BodyHash = memory.SymbolUnchanged, c.BeforeHash
			return taken, true
		}
		found = found || s.Name == c.QualifiedName
	}
	return taken, !found && c.ChangeType != memory.SymbolDeleted
}
