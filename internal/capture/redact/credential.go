package redact

import (
	"encoding/base64"
	"strings"
)

// maxAuthority bounds user, password and host of a URL, in bytes.
const maxAuthority = 256

// secretInURL returns the password of scheme://user:password@host, a token in place
// of the user, or the path of a webhook. s[i] is the ':' before the slashes, which
// may be escaped.
func secretInURL(s string, i int) (span, bool) {
	start := i + 1
	for range 2 {
		if j := skipBackslashes(s, start); j < len(s) && s[j] == '/' {
			start = j + 1
		} else {
			return span{}, false
		}
	}
	if i == 0 || !isAlnum(s[i-1]) {
		return span{}, false
	}
	limit := min(len(s), start+maxAuthority)
	colon, at := -1, -1
scan:
	for j := start; j < limit; j++ {
		switch c := s[j]; {
		case c <= ' ', c == '"', c == '\'', c == '<', c == '>', c == '`':
			break scan
		case c == '[' && strings.HasPrefix(s[j:], MaskStart):
			if end := strings.IndexByte(s[j:limit], ']'); end > 0 {
				j += end // the ':' of a mask is none
			}
		case c == ':' && colon < 0:
			colon = j
		case c == '@':
			at = j
		case c == '/' || c == '\\' || c == '?' || c == '#':
			// The host ends here, unless a password has such a character: then a
			// '@' follows and what stands after the ':' is no port.
			if at >= 0 || colon < 0 || only(s[colon+1:j], classDigit) {
				break scan
			}
		}
	}
	if at < 0 {
		return webhook(s, start)
	}
	if colon >= 0 && colon < at {
		password := s[colon+1 : at]
		if reference(password) {
			return span{}, false
		}
		return span{colon + 1, at, ruleURLPassword}, true
	}
	if user := s[start:at]; len(user) >= 12 && !wordy(user) && !placeholder(user) && !strings.Contains(user, MaskStart) {
		return span{start, at, ruleURLPassword}, true
	}
	return span{}, false
}

