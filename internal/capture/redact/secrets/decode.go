package secrets

import "claudemem/internal/capture/redact/shapes"

// Text within text has escapes: \u0022 and \x22 in strings of code and logs, %22 in
// addresses, &quot; in XML. A secret behind them is found in a decoded copy of the
// text around them.

const (
	// EscapeContext is how far before the first and after the last escape of a part
	// text is decoded with it, and how far two escapes of a part are from each other
	// at most, in bytes.
	EscapeContext = 256
	// maxEscaped is the length of a part, in bytes.
	maxEscaped = 64 << 10
	// maxEscapes is how many escapes may stand for one another: \u0026quot;.
	maxEscapes = 2
)

// escapedSecrets returns the secrets in s that escapes hide from the scanner, in order
// and apart from each other. from is the position of the first escape, depth how many
// escapes may stand for one another. The text is decoded part by part: escapes near each other,
// with EscapeContext around them.
func escapedSecrets(s string, from, depth int) []shapes.Span {
	var found []shapes.Span
	for at := shapes.NextEscape(s, from, len(s)); at < len(s); {
		start := max(at-EscapeContext, 0)
		if len(found) > 0 {
			start = max(start, found[len(found)-1].End)
		}
		limit, last := min(len(s), at+maxEscaped), at
		for last < limit {
			next := shapes.NextEscape(s, last+1, min(limit, last+EscapeContext))
			if next == min(limit, last+EscapeContext) {
				break
			}
			last = next
		}
		end := shapes.RunEnd(s[:limit], min(limit, last+EscapeContext), shapes.Token)
		found = secretsDecoded(s, start, end, depth, found)
		at = shapes.NextEscape(s, end, len(s))
	}
	return found
}

// secretsDecoded appends the secrets in s[start:end], whose escapes it decodes. The spans are those
// in s: seek finds them, and is asked for ascending positions only.
func secretsDecoded(s string, start, end, depth int, found []shapes.Span) []shapes.Span {
	decoded := make([]byte, 0, end-start)
	for i := start; i < end; {
		var c byte
		c, i = shapes.DecodedAt(s[:end], i)
		decoded = append(decoded, c)
	}
	text := shapes.View(decoded)
	i, n := start, 0 // in s and in decoded
	seek := func(position int) int {
		for n < position {
			_, i = shapes.DecodedAt(s[:end], i)
			n++
		}
		return i
	}
	secrets, _ := findAll(text, len(text), depth-1)
	for _, secret := range shapes.Merge(secrets) {
		found = append(found, shapes.NewSpan(seek(secret.Start), seek(secret.End), secret.Rule))
	}
	return found
}
