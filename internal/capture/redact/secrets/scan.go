// Package secrets masks the secrets of a text. One pass stops at anchors: bytes that every
// kind of secret has and that are rare in text. The bytes before and after an anchor decide,
// within bounds, so that the whole is linear; packages assign and tokens say how.
//
// Place in the flow: after package tags has stripped a text or a string of a document.
package secrets

import (
	"strings"

	"claudemem/internal/capture/redact/assign"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// Kinds of anchors. A byte has one of the first eleven, and anchorToken beside it when
// a prefix of Kinds has its anchor there.
const (
	noAnchor byte = iota
	anchorAssign
	anchorDash
	anchorJ
	anchorB
	anchorBackslash
	anchorWord
	anchorKey
	anchorTag
	anchorComma
	anchorEscape
	anchorToken byte = 1 << 7
)

// anchorBytes are the anchors but for those of prefixes. Letters and punctuation that text
// is full of count only behind some bytes, "" for all.
var anchorBytes = [...]struct {
	kind          byte
	bytes, behind string
}{
	{anchorAssign, "=:", ""},
	{anchorDash, "-", ""},
	{anchorJ, "J", "y"},
	{anchorB, "Bb", ""},
	{anchorBackslash, "ux", `\`},
	{anchorWord, "wWp", "s"},
	{anchorKey, "kK", "o"},
	{anchorKey, "yY", "eb"},
	{anchorKey, "vV", "N"},
	{anchorTag, "/", "<"},
	{anchorComma, ",", ""},
	{anchorEscape, "%&\xef", ""},
}

var anchors [256]byte

// stops has the bytes behind which each anchor counts, as bits of their low five bits.
var stops [256]uint32

func init() {
	for _, a := range anchorBytes {
		for i := range len(a.bytes) {
			anchors[a.bytes[i]] = a.kind
			for j := range len(a.behind) {
				stops[a.bytes[i]] |= 1 << (a.behind[j] & 31)
			}
			if a.behind == "" {
				stops[a.bytes[i]] = ^uint32(0)
			}
		}
	}
	for c, behind := range tokens.Stops {
		if stops[c] |= behind; behind != 0 {
			anchors[c] |= anchorToken
		}
	}
}

// A scanner iterates over the secrets of a text, which every method is given: a text in
// the struct would be moved to the heap with the queue.
type scanner struct {
	at int
	assign.Ahead
	// escape is the position of the first escape, from 1; 0 for none so far.
	escape int
}

// next returns the next secret; false at the end.
func (sc *scanner) next(s string) (shapes.Span, bool) {
	found, ok := sc.scan(s)
	for len(sc.Queue) > 0 && (!ok || sc.Queue[0].Start < found.End) {
		first := sc.Queue[0]
		sc.Queue = sc.Queue[1:]
		switch {
		case first.End <= sc.at: // in the secret before
			continue
		case !ok || first.End <= found.Start:
			found = first
		default: // they overlap
			found.Start, found.End = min(first.Start, found.Start), max(first.End, found.End)
		}
		found.Start, ok = max(found.Start, sc.at), true
		if len(sc.Queue) == 0 || sc.Queue[0].Start >= found.End {
			break
		}
	}
	if ok {
		sc.at = found.End
	}
	return found, ok
}

// scan returns the next secret that is not in the queue, from the scanner's position to
// the first one there.
func (sc *scanner) scan(s string) (shapes.Span, bool) {
	from, stop := sc.at, sc.stop(s)
	for i := nextStop(s, from, stop); i < stop; i = nextStop(s, i+1, stop) {
		kind := anchors[s[i]]
		var found shapes.Span
		ok := false
		if kind&anchorToken != 0 {
			if found, ok = tokens.At(s, i); !ok && (s[i] == '_' || s[i] == '-') {
				found, ok = tokens.Prefixed(s, i)
			}
			if ok && found.Start >= from {
				return found, true
			}
		}
		switch kind &^ anchorToken {
		case anchorAssign:
			if s[i] == ':' && strings.HasSuffix(s[:i], shapes.MaskStart[:len(shapes.MaskStart)-1]) {
				if end := strings.IndexByte(s[i:min(len(s), i+shapes.MaxName)], ']'); end > 0 {
					i += end // a mask has nothing more to hide
					continue
				}
			}
			if found, ok = assign.AtOperator(s, i); ok {
				found.Rule = tokens.RuleOf(s[found.Start:min(found.End, found.Start+shapes.MaxQuoted)], found.Rule)
			} else if i > 4 && s[i] == ':' && (s[i-1]|0x20 == 'a' || s[i-1] == '"') && (s[i-2]|0x20 == 't' || s[i-2]|0x20 == 'a' || s[i-2] == '\\') {
				sc.QueueManifest(s, i)
				stop = sc.stop(s)
			}
		case anchorDash:
			if i+2 < len(s) && (s[i+1] == '-' || i > 0 && (s[i-1] <= ' ' || s[i+1] == 'L' || shapes.OneOf(s[i-1], "\"'`,[(\\"))) {
				found, ok = secretAtDash(s, i)
			}
		case anchorJ:
			var skip int
			if found, skip, ok = tokens.WebToken(s, i); skip > i {
				i = skip - 1
			}
		case anchorB:
			if i+1 < len(s) && (s[i+1] == 'e' || s[i+1] == 'a') {
				found, ok = assign.Credentials(s, i)
			}
		case anchorWord:
			found, ok = assign.AtWord(s, i)
		case anchorKey: // kEY, BY and ENV stand before a blank, tOKen not
			if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '(' || s[i+1] == '\t' || s[i+1]|0x20 == 'e') {
				found, ok = assign.AtWord(s, i)
			}
		case anchorTag:
			if i > 0 && s[i-1] == '<' {
				found, ok = assign.Element(s, i-1)
			}
		case anchorComma:
			if i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || i+1 < len(s) && s[i+1] > ' ' && shapes.IsAlnum(s[i-1])) {
				found, ok = sc.AtComma(s, i)
				stop = sc.stop(s)
			}
			if !ok && i+assign.MinPassed < len(s) && (s[i+1] == ' ' || shapes.OneOf(s[i+1], "\"'\\")) {
				found, ok = assign.InCall(s, i)
			}
		case anchorBackslash:
			if i == 0 || s[i-1] != '\\' { // the last of several
				continue
			}
			if found, ok = assign.AtBackslash(s, i-1); !ok {
				sc.noteEscape(s, i-1)
			}
		case anchorEscape:
			sc.noteEscape(s, i)
		}
		if ok && found.Start >= from && found.End > found.Start {
			return found, true
		}
	}
	return shapes.Span{}, false
}

