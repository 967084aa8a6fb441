package answer

import (
	"slices"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tOpen tokenKind = iota
	tClose
	tSelf    // <name/>
	tComment // also <?xml …?>
	tCData
	tCDataOpen // the beginning of a CDATA section without an end
)

// token is a piece of markup: src[start:end]. src[attrs:attrsEnd] is the part of a
// tag between name and '>', and the content of CDATA.
type token struct {
	kind            tokenKind
	name            name
	start, end      int
	attrs, attrsEnd int
}

// maxAttributes bounds the search for the end of a tag, in bytes.
const maxAttributes = 512

// view is a text with its tokens and an index of where each name opens and closes.
type view struct {
	src    string
	tokens []token
	opens  [nameCount][]int
	closes [nameCount][]int
}

// scan returns the tokens of src in one pass. A tag in inline code (`<title>`) is
// text.
func scan(src string) *view {
	// A tag of ours has about 8 bytes or more; "<<<<" needs no room for tokens.
	v := &view{src: src, tokens: make([]token, 0, min(strings.Count(src, "<"), len(src)/8))}
	noComment, noCData, noDecl := false, false, false
	cdataStart, cdataEnd := 0, 0 // of the section that the next "]]>" ends
	for i := 0; i < len(src); {
		at := strings.IndexByte(src[i:], '<')
		if at < 0 {
			break
		}
		i += at
		rest := src[i:]
		switch {
		case !noComment && strings.HasPrefix(rest, "<!--"):
			end := strings.Index(rest[4:], "-->")
			if end < 0 {
				noComment = true
				i++
				continue
			}
			i = v.add(token{kind: tComment, start: i, end: i + 4 + end + 3})
		case !noDecl && strings.HasPrefix(rest, "<?xml"):
			end := strings.Index(rest, "?>")
			if end < 0 {
				noDecl = true
				i++
				continue
			}
			i = v.add(token{kind: tComment, start: i, end: i + end + 2})
		case beginsCData(rest):
			if i >= cdataEnd && !noCData {
				// The end belongs to the last beginning before it.
				end := strings.Index(rest, "]]>")
				noCData = end < 0
				cdataEnd = i + end
				if end >= 0 {
					cdataStart = i + lastCData(rest[:end])
				}
			}
			if noCData || i != cdataStart {
				i = v.add(token{kind: tCDataOpen, start: i, end: i + 9})
				continue
			}
			i = v.add(token{
				kind: tCData, start: i, end: cdataEnd + 3,
				attrs: i + 9, attrsEnd: cdataEnd,
			})
		default:
			t, ok := tag(src, i)
			if !ok {
				i++
				continue
			}
			i = v.add(t)
		}
	}
	return v
}

// add appends t and returns the position to continue from.
func (v *view) add(t token) int {
	if inlineCode(v.src, t.start, t.end) {
		return t.end
	}
	switch t.kind {
	case tOpen:
		v.opens[t.name] = append(v.opens[t.name], len(v.tokens))
	case tClose:
		v.closes[t.name] = append(v.closes[t.name], len(v.tokens))
	}
	v.tokens = append(v.tokens, t)
	return t.end
}

const cdataOpen = "<![CDATA["

// lastCData returns the position of the last CDATA section in s, in any letter
// case; -1 for none.
func lastCData(s string) int {
	for at := len(s); ; {
		at = strings.LastIndex(s[:at], "<![")
		if at < 0 || beginsCData(s[at:]) {
			return at
		}
	}
}

func beginsCData(s string) bool {
	return len(s) >= len(cdataOpen) && strings.EqualFold(s[:len(cdataOpen)], cdataOpen)
}

// inlineCode reports whether src[start:end] is alone between backticks, other than
// the three of a fence.
func inlineCode(src string, start, end int) bool {
	return start > 0 && src[start-1] == '`' && (start < 2 || src[start-2] != '`') &&
		end < len(src) && src[end] == '`' && (end+1 == len(src) || src[end+1] != '`')
}

