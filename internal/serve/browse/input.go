package browse

import (
	"slices"
	"strings"
	"unicode"

	"claudemem/internal/leaf/text"
)

// maxInput bounds the text of a filter, in characters.
const maxInput = 2000

// input is a field of one line.
type input struct {
	runes []rune
	at    int // of the cursor
}

// set replaces the text and puts the cursor behind it.
func (in *input) set(s string) {
	in.runes = []rune(text.TerminalLine(s))
	in.runes = in.runes[:min(len(in.runes), maxInput)]
	in.at = len(in.runes)
}

func (in *input) text() string { return string(in.runes) }

// insert inserts foreign text at the cursor, on one line.
func (in *input) insert(s string) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case text.Invisible(r):
			return -1
		}
		return r
	}, s)
	added := []rune(s)
	added = added[:min(len(added), max(maxInput-len(in.runes), 0))]
	in.runes = slices.Insert(in.runes, in.at, added...)
	in.at += len(added)
}

// key changes the field by a key, which may have typed a text.
func (in *input) key(key, typed string) {
	switch key {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, len(in.runes))
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.runes)
	case "backspace", "ctrl+h":
		in.remove(in.at-1, in.at)
	case "delete", "ctrl+d":
		in.remove(in.at, in.at+1)
	case "ctrl+u":
		in.remove(0, in.at)
	case "ctrl+k":
		in.remove(in.at, len(in.runes))
	case "ctrl+w", "alt+backspace":
		from := in.at
		for from > 0 && unicode.IsSpace(in.runes[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(in.runes[from-1]) {
			from--
		}
		in.remove(from, in.at)
	default:
		in.insert(typed)
	}
}

// remove removes the characters from and up to to, if there are any.
func (in *input) remove(from, to int) {
	from, to = max(from, 0), min(to, len(in.runes))
	if from >= to {
		return
	}
	in.runes = slices.Delete(in.runes, from, to)
	in.at = from
}

// view returns the part of the field around the cursor in n columns, and the cursor's column.
func (in *input) view(n int) (shown string, at int) {
	before, after := steady(string(in.runes[:in.at])), steady(string(in.runes[in.at:]))
	for width(before) > max(n-1, 0) {
		before = before[len(string([]rune(before)[:1])):]
	}
	end := columns(after, n-width(before))
	return before + after[:end], width(before)
}