// noteEscape keeps the position of the first escape, which is at i if there is one.
func (sc *scanner) noteEscape(s string, i int) {
	if sc.escape > 0 {
		return
	}
	if _, _, ok := shapes.EscapeAt(s, i); ok {
		sc.escape = i + 1
	}
}

// nextStop returns the position of the next anchor in s[i:end] that counts behind the byte
// before it, end for none. Inlined, its loop would have no registers left.
//
//go:noinline
func nextStop(s string, i, end int) int {
	if i >= end {
		return end
	}
	before := byte(0)
	if i > 0 {
		before = s[i-1]
	}
	text := s[i:end]
	for k := range len(text) {
		c := text[k]
		if stops[c]>>(before&31)&1 != 0 {
			return i + k
		}
		before = c
	}
	return end
}

// stop returns where scan ends: at the end of the first secret of the queue.
func (sc *scanner) stop(s string) int {
	if len(sc.Queue) > 0 {
		return sc.Queue[0].End
	}
	return len(s)
}

// secretAtDash returns the secret that begins with the '-' at i, or the value of the
// option there; false for none.
func secretAtDash(s string, i int) (shapes.Span, bool) {
	switch {
	case s[i+1] != '-':
		if s[i+1] == 'L' && strings.HasPrefix(s[i:], "-Lines:") && strings.HasSuffix(s[:i], "Private") {
			return tokens.PuttyKey(s, i)
		}
		if found, ok := assign.ShortOption(s, i); ok {
			return found, true
		}
		return assign.Flag(s, i, i+1)
	case shapes.HasPrefixFold(s[i:], tokens.PEMBegin):
		return tokens.PrivateKey(s, i)
	}
	return assign.Flag(s, i, i+2)
}
