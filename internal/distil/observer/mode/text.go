package mode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
	"claudemem/internal/leaf/text/runes"
)

// minMarked is the smallest limit with room for the mark in the middle.
const minMarked = 400

// markup are the characters of XML that a text must not have.
var markup = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;")

// clip returns s as XML text without unsafe characters, shortened to limit bytes; no escape
// is split.
func clip(s string, limit int) string {
	s = markup.Replace(runes.Safe(s))
	if len(s) <= limit {
		return s
	}
	s = text.FirstBytes(s, limit-len("…"))
	if begun := strings.LastIndexByte(s, '&'); begun > strings.LastIndexByte(s, ';') {
		s = s[:begun]
	}
	return s + "…"
}

// raw returns s without unsafe characters, within limit bytes, for text between delimiters
// that it cannot contain: of a longer text the first 60 % and the last 30 % of the limit
// with the number of missing bytes between them.
func raw(s string, limit int) string {
	s = runes.Safe(s)
	if len(s) <= limit || limit < minMarked {
		return text.TruncateBytes(s, limit)
	}
	head, tail := text.FirstBytes(s, limit*60/100), s[len(s)-limit*30/100:]
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(s)-len(head)-len(tail), tail)
}

// oneLine returns s escaped, on one line, within limit bytes.
func oneLine(s string, limit int) string { return clip(text.Line(beginning(s, limit)), limit) }

// rawLine returns s on one line, within limit bytes, for text between delimiters.
func rawLine(s string, limit int) string { return raw(text.Line(beginning(s, limit)), limit) }

// beginning returns as much of s as one line of limit bytes can need: far more than is
// shown, because white space may be most of it.
func beginning(s string, limit int) string { return text.FirstBytes(s, 8*limit) }
