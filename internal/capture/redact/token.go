package redact

import "strings"

// secretToken returns a token of [Kinds] whose prefix has its anchor at i; false for
// none.
func secretToken(s string, i int) (span, bool) {
	if i == 0 {
		return span{}, false
	}
	key := keyOf(s[i-1], s[i])
	if i > 1 && prefixes.thirds[key]>>(s[i-2]&31)&1 == 0 {
		return span{}, false
	}
	for n := prefixes.heads[key]; n != 0; {
		e := &prefixes.entries[n-1]
		n = e.next
		k, text, start := e.kind, e.text, i-int(e.anchor)
		if start < 0 || !strings.HasPrefix(s[start:], text) && (k.Flags&AnyCase == 0 || !HasPrefixFold(s[start:], text)) {
			continue
		}
		bodyStart := start + len(text)
		if len(text) == 2 && !k.Phrase() && (len(s)-bodyStart < minVendor || !tokenBytes(s[bodyStart:bodyStart+8])) {
			continue // s.field
		}
		if found, ok := k.token(s, start, bodyStart); ok {
			return found, true
		}
	}
	return span{}, false
}

// token returns the token whose prefix is s[start:bodyStart]; false if no body follows.
func (k *Kind) token(s string, start, bodyStart int) (span, bool) {
	if before, _ := k.Forms(); before != "" {
		n := formLength(before)
		if start < n {
			return span{}, false
		}
		if _, _, _, ok := matchForm(s[:start], start-n, before); !ok {
			return span{}, false
		}
		start -= n
		for limit := max(0, start-n); before[1] == 'd' && start > limit && isDigit(s[start-1]); {
			start-- // of a number of at least n digits
		}
	}
	if k.Flags&InWord == 0 && !startsWord(s, start) {
		return span{}, false
	}
	if k.Phrase() {
		return secretToldBy(s, start, bodyStart, k.Body)
	}
	end, open, ok := k.matchStart(s, bodyStart)
	if !ok || k.Flags&NotWordy != 0 && wordy(s[bodyStart:min(end, bodyStart+maxValue)]) || !k.RandomEnough(s[start:end]) {
		return span{}, false
	}
	return span{start, extend(s, end, open), k.Rule}, true
}

const (
	// minTail is the length of the shortest random tail that makes a word behind a
	// readable prefix a token of a vendor that [Kinds] does not know. Public ids of
	// objects (msg_, cus_, chatcmpl-) are shorter.
	minTail = 30
	// maxPrefix bounds that prefix, in bytes.
	maxPrefix = 24
)

// secretPrefixed returns the token of small and capital letters and digits behind a
// prefix of small letters whose '_' or '-' is at i: vendor_live_8fJ…; false for none.
func secretPrefixed(s string, i int) (span, bool) {
	if i+minTail >= len(s) || !isAlnum(s[i+minTail]) || i < 2 || !isAlnum(s[i-1]) {
		return span{}, false
	}
	end := runEnd(s, i+1, classAlnum)
	if end-i <= minTail || end < len(s) && oneOf(s[end], "_-+/=.") && end+1 < len(s) && isAlnum(s[end+1]) {
		return span{}, false
	}
	start := i
	for start > 0 && i-start < maxPrefix && (isLower(s[start-1]) || isDigit(s[start-1]) || s[start-1] == '_' || s[start-1] == '-') {
		start--
	}
	if !isLower(s[start]) || start > 0 && oneOf(s[start-1], "+/=.") || !startsWord(s, start) || strings.HasPrefix(s[start:], "sha") || strings.HasPrefix(s[start:], "pk_") {
		return span{}, false
	}
	if after := skipTo(s, end, " \t"); after < len(s) && s[after] == '=' {
		return span{}, false // a name
	}
	tail := s[i+1 : min(end, i+1+maxValue)]
	return span{start, end, ruleAPIKey}, mixed(tail) && random(tail) && wordy(s[start:i]+"ab")
}

// startsWord reports whether no letter or digit stands before i. The letter of an
// escape (\n) does not count.
func startsWord(s string, i int) bool {
	return i == 0 || !isAlnum(s[i-1]) || i > 1 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0
}

// maskAWSSecrets masks AWS secret access keys by their form: 40 characters of
// base64 that are neither words nor a hash, perhaps after a path or a diff's sign.
// The form alone is weak, so it is applied only to text with an access key id.
func maskAWSSecrets(s string, counts *map[string]int) string {
	var cuts []span
	for i := 0; i < len(s); {
		if classes[s[i]]&classBase64 == 0 || s[i] == '=' {
			i++
			continue
		}
		end := runEnd(s, i, classBase64)
		if n := end - i; n >= 40 && n <= 128 && mixed(s[i:end]) && !wordy(s[i:end]) {
			cuts = append(cuts, span{i, end, ruleAWSSecret})
			Count(counts, ruleAWSSecret)
		}
		i = end
	}
	return applySpans(s, cuts)
}

