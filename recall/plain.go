package recall

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"claudemem"
)

// scanLimit is how many code points of a record's field are looked at. It is
// several times the longest line, so that cleaning rarely runs short, and it
// bounds the work for a field of any size.
const scanLimit = 1200

var (
	uuidPattern = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)+`)
)

// plain makes one harmless line of a record's text. Records are untrusted: they
// hold what models, tools and web pages said. Line breaks and runs of white
// space become one space; control, bidirectional and other invisible characters
// go; an angle bracket that could begin a tag becomes the look-alike '‹', so
// that no record closes our frame or opens another; a leading Markdown marker
// goes. Names that mean nothing to the reader go too: the project's path, UUIDs,
// and the clock part of ISO times.
func plain(s, projectPath string) string {
	s = oneLine(s)
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
	return withoutMarker(s)
}

func oneLine(s string) string {
	var b strings.Builder
	b.Grow(min(len(s), scanLimit+utf8.UTFMax))
	space, backticks, seen := false, 0, 0
	for i, r := range s {
		if seen == scanLimit {
			break
		}
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case claudemem.Invisible(r):
			continue
		case r == '<' && claudemem.OpensTag(s[i+1:]):
			r = '‹'
		}
		if r == '`' {
			// Three or more would open a code fence.
			if backticks++; backticks > 2 {
				continue
			}
		} else {
			backticks = 0
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
			seen++
		}
		space = false
		b.WriteRune(r)
		seen++
	}
	return b.String()
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
			if after, _ := utf8.DecodeRuneInString(rest); rest == "" || !partOfPath(after) {
				before += "."
			}
		case rest == "" || !partOfPath(next):
			before += "."
		default:
			// A sibling whose name begins with the project's: its last part stays.
			before += path.Base(strings.ReplaceAll(root, `\`, "/"))
		}
		s = before + rest
	}
	return s
}

func partOfPath(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.@+", r)
}

// withoutMarker removes what Markdown would read at the start of a list item as
// a heading, quote or nested list.
func withoutMarker(s string) string {
	for {
		t := strings.TrimLeft(s, "#>")
		if len(t) > 1 && (t[0] == '-' || t[0] == '*' || t[0] == '+' || t[0] == '=') && t[1] == ' ' {
			t = t[1:]
		}
		t = strings.TrimLeft(t, " ")
		if t == s || t == "" {
			return t
		}
		s = t
	}
}

// cut shortens s to at most limit UTF-16 units, at a word's end where one is
// near, and ends it with '…'. A limit below 1 gives "".
func cut(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	end, used, word := 0, 0, 0
	for i, r := range s {
		n := unitsOf(r)
		if used+n > limit-1 {
			break
		}
		if r == ' ' {
			word = i
		}
		used += n
		end = i + utf8.RuneLen(r)
	}
	// Losing more than a quarter for a whole word would be a poor bargain.
	if s[end] != ' ' && word > end*3/4 {
		end = word
	}
	return strings.TrimRight(s[:end], " ,;:.-–—([‹`") + "…"
}

// units counts UTF-16 units, the measure of the host's limit. It is never less
// than the count of code points, from which tokens are estimated, so this one
// measure honours both limits.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
