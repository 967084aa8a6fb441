// Package tags removes what is in the user's private tags and in those of the host's
// machinery, and says which turns are private.
//
// Place in the flow: the first of the passes of package redact.
package tags

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
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

	// MaxPasses bounds how often text is scanned again because a removal joined
	// the halves of another tag. Only an attack nests deeper.
	MaxPasses = 8

	// maxSearches bounds failed searches for the end of a tag in one text; after them
	// the rest of the text is removed.
	maxSearches = 64
)

// Strip removes the tags private, claude-mem-context, system-reminder,
// system_instruction, system-instruction and persisted-output with their content:
// in any letter case, with attributes or white space in the tag, nested, and with
// '<' and '>' written as escapes (\u003c, &lt;) or as full-width signs, and with
// invisible characters within. A tag that is not closed extends to the end of s, a
// closing tag without an opening one is removed alone: both only if they are written
// plainly, as text about tags has them too.
func Strip(s string) string { return StripAs(s, false) }

// StripTyped is Strip for what the user typed: tags in escapes, with no-break spaces
// or invisible characters count there even if they are not closed.
func StripTyped(s string) string { return StripAs(s, true) }

// StripAs is StripTyped if typed, Strip otherwise. After MaxPasses with tags still left, the rest of
// the text from the first one on is removed.
func StripAs(s string, typed bool) string {
	for range MaxPasses {
		cuts := Spans(s, typed, nil)
		if len(cuts) == 0 {
			return s
		}
		s = shapes.Apply(s, cuts)
	}
	if cuts := Spans(s, typed, nil); len(cuts) > 0 {
		return s[:cuts[0].Start]
	}
	return s
}

// Spans returns the spans that one pass removes, in order and apart, without a rule. If typed is
// false, tags that are not written plainly count only if they are closed. fieldEnd returns the end
// of a tag that is never closed by the position where it opens; nil means the end of s. Closing
// tags without an opening one are returned only if there is nothing else.
func Spans(s string, typed bool, fieldEnd func(int) int) []shapes.Span {
	var cuts, strays []shapes.Span
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
				strays = append(strays, shapes.Span{Start: start, End: t.end})
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
		cuts = append(cuts, shapes.Span{Start: start, End: end})
		tags.at = end
	}
}

// closingEnd returns the end of the closing tag of t, the last tag that tags
// returned, and whether any closing tag of that name follows. tags is a copy: the caller's reader
// stays where it is.
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

// next returns the next tag and where it starts, with the backslashes before it; false at the end.
func (r *tagReader) next() (int, tag, bool) {
	for r.at < len(r.s) {
		i := len(r.s)
		for n, start := range tagStarts {
			if n > 1 && !r.all {
				break
			}
			if !r.looked || r.starts[n] < r.at {
				r.starts[n] = len(r.s)
				if at := strings.Index(r.s[r.at:], start); at >= 0 {
					r.starts[n] = r.at + at
				}
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

// Look reports whether s has a tag that begins with '<' or \u003, and whether the first
// is written plainly. It is quick: false does not mean that Spans finds none.
func Look(s string) (found, plain bool) {
	if strings.IndexByte(s, '<') < 0 && !strings.Contains(s, tagStarts[1]) {
		return false, false
	}
	tags := tagReader{s: s}
	_, t, found := tags.next()
	return found, t.plain
}

// parseTag parses a tag that starts at i; false if there is none.
func parseTag(s string, i int) (tag, bool) {
	j := i + shapes.Bracket(s, i, '<')
	if j == i {
		return tag{}, false
	}
	start, t := i, tag{plain: s[i] == '<' || strings.HasSuffix(s[:j-1], "u003")}
	j = shapes.SkipSpace(s, j)
	if k := shapes.SkipBackslashes(s, j); k < len(s) && s[k] == '/' { // </ or <\/
		t.closing = true
		j = shapes.SkipSpace(s, k+1)
	} else if c, k, ok := shapes.EscapeAt(s, min(j, len(s)-1)); ok && c == '/' { // %2F
		t.closing = true
		j = shapes.SkipSpace(s, k)
	}
	name, end, ok := tagName(s, j)
	if !ok {
		return tag{}, false
	}
	t.name = name
	j = end
	t.plain = t.plain && !strings.ContainsFunc(s[start:min(len(s), j+1)], func(c rune) bool { return c >= 0x80 })
	if t.closing {
		j = shapes.SkipSpace(s, j)
		t.end = j + shapes.Bracket(s, j, '>')
		return t, true
	}
	// The text up to the matching tag is removed anyway, so a '>' in an attribute may
	// count as the tag's. Without any '>' the text was cut inside the tag.
	t.end = j
	for k := j; k < min(len(s), j+shapes.MaxAttributes); k++ {
		if n := shapes.Bracket(s, k, '>'); n > 0 {
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

// tagName returns the index of the name that stands at i and its end; false for a name
// that is not ours. Invisible characters within it do not count.
func tagName(s string, i int) (name, end int, ok bool) {
	if i >= len(s) || !shapes.OneOf(s[i]|0x20, "pcs") {
		return 0, 0, false
	}
	for n, name := range tagNames {
		end := i
		for k := 0; k < len(name) && end < len(s); {
			if size := shapes.Invisible(s, end); size > 0 && end-i < shapes.MaxAttributes {
				end += size
				continue
			}
			if s[end] != name[k] && (!shapes.IsLetter(s[end]) || s[end]|0x20 != name[k]) {
				break
			}
			k++
			end++
			if k == len(name) && (end == len(s) || !nameByte(s[end]) || shapes.Invisible(s, end) > 0 || shapes.Bracket(s, end, '>') > 0) {
				return n, end, true
			}
		}
	}
	return 0, 0, false
}

// nameByte reports whether c continues an element's name.
func nameByte(c byte) bool {
	return shapes.IsAlnum(c) || c == '-' || c == '_' || c == '.' || c == ':' || c >= 0x80
}