// mixed reports whether v has lower case, upper case and digits.
//
//go:noinline
func mixed(v string) bool {
	var lower, upper, digit bool
	for i := range len(v) {
		switch c := v[i]; {
		case isDigit(c):
			digit = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	return lower && upper && digit
}

// secretAtJ returns the JSON web token whose "eyJ" has its J at i. If there is no
// token, the scanner can go on at skip.
func secretAtJ(s string, i int) (found span, skip int, ok bool) {
	if !strings.HasSuffix(s[:i], "ey") {
		return span{}, 0, false
	}
	end := runEnd(s, i, classWord)
	if end-i < 8 || end == len(s) || s[end] != '.' {
		return span{}, end, false
	}
	dots := 0
	for end < len(s) && s[end] == '.' {
		next := runEnd(s, end+1, classWord)
		if next == end+1 && (next >= len(s) || s[next] != '.') {
			break // the full stop of a sentence
		}
		end = next
		dots++
	}
	if dots == 0 {
		return span{}, end, false
	}
	return span{i - 2, end, ruleJWT}, 0, true
}

const (
	pemDashes = "-----"
	pemBegin  = pemDashes + "BEGIN"
	// maxPEM is how far the END of a PEM block is looked for, in bytes: an 8192-bit
	// RSA key takes 6,400, more with line numbers or quotes around its lines.
	maxPEM = 16 << 10
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

// privateKey returns the PEM block with a private key whose BEGIN line starts at
// i. Its lines may stand in quotes, in a diff or after line numbers, and its end
// may be missing.
func privateKey(s string, i int) (span, bool) {
	bodyStart := min(len(s), i+len(pemBegin))
	label := s[bodyStart:min(len(s), bodyStart+maxPEMLabel)]
	dashes := strings.Index(label, pemDashes)
	if dashes < 0 {
		dashes = len(label)
	}
	if !strings.Contains(strings.ToUpper(label[:dashes]), "PRIVATE KEY") {
		return span{}, false
	}
	begin := max(bodyStart, bodyStart+dashes-len("----")) // the next BEGIN may share dashes with this one
	bodyStart = min(len(s), bodyStart+dashes+len(pemDashes))
	limit := indexBegin(s, begin, bodyStart+maxPEM)
	rest := s[bodyStart:max(bodyStart, limit)]
	if end := strings.Index(rest, "-----END"); end >= 0 {
		after := bodyStart + end + len("-----END")
		if line := strings.Index(s[after:min(len(s), after+48)], pemDashes); line >= 0 {
			return span{i, after + line + len(pemDashes), rulePrivateKey}, true
		}
		return span{i, after, rulePrivateKey}, true
	}
	// The dashes before END are missing, or END is in small letters.
	for at := minPEM; at < len(rest); at++ {
		n := strings.Index(rest[at:], pemDashes)
		if n < 0 {
			break
		}
		at += n
		if hasSuffixFold(rest[minPEM:at], "KEY") || hasSuffixFold(rest[minPEM:at], "KEY BLOCK") {
			return span{i, bodyStart + at + len(pemDashes), rulePrivateKey}, true
		}
	}
	end, ok := cutBodyEnd(s, bodyStart, limit)
	return span{i, end, rulePrivateKey}, ok
}

// puttyKey returns the lines of a private key of PuTTY behind "Private-Lines: N", whose
// '-' is at i; false for none. They end at "Private-MAC" or "Private-Hash", however line breaks
// are written; without these, after N lines, or where no key goes on.
func puttyKey(s string, i int) (span, bool) {
	digits := skipSpace(s, i+len("-Lines:"))
	start := runEnd(s, digits, classDigit)
	if start == digits {
		return span{}, false
	}
	limit := min(len(s), start+maxPEM)
	if end := strings.Index(s[start:limit], "Private-"); end > minPEMBody {
		return span{start, start + end, rulePrivateKey}, true
	}
	lines := 0
	for _, digit := range []byte(s[digits:min(start, digits+2)]) {
		lines = 10*lines + int(digit-'0')
	}
	end, next := lineBounds(s, start, maxPuttyLine)
	for ; lines > 0 && next > 0; lines-- {
		end, next = lineBounds(s, next, maxPuttyLine)
	}
	if cut, ok := cutBodyEnd(s, start, limit); ok && next < 0 {
		end = max(end, cut)
	}
	return span{start, end, rulePrivateKey}, end-start > minPEMBody
}

// cutBodyEnd returns the end of a PEM body without END: the first byte that no key has,
// or limit, where the next BEGIN or the longest body ends it. A body that has proved to
// be a key by then continues to the next BEGIN behind limit. It returns false for text
// that is no key.
func cutBodyEnd(s string, start, limit int) (end int, ok bool) {
	end, run := start, 0
	for ; end < len(s) && (end < limit || ok) && strings.IndexByte("(){}[]<>;!?$%&^`~@", s[end]) < 0; end++ {
		if s[end] == '-' && HasPrefixFold(s[end:], pemBegin) {
			break
		}
		if classes[s[end]]&classBase64 != 0 {
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
		if i += n; HasPrefixFold(s[i:], pemBegin) {
			return i
		}
	}
	return to
}
