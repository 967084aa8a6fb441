package text

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// ListItem returns the text of a Markdown list item without its mark and its box; false for another
// line. The mark begins the line: blanks before it are removed by the caller. A number has at most
// three digits.
func ListItem(s string) (string, bool) {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if item, ok := strings.CutPrefix(s, mark); ok {
			item = strings.TrimPrefix(strings.TrimPrefix(item, "[ ] "), "[x] ")
			return item, true
		}
	}
	i := 0
	for i < len(s) && i < 3 && IsDigit(s[i]) {
		i++
	}
	if i > 0 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' ' {
		return s[i+2:], true
	}
	return "", false
}

// bold matches the marks of bold text: between two digits they are a power.
var bold = regexp.MustCompile(`(^|\D)\*\*|\*\*(\D|$)`)

// link is a link of Markdown.
var link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// Unmark takes bold marks and links out of Markdown; code keeps its backquotes.
func Unmark(s string) string {
	return link.ReplaceAllString(bold.ReplaceAllString(s, "$1$2"), "$1")
}

var abbreviations = Set("e.g. i.e. vs. etc. cf. approx. no. resp. incl. z.b. ca. fig. mr. mrs. ms. dr. st.")

// Sentences splits one plain paragraph into its sentences, trimmed; nil for a blank one. A full stop,
// question or exclamation mark ends a sentence when a space follows and what comes next can begin one,
// as begins says of the rest; not in code, and not behind an abbreviation.
func Sentences(s string, begins func(rest string) bool) []string {
	var out []string
	start, code := 0, false
	emit := func(end int) {
		if t := strings.TrimSpace(s[start:end]); t != "" {
			out = append(out, t)
		}
		start = end
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		switch r {
		case '`':
			code = !code
		case '。', '！', '？':
			emit(next)
		case '.', '!', '?':
			if code {
				break
			}
			for next < len(s) && strings.IndexByte(".!?\")'", s[next]) >= 0 {
				next++
			}
			if next == len(s) {
				break
			}
			if s[next] == ' ' && next+1 < len(s) && begins(s[next+1:]) && !abbreviations[LowerASCII(AfterLast(s[start:next], " "))] {
				emit(next)
			}
		}
		i = next
	}
	emit(len(s))
	return out
}
