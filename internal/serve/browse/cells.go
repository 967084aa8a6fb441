package browse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"

	"github.com/charmbracelet/x/ansi"
)

// The longest texts that are shown, in bytes; `claude-mem show` prints all of a record.
const (
	maxLine  = 1 << 10
	maxBlock = 64 << 10
)

// line returns foreign text on one line, cut, that neither steers a terminal nor is shown in
// another width than width says.
func line(s string) string { return steady(text.TerminalLine(beginning(s, maxLine))) }

// block returns foreign text with its line breaks, cut; tabs are four spaces.
func block(s string) string {
	return steady(strings.ReplaceAll(text.Terminal(beginning(s, maxBlock)), "\t", "    "))
}

// beginning returns the first n bytes of s, with "…" at the end if there are more.
func beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.FirstBytes(s, n) + "…"
}

// maxMarks bounds the combining marks on one character: a pile of them covers other lines.
const maxMarks = 2

// steady leaves out the characters whose width terminals disagree on: flags, skin tones, the
// frame of a keycap, and combining marks without a character, or too many on one.
func steady(s string) string {
	if ascii(s) {
		return s
	}
	marks := maxMarks
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff, r == 0x20e3:
			return -1
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				return -1
			}
		case unicode.IsSpace(r):
			marks = maxMarks
		default:
			marks = 0
		}
		return r
	}, s)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// width returns the number of columns of s, which has no styles.
func width(s string) int {
	if ascii(s) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// cut shortens s, which has no styles, to at most n columns, "…" at its end included.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if width(s) <= n {
		return s
	}
	end := columns(s, n-1)
	return strings.TrimRight(s[:end], " ") + "…"
}

// columns returns the end of the longest beginning of s of at most n columns, in bytes.
func columns(s string, n int) (end int) {
	used := 0
	for i, r := range s {
		w := 1
		if r >= 0x80 {
			w = ansi.StringWidthWc(string(r))
		}
		if used+w > n {
			return i
		}
		used += w
	}
	return len(s)
}

// pad returns s in exactly n columns.
func pad(s string, n int) string {
	s = cut(s, n)
	return s + strings.Repeat(" ", max(n-width(s), 0))
}

// between returns left and right in n columns, with the space between them; right gives way.
func between(left, right string, n int) string {
	left = cut(left, n)
	if room := n - width(left) - 1; width(right) > room {
		right = cut(right, room)
	}
	return left + strings.Repeat(" ", max(n-width(left)-width(right), 0)) + right
}

// fit returns the words of a line that stand in n columns, two blanks between them; those at the
// end are left out.
func fit(words []string, n int) string {
	for len(words) > 0 && width(strings.Join(words, "  ")) > n {
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
			room := n - width(lead)
			if width(words) <= room {
				lines = append(lines, strings.TrimRight(lead+words, " "))
				break
			}
			end := columns(words, max(room, 1))
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
