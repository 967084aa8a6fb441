package rules

import (
	"strings"

	"claudemem/internal/capture/redact"
	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/leaf/glob"
	"claudemem/internal/memory"
)

// Text masks the secrets in s and returns how many there were, by rule; nil when
// there were none. It leaves tags alone.
func Text(s string) (string, map[string]int) {
	masked, counts := secrets.Text(s)
	return mask(masked, 0, &counts), counts
}

// Event cleans an event in place as redact.Event does, masks what only this
// package finds, and shortens: of a text over limit bytes limit/2 stay at
// each end, with a mark between them that says how much was cut. A secret on the
// edge of the cut is masked whole. Limit 0 shortens nothing. It returns the counts of
// redact.Event with its own.
func Event(e *memory.Event, withheld glob.Set, limit int) map[string]int {
	counts := redact.Event(e, withheld)
	for _, text := range redact.Texts(e) {
		*text = mask(*text, limit, &counts)
	}
	e.ToolInput = maskJSON(e.ToolInput, limit, &counts)
	e.ToolResponse = maskJSON(e.ToolResponse, limit, &counts)
	return counts
}

// maskJSON masks and cuts the strings of raw, of which each may have limit bytes. It returns raw
// itself when nothing changes or it is not JSON.
func maskJSON(raw []byte, limit int, counts *map[string]int) []byte {
	if (limit == 0 || len(raw) <= limit) && !mayMatch(raw) {
		return raw
	}
	out, _ := redact.Each(raw, func(_, text string) string { return mask(text, limit, counts) })
	return out
}

// mayMatch reports whether raw JSON has a keyword, or an escape that could hide one: a \u00XX of a
// printable character, except those that encoders of JSON escape and no keyword has (< > & ' DEL).
func mayMatch(raw []byte) bool {
	text := shapes.View(raw)
	for i := 0; ; {
		n := strings.Index(text[i:], `\u00`)
		if n < 0 {
			break
		}
		i += n + 4
		if i+1 < len(text) && text[i] >= '2' && text[i] <= '7' {
			if escape := text[i : i+2]; escape != "3c" && escape != "3e" && escape != "26" && escape != "27" && escape != "7f" {
				return true
			}
		}
	}
	return index.Each(text, func(*keyword, int, int) bool { return true })
}

// margin is how far beyond a cut secrets are looked for, in bytes. Keys in PEM
// and web tokens, which are longer, are found before.
const margin = 4 << 10

// mask masks what this package finds in s and cuts s to limit bytes, 0 for none, plus the mark
// between the halves. Secrets of the part that is cut out are not counted.
func mask(s string, limit int, counts *map[string]int) string {
	if limit == 0 || len(s) <= limit {
		return applyFindings(s, 0, len(s), find(s), counts)
	}
	half := limit / 2
	head, tail := s[:min(len(s), half+margin)], s[max(0, len(s)-half-margin):]
	return applyFindings(head, 0, half, find(head), counts) +
		redact.TruncationMark(len(s)-2*half) +
		applyFindings(tail, len(tail)-half, len(tail), find(tail), counts)
}

// applyFindings returns s[from:to] with the findings masked, which are in order and apart; one
// that reaches over an edge is masked whole. Bytes that are no UTF-8, such as a character that
// the edge cuts, are dropped.
func applyFindings(s string, from, to int, found []shapes.Span, counts *map[string]int) string {
	if len(found) == 0 {
		return strings.ToValidUTF8(s[from:to], "")
	}
	var b strings.Builder
	at := from
	for _, f := range found {
		if f.End <= at || f.Start >= to {
			continue
		}
		b.WriteString(s[at:max(at, f.Start)])
		b.WriteString(shapes.Mask(f.Rule))
		shapes.Count(counts, f.Rule)
		at = f.End
	}
	if at < to {
		b.WriteString(s[at:to])
	}
	return strings.ToValidUTF8(b.String(), "")
}
