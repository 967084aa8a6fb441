package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathKeys returns the keys by which a file filter finds path, sorted and each
// once: of every segment its words and the parts of them in lower case, without
// stemming, and a segment that is no plain name (.env, [id].tsx) also as a whole,
// with and without its extensions. Both / and \ separate segments.
func PathKeys(path string) []string {
	var keys []string
	for _, segment := range pathSegments(path) {
		keys = appendSegmentKeys(keys, segment)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// A PathPattern is a path, or a part of one, as a file filter gives it. It matches
// a path that has its segments next to each other: the last one by any part of
// the segment's name, the ones before it as a whole, all in any case. So auth and
// src/auth match src/authService.ts; thor and rc/auth do not, and auth does not
// match author.ts.
type PathPattern struct {
	leading []string // in lower case
	last    string   // in lower case
	parts   []string // the words of last, in lower case; none: last is compared as a whole
}

// ParsePathPattern reads what somebody typed.
func ParsePathPattern(typed string) PathPattern {
	segments := pathSegments(typed)
	if len(segments) == 0 {
		return PathPattern{}
	}
	last := segments[len(segments)-1]
	p := PathPattern{parts: plainName(last), last: strings.ToLower(last)}
	for _, segment := range segments[:len(segments)-1] {
		p.leading = append(p.leading, strings.ToLower(segment))
	}
	return p
}

// Key returns the one of [PathKeys] that every matching path has; "" when the
// pattern matches nothing. With alone, every path that has the key matches.
func (p PathPattern) Key() (key string, alone bool) {
	key = p.last
	if len(p.parts) > 0 {
		key = slices.MaxFunc(p.parts, func(a, b string) int { return len(a) - len(b) })
	}
	return key, len(p.leading) == 0 && len(p.parts) <= 1
}

// Matches reports whether path is one that the pattern means.
func (p PathPattern) Matches(path string) bool {
	segments := pathSegments(path)
	for from := range max(0, len(segments)-len(p.leading)) {
		last := from + len(p.leading)
		leads := slices.EqualFunc(segments[from:last], p.leading, func(segment, wanted string) bool { return strings.ToLower(segment) == wanted })
		if leads && p.matchesLast(segments[last]) {
			return true
		}
	}
	return false
}

// matchesLast reports whether a path segment has all words of the pattern's last
// segment.
func (p PathPattern) matchesLast(segment string) bool {
	wanted := p.parts
	if len(wanted) == 0 {
		wanted = []string{p.last}
	}
	keys := appendSegmentKeys(nil, segment)
	return !slices.ContainsFunc(wanted, func(part string) bool { return !slices.Contains(keys, part) })
}

// pathSegments splits a path of any system at its separators; "." segments are
// left out.
func pathSegments(path string) []string {
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(segments, func(s string) bool { return s == "." })
}

// appendSegmentKeys appends the keys of one segment, some perhaps twice.
func appendSegmentKeys(keys []string, segment string) []string {
	for piece := range strings.SplitSeq(segment, ".") {
		keys = append(keys, rawWords(piece, true)...)
	}
	for name := segment; ; {
		if plainName(name) == nil {
			keys = append(keys, strings.ToLower(name))
		}
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 { // a leading dot is part of the name
			return keys
		}
		name = name[:dot]
	}
}

// plainName returns the words of a name that consists of letters and digits,
// joined by - and _ at most; nil for any other name.
func plainName(name string) []string {
	first, _ := utf8.DecodeRuneInString(name)
	end, _ := utf8.DecodeLastRuneInString(name)
	inside := func(r rune) bool { return r == '-' || r == '_' || unicode.IsMark(r) || wordRune(r) }
	if !wordRune(first) || !wordRune(end) && !unicode.IsMark(end) || len(name) > maxWord ||
		strings.ContainsFunc(name, func(r rune) bool { return !inside(r) }) {
		return nil
	}
	return rawWords(name, false)
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// rawWords returns the words of s before stemming, with the parts of identifiers
// or without.
func rawWords(s string, parts bool) []string {
	a := newAnalyser(len(s), true)
	a.analyse(s)
	var raws []string
	for _, f := range a.found {
		if parts || !f.part {
			raws = append(raws, string(a.raws[f.rawFrom:f.rawTo]))
		}
	}
	return raws
}
