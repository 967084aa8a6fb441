package recall

import (
	"strings"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
)

// TitleAndDetail returns a record in two parts: its title, which the caller has cleaned, and, cleaned
// by plain, the first of subtitle and facts that says more than that; one that isRoutine only
// if there is no other. A record without a title has the first of them, or its
// narrative, for a title. isRoutine is asked about a part as the record has it. Either part may be "".
func TitleAndDetail(o *memory.Observation, title string, plain func(string) string, isRoutine func(string) bool) (string, string) {
	spare := ""
	for _, part := range append([]string{o.Subtitle}, o.Facts...) {
		p := text.Unstopped(plain(part))
		switch {
		case p == "" || ContainsFold(title, p) || Echoes(WordsOf(p), WordsOf(title)):
		case title == "":
			title = p
		case !isRoutine(part):
			return title, p
		case spare == "":
			spare = p
		}
	}
	if title == "" {
		title = plain(o.Narrative)
	}
	return title, spare
}

// Compose joins "title: detail" within limit units (text.Width). The title goes first; of the
// detail even a piece is worth having, unless it would be too short to tell anything.
func Compose(title, detail string, limit int) string {
	const leastDetail = 30
	title = text.TruncateWidth(title, limit)
	room := limit - text.Width(title) - len(": ")
	switch {
	case detail == "":
	case text.Width(detail) <= room:
		return title + ": " + detail
	case room >= leastDetail:
		return title + ": " + text.TruncateWidth(detail, room)
	}
	return title
}

// ContainsFold reports whether a text has a part, in any letter case.
func ContainsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// OpenTag and CloseTag are around all that a session is given.
const (
	OpenTag  = "<claude-mem-context>\n"
	CloseTag = "</claude-mem-context>"
)

// UnitsFor returns the width (text.Width) that costs at most the given tokens
// (docs/token-estimate.md).
func UnitsFor(tokens int) int { return 7 * tokens / 2 }
