package answer

import (
	"regexp"
	"slices"
	"strings"
)

// token is a tag of the answer format: src[start:end].
type token struct {
	element
	closing bool // </name>
	empty   bool // <name/>
	// html: a <summary> of HTML or of a C# comment if it is within a field; no field of
	// ours follows.
	html       bool
	attrs      string
	start, end int
}

// markup is a text with its tokens and an index of where each element opens and closes.
type markup struct {
	src    string
	tokens []token
	opens  map[string][]int
	closes map[string][]int
}

// maxTag bounds the length of a tag, in bytes.
const maxTag = 512

// tagPattern matches a tag with its slash, name and attributes. A '>' in quotes belongs to
// the attributes. Without '>', the line's end or the next tag ends it.
var tagPattern = regexp.MustCompile(`^<[ \t]*(/?)[ \t]*(?:[\w.-]+:)*([\w-]+)(?:((?:[\s/](?:=\s*"[^"]*"|=\s*'[^']*'|[^<>])*)?)>|[ \t]*(?:\n|<|$))`)

// scan returns the text with its tags. Other markup is text.
func scan(src string) *markup {
	m := &markup{src: protect(src), opens: map[string][]int{}, closes: map[string][]int{}}
	for i := 0; ; {
		at := strings.IndexByte(m.src[i:], '<')
		if at < 0 {
			break
		}
		i += at
		t, ok := tag(m.src, i)
		if !ok {
			i++
			continue
		}
		m.tokens = append(m.tokens, t)
		i = t.end
	}
	for i := range m.tokens {
		t := &m.tokens[i]
		if t.name == kindSummary && !t.closing && i+1 < len(m.tokens) {
			next := &m.tokens[i+1]
			t.html = next.closing || !next.nativeTo(kindSummary)
			next.html = t.html && next.closing && next.name == kindSummary
		}
		switch {
		case t.html:
		case t.closing:
			m.closes[t.name] = append(m.closes[t.name], i)
		case !t.empty:
			m.opens[t.name] = append(m.opens[t.name], i)
		}
	}
	return m
}

// tag returns the tag that begins at src[i]; false if it is not a known one.
func tag(src string, i int) (token, bool) {
	if i+1 < len(src) && src[i+1] == '<' {
		return token{}, false
	}
	m := tagPattern.FindStringSubmatchIndex(src[i:min(len(src), i+maxTag)])
	if m == nil {
		return token{}, false
	}
	e, known := elements[fold(src[i+m[4]:i+m[5]])]
	t := token{element: e, closing: m[3] > m[2], start: i, end: i + m[1]}
	if m[6] < 0 { // without '>'
		t.end = i + len(strings.TrimRight(src[i:t.end], " \t\n<"))
		return t, known && (t.closing || i+m[1] < len(src))
	}
	t.attrs = src[i+m[6] : i+m[7]]
	t.empty = strings.HasSuffix(strings.TrimSpace(t.attrs), "/") && !t.closing
	inText := !t.closing && strings.TrimSpace(src[i+1:i+2]) == "" && strings.TrimSpace(t.attrs) != "" // "a < title && b > c"
	return t, known && !inText
}

// Characters that stand for '<' and '&' where these are text: in CDATA and in inline
// code. normalise has removed them from the answer, and decode replaces them.
const (
	textLess      = "\x01"
	textAmpersand = "\x02"
)

var (
	asText = strings.NewReplacer("<", textLess, "&", textAmpersand)
	// inlineTag matches a tag in inline code, but not after a fence.
	inlineTag = regexp.MustCompile("(^|[^`])`<([^<>`]*>`)")
	comment   = regexp.MustCompile(`(?s)<(?:!--.*?--|\?xml.*?\?)>`)
)

const (
	cdataBegin = "<![CDATA["
	cdataEnd   = "]]>"
)

// protect removes comments, and marks CDATA sections and tags in inline code as text.
func protect(s string) string {
	if strings.Contains(s, cdataBegin) {
		s = protectCDATA(s)
	}
	if strings.Contains(s, "`<") {
		s = inlineTag.ReplaceAllString(s, "$1`"+textLess+"$2")
	}
	if strings.Contains(s, "<!--") || strings.Contains(s, "<?xml") {
		s = comment.ReplaceAllString(s, "")
	}
	return s
}

// unended removes what is left of a CDATA section without an end.
var unended = strings.NewReplacer(cdataBegin, "", "]]<", "<")

// protectCDATA replaces each CDATA section by its text, in which asText has made markup harmless. A
// section without an end is markup, and an end without a beginning text.
func protectCDATA(s string) string {
	var b strings.Builder
	for ended := true; ended; {
		var before string
		before, s, ended = strings.Cut(s, cdataEnd)
		section := ""
		// The end belongs to the last beginning before it.
		if at := strings.LastIndex(before, cdataBegin); ended && at >= 0 {
			before, section = before[:at], before[at+len(cdataBegin):]
		} else if ended {
			section = cdataEnd
		}
		if strings.Contains(before, cdataBegin) {
			before = unended.Replace(before)
		}
		b.WriteString(before + asText.Replace(section))
	}
	return b.String()
}

// nextOpen and nextClose return the first token from index i on that opens or closes
// an element; len(m.tokens) if there is none.
func (m *markup) nextOpen(name string, i int) int  { return m.next(m.opens[name], i) }
func (m *markup) nextClose(name string, i int) int { return m.next(m.closes[name], i) }

// next returns the first of sorted, indexes of tokens, that is i or more; len(m.tokens) if there is none.
func (m *markup) next(sorted []int, i int) int {
	at, _ := slices.BinarySearch(sorted, i)
	if at == len(sorted) {
		return len(m.tokens)
	}
	return sorted[at]
}

var attributePattern = regexp.MustCompile(`([\w:.-]+)\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s/]+))`)

// attributes returns the values of a tag's attributes by their folded names.
func attributes(s string) map[string]string {
	values := map[string]string{}
	for _, m := range attributePattern.FindAllStringSubmatch(s, -1) {
		values[fold(m[1])] = strings.TrimSpace(decode(m[2] + m[3] + m[4]))
	}
	return values
}
