package answer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"claudemem/internal/leaf/text"
)

// tag is a tag of the answer format: src[start:end].
type tag struct {
	element
	closing    bool // </name>
	empty      bool // <name/>
	attrs      string
	start, end int
	// What follows, as indices of tags: the closing tag of the same element, the next
	// opening one of it, and the next tag that begins or ends a record.
	close, again, bound int
}

// maxTag bounds the length of a tag, in bytes.
const maxTag = 512

// tagPattern matches a tag with its slash, name and attributes. A '>' in quotes belongs to
// the attributes.
var tagPattern = regexp.MustCompile(`^<[ \t]*(/?)[ \t]*(?:[\w.-]+:)?([\w-]+)((?:[\s/](?:=\s*"[^"]*"|=\s*'[^']*'|[^<>])*)?)>`)

// tagAt returns the tag that begins at src[i]; false if there is none of the format.
func tagAt(src string, i int) (tag, bool) {
	m := tagPattern.FindStringSubmatch(src[i:min(len(src), i+maxTag)])
	if m == nil {
		return tag{}, false
	}
	e, known := elements[fold(m[2])]
	t := tag{element: e, closing: m[1] != "", attrs: strings.TrimSpace(m[3]), start: i, end: i + len(m[0])}
	t.empty = strings.HasSuffix(t.attrs, "/") && !t.closing
	inCode := i > 0 && text.IsIdent(src[i-1]) && strings.ToLower(m[2][:1]) != m[2][:1] || // List<File>
		(m[0][1] == ' ' || m[0][1] == '\t') && t.attrs != "" // a < title && b > c
	return t, known && (t.closing || !inCode)
}

// scan returns the tags of a text. Other markup is text, and so is the name of a record's
// element in a sentence.
func scan(src string) []tag {
	var all, tags []tag
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '<')
		if i < 0 {
			break
		}
		t, ok := tagAt(src, at+i)
		if at += i + 1; ok {
			all = append(all, t)
			at = t.end
		}
	}
	for i := 0; i < len(all); i++ {
		t := &all[i]
		if t.role == recordRole && !t.closing && t.attrs == "" && i+1 < len(all) {
			next := &all[i+1]
			own := next.closing && next.name == t.name
			if t.name == kindSummary && own { // of HTML, or of a comment in C#
				i++
				continue
			}
			if next.closing && !own || t.name == kindSummary && !next.in(kindSummary) {
				continue
			}
		}
		tags = append(tags, *t)
	}
	closes, opens, bound := map[string]int{}, map[string]int{}, len(tags)
	for i, t := range slices.Backward(tags) {
		tags[i].close, tags[i].again, tags[i].bound = cmp.Or(closes[t.name], len(tags)), cmp.Or(opens[t.name], len(tags)), bound
		if t.role == recordRole {
			bound = i
		}
		if t.closing {
			closes[t.name] = i
		} else {
			opens[t.name] = i
		}
	}
	return tags
}

// Characters that stand for '<' and '&' where these are text: in CDATA and in inline
// code. normalise has removed them from the answer, and decode replaces them.
const (
	textLess      = "\x01"
	textAmpersand = "\x02"
)

const (
	cdataBegin = "<![CDATA["
	cdataEnd   = "]]>"
)

var (
	asText = strings.NewReplacer("<", textLess, "&", textAmpersand)
	cdata  = regexp.MustCompile(`(?s)<!\[CDATA\[.*?\]\]>`)
	// unended removes what is left of a CDATA section without an end.
	unended = strings.NewReplacer(cdataBegin, "", "]]<", "<")
	// inlineTag matches a tag in inline code, but not after a fence.
	inlineTag = regexp.MustCompile("(^|[^`])`<([^<>`]*>`)")
	comment   = regexp.MustCompile(`(?s)<(?:!--.*?--|\?xml.*?\?)>`)
)

// protect removes comments, and marks CDATA sections and tags in inline code as text. The
// end of a section belongs to the last beginning before it.
func protect(s string) string {
	s = cdata.ReplaceAllStringFunc(s, func(section string) string {
		at := strings.LastIndex(section, cdataBegin)
		return unended.Replace(section[:at]) + asText.Replace(section[at+len(cdataBegin):len(section)-len(cdataEnd)])
	})
	s = strings.ReplaceAll(s, cdataBegin, "")
	if strings.Contains(s, "`<") {
		s = inlineTag.ReplaceAllString(s, "$1`"+textLess+"$2")
	}
	if text.ContainsAny(s, "<!--", "<?xml") {
		s = comment.ReplaceAllString(s, "")
	}
	return s
}

var attribute = regexp.MustCompile(`([\w:.-]+)\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s/]+))`)

// attributes returns the names and decoded values of the tag's attributes.
func (t *tag) attributes() (pairs [][2]string) {
	for _, m := range attribute.FindAllStringSubmatch(t.attrs, -1) {
		pairs = append(pairs, [2]string{fold(m[1]), strings.TrimSpace(decode(m[2] + m[3] + m[4]))})
	}
	return pairs
}
