package shapes

import (
	"slices"
	"strings"
)

// MaskStart begins every mask.
const MaskStart = "[redacted:"

// Mask returns the text that replaces a secret found by rule.
//
//go:noinline
func Mask(rule string) string { return MaskStart + rule + "]" }

// Count adds one to a rule's count; the map is made when it is first needed.
//
//go:noinline
func Count(counts *map[string]int, rule string) {
	if *counts == nil {
		*counts = make(map[string]int)
	}
	(*counts)[rule]++
}

// A Span is a part of a text to remove. If it has a rule, the rule's mask replaces it.
type Span struct {
	Start, End int
	Rule       string
}

// Apply returns s with the spans replaced. They are in order and do not overlap.
func Apply(s string, spans []Span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := 0
	for _, sp := range spans {
		b.WriteString(s[last:sp.Start])
		if sp.Rule != "" {
			b.WriteString(Mask(sp.Rule))
		}
		last = sp.End
	}
	b.WriteString(s[last:])
	return b.String()
}

// NewSpan returns a Span.
func NewSpan(start, end int, rule string) Span { return Span{start, end, rule} }

// Merge sorts spans and joins those that overlap under the rule of the first; those that only touch
// stay apart. It works in place: the result shares its memory with spans.
func Merge(spans []Span) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	n := 0
	for _, s := range spans {
		if n > 0 && s.Start < spans[n-1].End {
			spans[n-1].End = max(spans[n-1].End, s.End)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}
