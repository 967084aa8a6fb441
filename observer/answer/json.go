package answer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"claudemem/text"
)

// value is a JSON value: a string (also numbers and words), a list or an object.
type value struct {
	kind   byte // 's', '[' or '{'
	text   string
	keys   []string // of an object, parallel to items
	items  []value
	quoted bool
	cut    bool // the input ended within a string
}

// maxJSONDepth bounds the nesting of values; deeper ones are skipped.
const maxJSONDepth = 16

// jsonParser parses JSON as models write it: cut off, with line breaks in strings,
// too many commas, bare words, single quotes. It always ends, and reads no byte
// twice.
type jsonParser struct {
	s   string
	i   int
	cut bool // the input ended within a value
}

// parseJSON parses the value at the beginning of s and returns its end.
func parseJSON(s string) (v value, end int, complete bool) {
	r := jsonParser{s: s}
	v = r.value(0)
	return v, r.i, !r.cut
}

// blank skips blanks, tabs and line feeds.
func (r *jsonParser) blank() {
	for r.i < len(r.s) && (r.s[r.i] == ' ' || r.s[r.i] == '\n' || r.s[r.i] == '\t') {
		r.i++
	}
}

// value parses the next value leniently: quotes of both kinds, words without any. At the
// end of the text it is an empty string, and r.cut is set.
func (r *jsonParser) value(depth int) value {
	r.blank()
	if r.i == len(r.s) {
		r.cut = true
		return value{kind: 's'}
	}
	switch c := r.s[r.i]; {
	case (c == '{' || c == '[') && depth < maxJSONDepth:
		r.i++
		return r.items(c, depth)
	case c == '"' || c == '\'':
		return value{kind: 's', text: r.quoted(c), quoted: true, cut: r.cut}
	}
	return value{kind: 's', text: r.word()}
}

// items parses a list or an object after its opening bracket.
func (r *jsonParser) items(open byte, depth int) value {
	v := value{kind: open}
	for {
		r.blank()
		if r.i == len(r.s) {
			r.cut = true
			return v
		}
		switch c := r.s[r.i]; c {
		case ']', '}':
			r.i++
			return v
		case ',', ':':
			r.i++
			continue
		}
		item := r.value(depth + 1)
		if open == '[' {
			v.items = append(v.items, item)
			continue
		}
		r.blank()
		if r.i < len(r.s) && r.s[r.i] == ':' && item.kind == 's' {
			r.i++
			v.keys = append(v.keys, item.text)
			v.items = append(v.items, r.value(depth+1))
		}
	}
}

// word parses a number, true, null or an unquoted word of at least one byte.
func (r *jsonParser) word() string {
	from := r.i
	r.i++
	for r.i < len(r.s) && strings.IndexByte(",:]}\n\"", r.s[r.i]) < 0 {
		r.i++
	}
	return strings.TrimSpace(r.s[from:r.i])
}

// quoted parses a string in the given quotes. A quote before something that cannot
// follow a string is a character of it.
func (r *jsonParser) quoted(quote byte) string {
	r.i++
	var b strings.Builder
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c == '\\' && r.i+1 < len(r.s):
			r.escape(&b)
		case c == quote && r.closes():
			r.i++
			return b.String()
		default:
			b.WriteByte(c)
			r.i++
		}
	}
	r.cut = true
	return b.String()
}

// closes reports whether the quote at r.i ends its string.
func (r *jsonParser) closes() bool {
	for j := r.i + 1; j < len(r.s) && j < r.i+64; j++ {
		switch r.s[j] {
		case ' ', '\t', '\n':
			continue
		case ',', ':', ']', '}':
			return true
		}
		// After a missing comma the next string begins on a line of its own.
		return r.s[j] == '"' && strings.IndexByte(r.s[r.i+1:j], '\n') >= 0
	}
	return true
}

// escape writes the character of the escape at r.i to b and moves behind it. An unknown
// escape is written as it is, control characters are dropped.
func (r *jsonParser) escape(b *strings.Builder) {
	c := r.s[r.i+1]
	r.i += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r', 'b', 'f':
		b.WriteByte('\n')
	case 'u':
		char, ok := r.hex()
		if !ok {
			b.WriteString(`\u`)
			return
		}
		if utf16.IsSurrogate(char) {
			// Half of a surrogate pair becomes U+FFFD.
			before := r.i
			low := rune(-1)
			if strings.HasPrefix(r.s[r.i:], `\u`) {
				r.i += 2
				low, _ = r.hex()
			}
			char = utf16.DecodeRune(char, low)
			if char == utf8.RuneError {
				r.i = before
			}
		}
		if !text.Unsafe(char) {
			b.WriteRune(char)
		}
	case '"', '\\', '/', '\'':
		b.WriteByte(c)
	default: // a path with single backslashes
		b.WriteByte('\\')
		b.WriteByte(c)
	}
}

// hex parses four hexadecimal digits; false, without moving, if there are fewer.
func (r *jsonParser) hex() (rune, bool) {
	digits := r.s[r.i:min(r.i+4, len(r.s))]
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) < 4 {
		return 0, false
	}
	r.i += 4
	return rune(n), true
}

