package redact

import "strings"

// The scanner walks over the text once and stops at anchors: bytes that every
// kind of secret has and most text has few of. What stands before and after an
// anchor then decides, within bounds, so that the whole stays linear.

// The rules of the fast scanner.
const (
	ruleAWSKey        = "aws-access-key"
	ruleAWSSecret     = "aws-secret-key"
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
	ruleVendor        = "vendor-token"
)

const (
	noAnchor byte = iota
	anchorAssign
	anchorUnderscore
	anchorDash
	anchorA
	anchorJ
	anchorB
	anchorBackslash
)

var anchors = [256]byte{
	'=': anchorAssign, ':': anchorAssign,
	'_': anchorUnderscore, '-': anchorDash,
	'A': anchorA, 'J': anchorJ,
	'B': anchorB, 'b': anchorB,
	'\\': anchorBackslash,
}

// ruleOfToken says which secret was assigned, where its form tells.
func ruleOfToken(v, otherwise string) string {
	for i := range min(len(v), 16) { // a prefix is shorter
		var found span
		ok := false
		switch anchors[v[i]] {
		case anchorUnderscore:
			found, ok = secretAtUnderscore(v, i)
		case anchorDash:
			found, ok = secretAtDash(v, i)
		case anchorA:
			found, ok = secretAtA(v, i)
		case anchorJ:
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

// nextSecret finds the first secret that starts at from or later. What stands
// before from is looked at for context only.
func nextSecret(s string, from int) (span, bool) {
	for i := from; i < len(s); i++ {
		kind := anchors[s[i]]
		if kind == noAnchor {
			continue
		}
		var found span
		ok := false
		switch kind {
		case anchorAssign:
			if s[i] == ':' && endsAt(s, i, maskStart[:len(maskStart)-1]) {
				if end := strings.IndexByte(s[i:min(len(s), i+maxName)], ']'); end > 0 {
					i += end // a mask has nothing more to hide
					continue
				}
			}
			if found, ok = secretAtAssign(s, i); ok {
				found.rule = ruleOfToken(s[found.start:min(found.end, found.start+maxQuoted)], found.rule)
			}
		case anchorUnderscore:
			found, ok = secretAtUnderscore(s, i)
		case anchorDash:
			found, ok = secretAtDash(s, i)
		case anchorA:
			found, ok = secretAtA(s, i)
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

// Classes of bytes that tokens are made of.
const (
	classUpperDigit = 1 << iota // A-Z 0-9
	classAlnum                  // A-Z a-z 0-9
	classWord                   // alnum _ -
	classBase64                 // alnum + / =
	classToken                  // alnum . _ ~ + / = -
	classIdent                  // alnum _ . -
)

var classes = func() (t [256]byte) {
	add := func(chars string, class byte) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = classUpperDigit | classAlnum | classWord | classBase64 | classToken | classIdent
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = classUpperDigit | classAlnum | classWord | classBase64 | classToken | classIdent
		t[c|0x20] = classAlnum | classWord | classBase64 | classToken | classIdent
	}
	add("_-", classWord)
	add("+/=", classBase64)
	add("._~+/=-", classToken)
	add("_.-", classIdent)
	return t
}()

func isAlnum(c byte) bool { return classes[c]&classAlnum != 0 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// runEnd returns where the run of class that starts at i ends.
func runEnd(s string, i int, class byte) int {
	for i < len(s) && classes[s[i]]&class != 0 {
		i++
	}
	return i
}

// endsAt reports whether s[:i] ends in suffix.
func endsAt(s string, i int, suffix string) bool {
	return i >= len(suffix) && s[i-len(suffix):i] == suffix
}

// startsAt reports whether s[i:] starts with prefix.
func startsAt(s string, i int, prefix string) bool {
	return len(s)-i >= len(prefix) && s[i:i+len(prefix)] == prefix
}
