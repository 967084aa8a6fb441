package redact

import (
	"strings"
	"unsafe"
)

// A mask replaces a secret.
const (
	maskStart = "[redacted:"
	maskEnd   = "]"
)

// Mask returns the text that replaces a secret found by rule.
func Mask(rule string) string { return maskStart + rule + maskEnd }

func writeMask(b *strings.Builder, rule string) {
	b.WriteString(maskStart)
	b.WriteString(rule)
	b.WriteString(maskEnd)
}

// view returns b as a string without a copy. b must not change while it is used.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Text masks the secrets in s and returns how many there were, by rule; nil
// when there were none. It leaves tags alone, see [StripTags].
func Text(s string) (string, map[string]int) {
	var counts map[string]int
	return maskText(s, &counts), counts
}

// maxMaskPasses bounds how often masked text is scanned again: the text beside a
// mask may become an assignment.
const maxMaskPasses = 4

func maskText(s string, counts *map[string]int) string {
	for range maxMaskPasses {
		found, ok := nextSecret(s, 0)
		if !ok {
			return s
		}
		var b strings.Builder
		b.Grow(len(s))
		last, sawAWSKey := 0, false
		for ok {
			b.WriteString(s[last:found.start])
			writeMask(&b, found.rule)
			count(counts, found.rule)
			sawAWSKey = sawAWSKey || found.rule == ruleAWSKey
			last = found.end
			found, ok = nextSecret(s, last)
		}
		b.WriteString(s[last:])
		s = b.String()
		if sawAWSKey {
			s = maskAWSSecrets(s, counts)
		}
	}
	return s
}

func count(counts *map[string]int, rule string) {
	if *counts == nil {
		*counts = make(map[string]int)
	}
	(*counts)[rule]++
}

// hasSecret reports whether maskText would change s.
func hasSecret(s string) bool {
	_, ok := nextSecret(s, 0)
	return ok
}

// dirty reports whether s has a tag or a secret.
func dirty(s string) bool {
	tags := tagReader{s: s}
	if _, _, ok := tags.next(); ok {
		return true
	}
	return hasSecret(s)
}

// scrub strips tags and masks secrets.
func scrub(s string, counts *map[string]int) string {
	if !dirty(s) {
		return s
	}
	return maskText(StripTags(s), counts)
}
