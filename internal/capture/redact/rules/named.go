package rules

import (
	"slices"
	"strings"

	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// A keyword is a word that a text must have for a matcher to be tried.
type keyword struct {
	text string // lower case
	find matcher
}

// A matcher appends the secrets that belong to the keyword at s[start:end].
type matcher func(s string, start, end int, found []shapes.Span) []shapes.Span

// keywords are the Names of [tokens.Kinds], and the words of the matchers of this
// package.
var keywords = func() (all []keyword) {
	for i := range tokens.Kinds {
		k := &tokens.Kinds[i]
		for name := range strings.FieldsSeq(k.Names) {
			all = append(all, keyword{name, func(s string, start, end int, found []shapes.Span) []shapes.Span {
				if k.Flags&tokens.Near != 0 {
					return near(k, s, start, end, found)
				}
				return assigned(k, s, end, found)
			}})
		}
	}
	return append(all,
		keyword{".ey", webToken},
		keyword{"cookie:", cookies},
		keyword{"secret ", quotedSecret}, keyword{"send ", quotedSecret}, keyword{"result", quotedSecret},
		keyword{"\"kty", webKey},
		keyword{"mnemonic", walletPhrase}, keyword{"seed phrase", walletPhrase}, keyword{"seed_phrase", walletPhrase}, keyword{"recovery phrase", walletPhrase},
		keyword{"---- begin ssh2 encrypted", keyBlock},
		keyword{"curl", curlHeader},
		keyword{"add key=", nugetPassword},
	)
}()

// index has the keywords.
var index = func() (x tokens.Index[*keyword]) {
	for i := range slices.Backward(keywords) {
		x.Add(keywords[i].text, 2, &keywords[i])
	}
	return x
}()

// find returns the secrets in s that this package knows, in order and without overlaps. What is
// masked already is left out.
func find(s string) []shapes.Span {
	var found []shapes.Span
	index.Each(s, func(k *keyword, start, end int) bool {
		found = k.find(s, start, end, found)
		return false
	})
	found = slices.DeleteFunc(found, func(f shapes.Span) bool {
		return strings.Contains(s[f.Start:f.End], shapes.MaskStart) // a text is not masked twice
	})
	return shapes.Merge(found)
}

const (
	// maxName and longName bound the rest of a name after its keyword, in bytes.
	maxName  = 20
	longName = 34
	// maxQuotes and maxGap bound quotes and blanks before and after the operator, in
	// bytes.
	maxQuotes = 6
	maxGap    = 8
	// nearness is the maximum distance of a token of a Near kind from its word, in
	// bytes.
	nearness = 256
)

// assigned appends the token of kind k that is assigned to the name whose keyword
// ends at i: keyword, rest of the name, quotes, operator, quotes, token.
func assigned(k *tokens.Kind, s string, i int, found []shapes.Span) []shapes.Span {
	reach := maxName
	if k.Flags&tokens.LongName != 0 {
		reach = longName
	}
	i = skip(s, i, reach, func(c byte) bool { return wordByte(c) || strings.IndexByte(" \t.-", c) >= 0 })
	i = skip(s, i, maxQuotes, func(c byte) bool { return blank(c) || strings.IndexByte(`'"\`, c) >= 0 })
	for _, op := range operators {
		if !strings.HasPrefix(s[i:], op) {
			continue
		}
		start := i + len(op)
		last := skip(s, start, maxGap, func(c byte) bool { return blank(c) || strings.IndexByte("`'\"=\\", c) >= 0 })
		for at := last; at >= start; at-- { // a '=' may belong to the token
			end, ok := k.MatchBody(s, at)
			if ok && k.Flags&tokens.Quoted != 0 {
				ok = end < len(s) && strings.IndexByte("\"'", s[end]) >= 0 && strings.IndexByte("\"'", s[at-1]) >= 0
			}
			if ok && k.RandomEnough(s[at:end]) {
				return append(found, shapes.NewSpan(at, end, k.Rule))
			}
			if at > start && s[at-1] != '=' {
				break
			}
		}
	}
	return found
}

// operators assign, the shortest first.
var operators = [...]string{"=", ">", ":", ",", "=>", ":=", "||", "?=", "::=", ":::="}

// near appends the tokens of kind k within nearness bytes before or behind its word s[start:end].
func near(k *tokens.Kind, s string, start, end int, found []shapes.Span) []shapes.Span {
	limit := min(len(s), end+nearness)
	for i := max(0, start-nearness); i < limit; i++ {
		if i > 0 && wordByte(s[i-1]) || !wordByte(s[i]) {
			continue
		}
		if end, ok := k.MatchBody(s, i); ok && k.RandomEnough(s[i:end]) {
			found = append(found, shapes.NewSpan(i, end, k.Rule))
		}
	}
	return found
}

// cookies appends the values in a header of cookies.
func cookies(s string, _, end int, found []shapes.Span) []shapes.Span {
	return append(found, tokens.Cookies(s, end)...)
}

// webToken appends a JSON web token whose second part starts at the ".ey". Package
// redact has masked those whose header starts with eyJ. The lengths are those of gitleaks' rule.
func webToken(s string, start, end int, found []shapes.Span) []shapes.Span {
	from := start
	for from > 0 && start-from < 1024 && shapes.IsAlnum(s[from-1]) {
		from--
	}
	if start-from < 19 || s[from:from+2] != "ey" {
		return found
	}
	to := skip(s, end, len(s), webTokenByte)
	if to-end < 17 || to == len(s) || s[to] != '.' {
		return found
	}
	if signed := skip(s, to+1, len(s), webTokenByte); signed-to > 10 {
		to = skip(s, signed, 2, func(c byte) bool { return c == '=' })
	}
	return append(found, shapes.NewSpan(from, to, "jwt"))
}

func webTokenByte(c byte) bool { return wordByte(c) || c == '-' || c == '/' || c == '\\' }

// maxHeaders bounds the text after "curl" that is searched for headers, in bytes.
const maxHeaders = 1024

// curlHeader appends the credentials in the headers of a curl command: -H
// "X-Any-Key: VALUE", of which the name ends in "key" or "token" or is Authorization. Package
// redact has masked values that do not read like words. s[:end] ends with "curl". The entropy is that
// of gitleaks' rule.
func curlHeader(s string, _, end int, found []shapes.Span) []shapes.Span {
	command := s[:min(len(s), end+maxHeaders)]
	for i := end; i < len(command); i++ {
		if command[i] != ':' {
			continue
		}
		from := i
		for from > end && (shapes.IsAlnum(s[from-1]) || s[from-1] == '-') {
			from--
		}
		name := strings.ToLower(s[from:i])
		if from == end || s[from-1] != '"' && s[from-1] != '\'' ||
			name != "authorization" && !strings.HasSuffix(name, "key") && !strings.HasSuffix(name, "token") {
			continue
		}
		option := strings.TrimRight(s[end:from-1], " \t\\=")
		if !strings.HasSuffix(option, "-H") && !strings.HasSuffix(option, "--header") {
			continue
		}
		value := skip(s, i+1, 5, func(c byte) bool { return c == ' ' || c == '\t' })
		for _, scheme := range [...]string{"basic", "bearer", "token", "api-token", "apitoken"} {
			if at := value + len(scheme); name == "authorization" && shapes.HasPrefixFold(s[value:], scheme) && at < len(s) && blank(s[at]) {
				value = at + 1
				break
			}
		}
		stop := skip(s, value, len(s), tokenByte)
		if stop-value >= 8 && stop < len(s) && (s[stop] == s[from-1] || s[stop] == '\\') && shapes.Entropy(s[value:stop]) > 2.75 {
			found = append(found, shapes.NewSpan(value, stop, "curl-header"))
		}
		i = max(i, stop)
	}
	return found
}

// nugetPassword appends the value of <add key="ClearTextPassword" value="…">.
func nugetPassword(s string, _, end int, found []shapes.Span) []shapes.Span {
	i := skip(s, end, 4, func(c byte) bool { return c == '"' || c == '\\' })
	if !shapes.HasPrefixFold(s[i:], "password") && !shapes.HasPrefixFold(s[i:], "cleartextpassword") {
		return found
	}
	limit := min(len(s), i+64)
	for !shapes.HasPrefixFold(s[i:], "value=") {
		if i++; i >= limit {
			return found
		}
	}
	start := skip(s, i+len("value="), 4, func(c byte) bool { return c == '"' || c == '\\' })
	if n := strings.IndexAny(s[start:min(len(s), start+512)], "\"\n\\"); n >= 8 && shapes.Entropy(s[start:start+n]) > 1 {
		found = append(found, shapes.NewSpan(start, start+n, "nuget-password"))
	}
	return found
}

// skip returns the end of the run of at most n bytes at i for which in is true.
func skip(s string, i, n int, in func(byte) bool) int {
	limit := min(len(s), i+n)
	for i < limit && in(s[i]) {
		i++
	}
	return i
}

func wordByte(c byte) bool { return shapes.IsAlnum(c) || c == '_' }

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func tokenByte(c byte) bool { return wordByte(c) || strings.IndexByte("+/=-.~@", c) >= 0 }
