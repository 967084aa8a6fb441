package redact

import (
	"strings"

	"claudemem/internal/memory"
)

// tagNames are the elements that are removed with their content: the user's private
// text, our own injections, and the host's machinery.
var tagNames = [...]string{
	"private",
	"claude-mem-context",
	"system-reminder",
	"system_instruction",
	"system-instruction",
	"persisted-output",
}

const (
	tagPrivate = 0 // index of "private" in tagNames

	// maxStripPasses bounds how often text is scanned again because a removal joined
	// the halves of another tag. Only an attack nests deeper.
	maxStripPasses = 8

	// maxSearches bounds failed searches for the end of a tag in one text; after them
	// the rest of the text is removed.
	maxSearches = 64

	// maxAttributes is how far the '>' of a tag may be from its name, in bytes, and the
	// longest white space within a tag.
	maxAttributes = 256
)

// StripTags removes the tags private, claude-mem-context, system-reminder,
// system_instruction, system-instruction and persisted-output with their content:
// in any letter case, with attributes or white space in the tag, nested, and with
// '<' and '>' written as escapes (\u003c, &lt;) or as full-width signs, and with
// invisible characters within. A tag that is not closed extends to the end of s, a
// closing tag without an opening one is removed alone: both only if they are written
// plainly, as text about tags has them too.
func StripTags(s string) string { return stripTags(s, false) }

// StripTyped is StripTags for what the user typed: tags in escapes, with no-break spaces
// or invisible characters count there even if they are not closed.
func StripTyped(s string) string { return stripTags(s, true) }

// stripTags is StripTyped if typed, StripTags otherwise.
func stripTags(s string, typed bool) string {
	for range maxStripPasses {
		cuts := tagSpans(s, typed, nil)
		if len(cuts) == 0 {
			return s
		}
		s = applySpans(s, cuts)
	}
	if cuts := tagSpans(s, typed, nil); len(cuts) > 0 {
		return s[:cuts[0].start]
	}
	return s
}

// PromptKind says whether the turn that a prompt begins is captured.
type PromptKind int

// The kinds of prompt.
const (
	PromptOpen    PromptKind = iota // captured
	PromptPrivate                   // nothing of the turn is captured
	PromptOfHost                    // not typed by the user: it belongs to the turn before
)

// KindOfPrompt returns the kind of a prompt, by the same rule in hook and intake: it is
// private if all text that the user typed is in private tags, and of the host if it has
// only tags and notes of the host. An empty prompt is open.
func KindOfPrompt(prompt string) PromptKind {
	switch {
	case strings.TrimSpace(prompt) == "":
		return PromptOpen
	case whollyPrivate(memory.TypedText(prompt)):
		return PromptPrivate
	case strings.TrimSpace(memory.TypedText(StripTyped(prompt))) == "":
		return PromptOfHost
	}
	return PromptOpen
}

// whollyPrivate reports whether a prompt has a private tag and nothing beside it.
func whollyPrivate(prompt string) bool {
	for tags := (tagReader{s: prompt, all: true}); ; {
		_, t, ok := tags.next()
		if !ok {
			return false
		}
		if t.name == tagPrivate {
			return strings.TrimSpace(StripTyped(prompt)) == ""
		}
	}
}

// A span is a part of a text to remove. If it has a rule, the rule's mask replaces it.
type span struct {
	start, end int
	rule       string
}

// applySpans returns s with the spans replaced. They are in order and do not overlap.
func applySpans(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := 0
	for _, sp := range spans {
		b.WriteString(s[last:sp.start])
		if sp.rule != "" {
			b.WriteString(Mask(sp.rule))
		}
		last = sp.end
	}
	b.WriteString(s[last:])
	return b.String()
}