// tag returns the tag that begins at src[i]; false if it is not a known one.
func tag(src string, i int) (token, bool) {
	t := token{kind: tOpen, start: i}
	at := i + 1
	spaced := skipBlank(src, at)
	strict := spaced != at // "a < title": only "< title >" is a tag
	at = spaced
	if at < len(src) && src[at] == '/' {
		t.kind = tClose
		strict = false
		at = skipBlank(src, at+1)
	}
	from := at
	for at < len(src) && at-from <= maxName && nameByte(src[at]) {
		at++
	}
	if at == from {
		return t, false
	}
	t.name = fold(src[from:at])
	if t.name == noName {
		return t, false
	}
	t.attrs = at
	end, closed := tagEnd(src, at)
	if !closed {
		// Without '>' the line's end or the next tag ends it, if nothing is between.
		end = skipBlank(src, at)
		if strict || end < len(src) && src[end] != '<' && src[end] != '\n' {
			return t, false
		}
		if end == len(src) && t.kind == tOpen {
			return t, false // cut off
		}
		t.attrsEnd, t.end = t.attrs, end
		return t, true
	}
	inside := strings.TrimSpace(src[at:end])
	if strict && inside != "" || inside != "" && nameByte(src[at]) {
		return t, false
	}
	t.attrsEnd, t.end = end, end+1
	if t.kind == tOpen && strings.HasSuffix(inside, "/") {
		t.kind = tSelf
	}
	return t, true
}

// tagEnd returns the '>' of a tag whose name ends at i. A '>' in quotes does not
// count, unless the quotes are unbalanced.
func tagEnd(src string, i int) (end int, ok bool) {
	limit := min(len(src), i+maxAttributes)
	first := -1
	var quote byte
	for j := i; j < limit; j++ {
		switch c := src[j]; {
		case c == '>' && quote == 0:
			return j, true
		case c == '>' && first < 0:
			first = j
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && j > i && src[j-1] == '=':
			quote = c
		case c == '<' && quote == 0:
			return first, first >= 0
		}
	}
	return first, first >= 0
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == ':' || c == '.'
}

// skipBlank returns the first position from i on that is no blank or tab.
func skipBlank(src string, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// nextOpen and nextClose return the first token from index i on that opens or
// closes n; len(v.tokens) if there is none.
func (v *view) nextOpen(n name, i int) int  { return v.next(v.opens[n], i) }
func (v *view) nextClose(n name, i int) int { return v.next(v.closes[n], i) }

// next returns the first index in the sorted list that is at least i, the number of
// tokens when there is none.
func (v *view) next(list []int, i int) int {
	at, _ := slices.BinarySearch(list, i)
	if at == len(list) {
		return len(v.tokens)
	}
	return list[at]
}

// token returns token i; behind the last one, an empty token at the text's end.
func (v *view) token(i int) token {
	if i < len(v.tokens) {
		return v.tokens[i]
	}
	return token{start: len(v.src), end: len(v.src)}
}

// attribute is a name="value" pair of a tag.
type attribute struct {
	key   name
	value string
}

// attributes returns the pairs of a tag, of at most maxAttributes bytes; a list's
// "path", "name", "value" and "text" have the name noName.
func attributes(s string) []attribute {
	var found []attribute
	for {
		eq := strings.IndexByte(s, '=')
		if eq < 0 {
			return found
		}
		key := strings.TrimSpace(s[:eq])
		if at := strings.LastIndexAny(key, " \t\n\"'"); at >= 0 {
			key = key[at+1:]
		}
		s = strings.TrimLeft(s[eq+1:], " \t\n")
		var value string
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			value, s, _ = strings.Cut(s[1:], s[:1])
		} else {
			end := strings.IndexAny(s, " \t\n/")
			if end < 0 {
				end = len(s)
			}
			value, s = s[:end], s[end:]
		}
		value = strings.TrimSpace(decode(value))
		switch strings.ToLower(key) {
		case "kind":
			found = append(found, attribute{nType, value})
		case "path", "name", "value", "text":
			found = append(found, attribute{noName, value})
		default:
			if n := fold(key); n != noName {
				found = append(found, attribute{n, value})
			}
		}
	}
}

// valueOf returns the value that an empty element has in an attribute.
func valueOf(attrs []attribute) string {
	for _, a := range attrs {
		if (a.key == noName || a.key == nContent) && a.value != "" {
			return a.value
		}
	}
	return ""
}
