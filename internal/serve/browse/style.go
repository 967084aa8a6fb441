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

// hue returns the style of a type's glyph; types of other modes have none.
func hue(t memory.ObservationType) style {
	switch t {
	case memory.TypeBugfix:
		return style{"", "31"}
	case memory.TypeFeature:
		return style{"", "32"}
	case memory.TypeRefactor:
		return style{"", "36"}
	case memory.TypeChange:
		return style{"", "34"}
	case memory.TypeDecision:
		return style{"", "33"}
	case memory.TypeDiscovery:
		return style{"", "35"}
	}
	return plain
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
