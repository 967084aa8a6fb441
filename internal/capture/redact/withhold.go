package redact

import (
	"strings"

	"claudemem/internal/capture/redact/documents"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

// maxPath is the longest path, in bytes.
const maxPath = 1024

// ruleWithheld counts strings of withheld files.
const ruleWithheld = "withheld-file"

// withhold removes the contents of withheld files from a tool event. The file's
// name and the host's own words stay. If the input names one, all of the response and the error
// go; else those parts of the response that can be told to be of one.
func withhold(e *memory.Event, globs glob.Set, counts *map[string]int) {
	if globs.Empty() || e.Kind != memory.KindTool {
		return
	}
	named, written, shell := namesWithheld(e.ToolInput, e.Cwd, globs)
	if !named {
		e.ToolResponse = withholdParts(e, shell, globs, counts)
		return
	}
	if written {
		e.ToolInput = blank(e.ToolInput, counts)
	}
	e.ToolResponse = blank(e.ToolResponse, counts)
	if e.ToolError != "" {
		e.ToolError = shapes.Mask(ruleWithheld)
		shapes.Count(counts, ruleWithheld)
	}
}

// namesWithheld reports whether a tool's input names a withheld file, and whether
// the input may hold the file's content: always, except in a command that only
// reads the file. shell: the input has a command.
func namesWithheld(input []byte, cwd string, globs glob.Set) (named, written, shell bool) {
	key := ""
	for i := 0; i < len(input); i++ {
		if input[i] != '"' {
			continue
		}
		end := jsonscan.StringEnd(input, i)
		if end-i < 2 {
			break
		}
		text := shapes.View(input[i+1 : end-1])
		if strings.IndexByte(text, '\\') >= 0 && (shellKey(key) || len(text) < 2*maxPath) { // a longer one is no path
			text = string(jsonscan.AppendUnquoted(nil, input[i+1:end-1]))
		}
		i = end - 1
		if next := shapes.SkipTo(shapes.View(input), end, " \n\t\r"); next < len(input) && input[next] == ':' {
			key = text
			continue
		}
		if shellKey(key) {
			shell = true
			if commandNames(text, cwd, globs) {
				named = true
				written = written || strings.ContainsAny(text, ">\n") || strings.Contains(text, "tee ") || strings.Contains(text, "sed ")
			}
		} else if pathForm(text) && globs.File(text, cwd) {
			named, written = true, true
		}
	}
	return named, written, shell
}

func shellKey(key string) bool {
	switch key {
	case "command", "cmd", "script", "command_line", "commandLine", "shell_command", "shellCommand", "argv":
		return true
	}
	return false
}

// pathForm reports whether a string can be a path rather than a file's content.
func pathForm(s string) bool {
	return s != "" && len(s) < maxPath && strings.IndexByte(s, '\n') < 0
}

// commandNames reports whether a shell command, or another text, names a withheld file in one of
// its words.
func commandNames(command, cwd string, globs glob.Set) bool {
	for word := range strings.FieldsFuncSeq(command, betweenWords) {
		if len(word) < maxPath && wordNames(word, cwd, globs) {
			return true
		}
	}
	return false
}

// betweenWords reports whether c separates the words of a command.
func betweenWords(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`=;|&<>(){},:@", c) }

// wordNames reports whether a word of a command, which is not empty, names a withheld file. The
// filter ".key" of jq is no file "*.key": a name that begins with a dot needs a glob that does. A
// word with a pattern counts if a withheld file may match it.
func wordNames(word, cwd string, globs glob.Set) bool {
	if strings.ContainsAny(word, "*?[") {
		return globs.MayMatch(word)
	}
	if word[0] == '.' && !strings.ContainsAny(word, `/\`) {
		return globs.DotFile(word, cwd)
	}
	return globs.File(word, cwd)
}

// blank replaces the strings of raw with a mask, numbers and keys stay. Keys that name the file or
// its kind keep their values. Text that is not JSON becomes a JSON string of the mask.
func blank(raw []byte, counts *map[string]int) []byte {
	if len(raw) == 0 {
		return raw
	}
	d, ok := documents.Parse(raw)
	if !ok {
		shapes.Count(counts, ruleWithheld)
		return jsonscan.AppendQuote(nil, shapes.Mask(ruleWithheld))
	}
	for i := range d.Strings {
		s := &d.Strings[i]
		if s.IsKey || s.Text == "" || s.Text == shapes.Mask(ruleWithheld) {
			continue
		}
		switch d.KeyOf(s) {
		case "file_path", "filePath", "notebook_path", "path", "type", "status", "edit_mode", "cell_type", "cellType", "language":
			continue
		case "description": // of a call; a longer one may hold content
			if len(s.Text) < 256 {
				continue
			}
		}
		s.Set(shapes.Mask(ruleWithheld))
		shapes.Count(counts, ruleWithheld)
	}
	return d.Encode()
}