// tagSpans returns the spans that one pass removes. If typed is false, tags that are not
// written plainly count only if they are closed. fieldEnd returns the end of a
// tag that is never closed by the position where it opens; nil means the end of s.
func tagSpans(s string, typed bool, fieldEnd func(int) int) []span {
	var cuts, strays []span
	var searches [len(tagNames)]int     // that found no end, by name
	var neverClosed [len(tagNames)]bool // no closing tag of this name is left
	tags := tagReader{s: s, all: true}
	for {
		start, t, ok := tags.next()
		if !ok {
			// The end of a part that a removal is about to join is no stray one.
			if len(cuts) == 0 {
				return strays
			}
			return cuts
		}
		if t.closing {
			if typed || t.plain {
				strays = append(strays, span{start: start, end: t.end})
			}
			continue
		}
		var end int
		closed := false
		if !neverClosed[t.name] {
			var seen bool
			end, closed, seen = closingEnd(tags, t)
			neverClosed[t.name] = !seen
		}
		if !closed {
			if !typed && !t.plain {
				continue
			}
			searches[t.name]++
			switch {
			case searches[t.name] <= maxSearches && t.selfClosing:
				end = t.end
			case searches[t.name] <= maxSearches && fieldEnd != nil:
				end = max(t.end, fieldEnd(start))
			default:
				end = len(s)
			}
		}
		cuts = append(cuts, span{start: start, end: end})
		tags.at = end
	}
}

// closingEnd returns the end of the closing tag of t, the last tag that tags
// returned, and whether any closing tag of that name follows.
func closingEnd(tags tagReader, t tag) (end int, closed, seen bool) {
	depth := 1
	for {
		_, next, ok := tags.next()
		if !ok {
			return 0, false, seen
		}
		switch {
		case next.name != t.name:
		case next.closing:
			seen = true
			if depth--; depth == 0 {
				return next.end, true, true
			}
		case !next.selfClosing:
			depth++
		}
	}
}

// A tag is an opening or a closing tag of one of our names.
type tag struct {
	name                 int // index into tagNames
	closing, selfClosing bool
	plain                bool // written with '<' or \u003c, without invisible characters
	end                  int  // after its '>'
}

// A tagReader iterates over the tags of s from at on.
type tagReader struct {
	s  string
	at int
	// all: tags that do not begin with '<' or \u003 are read too.
	all bool
	// starts caches the positions of the next '<', the next \u003, …: searching for
	// each tag anew would take quadratic time.
	starts [len(tagStarts)]int
	looked bool
}

// tagStarts are what a tag begins with, the first two in host's time.
var tagStarts = [...]string{"<", `\u003`, "&lt;", "&#", `\u0026`, `\x3`, "%3", "\uff1c"}

// next returns the next tag and where it starts.
func (r *tagReader) next() (int, tag, bool) {
	for r.at < len(r.s) {
		i := len(r.s)
		for n, start := range tagStarts {
			if n > 1 && !r.all {
				break
			}
			if !r.looked || r.starts[n] < r.at {
				r.starts[n] = indexFrom(r.s, r.at, start)
			}
			i = min(i, r.starts[n])
		}
		r.looked = true
		if i == len(r.s) {
			break
		}
		if t, ok := parseTag(r.s, i); ok {
			for i > r.at && r.s[i] == '\\' && r.s[i-1] == '\\' {
				i--
			}
			r.at = t.end
			return i, t, true
		}
		r.at = i + 1
	}
	r.at = len(r.s)
	return 0, tag{}, false
}

// indexFrom returns the position of sub in s from at on, len(s) when there is none.
func indexFrom(s string, at int, sub string) int {
	if i := strings.Index(s[at:], sub); i >= 0 {
		return at + i
	}
	return len(s)
}

// parseTag parses a tag that starts at i; false if there is none.
func parseTag(s string, i int) (tag, bool) {
	j := i + bracket(s, i, '<')
	if j == i {
		return tag{}, false
	}
	start, t := i, tag{plain: s[i] == '<' || strings.HasSuffix(s[:j-1], "u003")}
	j = skipSpace(s, j)
	if k := skipBackslashes(s, j); k < len(s) && s[k] == '/' { // </ or <\/
		t.closing = true
		j = skipSpace(s, k+1)
	} else if _, k, ok := escapeAt(s, min(j, len(s)-1)); ok && s[j] == '%' { // %2F
		t.closing = true
		j = skipSpace(s, k)
	}
	name, end, ok := tagName(s, j)
	if !ok {
		return tag{}, false
	}
	t.name = name
	j = end
	t.plain = t.plain && onlyASCII(s[start:min(len(s), j+1)])
	if t.closing {
		j = skipSpace(s, j)
		t.end = j + bracket(s, j, '>')
		return t, true
	}
	// The text up to the matching tag is removed anyway, so a '>' in an attribute may
	// count as the tag's. Without any '>' the text was cut inside the tag.
	t.end = j
	for k := j; k < min(len(s), j+maxAttributes); k++ {
		if n := bracket(s, k, '>'); n > 0 {
			t.selfClosing = k > j && s[k-1] == '/'
			t.end = k + n
			break
		}
		if s[k] == '<' {
			break
		}
	}
	return t, true
}

