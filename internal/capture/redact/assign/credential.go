package assign

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// A function of this package that returns a span and false has found no secret: the span then
// means nothing.

// maxAuthority bounds user, password and host of a URL, in bytes.
const maxAuthority = 256

// secretInURL returns the password of scheme://user:password@host, a token in place
// of the user, or the path of a webhook. s[i] is the ':' before the slashes, which
// may be escaped; false where no slashes follow. A user alone counts only if it is long and random.
func secretInURL(s string, i int) (shapes.Span, bool) {
	start := i + 1
	for range 2 {
		if j := shapes.SkipBackslashes(s, start); j < len(s) && s[j] == '/' {
			start = j + 1
		} else {
			return shapes.Span{}, false
		}
	}
	if i == 0 || !shapes.IsAlnum(s[i-1]) {
		return shapes.Span{}, false
	}
	limit := min(len(s), start+maxAuthority)
	colon, at := -1, -1
scan:
	for j := start; j < limit; j++ {
		switch c := s[j]; {
		case c <= ' ', c == '"', c == '\'', c == '<', c == '>', c == '`':
			break scan
		case c == '[' && strings.HasPrefix(s[j:], shapes.MaskStart):
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
			if at >= 0 || colon < 0 || shapes.Only(s[colon+1:j], shapes.Digit) {
				break scan
			}
		}
	}
	if at < 0 {
		return webhook(s, start)
	}
	if colon >= 0 && colon < at {
		return shapes.NewSpan(colon+1, at, tokens.RuleURLPassword), !shapes.Reference(s[colon+1 : at])
	}
	user := s[start:at]
	return shapes.NewSpan(start, at, tokens.RuleURLPassword), len(user) >= 12 && !shapes.Wordy(user) && !shapes.Placeholder(user) && !strings.Contains(user, shapes.MaskStart)
}

