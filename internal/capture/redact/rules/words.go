package rules

import (
	"strings"

	"claudemem/internal/capture/redact/shapes"
)

// Secrets whose words are common in text, so that the hook does not stop at them, or that
// take more than a look at what is beside the word. Each function is a matcher (named.go): the
// keyword is s[start:end], found has the secrets so far, and is returned as it is for none.

const (
	// maxJWK is how far the members of a JSON web key are from its "kty", in bytes.
	maxJWK = 4096
	// leastWords is the number of words of the shortest phrase that recovers a wallet.
	leastWords = 12
	// maxKeyBlock is the length of a key between two lines with dashes, in bytes.
	maxKeyBlock = 16 << 10
)

// quotedSecret appends the literal behind the keyword, as in secret "x" of a TSIG key,
// send "x\r" of expect and the "result" of a random_password, unless it reads like words.
func quotedSecret(s string, start, end int, found []shapes.Span) []shapes.Span {
	if strings.HasPrefix(s[start:], "result") && !strings.Contains(s[max(0, start-nearness):start], "random_password") {
		return found
	}
	from := skip(s, end, 2*maxQuotes, func(c byte) bool { return strings.IndexByte("\"'\\: ", c) >= 0 })
	to := skip(s, from, maxName*8, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'\\", c) < 0 })
	v := s[from:to]
	if from == 0 || strings.IndexByte("\"'", s[from-1]) < 0 || to == len(s) || len(v) < 8 || shapes.Readable(v) || strings.ContainsAny(v, "(){}$<>") {
		return found
	}
	return append(found, shapes.NewSpan(from, to, "password"))
}

// webKey appends the private members of a JSON web key with the "kty" at start: values of 16 bytes
// or more, before and behind it.
func webKey(s string, start, end int, found []shapes.Span) []shapes.Span {
	low, high := max(0, start-maxJWK), min(len(s), end+maxJWK)
	for i := low; i+4 < high; i++ {
		if s[i] != '"' || i == 0 {
			continue
		}
		to := skip(s, i+1, 3, func(c byte) bool { return c >= 'a' && c <= 'z' })
		switch s[i+1 : to] {
		case "d", "p", "q", "dp", "dq", "qi", "k":
			from := skip(s, to, 2*maxQuotes, func(c byte) bool { return strings.IndexByte("\"\\: ", c) >= 0 })
			stop := skip(s, from, maxJWK, func(c byte) bool { return wordByte(c) || c == '-' })
			if stop-from >= 16 && from > to+1 {
				found = append(found, shapes.NewSpan(from, stop, "private-key"))
			}
			i = stop
		}
	}
	return found
}

// walletPhrase appends the words behind the keyword of which a wallet is made: 12, 15, 18, 21 or 24
// of 3 to 8 small letters, with one blank between them (BIP 39).
func walletPhrase(s string, _, end int, found []shapes.Span) []shapes.Span {
	from := skip(s, end, maxGap+4, func(c byte) bool { return !shapes.IsAlnum(c) })
	words, at := 0, from
	for at < len(s) && words < 2*leastWords {
		next := skip(s, at, 9, func(c byte) bool { return c >= 'a' && c <= 'z' })
		if next-at < 3 || next-at > 8 {
			break
		}
		words++
		if at = next; at+1 >= len(s) || s[at] != ' ' || s[at+1] < 'a' || s[at+1] > 'z' {
			break
		}
		at++
	}
	if words < leastWords || words%3 != 0 {
		return found
	}
	return append(found, shapes.NewSpan(from, at, "wallet-key"))
}

// keyBlock appends the lines of a private key in the format of RFC 4716, whose lines with
// dashes have four of them.
func keyBlock(s string, _, end int, found []shapes.Span) []shapes.Span {
	limit := min(len(s), end+maxKeyBlock)
	line := strings.Index(s[end:limit], "----")
	if line < 0 {
		return found
	}
	from := end + line + len("----")
	to := strings.Index(s[from:limit], "---- END")
	if to < 0 {
		to = limit - from
	}
	return append(found, shapes.NewSpan(from, from+to, "private-key"))
}
