package toolcall

import (
	"strings"

	"claudemem/internal/memory"
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

// patched is a file of a patch.
type patched struct {
	path  string
	moved string // its new name, "" when it keeps its name
	verb  string // Add, Delete or Update
	hunks []Hunk
}

// parsePatch returns the files of a patch; none for another text.
func parsePatch(patch string) []patched {
	if !strings.HasPrefix(strings.TrimSpace(patch), "*** Begin Patch") {
		return nil
	}
	var files []patched
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if mark, ok := strings.CutPrefix(line, "*** "); ok {
			verb, path, _ := strings.Cut(mark, ": ")
			switch verb {
			case "Add File", "Delete File", "Update File":
				if len(files) == maxPatched {
					return files
				}
				files = append(files, patched{path: path, verb: strings.TrimSuffix(verb, " File")})
			case "Move to":
				if len(files) > 0 {
					files[len(files)-1].moved = path
				}
			}
			continue
		}
		if len(files) == 0 {
			continue
		}
		f := &files[len(files)-1]
		switch {
		case strings.HasPrefix(line, "@@"):
			f.hunks = append(f.hunks, Hunk{})
		case line == "":
			line = " " // an empty line of context
			fallthrough
		default:
			if len(f.hunks) == 0 {
				f.hunks = append(f.hunks, Hunk{})
			}
			h := &f.hunks[len(f.hunks)-1]
			h.Lines = append(h.Lines, line)
		}
	}
	return files
}

// name returns the name that the file has after the patch.
func (f *patched) name() string {
	if f.moved != "" {
		return f.moved
	}
	return f.path
}

// setPatch sets the file of a call from a patch of one file, or the first of several.
func (c *Call) setPatch(files []patched) {
	c.File = files[0].name()
	if rel, inside := c.locate(c.File); inside {
		c.Path = rel
	}
	if !c.Failed {
		c.Role = memory.FileModified
	}
}

// patchEdits returns what a patch did to the files within the worktree.
func (c *Call) patchEdits(files []patched) []Edit {
	var edits []Edit
	for i := range files {
		f := &files[i]
		rel, inside := c.locate(f.name())
		if !inside {
			continue
		}
		e := Edit{Path: rel, Hunks: f.hunks}
		switch f.verb {
		case "Add":
			text := strings.Join(added(f.hunks), "\n")
			if text != "" {
				text += "\n"
			}
			e.Created, e.Whole, e.Text, e.Hunks, e.after = true, true, text, nil, &text
		case "Delete":
			e.Deleted, e.Hunks = true, nil
		default:
			e.replaced = replacementsOf(f.hunks)
			if f.moved != "" {
				e.From, _ = c.locate(f.path)
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// added returns the added lines of hunks.
func added(hunks []Hunk) []string {
	var lines []string
	for _, h := range hunks {
		for _, line := range h.Lines {
			if text, ok := strings.CutPrefix(line, "+"); ok {
				lines = append(lines, text)
			}
		}
	}
	return lines
}

// replacementsOf returns the hunks of a patch as replacements of whole lines.
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