// webhooks are addresses whose path is the secret.
var webhooks = [...]string{"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}

// webhook finds the secret of a Slack or Discord webhook URL whose host begins at start;
// false for another URL. The span is the path behind the known prefix, of at least 16
// bytes, of Discord an id and a token with a slash between; slashes may be escaped. Both count under
// the rule of Slack's.
func webhook(s string, start int) (shapes.Span, bool) {
	for n, prefix := range webhooks {
		begin := start
		for i := 0; i < len(prefix) && begin >= 0; i++ {
			if prefix[i] == '/' {
				begin = shapes.SkipBackslashes(s, begin)
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
			if slash := shapes.SkipBackslashes(s, end); slash < len(s) && s[slash] == '/' {
				end = slash
			} else if !shapes.In(s[end], shapes.Word|shapes.Base64) {
				break
			}
			end++
		}
		return shapes.NewSpan(begin, end, tokens.RuleSlackWebhook), end-begin >= 16 && (n == 0 || strings.IndexByte(s[begin:end], '/') >= 0)
	}
	return shapes.Span{}, false
}

// authorizationValue returns the credentials in the value s[i:end] of an
// Authorization header: the part after the scheme, or all of it; false for a reference, and for
// words such as those of documentation. The span may reach over end, where the token does.
func authorizationValue(s string, i, end int) (shapes.Span, bool) {
	// A quote ends the header of curl -H "Authorization: …", but not Digest a="…".
	if shapes.HasPrefixFold(s[i:end], "digest ") {
		return shapes.NewSpan(i+len("digest "), i+len(strings.TrimRight(s[i:end], "'\"")), tokens.RuleAuthorization), !shapes.Reference(s[i+len("digest ") : end])
	}
	if n := strings.IndexAny(s[i:end], "\"'`"); n >= 0 {
		end = shapes.SkipBack(s, i, i+n, "\\")
	}
	if n := strings.Index(s[i:end], `\n`); n >= 0 {
		end = i + n
	}
	value := s[i:end]
	scheme, credentials, two := strings.Cut(value, " ")
	// Without a scheme, such as Bearer, the whole value counts.
	if !two || strings.IndexByte(scheme, '=') >= 0 {
		v := strings.TrimRight(value, ",;)")
		if len(v) < 8 || shapes.Placeholder(v) || shapes.Wordy(v) || shapes.Identifier(v) && !shapes.Random(v) || strings.IndexByte(v, '(') >= 0 {
			return shapes.Span{}, false
		}
		return shapes.NewSpan(i, shapes.RunEnd(s, i+len(v), shapes.Token), tokens.RuleAuthorization), true
	}
	credentials = strings.TrimLeft(credentials, " ")
	start := end - len(credentials)
	word, rest, more := strings.Cut(credentials, " ")
	if shapes.Placeholder(word) || (len(word) < 4 || !shapes.TokenBytes(word)) && (!more || !strings.EqualFold(scheme, "AWS4-HMAC-SHA256")) {
		return shapes.Span{}, false
	}
	if more && strings.IndexByte(rest, '=') >= 0 { // Credential=…, Signature=…
		return shapes.NewSpan(start, end, tokens.RuleAuthorization), true
	}
	if shapes.EqualsOne(word, "token", "tokens", "authentication", "authorization", "header", "scheme", "credentials", "auth") ||
		shapes.Wordy(word) && (more || len(word) < 8 || !shapes.EqualsOne(scheme, "basic", "bearer", "token", "negotiate", "apikey", "key")) {
		return shapes.Span{}, false
	}
	return shapes.NewSpan(start, shapes.RunEnd(s, start+len(word), shapes.Token), tokens.RuleAuthorization), true
}

// Credentials returns the credentials of "Bearer TOKEN" or "Basic BASE64" whose B is at i; false
// for none, and for words behind them.
func Credentials(s string, i int) (shapes.Span, bool) {
	if len(s)-i < 12 {
		return shapes.Span{}, false
	}
	switch {
	case s[i+1] == 'e' && shapes.HasPrefixFold(s[i:], "bearer"):
		start := i + 6
		if s[start] != ' ' && s[start] != '+' && !strings.HasPrefix(s[start:], "%20") {
			return shapes.Span{}, false
		}
		start = shapes.SkipTo(s, start, " +")
		end := shapes.SkipBack(s, start, shapes.RunEnd(s, start, shapes.Token), ".")
		return shapes.NewSpan(start, end, "bearer-token"), end-start >= 8 && !shapes.Wordy(s[start:end])
	case s[i+1] == 'a' && shapes.HasPrefixFold(s[i:], "basic "):
		start := i + 6
		end := shapes.RunEnd(s, start, shapes.Base64)
		v := s[start:end]
		return shapes.NewSpan(start, end, "basic-auth"), len(v) >= 8 && (s[i] == 'B' && !shapes.Wordy(v) || userAndPassword(v)) // "basic" is a word
	}
	return shapes.Span{}, false
}

// userAndPassword reports whether v is base64 of user:password: text with a colon. Of a long one
// only the beginning is decoded.
func userAndPassword(v string) bool {
	v = strings.TrimRight(v[:min(len(v), shapes.MaxValue)], "=")
	v = v[:len(v)-len(v)%4] // whole groups only
	var decoded [shapes.MaxValue]byte
	n, err := base64.RawStdEncoding.Decode(decoded[:], []byte(v))
	if err != nil {
		return false
	}
	return bytes.IndexByte(decoded[:n], ':') >= 0 && !bytes.ContainsFunc(decoded[:n], unicode.IsControl)
}

// Flag returns the value of --password VALUE or -password VALUE; false for another
// flag. s[i] is the first dash, and the name begins at start.
func Flag(s string, i, start int) (shapes.Span, bool) {
	if i > 0 && strings.IndexByte(" \t\n\"'`,[(\\", s[i-1]) < 0 {
		return shapes.Span{}, false
	}
	end := shapes.RunEnd(s, start, shapes.Word)
	name := s[start:end]
	fam := nameFamily(name)
	if fam == famNone && !tokens.NamesVendor(name) || end >= len(s) || strings.HasPrefix(name, "no-") {
		return shapes.Span{}, false
	}
	// In a list of arguments, quotes and a comma stand between flag and value.
	start = shapes.SkipTo(s[:min(len(s), end+8)], end, " \t\n\"',\\")
	if start == end || start >= len(s) || s[start] == '-' {
		return shapes.Span{}, false
	}
	stop := shapes.BareEnd(s, start, start+shapes.MaxValue, shapes.FlagStops)
	v := s[start:stop]
	if len(v) == shapes.MaxValue {
		stop = shapes.BareEnd(s, stop, len(s), shapes.FlagStops)
	}
	switch {
	case shapes.Placeholder(v) || strings.IndexByte(v, '(') >= 0:
		return shapes.Span{}, false
	case fam == famPassword: // a word counts behind a blank, but not in a list of arguments
		return shapes.NewSpan(start, stop, tokens.RulePassword), len(v) >= 3 && (s[end] == ' ' || !shapes.Wordy(v) || strings.ContainsAny(v, "0123456789"))
	case secretLiteral(fam, v, false):
		return shapes.NewSpan(start, stop, fam.rule()), true
	}
	rule, stop := tokens.OfVendor(name, s, start)
	return shapes.NewSpan(start, stop, rule), stop > 0
}

// curlUser returns the password of curl -u user:password; false for none. s[i] is the
// ':'. A password that reads like words counts only behind curl, wget or the like.
func curlUser(s string, i int) (shapes.Span, bool) {
	start := i
	limit := max(0, i-shapes.MaxName)
	for start > limit && !shapes.OneOf(s[start-1], " \t\n\"'`=:") {
		start--
	}
	if start == i || i+1 >= len(s) {
		return shapes.Span{}, false
	}
	before := shapes.SkipBack(s, limit, start, " \t\"'\\=")
	attached := strings.HasPrefix(s[start:], "-u") && i-start > 2 // -uuser:password
	// -a is the option of HTTPie.
	if !attached && (before == start || !shapes.EndsInOne(s[:before], "-u", "--user", "--proxy-user", "-U", "-a")) {
		return shapes.Span{}, false
	}
	end := shapes.BareEnd(s, i+1, i+1+shapes.MaxValue, shapes.CurlStops)
	v := s[i+1 : end]
	if v == "" || shapes.Number(v) || shapes.Reference(v) || v[0] == '/' {
		return shapes.Span{}, false
	}
	// curl, or a tool like it, must be near: docker -u 1000:staff has no password.
	if head := s[max(0, before-200):before]; !shapes.HasOne(head, "curl", "http", "wget") && shapes.Wordy(v) {
		return shapes.Span{}, false
	}
	return shapes.NewSpan(i+1, end, "curl-user"), true
}
