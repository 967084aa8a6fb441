package browse

import (
	"claudemem/internal/memory"
)

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