// webhooks are addresses whose path is the secret.
var webhooks = [...]string{"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}

// webhook finds the secret of a Slack or Discord webhook URL whose host begins at start;
// false for another URL. The span is the path behind the known prefix, of at least 16
// bytes; slashes may be escaped.
func webhook(s string, start int) (span, bool) {
	for n, prefix := range webhooks {
		begin := start
		for i := 0; i < len(prefix) && begin >= 0; i++ {
			if prefix[i] == '/' {
				begin = skipBackslashes(s, begin)
			}
			if begin >= len(s) || s[begin] != prefix[i] {
				begin = -1
				break
			}
			begin++
		}
		if begin < 0 {
			continue
		}
		end := begin
		for end < len(s) {
			if slash := skipBackslashes(s, end); slash < len(s) && s[slash] == '/' {
				end = slash
			} else if classes[s[end]]&(classWord|classBase64) == 0 {
				break
			}
			end++
		}
		if end-begin < 16 || n > 0 && strings.IndexByte(s[begin:end], '/') < 0 {
			return span{}, false
		}
		return span{begin, end, ruleSlackWebhook}, true
	}
	return span{}, false
}

// authorizationValue returns the credentials in the value s[i:end] of an
// Authorization header: the part after the scheme, or all of it.
func authorizationValue(s string, i, end int) (span, bool) {
	// A quote ends the header of curl -H "Authorization: …", but not Digest a="…".
	if HasPrefixFold(s[i:end], "digest ") {
		return span{i + len("digest "), i + len(strings.TrimRight(s[i:end], "'\"")), ruleAuthorization}, !reference(s[i+len("digest ") : end])
	}
	if n := strings.IndexAny(s[i:end], "\"'`"); n >= 0 {
		end = i + n
		for end > i && s[end-1] == '\\' {
			end--
		}
	}
	if n := strings.Index(s[i:end], `\n`); n >= 0 {
		end = i + n
	}
	value := s[i:end]
	scheme, credentials, two := strings.Cut(value, " ")
	if !two || strings.IndexByte(scheme, '=') >= 0 {
		v := strings.TrimRight(value, ",;)")
		if len(v) < 8 || placeholder(v) || wordy(v) || identifier(v) && !random(v) || strings.IndexByte(v, '(') >= 0 {
			return span{}, false
		}
		return span{i, runEnd(s, i+len(v), classToken), ruleAuthorization}, true
	}
	credentials = strings.TrimLeft(credentials, " ")
	start := end - len(credentials)
	word, rest, more := strings.Cut(credentials, " ")
	if len(word) < 4 || placeholder(word) || !tokenBytes(word) {
		if !more || placeholder(word) || !strings.EqualFold(scheme, "AWS4-HMAC-SHA256") {
			return span{}, false
		}
	}
	if more && strings.IndexByte(rest, '=') >= 0 { // Credential=…, Signature=…
		return span{start, end, ruleAuthorization}, true
	}
	knownScheme := false
	switch strings.ToLower(scheme) {
	case "basic", "bearer", "token", "negotiate", "apikey", "key":
		knownScheme = true
	}
	if !knownScheme && wordy(word) || wordy(word) && len(word) < 8 || more && wordy(word) {
		return span{}, false
	}
	switch strings.ToLower(word) {
	case "token", "tokens", "authentication", "authorization", "header", "scheme", "credentials", "auth":
		return span{}, false
	}
	return span{start, runEnd(s, start+len(word), classToken), ruleAuthorization}, true
}

// tokenBytes reports whether v has only bytes that tokens are made of, colons and
// commas.
func tokenBytes(v string) bool {
	for i := range len(v) {
		if classes[v[i]]&classToken == 0 && v[i] != ':' && v[i] != ',' {
			return false
		}
	}
	return true
}

// secretAtB returns the credentials of "Bearer TOKEN" or "Basic BASE64" at i; false for
// none.
func secretAtB(s string, i int) (span, bool) {
	if len(s)-i < 12 {
		return span{}, false
	}
	switch {
	case s[i+1] == 'e' && HasPrefixFold(s[i:], "bearer"):
		start := i + 6
		if s[start] != ' ' && s[start] != '+' && !strings.HasPrefix(s[start:], "%20") {
			return span{}, false
		}
		for start < len(s) && (s[start] == ' ' || s[start] == '+') {
			start++
		}
		end := runEnd(s, start, classToken)
		end = start + len(strings.TrimRight(s[start:end], "."))
		if v := s[start:end]; len(v) < 8 || wordy(v) {
			return span{}, false
		}
		return span{start, end, ruleBearer}, true
	case s[i+1] == 'a' && HasPrefixFold(s[i:], "basic "):
		start := i + 6
		end := runEnd(s, start, classBase64)
		if end-start < 8 || wordy(s[start:end]) && !userAndPassword(s[start:end]) {
			return span{}, false
		}
		if s[i] == 'b' && !userAndPassword(s[start:end]) {
			return span{}, false // "basic" is a word
		}
		return span{start, end, ruleBasic}, true
	}
	return span{}, false
}

// userAndPassword reports whether v is base64 of user:password.
func userAndPassword(v string) bool {
	v = strings.TrimRight(v[:min(len(v), maxValue)], "=")
	v = v[:len(v)-len(v)%4]
	var decoded [maxValue]byte
	n, err := base64.RawStdEncoding.Decode(decoded[:], []byte(v))
	if err != nil {
		return false
	}
	colon := false
	for _, c := range decoded[:n] {
		if c < ' ' || c == 0x7f {
			return false
		}
		colon = colon || c == ':'
	}
	return colon
}

// secretFlag returns the value of --password VALUE or -password VALUE; false for another
// flag. s[i] is the first dash, and the name begins at start.
func secretFlag(s string, i, start int) (span, bool) {
	if i > 0 && strings.IndexByte(" \t\n\"'`,[(\\", s[i-1]) < 0 {
		return span{}, false
	}
	end := runEnd(s, start, classWord)
	name := s[start:end]
	fam := nameFamily(name)
	if fam == famNone && !namesVendor(name) || end >= len(s) || strings.HasPrefix(name, "no-") {
		return span{}, false
	}
	// In a list of arguments, quotes and a comma stand between flag and value.
	start = end
	for start < min(len(s), end+8) && strings.IndexByte(" \t\n\"',\\", s[start]) >= 0 {
		start++
	}
	if start == end || start >= len(s) || s[start] == '-' {
		return span{}, false
	}
	stop := bareEnd(s, start, start+maxValue, flagStops)
	v := s[start:stop]
	if len(v) == maxValue {
		stop = bareEnd(s, stop, len(s), flagStops)
	}
	switch {
	case placeholder(v) || strings.IndexByte(v, '(') >= 0:
		return span{}, false
	case fam == famPassword:
		if len(v) < 3 || wordy(v) && !strings.ContainsAny(v, "0123456789") && s[end] != ' ' {
			return span{}, false
		}
		return span{start, stop, rulePassword}, true
	case secretLiteral(fam, v, false):
		return span{start, stop, fam.rule()}, true
	}
	rule, stop := vendorToken(name, s, start)
	return span{start, stop, rule}, stop > 0
}

// curlUser returns the password of curl -u user:password; false for none. s[i] is the
// ':'.
func curlUser(s string, i int) (span, bool) {
	start := i
	limit := max(0, i-maxName)
	for start > limit && marks[s[start-1]]&markBeforeUser == 0 {
		start--
	}
	if start == i || i+1 >= len(s) {
		return span{}, false
	}
	before := start
	for before > limit && oneOf(s[before-1], " \t\"'\\=") {
		before--
	}
	attached := strings.HasPrefix(s[start:], "-u") && i-start > 2 // -uuser:password
	if !attached && (before == start || !endsInOne(s[:before], "-u", "--user", "--proxy-user", "-U", "-a")) {
		return span{}, false
	}
	end := bareEnd(s, i+1, i+1+maxValue, curlStops)
	v := s[i+1 : end]
	if v == "" || number(v) || reference(v) || v[0] == '/' {
		return span{}, false
	}
	// curl, or a tool like it, must be near: docker -u 1000:staff has no password.
	if head := s[max(0, before-200):before]; !strings.Contains(head, "curl") && !strings.Contains(head, "http") && !strings.Contains(head, "wget") && wordy(v) {
		return span{}, false
	}
	return span{i + 1, end, ruleCurl}, true
}

// endsInOne reports whether s ends in one of the suffixes.
//
//go:noinline
func endsInOne(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
