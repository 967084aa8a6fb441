package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s on one line: each run of white space becomes one space, none at
// the ends.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Plain returns s as one line that is safe within a frame of ours: no control or
// invisible characters, no terminal sequences, no pictographs, and '‹' for each
// '<' that could open or close a tag. White space is as in Line.
func Plain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	eachPlain(s, func(r rune) {
		if unicode.IsSpace(r) {
			space = true
			return
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	})
	return b.String()
}

// PlainLines is Plain for a text of several lines, which keep their indentation and the blanks
// within them. Blanks and empty lines at both ends of the text are removed.
func PlainLines(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	eachPlain(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) {
		if unicode.IsSpace(r) && r != '\n' && r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	})
	return strings.TrimSpace(b.String())
}

// eachPlain calls write with the characters of s that are safe to show, white
// space of any kind among them. Terminal sequences, invisible characters and pictographs are left out.
func eachPlain(s string, write func(rune)) {
	for i := 0; i < len(s); {
		if s[i] == escape {
			i += SequenceLen(s[i:])
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case unicode.IsSpace(r):
			write(r)
		case Invisible(r), Pictograph(r):
		case r == '<' && OpensTag(s[i:]):
			write('‹')
		default:
			write(r)
		}
	}
}

// Invisible reports whether r is a character that a reader does not see: control
// and formatting characters (bidirectional overrides, zero-width joiners, tags), fillers,
// variation selectors, private use, and what stands for broken UTF-8.
func Invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsControl(r)
	}
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Pictograph reports whether r is an emoji or another picture. Letters, marks, digits and
// ideographs beyond the Basic Multilingual Plane are none; all else there is.
func Pictograph(r rune) bool {
	switch {
	case r < 0x20e3:
		return false
	case r > 0xffff:
		return !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
	}
	return r == 0x20e3 || // the frame of a keycap
		r == 0x231a || r == 0x231b || r >= 0x23e9 && r <= 0x23fa || // clocks, buttons of players
		r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff
}

// OpensTag reports whether a '<' could be read as the begin of a tag by what follows
// it (rest), also by a lenient reader: a name, a slash, a declaration, or the bar of a model's own
// tokens ("<|im_start|>"), with white space or invisible characters before it; only a name must
// follow at once. It is false of "a < b" and "x <- y"; that it is true of "List<T>" costs a reader
// nothing.
func OpensTag(rest string) bool {
	first := true
	for i := 0; i < len(rest); {
		if rest[i] == escape {
			i += SequenceLen(rest[i:])
			continue
		}
		r, size := utf8.DecodeRuneInString(rest[i:])
		i += size
		switch {
		case r == '/', r == '!', r == '?', r == '|', r == '｜':
			return true
		case unicode.IsLetter(r) || r == '_':
			return first
		case unicode.IsSpace(r):
			first = false
		case Invisible(r), Pictograph(r):
			// It will not be shown, so what comes next is what follows the bracket.
		default:
			return false
		}
	}
	return false
}

// hidden is Invisible without what stands for broken UTF-8, which a terminal shows.
func hidden(r rune) bool { return r != utf8.RuneError && Invisible(r) }

// TerminalLine returns s as one line that neither steers a terminal nor shows another text
// than it has: control characters count as white space, which is as in Line, and hidden
// ones are left out.
func TerminalLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if !unicode.IsControl(r) && hidden(r) {
			return -1
		}
		return r
	}, s), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// Terminal returns s without its hidden characters, but for line breaks and tabs: of a terminal
// sequence the escape character goes, and the rest is shown as text.
func Terminal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029': // line and paragraph separator
			return '\n'
		case hidden(r):
			return -1
		}
		return r
	}, s)
}

const escape = 0x1b

// SequenceLen returns the length in bytes of the terminal sequence that s, whose first byte is the
// escape character, begins with: a colour, a title, a character set. Of anything else it is the
// escape character alone, or that with its bracket. A colour that does not end takes the rest of s.
func SequenceLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x3f {
				return 2
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == escape && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\n':
				return 2
			}
		}
		return 2
	case '(', ')':
		return min(len(s), 3)
	}
	return 1
}
