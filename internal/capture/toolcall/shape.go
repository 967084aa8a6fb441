package toolcall

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// memberNames are the names of the members of the tools' inputs by the names that other hosts give
// them, in lower case without separators.
var memberNames = map[string]string{}

// init fills memberNames.
func init() {
	for name, others := range map[string]string{
		"command":    "command commands cmd commandline script shellcommand argv",
		"file_path":  "filepath path file filename targetfile targetpath targetfilepath absolutepath relativepath relativeworkspacepath notebookpath fspath uri fileuri",
		"old_string": "oldstring oldstr oldtext oldcontent oldcode before search searchtext find original",
		"new_string": "newstring newstr newtext newcontent newcode after replace replacement replacetext code insert insertedtext",
		"content":    "content filetext filecontent contents text",
		"edits":      "edits replacements changes hunks operations",
		"patch":      "patch diff patchtext unifieddiff input",
		"files":      "files paths filepaths",
		"pattern":    "pattern query regex regexp searchterm glob",
		"url":        "url urls",
	} {
		for other := range text.Set(others) {
			memberNames[other] = name
		}
	}
}

// renamed returns the members of an object under the names of memberNames, those that have none under
// their own, and those that are null left out; nil for JSON that is no object. An object with nothing but another one in it is that one.
func renamed(raw json.RawMessage) map[string]json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return nil
	}
	members := make(map[string]json.RawMessage, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) { // the same of two such members each time
		value := given[name]
		if len(given) == 1 && value[0] == '{' {
			return renamed(value)
		}
		known := memberNames[strings.ReplaceAll(strings.ReplaceAll(text.LowerASCII(name), "_", ""), "-", "")]
		if known = cmp.Or(known, name); string(value) != "null" && (known == name || members[known] == nil) {
			members[known] = value
		}
	}
	return members
}

// lacks reports whether an input has nothing that a tool of that kind needs, as far as the names of
// its members are known.
func (in *input) lacks(tool Tool) bool {
	edits := in.Content != nil || in.NewSource != "" || len(in.replacements()) > 0
	named := tool == ToolRead && in.file() != "" || tool >= ToolAgent || tool == ToolSearch
	return tool == ToolOther || in.command() == "" && !edits && !named
}

// understand fills in the input by the names of known tools, and finds out what an unknown tool is by what
// its input looks like. A tool of an MCP server may work elsewhere: it stays what it was.
func (c *Call) understand() {
	name, members := text.LowerASCII(c.event.ToolName), renamed(c.event.ToolInput)
	if strings.HasPrefix(name, "mcp") || members == nil {
		return
	}
	for _, list := range []string{"edits", "files"} { // each may name its file
		var elements []json.RawMessage
		_ = json.Unmarshal(members[list], &elements) // no list: none
		for i, element := range elements {
			if object := renamed(element); object != nil {
				elements[i], _ = json.Marshal(object) // of parsed JSON
				element = object["file_path"]
			}
			if members["file_path"] == nil && element != nil {
				members["file_path"] = element
			}
		}
		members[list], _ = json.Marshal(elements) // of parsed JSON
	}
	whole, _ := json.Marshal(members) // of parsed JSON
	in := &input{}
	_ = json.Unmarshal(whole, in) // a field of a wrong type leaves the others filled
	in.Edits = slices.DeleteFunc(in.Edits, func(r replacement) bool { return r == replacement{} })
	var patch string
	_ = json.Unmarshal(members["patch"], &patch) // no text: none
	if !text.ContainsAny(patch, "@@", "*** ") {  // another input
		patch = ""
	}
	if len(parsePatch(patch)) > 0 {
		in.Command, in.FilePath = members["patch"], ""
	} else if _, after, ok := strings.Cut("\n"+patch, "\n+++ "); ok && in.FilePath == "" {
		in.FilePath = strings.TrimPrefix(strings.TrimRight(text.Before(after, "\n"), "\r"), "b/")
	}
	if in.FilePath = strings.TrimPrefix(in.FilePath, "file://"); strings.Contains(in.FilePath, "://") {
		in.FilePath = ""
	}
	var arguments []string
	if json.Unmarshal(members["args"], &arguments) == nil && in.command() != "" {
		in.Command, _ = json.Marshal(in.command() + " " + strings.Join(arguments, " ")) // a string always encodes
	}
	if tool := in.tool(name, patch != ""); tool != ToolOther {
		c.Tool, c.in = tool, in
	}
}

// tool returns what a tool is by its input, renamed, and where a path alone leaves it open by the words
// of its name, in lower case.
func (in *input) tool(name string, patch bool) Tool {
	says := func(words ...string) bool { return text.ContainsAny(name, words...) }
	command := in.command()
	switch file := in.FilePath != ""; {
	case file && (patch || in.Content != nil || len(in.replacements()) > 0), patch && command != "":
		return ToolEdit
	case file && (command == "view" || command == "read"): // of an editor as a tool
		return ToolRead
	case command != "":
		return ToolCommand
	case file && says("edit", "write", "create", "replace", "insert", "patch", "modif", "update") && !says("director", "folder"):
		return ToolEdit
	case in.Pattern != "", file && says("list", "tree", "dir", "search", "find", "glob", "grep"):
		return ToolSearch
	case file && !says("delet", "remov", "mov", "renam", "mkdir"):
		return ToolRead
	case in.URL != "":
		return ToolWeb
	}
	return ToolOther
}
