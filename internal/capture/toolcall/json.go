package toolcall

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"claudemem/internal/capture/redact"
	"claudemem/internal/leaf/collect"
)

// input has the fields of the known tools' inputs, of several hosts.
type input struct {
	replacement
	Command      json.RawMessage `json:"command"`
	Cmd          json.RawMessage `json:"cmd"`
	FilePath     string          `json:"file_path"`
	NotebookPath string          `json:"notebook_path"`
	FilePathJS   string          `json:"filePath"`
	AbsolutePath string          `json:"absolute_path"`
	TargetFile   string          `json:"target_file"`
	Path         string          `json:"path"`
	Pattern      string          `json:"pattern"`
	NewSource    string          `json:"new_source"`
	Content      *string         `json:"content"`
	Edits        []replacement   `json:"edits"`
	Description  string          `json:"description"`
	Prompt       string          `json:"prompt"`
	URL          string          `json:"url"`
}

type replacement struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// replacements returns what an edit replaced, in order: the list of a MultiEdit, then the pair of an
// Edit. It does not write to in.Edits.
func (in *input) replacements() []replacement {
	edits := in.Edits[:len(in.Edits):len(in.Edits)]
	if in.OldString != "" || in.NewString != "" {
		edits = append(edits, in.replacement)
	}
	return edits
}

func (in *input) file() string {
	return cmp.Or(in.FilePath, in.NotebookPath, in.FilePathJS, in.AbsolutePath, in.TargetFile, in.Path)
}

// command returns the command line, "" for none: a string, or an argument vector as Codex has it, of
// which `sh -c SCRIPT` gives the script and another is joined by blanks.
func (in *input) command() string {
	raw := in.Command
	if len(raw) == 0 {
		raw = in.Cmd
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil {
		return ""
	}
	if inner, ok := script(words); ok {
		return inner
	}
	return strings.Join(words, " ")
}

// response has the fields of the known tools' responses.
type response struct {
	Type            string          `json:"type"`
	Stdout          string          `json:"stdout"`
	Stderr          string          `json:"stderr"`
	Output          string          `json:"output"`
	Interrupted     bool            `json:"interrupted"`
	StructuredPatch []Hunk          `json:"structuredPatch"`
	OriginalFile    *string         `json:"originalFile"`
	Originals       *string         `json:"originalFileContents"` // of MultiEdit
	Status          string          `json:"status"`
	Content         json.RawMessage `json:"content"`
	Last            string          `json:"last_assistant_message"`
	File            struct {
		Content   string `json:"content"`
		StartLine int    `json:"startLine"`
	} `json:"file"`
}

// textOf returns the text of a response's content: a string, or blocks of text, joined by line ends;
// "" for other JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	type block struct {
		Text string `json:"text"`
	}
	var blocks []block
	_ = json.Unmarshal(raw, &blocks)
	return strings.Join(collect.Map(blocks, func(b block) string { return b.Text }), "\n")
}

// edit returns what a tool for editing did to the file at path, which is relative to the worktree.
// What the response tells comes before what the input asked for.
func edit(path string, in *input, out *response) Edit {
	e := Edit{Path: path, Hunks: out.StructuredPatch, Placed: true, before: whole(cmp.Or(out.OriginalFile, out.Originals)), after: whole(in.Content), replaced: in.replacements()}
	switch {
	case out.Type == "create" || out.Type == "" && in.Content != nil && len(out.StructuredPatch) == 0:
		e.Created, e.Whole, e.Text = out.Type == "create", true, *cmp.Or(in.Content, new(string))
	case len(out.StructuredPatch) == 0: // what was replaced is all there is
		e.Hunks, e.Placed = replacedHunks(e.replaced, in.NewSource), false
	}
	if e.before != nil && *e.before == "" && e.changesText() {
		e.before = nil // left out by intake, which keeps no file as a whole
	}
	return e
}

// changesText reports whether the edit had a text to change: a hunk shows a line of it.
func (e *Edit) changesText() bool {
	return slices.ContainsFunc(e.Hunks, func(h Hunk) bool {
		return slices.ContainsFunc(h.Lines, func(line string) bool { return line != "" && line != "-" && (line[0] == '-' || line[0] == ' ') })
	})
}

// whole returns a text of a file, nil for one that was truncated on its way.
func whole(text *string) *string {
	if text != nil && len(*text) > minTruncated && redact.IsTruncated(*text) {
		return nil
	}
	return text
}

// minTruncated is a length in bytes below which no text of a file is truncated.
const minTruncated = 1 << 10

// replacedHunks makes hunks, without a place, of the first 100 old and new strings and of the new
// source of a notebook's cell, "" for none. Equal lines at the beginning become context, those at
// the end are dropped.
func replacedHunks(edits []replacement, source string) []Hunk {
	var hunks []Hunk
	for _, x := range edits[:min(len(edits), 100)] {
		var h Hunk
		before, after := strings.Split(x.OldString, "\n"), strings.Split(x.NewString, "\n")
		for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
			h.Lines = append(h.Lines, " "+before[0])
			before, after = before[1:], after[1:]
		}
		for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
			before, after = before[:len(before)-1], after[:len(after)-1]
		}
		h.addLines('-', before)
		h.addLines('+', after)
		hunks = append(hunks, h)
	}
	if source != "" {
		var h Hunk
		h.addLines('+', strings.Split(source, "\n"))
		hunks = append(hunks, h)
	}
	return hunks
}

// addLines appends lines with the sign '+', '-' or ' ' in front of each.
func (h *Hunk) addLines(sign byte, lines []string) {
	h.Lines = append(h.Lines, collect.Map(lines, func(l string) string { return string(sign) + l })...)
}
