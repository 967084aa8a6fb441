package toolcall

import (
	"cmp"
	"strings"
)

// A patch in the form of Codex's apply_patch:
//
//	*** Begin Patch
//	*** Add File: PATH            then its lines, each with a +
//	*** Delete File: PATH
//	*** Update File: PATH         then, if it is moved, *** Move to: PATH
//	@@ …                          begins a hunk; its lines begin with ' ', '-' or '+'
//	*** End Patch

// maxPatched bounds the files of a patch that are read.
const maxPatched = 200

// parsePatch returns what a patch does to its files, the first maxPatched, with their paths as they
// were named; none for another text. Each line of a hunk has its sign.
func parsePatch(patch string) []Edit {
	if !strings.HasPrefix(strings.TrimSpace(patch), "*** Begin Patch") {
		return nil
	}
	var files []Edit
	var e *Edit // the last one
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		mark, isMark := strings.CutPrefix(line, "*** ")
		switch verb, path, _ := strings.Cut(mark, ": "); {
		case isMark && (verb == "Add File" || verb == "Delete File" || verb == "Update File"):
			if len(files) == maxPatched {
				return files
			}
			files = append(files, Edit{Path: path, Created: verb == "Add File", Deleted: verb == "Delete File"})
			e = &files[len(files)-1]
		case e == nil:
		case isMark && verb == "Move to":
			e.From, e.Path = cmp.Or(e.From, e.Path), path
		case isMark:
		case strings.HasPrefix(line, "@@"):
			e.Hunks = append(e.Hunks, Hunk{})
		default:
			if len(e.Hunks) == 0 {
				e.Hunks = append(e.Hunks, Hunk{})
			}
			h := &e.Hunks[len(e.Hunks)-1]
			h.Lines = append(h.Lines, cmp.Or(line, " ")) // an empty line is one of context
		}
	}
	return files
}

// patchEdits returns what a patch did to the files within the worktree, with paths relative to it.
// A new file is Whole; the hunks of others have no place.
func (c *Call) patchEdits(files []Edit) []Edit {
	var edits []Edit
	for _, e := range files {
		var inside bool
		if e.Path, inside = c.locate(e.Path); !inside {
			continue
		}
		switch {
		case e.Created:
			text := strings.Join(e.Added(), "")
			e.Whole, e.Text, e.Hunks, e.after = true, text, nil, &text
		case e.Deleted:
			e.Hunks = nil
		default:
			e.replaced = replacementsOf(e.Hunks)
			if e.From != "" {
				e.From, _ = c.locate(e.From)
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// replacementsOf returns the hunks of parsePatch as replacements of whole lines, each with a line
// end.
func replacementsOf(hunks []Hunk) []replacement {
	var list []replacement
	for _, h := range hunks {
		var x replacement
		for _, line := range h.Lines {
			if line[0] != '+' {
				x.OldString += line[1:] + "\n"
			}
			if line[0] != '-' {
				x.NewString += line[1:] + "\n"
			}
		}
		list = append(list, x)
	}
	return list
}
