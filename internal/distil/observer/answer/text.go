package answer

import (
	"html"
	"regexp"
	"strings"

	"claudemem/internal/leaf/text/runes"
)

// terminalSequence matches the colours and the like of a terminal; of a malformed
// one only the beginning.
var terminalSequence = regexp.MustCompile(`\x1b\[(?:[ -?]{0,31}[@-~])?`)

// normalise returns s as valid UTF-8 with "\n" line ends and without control
// characters, terminal colours, byte order marks and characters that change the
// direction of text.
func normalise(s string) string { return clean(terminalSequence.ReplaceAllString(s, "")) }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// clean is normalise without the terminal's sequences.
func clean(s string) string {
	return runes.Safe(lineEnds.Replace(s))
}

var (
	// entity matches an entity with its semicolon, so that "?a=1&copy=2" stays
	// unchanged. One that was escaped repeatedly (&amp;lt;) becomes its first
	// character: models copy escaped input and escape it.
	entity    = regexp.MustCompile(`&(?:(?:amp|#38);)*(#?\w{1,9});`)
	protected = strings.NewReplacer(textLess, "<", textAmpersand, "&")
)

// decode replaces entities and the characters of protect.
func decode(s string) string {
	if strings.Contains(s, "&") {
		s = entity.ReplaceAllStringFunc(s, func(match string) string {
			name := entity.FindStringSubmatch(match)[1]
			char := html.UnescapeString("&" + name + ";")
			switch {
			case name == "nbsp":
				return " "
			case name[0] != '#' && strings.HasSuffix(char, ";"): // none, such as &copying;
				return "&" + name + ";"
			}
			return clean(char)
		})
	}
	return protected.Replace(s)
}

// paragraph trims s and its lines, removes the indentation that the lines share
// from the second on (that of the XML), and joins empty lines.
func paragraph(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	lines := strings.Split(rest, "\n")
	indent := len(rest)
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\u00a0")
		if lines[i] != "" {
			indent = min(indent, len(l)-len(strings.TrimLeft(l, " \t")))
		}
	}
	kept := []string{strings.TrimRight(first, " \t\u00a0")}
	for _, l := range lines {
		if l = l[min(indent, len(l)):]; l != "" || kept[len(kept)-1] != "" {
			kept = append(kept, l)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// nothings are the values that models write into empty fields.
var nothings = map[string]bool{
	"null": true, "none": true, "nil": true, "undefined": true, "n/a": true, "na": true, "n.a": true,
	"nothing": true, "empty": true, "not applicable": true, "-": true, "--": true, "–": true, "—": true,
	"...": true, "…": true, "[]": true, "{}": true, `""`: true, "''": true, "[object object]": true,
	"no files": true, "no facts": true, "no concepts": true, "keine": true, "aucun": true, "ninguno": true,
}

// isNothing reports whether a value means that there is none.
func isNothing(s string) bool {
	if len(s) > 40 {
		return false
	}
	bare := strings.ToLower(strings.Trim(s, " \n\t.!()[]<>*_`\"'"))
	return bare == "" || nothings[bare]
}
