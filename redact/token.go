package redact

import "strings"

// secretAtA finds AWS access key ids and Google API keys.
func secretAtA(s string, i int) (span, bool) {
	if len(s)-i < 20 {
		return span{}, false
	}
	switch s[i+1] {
	case 'K', 'S', 'B', 'C', 'I', '3':
	default:
		return span{}, false
	}
	switch s[i : i+4] {
	case "AKIA", "ASIA", "ABIA", "ACCA":
	case "AIza":
		if end := runEnd(s, i+4, classWord); end-i >= 34 {
			return span{i, end, ruleGoogle}, true
		}
		return span{}, false
	default:
		if s[i:i+3] != "A3T" {
			return span{}, false
		}
	}
	if end := runEnd(s, i+4, classUpperDigit); end-i >= 20 {
		return span{i, end, ruleAWSKey}, true
	}
	return span{}, false
}

// maskAWSSecrets masks what has the form of an AWS secret access key: 40
// characters of base64 that are neither words nor a hash, perhaps with a path or
// a diff's sign before them. Without a name before it such a token means little,
// so it is done only for text that has an access key id too.
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

// secretAtJ finds JSON web tokens by their "eyJ". Text that is none up to skip
// has no other either.
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

// secretAtUnderscore finds tokens whose prefix ends in '_'.
func secretAtUnderscore(s string, i int) (span, bool) {
	if i < 2 || i+8 >= len(s) {
		return span{}, false
	}
	switch s[i-1] {
	case 'p', 'o', 'u', 's', 'r':
		if i >= 3 && s[i-3] == 'g' && s[i-2] == 'h' {
			if end := runEnd(s, i+1, classAlnum); end-i > 16 {
				return span{i - 3, end, ruleGitHub}, true
			}
		}
	case 'b':
		if endsAt(s, i, "github") && startsAt(s, i, "_pat_") {
			if end := runEnd(s, i+5, classWord); end-i >= 20 {
				return span{i - 6, end, ruleGitHubFine}, true
			}
		}
	case 'm':
		if endsAt(s, i, "npm") {
			if end := runEnd(s, i+1, classAlnum); end-i > 20 {
				return span{i - 3, end, ruleNPM}, true
			}
		}
	case 'k':
		if (endsAt(s, i, "sk") || endsAt(s, i, "rk")) && (i == 2 || !isAlnum(s[i-3])) &&
			(startsAt(s, i, "_live_") || startsAt(s, i, "_test_")) {
			if end := runEnd(s, i+6, classAlnum); end-i >= 14 {
				return span{i - 2, end, ruleStripe}, true
			}
		}
		if endsAt(s, i, "gsk") { // Groq
			if end := runEnd(s, i+1, classAlnum); end-i > 32 {
				return span{i - 3, end, ruleVendor}, true
			}
		}
	case 'c':
		if endsAt(s, i, "whsec") {
			if end := runEnd(s, i+1, classBase64); end-i > 16 {
				return span{i - 5, end, ruleStripe}, true
			}
		}
	case 'f':
		if endsAt(s, i, "hf") { // Hugging Face
			if end := runEnd(s, i+1, classAlnum); end-i > 30 && !wordy(s[i+1:end]) {
				return span{i - 2, end, ruleVendor}, true
			}
		}
	case 't':
		if endsAt(s, i, "shpat") || endsAt(s, i, "dckr_pat") { // Shopify; Docker
			if end := runEnd(s, i+1, classWord); end-i > 24 {
				return span{i - 5, end, ruleVendor}, true
			}
		}
	}
	return span{}, false
}

