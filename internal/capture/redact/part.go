package redact

import (
	"bytes"
	"slices"
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// Contents of withheld files come in by ways that do not name them: a diff of the whole
// repository, a search in all files, the report of an agent that read one.

// withholdParts masks the lines of withheld files in the output of a command or a
// search, and the assignments in the report of an agent that names one. shell: the tool
// has run a command. It returns the response with the masks, itself if there is nothing to mask
// or it is not JSON. The input names no withheld file: that case is withhold's.
func withholdParts(e *memory.Event, shell bool, globs glob.Set, counts *map[string]int) []byte {
	raw := e.ToolResponse
	agent := e.ToolName == "Task" || e.ToolName == "Agent"
	if !agent && !shell && e.ToolName != "Grep" {
		return raw
	}
	diff := bytes.Contains(raw, []byte("diff --")) || bytes.Contains(raw, []byte("==> ")) || bytes.Contains(raw, []byte("+++ "))
	search := e.ToolName == "Grep" || bytes.Contains(e.ToolInput, []byte("grep ")) || bytes.Contains(e.ToolInput, []byte("rg "))
	if !agent && !diff && !search {
		return raw
	}
	out, _ := Each(raw, func(key, text string) string {
		if agent {
			return withholdReported(text, e.Cwd, globs, counts)
		}
		return withholdLines(text, search, e.Cwd, globs, counts)
	})
	return out
}

// withholdLines masks the lines of withheld files in a diff, in the output of head and
// tail and, with search, in that of grep. The lines that name the file stay.
func withholdLines(text string, search bool, cwd string, globs glob.Set, counts *map[string]int) string {
	var cuts []shapes.Span
	// inside: the line is of a withheld file. listed: a search has named that in a line of its own
	// (rg --heading), and ends its matches by an empty one.
	inside, listed := false, false
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		line, from := text[at:end], -1
		switch path, header := headedPath(line, text[min(len(text), end+1):]); {
		case header:
			inside, listed = globs.File(path, cwd), false
		case listed && line == "":
			inside, listed = false, false
		case inside && !diffHead(line):
			from = at
		case search:
			if n := foundIn(line, cwd, globs); n > 0 {
				from = at + n
			} else if pathForm(line) && !strings.ContainsAny(line, " :=") && globs.File(line, cwd) {
				inside, listed = true, true
			}
		}
		if from >= 0 && from < end && !strings.HasSuffix(line, shapes.Mask(ruleWithheld)) {
			cuts = append(cuts, shapes.NewSpan(from, end, ruleWithheld))
			shapes.Count(counts, ruleWithheld)
		}
		at = end + 1
	}
	return shapes.Apply(text, cuts)
}

// foundIn returns where the text begins in a line that grep has found in a withheld file:
// behind PATH:, REV:PATH:, PATH:7: or, around what was found, PATH-7-; 0 for another line.
func foundIn(line, cwd string, globs glob.Set) int {
	start := 0
	for i := range min(len(line), maxPath) {
		switch c := line[i]; {
		case c == ' ':
			return 0
		case c == ':', c == '-' && i+1 < len(line) && shapes.IsDigit(line[i+1]):
			if globs.File(line[start:i], cwd) {
				return i + 1
			}
			if c == ':' {
				start = i + 1
			}
		}
	}
	return 0
}

// headedPath returns the path of the file that begins with a line of a diff or of the
// output of head; false if no file does. next is the text behind the line. A line "commit" ends
// the file before it: "" and true. The path may begin with "a/" or "b/".
func headedPath(line, next string) (string, bool) {
	if strings.HasPrefix(line, "diff --") { // --git a/x b/x, --cc x, --combined x
		return strings.Trim(line[strings.LastIndexByte(line, ' ')+1:], `"`), true
	}
	if strings.HasPrefix(line, "--- ") && strings.HasPrefix(next, "+++ ") { // without a line "diff"
		path, _, _ := strings.Cut(line[len("--- "):], "\t")
		if path == "/dev/null" {
			next, _, _ = strings.Cut(next[len("+++ "):], "\n")
			path, _, _ = strings.Cut(next, "\t")
		}
		return strings.Trim(path, `"`), true
	}
	if rest, ok := strings.CutPrefix(line, "==> "); ok {
		return strings.CutSuffix(rest, " <==")
	}
	return "", strings.HasPrefix(line, "commit ")
}

// diffHeads begin the lines of a diff that say nothing of a file's content.
var diffHeads = [...]string{"index ", "--- ", "+++ ", "@@ ", "new file", "deleted file", "old mode", "new mode", "similarity", "rename", "Binary"}

// diffHead reports whether a line of a diff says nothing of the file's content.
func diffHead(line string) bool {
	return line == "" || slices.ContainsFunc(diffHeads[:], func(head string) bool { return strings.HasPrefix(line, head) })
}

// maxReport is how much of a report is searched for names of files, in bytes.
const maxReport = 64 << 10

// withholdReported masks the values of assignments to variables (NAME=value) in an
// agent's report that names a withheld file within its first maxReport bytes. Only reports are
// treated so: in another text that names one, the assignments are those of commands.
func withholdReported(text, cwd string, globs glob.Set, counts *map[string]int) string {
	var cuts []shapes.Span
	for i := 1; i+1 < len(text); i++ {
		n := strings.IndexByte(text[i:], '=')
		if n < 0 {
			break
		}
		i += n
		start := i
		for start > 0 && i-start < shapes.MaxName && shapes.In(text[start-1], shapes.UpperDigit|shapes.Word) && !shapes.IsLower(text[start-1]) && text[start-1] != '-' {
			start--
		}
		if i-start < 2 || shapes.IsDigit(text[start]) || start > 0 && shapes.IsAlnum(text[start-1]) {
			continue
		}
		from := shapes.SkipTo(text, i+1, "\"'")
		end := shapes.BareEnd(text, from, from+shapes.MaxQuoted, shapes.SettingStops)
		if v := strings.TrimRight(text[from:end], ".,;)"); v != "" && !shapes.Reference(v) {
			cuts = append(cuts, shapes.NewSpan(from, from+len(v), ruleWithheld))
		}
		i = end
	}
	if len(cuts) == 0 || !commandNames(text[:min(len(text), maxReport)], cwd, globs) {
		return text
	}
	for range cuts {
		shapes.Count(counts, ruleWithheld)
	}
	return shapes.Apply(text, cuts)
}
