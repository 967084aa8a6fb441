package hostfiles

import (
	"strings"

	"claudemem/internal/leaf/text"
)

// LiteralLines returns which lines of a Markdown file are literal. A part that does not end is
// not: a block that was added behind it is found again.
func LiteralLines(md string) (lines []bool) {
	var l literal
	from := 0
	for line := range strings.Lines(md) {
		if !l.open() {
			from = len(lines)
		}
		lines = append(lines, l.line(line))
	}
	if l.open() {
		clear(lines[from:])
	}
	return lines
}

// literal follows which lines of a Markdown file are shown as they are or not at all: those of
// fenced code, of comments and of <pre> and the like. What else Markdown gives a meaning has none
// there. The zero value stands at the beginning of a file.
type literal struct {
	// fence is what opened the code, until what ends the comment or element; "" for none.
	fence, until string
}

// literals are what begins and ends a part that is literal, at the beginning of a line.
var literals = []struct{ begin, end string }{
	{"<!--", "-->"}, {"<pre", "</pre>"}, {"<script", "</script>"}, {"<style", "</style>"}, {"<textarea", "</textarea>"},
}

// line reports whether the next line of the file is literal.
func (l *literal) line(line string) bool {
	s := strings.TrimSpace(line)
	switch {
	case l.fence != "":
		if run := fenceOf(s); run == s && strings.HasPrefix(run, l.fence) {
			l.fence = ""
		}
		return true
	case l.until != "":
		// Our own markers end nobody's comment.
		if strings.Contains(strings.ToLower(s), l.until) && !strings.HasPrefix(s, "<!-- claude-mem:") {
			l.until = ""
		}
		return true
	}
	for item, ok := text.ListItem(s); ok; item, ok = text.ListItem(s) {
		s = strings.TrimSpace(item)
	}
	if run := fenceOf(s); run != "" && (run[0] == '~' || !strings.Contains(s[len(run):], "`")) {
		l.fence = run
		return true
	}
	lower := strings.ToLower(s)
	for _, p := range literals {
		if rest, ok := strings.CutPrefix(lower, p.begin); ok && !strings.Contains(rest, p.end) {
			l.until = p.end
			return true
		}
	}
	return false
}

// open reports whether what follows is literal.
func (l *literal) open() bool { return l.fence+l.until != "" }

// fenceOf returns the three or more backquotes or tildes at the beginning of s, "" for none.
func fenceOf(s string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(s) - len(strings.TrimLeft(s, mark)); n >= 3 {
			return s[:n]
		}
	}
	return ""
}
