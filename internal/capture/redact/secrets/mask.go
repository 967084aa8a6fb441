package secrets

import (
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tokens"
)

// Text masks the secrets in s and returns how many there were, by rule; nil
// when there were none. It leaves tags alone.
func Text(s string) (string, map[string]int) {
	var counts map[string]int
	return Mask(s, &counts), counts
}

// maxMaskPasses bounds how often masked text is scanned again: the text beside a
// mask may become an assignment.
const maxMaskPasses = 6

// Mask returns s with its secrets masked and adds to counts how often each rule
// found one.
func Mask(s string, counts *map[string]int) string {
	for range maxMaskPasses {
		var cuts []shapes.Span
		sawAWSKey := false
		var sc scanner
		for found, ok := sc.next(s); ok; found, ok = sc.next(s) {
			cuts = append(cuts, found)
			shapes.Count(counts, found.Rule)
			sawAWSKey = sawAWSKey || found.Rule == tokens.RuleAWSKey
		}
		if len(cuts) == 0 && sc.escape > 0 {
			cuts = escapedSecrets(s, sc.escape-1, maxEscapes)
			for _, found := range cuts {
				shapes.Count(counts, found.Rule)
			}
		}
		if len(cuts) == 0 {
			break
		}
		s = shapes.Apply(s, cuts)
		if sawAWSKey {
			s = tokens.MaskAWSSecrets(s, counts)
		}
	}
	return s
}

// In reports whether s has a secret, and whether it has escapes.
func In(s string) (found, escapes bool) {
	var sc scanner
	if _, found = sc.next(s); !found && sc.escape > 0 {
		found = len(escapedSecrets(s, sc.escape-1, maxEscapes)) > 0
	}
	return found, sc.escape > 0
}
