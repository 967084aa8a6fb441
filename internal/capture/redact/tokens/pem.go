package tokens

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

const (
	pemDashes = "-----"
	PEMBegin  = pemDashes + "BEGIN"
	// MaxPEM is how far the END of a PEM block is looked for, in bytes: an 8192-bit
	// RSA key takes 6,400, more with line numbers or quotes around its lines.
	MaxPEM = 16 << 10
	// maxPEMLabel bounds what stands between BEGIN and the dashes behind it.
	maxPEMLabel = 128
	// minPEM is the least length of a body that ends without "-----END", in bytes.
	minPEM = 64
	// minPEMBody is the shortest run of base64 that proves a key after a BEGIN line
	// without END; a shorter one is prose or code about keys.
	minPEMBody = 16
	// maxPuttyLine is the length of a line of a PuTTY key with its line number, in bytes.
	maxPuttyLine = 128
)

// PrivateKey returns the PEM block with a private key whose BEGIN line starts at
// i, false for another block and for text about keys. Its lines may stand in quotes, in a diff or
// after line numbers, and its end may be missing: it then goes as far as a key can.
func PrivateKey(s string, i int) (shapes.Span, bool) {
	bodyStart := min(len(s), i+len(PEMBegin))
	label := s[bodyStart:min(len(s), bodyStart+maxPEMLabel)]
	dashes := strings.Index(label, pemDashes)
	if dashes < 0 {
		dashes = len(label)
	}
	if !strings.Contains(strings.ToUpper(label[:dashes]), "PRIVATE KEY") {
		return shapes.Span{}, false
	}
	begin := max(bodyStart, bodyStart+dashes-len("----")) // the next BEGIN may share dashes with this one
	bodyStart = min(len(s), bodyStart+dashes+len(pemDashes))
	limit := indexBegin(s, begin, bodyStart+MaxPEM)
	rest := s[bodyStart:max(bodyStart, limit)]
	if end := strings.Index(rest, "-----END"); end >= 0 {
		end += bodyStart + len("-----END")
		if line := strings.Index(s[end:min(len(s), end+48)], pemDashes); line >= 0 { // behind the label
			end += line + len(pemDashes)
		}
		return shapes.NewSpan(i, end, rulePrivateKey), true
	}
	// The dashes before END are missing, or END is in small letters.
	for at := minPEM; at < len(rest); at++ {
		n := strings.Index(rest[at:], pemDashes)
		if n < 0 {
			break
		}
		at += n
		if shapes.HasSuffixFold(rest[minPEM:at], "KEY") || shapes.HasSuffixFold(rest[minPEM:at], "KEY BLOCK") {
			return shapes.NewSpan(i, bodyStart+at+len(pemDashes), rulePrivateKey), true
		}
	}
	end, ok := cutBodyEnd(s, bodyStart, limit)
	return shapes.NewSpan(i, end, rulePrivateKey), ok
}

// PuttyKey returns the lines of a private key of PuTTY behind "Private-Lines: N", whose
// '-' is at i; false for none. They end at "Private-MAC" or "Private-Hash", however line breaks
// are written; without these, after N lines, or where no key goes on.
func PuttyKey(s string, i int) (shapes.Span, bool) {
	digits := shapes.SkipSpace(s, i+len("-Lines:"))
	start := shapes.RunEnd(s, digits, shapes.Digit)
	if start == digits {
		return shapes.Span{}, false
	}
	limit := min(len(s), start+MaxPEM)
	if end := strings.Index(s[start:limit], "Private-"); end > minPEMBody {
		return shapes.NewSpan(start, start+end, rulePrivateKey), true
	}
	lines := 0 // a key has fewer than 100
	for _, digit := range []byte(s[digits:min(start, digits+2)]) {
		lines = 10*lines + int(digit-'0')
	}
	end, next := shapes.LineBounds(s, start, maxPuttyLine)
	for ; lines > 0 && next > 0; lines-- {
		end, next = shapes.LineBounds(s, next, maxPuttyLine)
	}
	if cut, ok := cutBodyEnd(s, start, limit); ok && next < 0 {
		end = max(end, cut)
	}
	return shapes.NewSpan(start, end, rulePrivateKey), end-start > minPEMBody
}

// cutBodyEnd returns the end of a PEM body without END: the first byte that no key has,
// or limit, where the next BEGIN or the longest body ends it. A body that has proved to
// be a key by then continues to the next BEGIN behind limit. It returns false for text
// that is no key.
func cutBodyEnd(s string, start, limit int) (end int, ok bool) {
	end, run := start, 0
	for ; end < len(s) && (end < limit || ok) && strings.IndexByte("(){}[]<>;!?$%&^`~@", s[end]) < 0; end++ {
		if s[end] == '-' && shapes.HasPrefixFold(s[end:], PEMBegin) {
			break
		}
		if shapes.In(s[end], shapes.Base64) {
			run++
			ok = ok || run >= minPEMBody
		} else {
			run = 0
		}
	}
	return end, ok
}

// indexBegin returns the position of the first BEGIN line, in any letter case, in
// s[from:to]; the end of that part when it has none.
func indexBegin(s string, from, to int) int {
	to = min(to, len(s))
	for i := from; i < to; i++ {
		n := strings.IndexByte(s[i:to], '-')
		if n < 0 {
			break
		}
		if i += n; shapes.HasPrefixFold(s[i:], PEMBegin) {
			return i
		}
	}
	return to
}
