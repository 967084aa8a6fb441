package text

import "claudemem/internal/memory"

// Reported returns a text as it is shown where an agent reads it: foreign text with where it
// is from ("from the web: …"), and in quotation marks if it is an order.
func Reported(from memory.Provenance, s string) string {
	switch source := from.Source(); {
	case source == "" || s == "":
		return s
	case IsOrder(s):
		return source + ": “" + s + "”"
	default:
		return source + ": " + s
	}
}

// IsForeignOrder reports whether a foreign text asks to run, fetch or disable something. It
// does not stand where nobody has asked for it.
func IsForeignOrder(from memory.Provenance, s string) bool { return from.Foreign() && IsOrder(s) }
