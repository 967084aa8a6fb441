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

// init fills anchors and stops: from anchorBytes and from the prefixes of tokens, whose package is
// initialised before. A byte that two of these have stops behind the bytes of both.
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

// find returns the secrets in s, which may overlap, and the position of the first escape that it
// came by, -1 for none. It stops looking when it has as many secrets as most, so that callers that
// only ask for one pass 1. Those of tables and manifests come last, out of order: see shapes.Merge.
func find(s string, most int) (found []shapes.Span, escape int) {
	var ahead assign.Ahead
	from, escape := 0, -1 // from: where the last secret ends; what begins before is a part of it
	for i := nextStop(s, 0); i < len(s) && len(found)+len(ahead.Found) < most; i = nextStop(s, i+1) {
		kind := anchors[s[i]]
		var secret shapes.Span
		ok := false
		if kind&anchorToken != 0 {
			if secret, ok = tokens.At(s, i); !ok && (s[i] == '_' || s[i] == '-') {
				secret, ok = tokens.Prefixed(s, i)
			}
		}
		if !ok || secret.Start < from {
			switch kind &^ anchorToken {
			case anchorAssign:
				if s[i] == ':' && strings.HasSuffix(s[:i], shapes.MaskStart[:len(shapes.MaskStart)-1]) {
					if end := strings.IndexByte(s[i:min(len(s), i+shapes.MaxName)], ']'); end > 0 {
						i += end // a mask has nothing more to hide
						continue
					}
				}
				if secret, ok = assign.AtOperator(s, i); ok {
					secret.Rule = tokens.RuleOf(s[secret.Start:min(secret.End, secret.Start+shapes.MaxQuoted)], secret.Rule)
				} else if i > 4 && s[i] == ':' && (s[i-1]|0x20 == 'a' || s[i-1] == '"') && (s[i-2]|0x20 == 't' || s[i-2]|0x20 == 'a' || s[i-2] == '\\') {
					ahead.Manifest(s, i) // data:, "data": or \"data\":, and the same of stringData
				}
			case anchorDash:
				// Two dashes, an option behind a blank or a quote, or Private-Lines.
				if i+2 < len(s) && (s[i+1] == '-' || i > 0 && (s[i-1] <= ' ' || s[i+1] == 'L' || shapes.OneOf(s[i-1], "\"'`,[(\\"))) {
					secret, ok = secretAtDash(s, i)
				}
			case anchorJ:
				var skip int
				if secret, skip, ok = tokens.WebToken(s, i); skip > i {
					i = skip - 1
				}
			case anchorB:
				if i+1 < len(s) && (s[i+1] == 'e' || s[i+1] == 'a') {
					secret, ok = assign.Credentials(s, i)
				}
			case anchorWord:
				secret, ok = assign.AtWord(s, i)
			case anchorKey: // kEY, BY and ENV stand before a blank, tOKen not
				if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '(' || s[i+1] == '\t' || s[i+1]|0x20 == 'e') {
					secret, ok = assign.AtWord(s, i)
				}
			case anchorTag:
				if i > 0 && s[i-1] == '<' {
					secret, ok = assign.Element(s, i-1)
				}
			case anchorComma:
				if i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || i+1 < len(s) && s[i+1] > ' ' && shapes.IsAlnum(s[i-1])) {
					secret, ok = ahead.AtComma(s, i)
				}
				if !ok && i+assign.MinPassed < len(s) && (s[i+1] == ' ' || shapes.OneOf(s[i+1], "\"'\\")) {
					secret, ok = assign.InCall(s, i)
				}
			case anchorBackslash:
				if i == 0 || s[i-1] != '\\' { // the last of several
					continue
				}
				if secret, ok = assign.AtBackslash(s, i-1); !ok {
					escape = firstEscape(s, escape, i-1)
				}
			case anchorEscape:
				escape = firstEscape(s, escape, i)
			}
		}
		if ok && secret.Start >= from && secret.End > secret.Start {
			found = append(found, secret)
			from = secret.End
			i = from - 1
		}
	}
	return append(found, ahead.Found...), escape
}

// firstEscape returns first, or i if first is -1 and an escape is at i, else -1.
func firstEscape(s string, first, i int) int {
	if first < 0 {
		if _, _, ok := shapes.EscapeAt(s, i); ok {
			return i
		}
	}
	return first
}

// nextStop returns the position of the next anchor from i on that counts behind the byte
// before it, len(s) for none. Inlined, its loop would have no registers left.
//
//go:noinline
func nextStop(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	before := byte(0)
	if i > 0 {
		before = s[i-1]
	}
	text := s[i:]
	for k := range len(text) {
		c := text[k]
		if stops[c]>>(before&31)&1 != 0 {
			return i + k
		}
		before = c
	}
	return len(s)
}

// secretAtDash returns the secret that begins with the '-' at i, or the value of the
// option there; false for none. At least two bytes follow it.
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
