package secrets

import (
	"slices"

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

// Mask returns s with its secrets masked, s itself without any, and adds to counts how often each
// rule found one; it makes the map when it is needed.
func Mask(s string, counts *map[string]int) string {
	for range maxMaskPasses {
		cuts, _ := findAll(s, len(s), maxEscapes)
		if len(cuts) == 0 {
			break
		}
		sawAWSKey := slices.ContainsFunc(cuts, func(found shapes.Span) bool { return found.Rule == tokens.RuleAWSKey })
		cuts = shapes.Merge(cuts)
		for _, found := range cuts {
			shapes.Count(counts, found.Rule)
		}
		s = shapes.Apply(s, cuts)
		if sawAWSKey { // the form of the secret key says too little without the id beside it
			s = tokens.MaskAWSSecrets(s, counts)
		}
	}
	return s
}

// In reports whether s has a secret, and whether it has escapes; if it has a secret, escapes may be
// false because it stopped there.
func In(s string) (found, escapes bool) {
	secrets, escapes := findAll(s, 1, maxEscapes)
	return len(secrets) > 0, escapes
}

// findAll returns the secrets that find finds or, if there are none, those that escapes hide,
// of which depth may stand for one another; and whether s has escapes. It stops at as many as most, 1
// for callers that only ask whether there is one.
func findAll(s string, most, depth int) (secrets []shapes.Span, escapes bool) {
	secrets, escape := find(s, most)
	if len(secrets) == 0 && escape >= 0 && depth > 0 {
		secrets = escapedSecrets(s, escape, depth)
	}
	return secrets, escape >= 0
}