// secretAtDash finds tokens whose prefix ends in '-', PEM blocks and command
// line flags.
func secretAtDash(s string, i int) (span, bool) {
	if i+4 >= len(s) {
		return span{}, false
	}
	if s[i+1] == '-' {
		if startsAt(s, i, pemBegin) {
			return privateKey(s, i)
		}
		return secretFlag(s, i)
	}
	if i < 2 {
		return span{}, false
	}
	switch s[i-1] {
	case 'k':
		if s[i-2] == 's' && (i == 2 || !isAlnum(s[i-3])) {
			return secretKeyToken(s, i)
		}
	case 'b', 'a', 'p', 'r', 's', 'e', 'c', 'd', 'o':
		if endsAt(s, i-1, "xox") || endsAt(s, i, "xapp") {
			if end := runEnd(s, i+1, classWord); end-i > 10 {
				return span{i - 4, end, ruleSlack}, true
			}
		}
		if start := gitLabPrefix(s, i); start >= 0 {
			return gitLabToken(s, start, i)
		}
	case 't':
		if start := gitLabPrefix(s, i); start >= 0 {
			return gitLabToken(s, start, i)
		}
	case 'X':
		if endsAt(s, i, "GOCSPX") {
			if end := runEnd(s, i+1, classWord); end-i > 20 {
				return span{i - 6, end, ruleGoogle}, true
			}
		}
	case 'i':
		if endsAt(s, i, "pypi") {
			if end := runEnd(s, i+1, classWord); end-i > 50 {
				return span{i - 4, end, ruleVendor}, true
			}
		}
	}
	return span{}, false
}

// gitLabPrefixes are those of personal, deploy, runner, trigger, OAuth, CI,
// SCIM, agent, feed and feature flag tokens.
var gitLabPrefixes = [...]string{
	"glpat", "gldt", "glrt", "glptt", "gloas", "glsoat", "glcbt", "glimt", "glagent", "glft", "glffct",
}

// gitLabPrefix returns where the prefix that ends at i starts, -1 when there is none.
func gitLabPrefix(s string, i int) int {
	start := i
	for start > 0 && i-start < 8 && s[start-1] >= 'a' && s[start-1] <= 'z' {
		start--
	}
	word := s[start:i]
	for _, prefix := range gitLabPrefixes {
		if strings.HasSuffix(word, prefix) {
			return i - len(prefix)
		}
	}
	return -1
}

func gitLabToken(s string, start, i int) (span, bool) {
	end := runEnd(s, i+1, classIdent)
	for end > i && s[end-1] == '.' { // of the sentence
		end--
	}
	if end-i <= 16 {
		return span{}, false
	}
	return span{start, end, ruleGitLab}, true
}

// secretKeyToken finds sk-… keys of OpenAI, Anthropic and those who copied the form.
func secretKeyToken(s string, i int) (span, bool) {
	end := runEnd(s, i+1, classWord)
	body := s[i+1 : end]
	switch {
	case strings.HasPrefix(body, "ant-"):
		if len(body) >= 12 {
			return span{i - 2, end, ruleAnthropic}, true
		}
	case strings.HasPrefix(body, "proj-"), strings.HasPrefix(body, "svcacct-"),
		strings.HasPrefix(body, "admin-"), strings.HasPrefix(body, "or-v1-"):
		if len(body) >= 16 && !wordy(body) {
			return span{i - 2, end, ruleOpenAI}, true
		}
	default:
		// Style sheets have classes like sk-toggleable__label.
		if len(body) >= 20 && !wordy(body) {
			return span{i - 2, end, ruleOpenAI}, true
		}
	}
	return span{}, false
}

const (
	pemBegin = "-----BEGIN"
	// maxPEM is how far the END of a PEM block is looked for, in bytes: an 8192-bit
	// RSA key takes 6,400, more with line numbers or quotes around its lines.
	maxPEM = 16 << 10
	// minPEMBody is the shortest run of base64 that shows that a key follows the
	// BEGIN line, and that it is not only spoken of.
	minPEMBody = 16
)

// privateKey finds a PEM block with a private key whose BEGIN line starts at i,
// also when its lines stand in quotes, in a diff or behind line numbers, and
// when its end was cut off.
func privateKey(s string, i int) (span, bool) {
	label := s[i:min(len(s), i+64)]
	dashes := strings.Index(label[10:], "-----")
	if dashes < 0 {
		dashes = len(label) - 10
	}
	if !strings.Contains(label[:10+dashes], "PRIVATE KEY") {
		return span{}, false
	}
	bodyStart := min(len(s), i+10+dashes+5)
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
