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
)

// Kinds of anchors. A byte has one of the first six, and anchorToken beside it when
// a prefix of Kinds has its anchor there.
const (
	noAnchor byte = iota
	anchorAssign
	anchorDash
	anchorJ
	anchorB
	anchorBackslash
	anchorToken byte = 1 << 7 // TestPrefixIndex holds it to the prefixes of Kinds
)

var anchors = [256]byte{
	'=': anchorAssign, ':': anchorAssign,
	'-': anchorDash | anchorToken, 'J': anchorJ | anchorToken,
	'B': anchorB | anchorToken, 'b': anchorB | anchorToken,
	'\\': anchorBackslash,
	'_':  anchorToken, '.': anchorToken, '~': anchorToken,
	'A': anchorToken, 'I': anchorToken, 'K': anchorToken, 'R': anchorToken, 'T': anchorToken,
	'V': anchorToken, 'X': anchorToken, 'Z': anchorToken,
	'D': anchorToken, 'Q': anchorToken, 'j': anchorToken, 'k': anchorToken, 'p': anchorToken, 'z': anchorToken,
}

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

// nextSecret returns the first secret that starts at from or later; false for none. Text
// before from is context only.
func nextSecret(s string, from int) (span, bool) {
	for i := from; i < len(s); i++ {
		kind := anchors[s[i]]
		if kind == noAnchor {
			continue
		}
		var found span
		ok := false
		if kind&anchorToken != 0 && i > 0 && prefixHeads[keyOf(s[i-1], s[i])] != 0 {
			if found, ok = secretToken(s, i); ok && found.start >= from {
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
			}
		case anchorDash:
			if HasPrefixFold(s[i:], pemBegin) {
				found, ok = privateKey(s, i)
			} else if strings.HasPrefix(s[i:], "--") {
				found, ok = secretFlag(s, i)
			}
		case anchorJ:
			var skip int
			if found, skip, ok = secretAtJ(s, i); skip > i {
				i = skip - 1
			}
		case anchorB:
			found, ok = secretAtB(s, i)
		case anchorBackslash:
			found, ok = secretAtBackslash(s, i)
		}
		if ok && found.start >= from && found.end > found.start {
			return found, true
		}
	}
	return span{}, false
}
