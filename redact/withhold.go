package redact

import (
	"strings"

	"claudemem"
)

// maxPath bounds what is taken for a path, in bytes.
const maxPath = 1024

// ruleWithheld counts strings of withheld files.
const ruleWithheld = "withheld-file"

// Withheld reports whether a file matches one of the globs. A glob without '/'
// is matched against the file's name, one with against the end of its path;
// '*' and '?' stop at '/'; case does not count, because it does not on two of
// three systems. Both '/' and '\' separate.
func Withheld(file string, globs []string) bool {
	for _, glob := range globs {
		if glob == "" {
			continue
		}
		if glob = strings.TrimPrefix(glob, "**/"); matchTail(glob, file) {
			return true
		}
	}
	return false
}

// matchTail matches as many of the file's last segments as the glob has.
func matchTail(glob, file string) bool {
	segments := strings.Count(glob, "/") + 1
	i := len(file)
	for i > 0 {
		if separator(file[i-1]) {
			if segments--; segments == 0 {
				break
			}
		}
		i--
	}
	return match(glob, file[i:])
}

func separator(c byte) bool { return c == '/' || c == '\\' }

// match is a glob match with one place to go back to, so that it takes at most
// len(glob) times len(s) steps.
func match(glob, s string) bool {
	g, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, mark = g, i
			g++
		case g < len(glob) && (glob[g] == '?' && !separator(s[i]) || sameFold(glob[g], s[i])):
			g++
			i++
		case star >= 0 && !separator(s[mark]):
			mark++
			g, i = star+1, mark
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

func sameFold(a, b byte) bool {
	if isUpper(a) {
		a |= 0x20
	}
	if isUpper(b) {
		b |= 0x20
	}
	return a == b || separator(a) && separator(b)
}

// withhold blanks the contents of withheld files in a tool event and reports
// whether it names one. What names the file, and a few words of the host's own,
// stay.
func withhold(e *claudemem.Event, globs []string, counts *map[string]int) bool {
	if len(globs) == 0 || e.Kind != claudemem.KindTool || len(e.ToolInput) == 0 {
		return false
	}
	named, written := namesWithheld(e.ToolInput, globs)
	if !named {
		return false
	}
	e.ToolInput = blank(e.ToolInput, written, counts)
	e.ToolResponse = blank(e.ToolResponse, true, counts)
	if e.ToolError != "" {
		e.ToolError = Mask(ruleWithheld)
		count(counts, ruleWithheld)
	}
	return true
}

// namesWithheld reports whether a tool's input names a withheld file, and
// whether the input itself may hold the file's content: always, but for a
// command that only reads it.
func namesWithheld(input []byte, globs []string) (named, written bool) {
	key := ""
	for i := 0; i < len(input); i++ {
		if input[i] != '"' {
			continue
		}
		end := stringEnd(input, i)
		if end-i < 2 {
			break
		}
		text := view(input[i+1 : end-1])
		if strings.IndexByte(text, '\\') >= 0 && (shellKey(key) || len(text) < 2*maxPath) {
			text = string(unquote(nil, input[i+1:end-1]))
		}
		i = end - 1
		next := end
		for next < len(input) && input[next] <= ' ' {
			next++
		}
		if next < len(input) && input[next] == ':' {
			key = text
			continue
		}
		if shellKey(key) {
			if commandNames(text, globs) {
				named = true
				written = written || strings.ContainsAny(text, ">\n") || strings.Contains(text, "tee ") || strings.Contains(text, "sed ")
			}
		} else if pathForm(text) && Withheld(text, globs) {
			named, written = true, true
		}
	}
	return named, written
}

func shellKey(key string) bool {
	return key == "command" || key == "cmd" || key == "script"
}

// pathForm reports whether a string can be the path of a file and not its content.
func pathForm(s string) bool {
	return s != "" && len(s) < maxPath && strings.IndexByte(s, '\n') < 0
}

// commandNames reports whether a shell command names a withheld file.
func commandNames(command string, globs []string) bool {
	for i := 0; i < len(command); {
		if strings.IndexByte(" \t\r\n\"'`=;|&<>(){},:@", command[i]) >= 0 {
			i++
			continue
		}
		start := i
		for i < len(command) && strings.IndexByte(" \t\r\n\"'`=;|&<>(){},:@", command[i]) < 0 {
			i++
		}
		if word := command[start:i]; len(word) < maxPath && wordNames(word, globs) {
			return true
		}
	}
	return false
}

// wordNames is Withheld for a word of a command. The filter ".key" of jq is not
// a file "*.key": there a name has to come before the dot.
func wordNames(word string, globs []string) bool {
	if !Withheld(word, globs) {
		return false
	}
	if word[0] != '.' || len(word) > 1 && (separator(word[1]) || word[1] == '.') {
		return true
	}
	for _, glob := range globs {
		if strings.HasPrefix(glob, ".") && matchTail(glob, word) {
			return true
		}
	}
	return false
}

// blank withholds the strings of raw; with contents false only when it is no
// command. Keys that name the file or its kind keep their values.
func blank(raw []byte, contents bool, counts *map[string]int) []byte {
	if len(raw) == 0 || !contents {
		return raw
	}
	d, ok := parseDocument(raw)
	if !ok {
		count(counts, ruleWithheld)
		return appendQuoted(nil, Mask(ruleWithheld))
	}
	for i := range d.strings {
		s := &d.strings[i]
		if s.isKey || s.text == "" || s.text == Mask(ruleWithheld) {
			continue
		}
		switch d.keyOf(s) {
		case "file_path", "filePath", "notebook_path", "path", "type", "status", "edit_mode", "cell_type", "cellType", "language":
			continue
		case "description":
			if len(s.text) < 256 {
				continue
			}
		}
		s.set(Mask(ruleWithheld))
		count(counts, ruleWithheld)
	}
	return d.encode()
}
