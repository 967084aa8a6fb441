package toolcall

import (
	"slices"
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// Texts returns the whole file before and after the edit; false when they are not known
// for certain. now returns the file as the edit left it, from the disk, false when it cannot be
// had; it is asked only where the call tells neither text.
func (e *Edit) Texts(now func() (string, bool)) (before, after string, ok bool) {
	switch {
	case e.Created:
		if e.after != nil {
			return "", *e.after, true
		}
		return "", "", false
	case e.before != nil && e.after != nil:
		return *e.before, *e.after, true
	case e.before != nil:
		after, ok = replay(*e.before, e.replaced)
		return *e.before, after, ok
	case e.after != nil:
		after = *e.after
	default:
		if after, ok = now(); !ok {
			return "", "", false
		}
	}
	before, ok = e.Undo(after)
	return before, after, ok
}

// Undo returns the text that the edit made after of; false when after is not what the
// edit left, or the edit does not tell what it replaced.
func (e *Edit) Undo(after string) (string, bool) {
	switch {
	case e.Placed && len(e.Hunks) > 0:
		return undoHunks(after, e.Hunks)
	case len(e.replaced) > 0:
		return undoReplacements(after, e.replaced)
	}
	return "", false
}

// Added returns the pieces of consecutive lines that the edit added, each line with its end; nil for
// an edit without hunks, such as that of a new file.
func (e *Edit) Added() []string {
	var pieces []string
	for _, h := range e.Hunks {
		grows := false
		for _, line := range h.Lines {
			added := strings.HasPrefix(line, "+")
			switch {
			case added && grows:
				pieces[len(pieces)-1] += line[1:] + "\n"
			case added:
				pieces = append(pieces, line[1:]+"\n")
			}
			grows = added
		}
	}
	return pieces
}

// replay makes the replacements of an edit in a text, in order. It reports false for one whose
// place is not certain (the tool refuses those), and without any.
func replay(before string, edits []replacement) (string, bool) {
	text := before
	for _, x := range edits {
		switch n := strings.Count(text, x.OldString); {
		case x.OldString == "" && text == "":
			text = x.NewString
		case x.OldString == "" || n == 0 || n > 1 && !x.ReplaceAll:
			return "", false
		default:
			text = strings.ReplaceAll(text, x.OldString, x.NewString)
		}
	}
	return text, len(edits) > 0
}

// undoReplacements takes the replacements back, the last first. It reports false for one whose new
// text is empty, or is not in the text exactly once: it cannot be placed.
func undoReplacements(after string, edits []replacement) (string, bool) {
	text := after
	for _, x := range slices.Backward(edits) {
		if x.NewString == "" || strings.Count(text, x.NewString) != 1 {
			return "", false
		}
		text = strings.Replace(text, x.NewString, x.OldString, 1)
	}
	return text, true
}

// undoHunks takes the hunks of a patch back. Each must be in its place in the text. A
// deleted line comes from the patch, in which Claude Code writes a tab at the beginning
// of a line as two spaces; it gets its tabs back where the lines around it have them. The hunks are
// in order and have the line numbers of after. It reports false where one does not fit.
func undoHunks(after string, hunks []Hunk) (string, bool) {
	lines := strings.SplitAfter(after, "\n")
	var b strings.Builder
	at := 0
	for _, h := range hunks {
		start := h.NewStart - 1
		if h.NewLines == 0 {
			start = h.NewStart
		}
		if start < at || start > len(lines) {
			return "", false
		}
		b.WriteString(strings.Join(lines[at:start], ""))
		at = start
		tabs := h.hasTabs(lines[start:])
		for _, line := range h.Lines {
			sign, code := byte(' '), ""
			if line != "" {
				sign, code = line[0], line[1:]
			}
			switch sign {
			case '-':
				if tabs {
					code = withTabs(code)
				}
				b.WriteString(code)
				b.WriteByte('\n')
			case ' ', '+':
				if at >= len(lines) || !sameLine(code, lines[at]) {
					return "", false
				}
				if sign == ' ' {
					b.WriteString(lines[at])
				}
				at++
			}
		}
	}
	return b.String() + strings.Join(lines[at:], ""), true
}

// hasTabs reports whether the file's lines that the hunk shows begin with tabs.
func (h *Hunk) hasTabs(lines []string) bool {
	return slices.ContainsFunc(lines[:min(len(lines), max(h.NewLines, 0))], func(l string) bool { return strings.HasPrefix(l, "\t") })
}

// withTabs returns a line with a tab for each two spaces at its beginning.
func withTabs(line string) string {
	rest := strings.TrimLeft(line, " ")
	n := len(line) - len(rest)
	return strings.Repeat("\t", n/2) + line[:n%2] + rest
}

// sameLine reports whether a line of a patch is a line of a file: blanks at the beginning
// and line ends apart, and with any text for a secret that was masked in the patch. A mask begins
// with shapes.MaskStart and ends with "]".
func sameLine(patch, line string) bool {
	patch, line = strings.TrimLeft(patch, " \t"), strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
	patch = strings.TrimSuffix(patch, "\r")
	if patch == line {
		return true
	}
	for strings.Contains(patch, shapes.MaskStart) {
		clear, rest, _ := strings.Cut(patch, shapes.MaskStart)
		_, rest, closed := strings.Cut(rest, "]")
		if !closed || !strings.HasPrefix(line, clear) {
			return false
		}
		line = line[len(clear):]
		next := strings.SplitN(rest, shapes.MaskStart, 2)[0]
		i := strings.LastIndex(line, next)
		if next != "" && strings.Contains(rest, shapes.MaskStart) {
			i = strings.Index(line, next)
		}
		if i < 0 {
			return false
		}
		line, patch = line[i:], rest
	}
	return patch == line
}