// jsonNames are keys that name a field in JSON only; as elements they would be
// HTML.
var jsonNames = map[string]name{
	"kind": nType, "observation_type": nType, "observationtype": nType, "headline": nTitle,
	"description": nNarrative, "text": nNarrative, "details": nNarrative, "tags": nConcepts,
	"files": nFilesRead, "learning": nContent, "statement": nContent,
}

// fromJSON adds the records in v, whatever they are wrapped in.
func (p *parser) fromJSON(v value, depth int) {
	if depth > maxJSONDepth || p.full {
		return
	}
	switch v.kind {
	case '[':
		for _, item := range v.items {
			p.fromJSON(item, depth+1)
		}
	case 's':
		// XML in a JSON string.
		if v.quoted && strings.Contains(v.text, "<") {
			if inner := scan(v.text); len(inner.tokens) > 0 {
				p.parseView(inner, maxNesting)
				for len(p.stack) > 0 {
					p.pop()
				}
			}
		}
	case '{':
		r := &record{}
		nested := p.fill(r, v)
		switch {
		case r.has(nTitle), r.has(nNarrative), r.has(nFacts), r.has(nConcepts):
			r.kind = nObservation
		case r.seen>>nRequest&(1<<(nNextSteps-nRequest+1)-1) != 0:
			r.kind = nSummary
		case r.has(nContent) && (r.has(nCategory) || r.has(nConfidence)):
			r.kind = nLearning
		}
		if r.kind == nLearning && r.texts[nContent] == "" {
			r.texts[nContent] = r.texts[nNarrative]
		}
		if r.kind != noName {
			p.push(r)
			if !p.full {
				p.pop()
			}
		}
		for _, item := range nested {
			p.fromJSON(item, depth+1)
		}
	}
}

// fill adds an object's fields to r and returns the values that are not fields.
func (p *parser) fill(r *record, v value) (nested []value) {
	learning := slices.ContainsFunc(v.keys, func(key string) bool { return strings.EqualFold(key, "category") })
	for i, key := range v.keys {
		item := v.items[i]
		n := fold(key)
		if n == noName {
			n = jsonNames[strings.ToLower(strings.TrimSpace(key))]
		}
		if learning && n == nNarrative {
			n = nContent
		}
		switch {
		case n == nSkip:
			if isNothing(item.text) && item.kind == 's' || strings.EqualFold(item.text, "false") {
				continue
			}
			p.skip = true
		case n == nSummary && item.kind == 's' && !strings.Contains(item.text, "<"):
			// In an observation: a short form of the narrative.
			if r.texts[nNarrative] == "" {
				r.addText(nNarrative, item.text)
			}
		case n.isList():
			r.mark(n)
			if l := len(item.items); l > 0 && item.items[l-1].cut {
				r.cutField = n
			}
			for _, text := range item.strings() {
				r.addItem(n, text)
			}
			if item.kind == 's' && !isNothing(item.text) {
				for _, text := range splitList(n, item.text) {
					r.addItem(n, text)
				}
			}
		case n.isField() && item.kind == 's':
			r.mark(n)
			if item.cut {
				r.cutField = n
			}
			r.addText(n, item.text)
		case n.isField() && item.kind == '[':
			r.mark(n)
			r.addText(n, strings.Join(item.strings(), "\n"))
		default:
			nested = append(nested, item)
		}
	}
	return nested
}

// strings returns the texts of a list; of an object in it, the first text.
func (v value) strings() []string {
	var texts []string
	for _, item := range v.items {
		switch item.kind {
		case 's':
			if item.text != "" {
				texts = append(texts, item.text)
			}
		case '{':
			for _, inner := range item.items {
				if inner.kind == 's' && inner.text != "" {
					texts = append(texts, inner.text)
					break
				}
			}
		}
	}
	return texts
}

// wholeJSON parses a text that is JSON from its beginning, fences aside.
func (p *parser) wholeJSON(text string) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "```") {
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(text)
	}
	if text == "" || text[0] != '{' && text[0] != '[' && text[0] != '"' {
		return
	}
	if p.anyJSON(text); len(p.records) == 0 {
		v, end, complete := parseJSON(text)
		p.emptyJSON = complete && strings.Trim(text[end:], " \n\t`") == "" && v.empty()
	}
}

// empty reports whether v has our names without values and nothing else.
func (v value) empty() bool {
	if v.kind == 's' {
		return isNothing(v.text)
	}
	for _, key := range v.keys {
		if n := fold(key); n != nWrapper && !n.isRecord() {
			return false
		}
	}
	return !slices.ContainsFunc(v.items, func(item value) bool { return !item.empty() })
}

// anyJSON parses every object and list in text.
func (p *parser) anyJSON(text string) {
	for text != "" && !p.full {
		at := strings.IndexAny(text, "{[\"")
		if at < 0 {
			return
		}
		text = text[at:]
		if text[0] == '"' && !strings.Contains(text[:min(len(text), 64)], "<") {
			text = text[1:]
			continue
		}
		v, end, _ := parseJSON(text)
		p.fromJSON(v, 0)
		text = text[end:]
	}
}
