package redact

import (
	"strings"

	"claudemem"
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
// '<' and '>' written as \u003c and \u003e (JSON within a string). A tag that is not
// closed extends to the end of s; a closing tag without an opening one is removed
// alone.
func StripTags(s string) string {
	for range maxStripPasses {
		cuts := tagSpans(s, nil)
		if len(cuts) == 0 {
			return s
		}
		s = applySpans(s, cuts)
	}
	tags := tagReader{s: s}
	if start, _, ok := tags.next(); ok {
		return s[:start]
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
	case whollyPrivate(claudemem.TypedText(prompt)):
		return PromptPrivate
	case strings.TrimSpace(claudemem.TypedText(StripTags(prompt))) == "":
		return PromptOfHost
	}
	return PromptOpen
}

// whollyPrivate reports whether a prompt has a private tag and nothing beside it.
func whollyPrivate(prompt string) bool {
	for tags := (tagReader{s: prompt}); ; {
		_, t, ok := tags.next()
		if !ok {
			return false
		}
		if t.name == tagPrivate {
			return strings.TrimSpace(StripTags(prompt)) == ""
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

// tagSpans returns the spans that one pass removes. fieldEnd returns the end of a
// tag that is never closed by the position where it opens; nil means the end of s.
func tagSpans(s string, fieldEnd func(int) int) []span {
	var cuts, strays []span
	var searches [len(tagNames)]int     // that found no end, by name
	var neverClosed [len(tagNames)]bool // no closing tag of this name is left
	tags := tagReader{s: s}
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
			strays = append(strays, span{start: start, end: t.end})
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
	end                  int // after its '>'
}

// A tagReader iterates over the tags of s from at on.
type tagReader struct {
	s  string
	at int
	// bracket and escape cache the positions of the next '<' and the next \u003:
	// searching for each tag anew would take quadratic time.
	bracket, escape int
	looked          bool
}

// next returns the next tag and where it starts.
func (r *tagReader) next() (int, tag, bool) {
	for r.at < len(r.s) {
		if !r.looked || r.bracket < r.at {
			r.bracket = indexFrom(r.s, r.at, "<")
		}
		if !r.looked || r.escape < r.at {
			r.escape = indexFrom(r.s, r.at, `\u003`)
		}
		r.looked = true
		i := min(r.bracket, r.escape)
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
	j = skipSpace(s, j)
	var t tag
	if k := skipBackslashes(s, j); k < len(s) && s[k] == '/' { // </ or <\/
		t.closing = true
		j = skipSpace(s, k+1)
	}
	name, ok := tagName(s, j)
	if !ok {
		return tag{}, false
	}
	t.name = name
	j += len(tagNames[name])
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
	if s[i] != '\\' {
		return 0
	}
	j := skipBackslashes(s, i)
	if len(s)-j < 5 || s[j] != 'u' || s[j+1] != '0' || s[j+2] != '0' || s[j+3] != '3' {
		return 0
	}
	if last := s[j+4] | 0x20; c == '<' && last == 'c' || c == '>' && last == 'e' {
		return j + 5 - i
	}
	return 0
}

// tagName returns the index of the name that stands at i; false for a name that is not
// ours.
func tagName(s string, i int) (int, bool) {
	if i >= len(s) {
		return 0, false
	}
	switch s[i] | 0x20 {
	case 'p', 'c', 's':
	default:
		return 0, false
	}
	for n, name := range tagNames {
		if !HasPrefixFold(s[i:], name) {
			continue
		}
		if end := i + len(name); end == len(s) || !nameByte(s[end]) {
			return n, true
		}
	}
	return 0, false
}

// nameByte reports whether c continues an element's name.
func nameByte(c byte) bool {
	return isAlnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c >= 0x80
}

// skipSpace returns the first position from i on that is no white space, at most
// maxAttributes behind it: a tag has to fit into the overlap of two windows.
func skipSpace(s string, i int) int {
	end := min(len(s), i+maxAttributes)
	for i < end && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	return i
}

// skipBackslashes returns the first position from i on that is no backslash.
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
func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
