package claudemem

import (
	"unicode"
	"unicode/utf8"
)

// What is remembered holds what models, tools and web pages said. Whoever shows it
// to a model within a frame of its own makes sure with these that no record closes
// that frame or hides in it.

// Invisible reports whether r has no place in a text that is shown: control and
// formatting characters (bidirectional overrides, zero-width joiners), private use,
// and what stands for broken UTF-8.
func Invisible(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co)
}

// OpensTag reports whether a '<' could be read as the begin of a tag by what follows
// it, also by a lenient reader: a name, a slash or a declaration, with white space or
// invisible characters before it. It is false of "a < b" and "x <- y"; that it is
// true of "List<T>" costs a reader nothing.
func OpensTag(rest string) bool {
	first := true
	for _, r := range rest {
		switch {
		case r == '/' || r == '!' || r == '?':
			return true
		case unicode.IsLetter(r) || r == '_':
			return first
		case unicode.IsSpace(r):
			first = false
		case Invisible(r):
			// It will not be shown, so what comes next is what follows the bracket.
		default:
			return false
		}
	}
	return false
}
