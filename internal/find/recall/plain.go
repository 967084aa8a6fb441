package recall

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem/internal/leaf/text"
)

// scanBytes bounds the part of a record's field that is cleaned: several times the
// longest line, so that the line rarely ends early.
const scanBytes = 8 << 10

var (
	// markers are what Markdown would read at the start of a list item as a heading, quote or
	// nested list.
	markers     = regexp.MustCompile(`^(?:[#> ]|[-*+=] )+`)
	uuidPattern = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)+`)
)

// RecordLine returns a record's text as one line for the reader: OneLine, and without a
// leading Markdown marker and names that mean nothing to the reader: the project's path,
// UUIDs, and the clock part of ISO times.
func RecordLine(s, projectPath string) string {
	s = OneLine(s)
	if s == "" {
		return ""
	}
	s = withoutProject(s, projectPath)
	if strings.Count(s, "-") >= 2 {
		s = uuidPattern.ReplaceAllString(s, "…")
		for timePattern.MatchString(s) { // what is left around a clock may make another; each time s is shorter
			s = timePattern.ReplaceAllString(s, "$1")
		}
	}
	return markers.ReplaceAllString(s, "")
}

// OneLine returns what the beginning of s says as Markdown (text.OneLine), with no more
// than two backticks in a row: three would open a code fence.
func OneLine(s string) string {
	s = text.OneLine(text.FirstBytes(s, scanBytes))
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "``")
	}
	return s
}

// withoutProject makes paths below the project relative and replaces the
// project's own path by ".", where it stands as a whole path.
func withoutProject(s, projectPath string) string {
	root := strings.TrimRight(projectPath, `/\`)
	if !strings.ContainsAny(root, `/\`) {
		return s // No path: a label, or nothing.
	}
	// What remains of one may complete another; each round is shorter than the last.
	for strings.Contains(s, root) {
		before, rest, _ := strings.Cut(s, root)
		next, _ := utf8.DecodeRuneInString(rest)
		switch {
		case rest != "" && (next == '/' || next == '\\'):
			rest = strings.TrimLeft(rest, `/\`)
			if after, _ := utf8.DecodeRuneInString(rest); rest == "" || !PartOfPath(after) {
				before += "."
			}
		case rest == "" || !PartOfPath(next):
			before += "."
		default:
			// A sibling whose name begins with the project's: its last part stays.
			before += path.Base(strings.ReplaceAll(root, `\`, "/"))
		}
		s = before + rest
	}
	return s
}

// PartOfPath reports whether r may stand in the name of a file or directory, so that a name beside it is
// not whole. Separators are no part.
func PartOfPath(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.@+", r)
}
