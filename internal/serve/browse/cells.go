package browse

import (
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/cells"
	"claudemem/internal/memory"
)

// The longest texts that are shown, in bytes; `claude-mem show` prints all of a record.
const (
	maxLine  = 1 << 10
	maxBlock = 64 << 10
)

// line returns foreign text on one line, cut, that neither steers a terminal nor is shown in
// another width than width says.
func line(s string) string { return cells.Steady(text.TerminalLine(beginning(s, maxLine))) }

// block returns foreign text with its line breaks, cut; tabs are four spaces.
func block(s string) string {
	return cells.Steady(strings.ReplaceAll(text.Terminal(beginning(s, maxBlock)), "\t", "    "))
}

// beginning returns the first n bytes of s, with "…" at the end if there are more.
func beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.FirstBytes(s, n) + "…"
}

// pad returns s in exactly n columns.
func pad(s string, n int) string {
	s = cells.Cut(s, n)
	return s + strings.Repeat(" ", max(n-cells.Width(s), 0))
}

// between returns left and right in n columns, with the space between them; right gives way.
func between(left, right string, n int) string {
	left = cells.Cut(left, n)
	if room := n - cells.Width(left) - 1; cells.Width(right) > room {
		right = cells.Cut(right, room)
	}
	return left + strings.Repeat(" ", max(n-cells.Width(left)-cells.Width(right), 0)) + right
}

// fit returns the words of a line that stand in n columns, two blanks between them; those at the
// end are left out.
func fit(words []string, n int) string {
	for len(words) > 0 && cells.Width(strings.Join(words, "  ")) > n {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "  ")
}

// wrap breaks a text into lines of at most n columns, at words where it can. A line keeps its
// indentation; what follows is indented like it, by hang more columns.
func wrap(s string, n, hang int) (lines []string) {
	n = max(n, 1)
	for l := range strings.SplitSeq(s, "\n") {
		l = strings.TrimRight(l, " \r")
		words := strings.TrimLeft(l, " ")
		indent := min(len(l)-len(words), n/2)
		lead := strings.Repeat(" ", indent)
		for {
			room := n - cells.Width(lead)
			if cells.Width(words) <= room {
				lines = append(lines, strings.TrimRight(lead+words, " "))
				break
			}
			end := cells.End(words, max(room, 1))
			if end == 0 {
				end = len(string([]rune(words)[:1])) // a character that is wider than the line
			}
			if i := strings.LastIndexByte(words[:min(end+1, len(words))], ' '); i > 0 {
				end = i
			}
			lines = append(lines, strings.TrimRight(lead+words[:end], " "))
			words = strings.TrimLeft(words[end:], " ")
			lead = strings.Repeat(" ", min(indent+hang, n/2))
		}
	}
	return lines
}

// style is a sequence of ANSI styles: attributes, and a colour of the terminal's own palette.
type style struct{ attribute, colour string }

// The styles of the program. Without colours the attributes are left.
var (
	plain    = style{}
	bold     = style{attribute: "1"}
	dim      = style{attribute: "2"}
	selected = style{attribute: "7"}
	marked   = style{"1;4", ""}
	pinned   = style{"1", "33"}
	warning  = style{"1", "33"}
	failure  = style{"1", "31"}
	success  = style{"", "32"}
	code     = style{"", "36"}
)

// hues are the styles of the types' glyphs; types of other modes have none.
var hues = map[memory.ObservationType]style{
	memory.TypeBugfix:    {"", "31"},
	memory.TypeFeature:   {"", "32"},
	memory.TypeRefactor:  {"", "36"},
	memory.TypeChange:    {"", "34"},
	memory.TypeDecision:  {"", "33"},
	memory.TypeDiscovery: {"", "35"},
}

// painter styles text.
type painter struct{ colours bool }

// paint returns s in a style.
func (p painter) paint(st style, s string) string {
	codes := st.attribute
	if p.colours && st.colour != "" {
		if codes != "" {
			codes += ";"
		}
		codes += st.colour
	}
	if codes == "" || s == "" {
		return s
	}
	return "\x1b[" + codes + "m" + s + "\x1b[0m"
}
