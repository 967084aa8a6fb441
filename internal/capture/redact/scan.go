package redact

import "strings"

// The scanner passes over the text once and stops at anchors: bytes that every
// kind of secret has and that are rare in text. The bytes before and after an
// anchor decide, within bounds, so that the whole is linear.

// Rules of this package, as they appear in masks and counts.
const (
	ruleAWSKey        = "aws-access-key"
	ruleAWSSecret     = "aws-secret-key"
	ruleAWSSession    = "aws-session-token"
	ruleGitHub        = "github-token"
	ruleGitHubFine    = "github-fine-grained-token"
	ruleGitLab        = "gitlab-token"
	ruleSlack         = "slack-token"
	ruleSlackWebhook  = "slack-webhook"
	ruleStripe        = "stripe-key"
	ruleOpenAI        = "openai-key"
	ruleAnthropic     = "anthropic-key"
	ruleGoogle        = "google-api-key"
	ruleNPM           = "npm-token"
	ruleJWT           = "jwt"
	rulePrivateKey    = "private-key"
	ruleURLPassword   = "url-password"
	ruleAuthorization = "authorization"
	ruleBearer        = "bearer-token"
	ruleBasic         = "basic-auth"
	ruleCurl          = "curl-user"
	rulePassword      = "password"
	ruleAssigned      = "assigned-secret"
	ruleAPIKey        = "api-key"
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

// ruleOfToken returns the rule of the token that v is, otherwise if it is none.
func ruleOfToken(v, otherwise string) string {
	for i := range min(len(v), 32) { // a prefix is shorter
		var found span
		ok := false
		if anchors[v[i]]&anchorToken != 0 {
			found, ok = secretToken(v, i)
		}
		if !ok && v[i] == 'J' {
			found, _, ok = secretAtJ(v, i)
		}
		if ok {
			if found.start == 0 && found.end == len(v) {
				return found.rule
			}
			break
		}
	}
	return otherwise
}

// A scanner iterates over the secrets of a text, which every method is given: a text in
// the struct would be moved to the heap with the queue.
type scanner struct {
	at int
	// queue has secrets that were found ahead, in order: cells of a table, values of a
	// manifest.
	queue []span
	// tableEnd is the end of the last table whose cells were queued.
	tableEnd int
	// inSecret says whether "data:" before askedUntil belongs to a Secret of Kubernetes.
	inSecret   bool
	askedUntil int
	// escape is the position of the first escape, from 1; 0 for none so far.
	escape int
}

// next returns the next secret; false at the end.
func (sc *scanner) next(s string) (span, bool) {
	found, ok := sc.scan(s)
	for len(sc.queue) > 0 && (!ok || sc.queue[0].start < found.end) {
		first := sc.queue[0]
		sc.queue = sc.queue[1:]
		switch {
		case first.end <= sc.at: // in the secret before
			continue
		case !ok || first.end <= found.start:
			found = first
		default: // they overlap
			found.start, found.end = min(first.start, found.start), max(first.end, found.end)
		}
		found.start, ok = max(found.start, sc.at), true
		if len(sc.queue) == 0 || sc.queue[0].start >= found.end {
			break
		}
	}
	if ok {
		sc.at = found.end
	}
	return found, ok
}

// scan returns the next secret that is not in the queue, from the scanner's position to
// the first one there.
func (sc *scanner) scan(s string) (span, bool) {
	from, stop := sc.at, sc.stop(s)
	for i := nextStop(s, from, stop); i < stop; i = nextStop(s, i+1, stop) {
		kind := anchors[s[i]]
		var found span
		ok := false
		if kind&anchorToken != 0 {
			if found, ok = secretToken(s, i); !ok && (s[i] == '_' || s[i] == '-') {
				found, ok = secretPrefixed(s, i)
			}
			if ok && found.start >= from {
				return found, true
			}
		}
		switch kind &^ anchorToken {
		case anchorAssign:
			if s[i] == ':' && strings.HasSuffix(s[:i], MaskStart[:len(MaskStart)-1]) {
				if end := strings.IndexByte(s[i:min(len(s), i+maxName)], ']'); end > 0 {
					i += end // a mask has nothing more to hide
					continue
				}
			}
			if found, ok = secretAtAssign(s, i); ok {
				found.rule = ruleOfToken(s[found.start:min(found.end, found.start+maxQuoted)], found.rule)
			} else if i > 4 && s[i] == ':' && (s[i-1]|0x20 == 'a' || s[i-1] == '"') && (s[i-2]|0x20 == 't' || s[i-2]|0x20 == 'a' || s[i-2] == '\\') {
				sc.queueManifest(s, i)
				stop = sc.stop(s)
			}
		case anchorDash:
			if i+2 < len(s) && (s[i+1] == '-' || i > 0 && (s[i-1] <= ' ' || s[i+1] == 'L' || oneOf(s[i-1], "\"'`,[(\\"))) {
				found, ok = secretAtDash(s, i)
			}
		case anchorJ:
			var skip int
			if found, skip, ok = secretAtJ(s, i); skip > i {
				i = skip - 1
			}
		case anchorB:
			if i+1 < len(s) && (s[i+1] == 'e' || s[i+1] == 'a') {
				found, ok = secretAtB(s, i)
			}
		case anchorWord:
			found, ok = secretAtWord(s, i)
		case anchorKey: // kEY, BY and ENV stand before a blank, tOKen not
			if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '(' || s[i+1] == '\t' || s[i+1]|0x20 == 'e') {
				found, ok = secretAtWord(s, i)
			}
		case anchorTag:
			if i > 0 && s[i-1] == '<' {
				found, ok = secretElement(s, i-1)
			}
		case anchorComma:
			if i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || i+1 < len(s) && s[i+1] > ' ' && isAlnum(s[i-1])) {
				found, ok = sc.secretAtComma(s, i)
				stop = sc.stop(s)
			}
			if !ok && i+minPassed < len(s) && (s[i+1] == ' ' || oneOf(s[i+1], "\"'\\")) {
				found, ok = secretInCall(s, i)
			}
		case anchorBackslash:
			if i == 0 || s[i-1] != '\\' { // the last of several
				continue
			}
			if found, ok = secretAtBackslash(s, i-1); !ok {
				sc.noteEscape(s, i-1)
			}
		case anchorEscape:
			sc.noteEscape(s, i)
		}
		if ok && found.start >= from && found.end > found.start {
			return found, true
		}
	}
	return span{}, false
}

// noteEscape keeps the position of the first escape, which is at i if there is one.
func (sc *scanner) noteEscape(s string, i int) {
	if sc.escape > 0 {
		return
	}
	if _, _, ok := escapeAt(s, i); ok {
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
	if len(sc.queue) > 0 {
		return sc.queue[0].end
	}
	return len(s)
}

// secretAtDash returns the secret that begins with the '-' at i, or the value of the
// option there; false for none.
func secretAtDash(s string, i int) (span, bool) {
	switch {
	case s[i+1] != '-':
		if s[i+1] == 'L' && strings.HasPrefix(s[i:], "-Lines:") && strings.HasSuffix(s[:i], "Private") {
			return puttyKey(s, i)
		}
		if found, ok := secretOption(s, i); ok {
			return found, true
		}
		return secretFlag(s, i, i+1)
	case HasPrefixFold(s[i:], pemBegin):
		return privateKey(s, i)
	}
	return secretFlag(s, i, i+2)
}
