package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"claudemem/internal/leaf/jsonscan"
)

// refusals begin the results of calls that the host or the user has refused: no hook is told
// of them.
var refusals = []string{
	"<tool_use_error>", interrupted, "The user doesn't want to ", "Permission to use ", "Claude requested permissions to ",
	"Error: No such tool available", "InputValidationError",
}

// refused reports whether a tool was not run.
func refused(text string) bool {
	text = strings.TrimLeft(text, " \r\n\t")
	return slices.ContainsFunc(refusals, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// response returns what a hook is given as the response of a tool: the structured result if
// the record has one, as those of a session's own file have. Those of subagents have only the
// text that the agent was given, of which the form of usual tools is made.
func response(name string, input, result, content []byte) []byte {
	if len(result) > 0 {
		return bytes.Clone(result)
	}
	text := contentText(content)
	quoted := jsonscan.AppendQuote(nil, text)
	switch name {
	case "Bash":
		return fmt.Appendf(nil, `{"stdout":%s,"stderr":"","interrupted":false}`, quoted)
	case "Read":
		var path string
		_ = jsonscan.Decode(input, map[string]any{"file_path": &path}) // else without one
		numbered, first := withoutNumbers(text)
		return fmt.Appendf(nil, `{"type":"text","file":{"filePath":%s,"content":%s,"numLines":%d,"startLine":%d}}`,
			jsonscan.AppendQuote(nil, path), jsonscan.AppendQuote(nil, numbered), strings.Count(numbered, "\n")+1, first)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		var path string
		_ = jsonscan.Decode(input, map[string]any{"file_path": &path})
		return fmt.Appendf(nil, `{"filePath":%s}`, jsonscan.AppendQuote(nil, path))
	}
	if len(content) > 0 && content[0] == '[' {
		return bytes.Clone(content)
	}
	return quoted
}

// withoutNumbers returns a file as it was shown to the agent, each line behind its number and
// a tab or an arrow, without the numbers, and the first of them.
func withoutNumbers(text string) (file string, first int) {
	var b strings.Builder
	first = 1
	for i, line := range strings.Split(text, "\n") {
		number, rest, ok := strings.Cut(line, "\t")
		if !ok {
			number, rest, ok = strings.Cut(line, "→")
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if !ok || err != nil {
			return text, 1
		}
		if i == 0 {
			first = n
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(rest)
	}
	return b.String(), first
}
