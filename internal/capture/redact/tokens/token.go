package tokens

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"claudemem/internal/capture/redact/shapes"
)

// RuleOf returns the rule of the token that all of v is, the given one (otherwise) if it is none.
func RuleOf(v, otherwise string) string {
	for i := range min(len(v), 32) { // a prefix is shorter
		var found shapes.Span
		ok := false
		if Stops[v[i]] != 0 {
			found, ok = At(v, i)
		}
		if !ok && v[i] == 'J' {
			found, _, ok = WebToken(v, i)
		}
		if ok {
			if found.Start == 0 && found.End == len(v) {
				return found.Rule
			}
			break
		}
	}
	return otherwise
}

// At returns a token of [Kinds] whose prefix has its anchor (a rare byte of it, see Index) at i;
// false for none. The first kind of the table whose form fits wins.
func At(s string, i int) (shapes.Span, bool) {
	if i == 0 {
		return shapes.Span{}, false
	}
	for n := prefixes.first(s, i); n != 0; {
		e := &prefixes.entries[n-1]
		n = e.next
		k, text, start := e.value, e.text, i-int(e.anchor)
		if start < 0 || s[start]|0x20 != text[0]|0x20 || !strings.HasPrefix(s[start:], text) && (k.Flags&AnyCase == 0 || !shapes.HasPrefixFold(s[start:], text)) {
			continue
		}
		bodyStart := start + len(text)
		if len(text) == 2 && !k.Phrase() && (len(s)-bodyStart < minVendor || !shapes.TokenBytes(s[bodyStart:bodyStart+8])) {
			continue // s.field
		}
		if found, ok := k.token(s, start, bodyStart); ok {
			return found, true
		}
	}
	return shapes.Span{}, false
}

// token returns the token whose prefix is s[start:bodyStart]; false if no body follows, or
// something else that the kind asks for is missing.
func (k *Kind) token(s string, start, bodyStart int) (shapes.Span, bool) {
	if before, _ := k.Forms(); before != "" {
		n := formLength(before)
		if start < n {
			return shapes.Span{}, false
		}
		if _, _, _, ok := matchForm(s[:start], start-n, before); !ok {
			return shapes.Span{}, false
		}
		start -= n
		for limit := max(0, start-n); before[1] == 'd' && start > limit && shapes.IsDigit(s[start-1]); {
			start-- // of a number of at least n digits
		}
	}
	if k.Flags&InWord == 0 && !shapes.StartsWord(s, start) {
		return shapes.Span{}, false
	}
	if k.Phrase() {
		return secretToldBy(s, start, bodyStart, k.Body)
	}
	end, open, ok := k.matchStart(s, bodyStart)
	if !ok || k.Flags&NotWordy != 0 && shapes.Wordy(s[bodyStart:min(end, bodyStart+shapes.MaxValue)]) || !k.RandomEnough(s[start:end]) {
		return shapes.Span{}, false
	}
	return shapes.NewSpan(start, extend(s, end, open), k.Rule), true
}

const (
	// minTail is the length of the shortest random tail that makes a word behind a
	// readable prefix a token of a vendor that [Kinds] does not know. Public ids of
	// objects (msg_, cus_, chatcmpl-) are shorter.
	minTail = 30
	// maxPrefix bounds that prefix, in bytes.
	maxPrefix = 24
)

// Prefixed returns the token of small and capital letters and digits behind a
// prefix of small letters whose '_' or '-' is at i: vendor_live_8fJ…; false for none.
func Prefixed(s string, i int) (shapes.Span, bool) {
	if i+minTail >= len(s) || !shapes.IsAlnum(s[i+minTail]) || i < 2 || !shapes.IsAlnum(s[i-1]) {
		return shapes.Span{}, false
	}
	end := shapes.RunEnd(s, i+1, shapes.Alnum)
	if end-i <= minTail || end < len(s) && shapes.OneOf(s[end], "_-+/=.") && end+1 < len(s) && shapes.IsAlnum(s[end+1]) {
		return shapes.Span{}, false
	}
	start := i
	for start > 0 && i-start < maxPrefix && (shapes.IsLower(s[start-1]) || shapes.IsDigit(s[start-1]) || s[start-1] == '_' || s[start-1] == '-') {
		start--
	}
	if !shapes.IsLower(s[start]) || start > 0 && shapes.OneOf(s[start-1], "+/=.") || !shapes.StartsWord(s, start) || strings.HasPrefix(s[start:], "sha") || strings.HasPrefix(s[start:], "pk_") {
		return shapes.Span{}, false
	}
	if after := shapes.SkipTo(s, end, " \t"); after < len(s) && s[after] == '=' {
		return shapes.Span{}, false // a name
	}
	tail := s[i+1 : min(end, i+1+shapes.MaxValue)]
	// With "ab" a prefix of one letter is as long as a wordy text must be.
	return shapes.NewSpan(start, end, ruleAPIKey), shapes.Mixed(tail) && shapes.Random(tail) && shapes.Wordy(s[start:i]+"ab")
}

// MaskAWSSecrets masks AWS secret access keys by their form: 40 characters of
// base64 that are neither words nor a hash, perhaps after a path or a diff's sign.
// The form alone is weak, so it is applied only to text with an access key id.
func MaskAWSSecrets(s string, counts *map[string]int) string {
	var cuts []shapes.Span
	for i := 0; i < len(s); {
		if !shapes.In(s[i], shapes.Base64) || s[i] == '=' {
			i++
			continue
		}
		end := shapes.RunEnd(s, i, shapes.Base64)
		if n := end - i; n >= 40 && n <= 128 && shapes.Mixed(s[i:end]) && !shapes.Wordy(s[i:end]) {
			cuts = append(cuts, shapes.NewSpan(i, end, "aws-secret-key"))
			shapes.Count(counts, "aws-secret-key")
		}
		i = end
	}
	return shapes.Apply(s, cuts)
}

// WebToken returns the JSON web token whose "eyJ" has its J at i. One part behind a dot is enough, since
// a token may be cut. Inside a word (keyJoinColumns.name) it is a token only if the header is base64 of
// ASCII. If there is no token, the scanner can go on at skip, 0 for right behind i.
func WebToken(s string, i int) (found shapes.Span, skip int, ok bool) {
	if !strings.HasSuffix(s[:i], "ey") {
		return shapes.Span{}, 0, false
	}
	end := shapes.RunEnd(s, i, shapes.Word)
	if end-i < 10 || end == len(s) || s[end] != '.' {
		return shapes.Span{}, end, false
	}
	head, _ := base64.RawURLEncoding.DecodeString(s[i-2 : i+10]) // all of its bytes are of the alphabet
	if !shapes.StartsWord(s, i-2) && strings.ContainsFunc(string(head), func(r rune) bool { return r >= utf8.RuneSelf }) {
		return shapes.Span{}, end, false
	}
	header := end
	for end < len(s) && s[end] == '.' {
		next := shapes.RunEnd(s, end+1, shapes.Word)
		if next == end+1 && (next >= len(s) || s[next] != '.') {
			break // the full stop of a sentence
		}
		end = next
	}
	if end == header {
		return shapes.Span{}, end, false
	}
	return shapes.NewSpan(i-2, end, "jwt"), 0, true
}