// bracket returns the length of c ('<' or '>') at i, written plainly or as an
// escape of JSON within a string; 0 when it is not there.
func bracket(s string, i int, c byte) int {
	if i >= len(s) {
		return 0
	}
	if s[i] == c {
		return 1
	}
	found, end, ok := escapeAt(s, i)
	if ok && found == '&' { // \u0026lt;
		found, end, ok = entityAt(s, end)
	}
	if ok && found == c {
		return end - i
	}
	return 0
}

// tagName returns the index of the name that stands at i and its end; false for a name
// that is not ours. Invisible characters within it do not count.
func tagName(s string, i int) (name, end int, ok bool) {
	if i >= len(s) {
		return 0, 0, false
	}
	switch s[i] | 0x20 {
	case 'p', 'c', 's':
	default:
		return 0, 0, false
	}
	for n, name := range tagNames {
		end := i
		for k := 0; k < len(name) && end < len(s); {
			if size := invisible(s, end); size > 0 && end-i < maxAttributes {
				end += size
				continue
			}
			if s[end] != name[k] && (!isLetter(s[end]) || s[end]|0x20 != name[k]) {
				break
			}
			k++
			end++
			if k == len(name) && (end == len(s) || !nameByte(s[end]) || invisible(s, end) > 0 || bracket(s, end, '>') > 0) {
				return n, end, true
			}
		}
	}
	return 0, 0, false
}

// onlyASCII reports whether s has no byte beyond ASCII.
func onlyASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// invisible returns the length of the character at i if it is a blank other than those
// of ASCII, or has no width: a no-break space, a zero-width joiner, a soft hyphen; 0 for
// others.
func invisible(s string, i int) int {
	switch s[i] {
	case 0xc2: // U+00A0, U+00AD
		if i+1 < len(s) && (s[i+1] == 0xa0 || s[i+1] == 0xad) {
			return 2
		}
	case 0xe2: // U+2000 to U+200F, U+2028 to U+202F, U+205F to U+206F
		if i+2 < len(s) && (s[i+1] == 0x80 && (s[i+2] <= 0x8f || s[i+2] >= 0xa8 && s[i+2] <= 0xaf) || s[i+1] == 0x81 && s[i+2] >= 0x9f && s[i+2] <= 0xaf) {
			return 3
		}
	case 0xe3: // U+3000
		if strings.HasPrefix(s[i:], "\u3000") {
			return 3
		}
	case 0xef: // U+FEFF
		if strings.HasPrefix(s[i:], "\ufeff") {
			return 3
		}
	}
	return 0
}

// nameByte reports whether c continues an element's name.
func nameByte(c byte) bool {
	return isAlnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c >= 0x80
}

// skipSpace returns the first position from i on that is no white space and not
// invisible, at most maxAttributes behind it: a tag has to fit into the overlap of two
// windows.
func skipSpace(s string, i int) int {
	end := min(len(s), i+maxAttributes)
	for i < end {
		switch c := s[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case c >= 0x80 && invisible(s, i) > 0:
			i += invisible(s, i)
		default:
			return i
		}
	}
	return i
}

// skipBackslashes returns the first position from i on that is no backslash.
//
//go:noinline
func skipBackslashes(s string, i int) int {
	for i < len(s) && s[i] == '\\' {
		i++
	}
	return i
}

// HasPrefixFold is strings.HasPrefix without regard to letter case; prefix is ASCII.
func HasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// hasSuffixFold is strings.HasSuffix without regard to letter case; suffix is ASCII.
//
//go:noinline
func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
