package redact

import "strings"

// A prefix is one prefix of a kind. The scanner finds it by the three bytes that
// end at its anchor.
type prefix struct {
	text   string
	kind   *Kind
	anchor int    // index in text of the byte at which the scanner stops for it
	next   uint16 // the next prefix in the same bucket, 0 for none
}

// rarity orders bytes by how seldom text has them, the rarest first; those at
// which the scanner stops anyway come early. A prefix's anchor is its rarest byte.
const rarity = "~-_.AJBZXQKVYWGHUFDNMLPORTICES|zqjxkvbwpyg9876543210hmdcfulnaorstie"

// prefixes holds the prefixes of [Kinds] in a hash table of their anchors.
var prefixes struct {
	all   [320]prefix // from 1
	heads [2048]uint16
	keys  [1 << 15 / 64]uint64 // a bit for each key that has a prefix
}

func init() {
	n := 0
	enter := func(p prefix, key int) {
		n++
		prefixes.all[n] = p
		prefixes.keys[key/64] |= 1 << (key % 64)
		last := &prefixes.heads[bucketOf(key)]
		for *last != 0 {
			last = &prefixes.all[*last].next
		}
		*last = uint16(n)
	}
	for k := range Kinds {
		for text := range strings.FieldsSeq(Kinds[k].Prefixes) {
			p := prefix{text: text, kind: &Kinds[k]}
			best := len(rarity)
			for i := min(2, len(text)-1); i < len(text); i++ {
				if rank := strings.IndexByte(rarity, text[i]); rank >= 0 && rank < best {
					p.anchor, best = i, rank
				}
			}
			a := text[p.anchor]
			anchors[a] |= anchorToken
			if p.kind.Flags&AnyCase != 0 && isUpper(a&^0x20) {
				anchors[a^0x20] |= anchorToken
			}
			if p.anchor >= 2 {
				enter(p, keyOf(text[p.anchor-2], text[p.anchor-1], a))
				continue
			}
			for c := range byte(32) { // three bytes tell; here the first is any
				enter(p, keyOf(c, text[0], a))
			}
		}
	}
}

// keyOf returns the low five bits of three bytes: letters count the same in both
// cases.
func keyOf(a, b, c byte) int { return int(a&31)<<10 | int(b&31)<<5 | int(c&31) }

func bucketOf(key int) int { return (key ^ key>>9) & 2047 }

// secretToken finds a token of [Kinds] whose prefix has its anchor at i.
func secretToken(s string, i int) (span, bool) {
	key := 0
	if i > 1 {
		key = keyOf(s[i-2], s[i-1], s[i])
	} else if i > 0 {
		key = keyOf(0, s[0], s[1])
	}
	if prefixes.keys[key/64]&(1<<(key%64)) == 0 {
		return span{}, false
	}
	return tokenOf(s, i, key)
}

// tokenOf is secretToken for a key that has prefixes.
func tokenOf(s string, i, key int) (span, bool) {
	for n := prefixes.heads[bucketOf(key)]; n != 0; {
		p := &prefixes.all[n]
		n = p.next
		start := i - p.anchor
		if start < 0 || !startsAt(s, start, p.text) && (p.kind.Flags&AnyCase == 0 || !equalFoldAt(s, start, p.text)) {
			continue
		}
		if found, ok := p.kind.token(s, start, start+len(p.text)); ok {
			return found, true
		}
	}
	return span{}, false
}

func equalFoldAt(s string, i int, text string) bool {
	return len(s)-i >= len(text) && strings.EqualFold(s[i:i+len(text)], text)
}

// token returns the token whose prefix is s[start:bodyStart].
func (k *Kind) token(s string, start, bodyStart int) (span, bool) {
	if k.Before != "" {
		n := formLength(k.Before)
		if start < n {
			return span{}, false
		}
		if _, _, _, ok := matchForm(s[:start], start-n, k.Before); !ok {
			return span{}, false
		}
		start -= n
	}
	if k.Flags&InWord == 0 && !startsWord(s, start) {
		return span{}, false
	}
	end, open, ok := k.matchStart(s, bodyStart)
	if !ok || k.Flags&NotWordy != 0 && wordy(s[bodyStart:min(end, bodyStart+maxValue)]) || !k.RandomEnough(s[start:end]) {
		return span{}, false
	}
	return span{start, extend(s, end, open), k.Rule}, true
}

// startsWord reports whether no letter or digit stands before i. That of an
// escape (\n) is none.
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
			count(counts, ruleAWSSecret)
		}
		i = end
	}
	if len(cuts) == 0 {
		return s
	}
	return applySpans(s, cuts)
}

// mixed reports whether v has lower case, upper case and digits.
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

// secretAtJ returns the JSON web token whose "eyJ" has its J at i. When there is
// none, the text up to skip has no token.
func secretAtJ(s string, i int) (found span, skip int, ok bool) {
	if !endsAt(s, i, "ey") {
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
	pemBegin = "-----BEGIN"
	// maxPEM is how far the END of a PEM block is looked for, in bytes: an 8192-bit
	// RSA key takes 6,400, more with line numbers or quotes around its lines.
	maxPEM = 16 << 10
	// maxPEMLabel bounds what stands between BEGIN and the dashes behind it.
	maxPEMLabel = 128
	// minPEM is how far from BEGIN a block ends that lacks its END, in bytes.
	minPEM = 64
	// minPEMBody is the shortest run of base64 that proves a key after a BEGIN line
	// without END; a shorter one is prose or code about keys.
	minPEMBody = 16
)

// privateKey returns the PEM block with a private key whose BEGIN line starts at
// i. Its lines may stand in quotes, in a diff or after line numbers, and its end
// may be missing.
func privateKey(s string, i int) (span, bool) {
	bodyStart := min(len(s), i+len(pemBegin))
	label := s[bodyStart:min(len(s), bodyStart+maxPEMLabel)]
	dashes := strings.Index(label, "-----")
	if dashes < 0 {
		dashes = len(label)
	}
	if !strings.Contains(strings.ToUpper(label[:dashes]), "PRIVATE KEY") {
		return span{}, false
	}
	bodyStart = min(len(s), bodyStart+dashes+5)
	rest := s[bodyStart:min(len(s), bodyStart+maxPEM)]
	if next := strings.Index(rest, pemBegin); next >= 0 {
		rest = rest[:next]
	}
	if end := strings.Index(rest, "-----END"); end >= 0 {
		after := bodyStart + end + len("-----END")
		if line := strings.Index(s[after:min(len(s), after+48)], "-----"); line >= 0 {
			return span{i, after + line + 5, rulePrivateKey}, true
		}
		return span{i, after, rulePrivateKey}, true
	}
	// Its dashes are lost, or it is in small letters.
	if len(rest) > minPEM {
		upper := strings.ToUpper(rest[minPEM:])
		for _, end := range [...]string{"KEY-----", "KEY BLOCK-----"} {
			if n := strings.Index(upper, end); n >= 0 {
				return span{i, bodyStart + minPEM + n + len(end), rulePrivateKey}, true
			}
		}
	}
	// Cut off: take what can be a key, up to the next.
	end, longest, run := bodyStart, 0, 0
	for end < len(s) && strings.IndexByte("(){}[]<>;!?$%&^`~@", s[end]) < 0 {
		if s[end] == '-' && startsAt(s, end, pemBegin) {
			break
		}
		if classes[s[end]]&classBase64 != 0 {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
		end++
	}
	if longest < minPEMBody {
		return span{}, false
	}
	return span{i, end, rulePrivateKey}, true
}
